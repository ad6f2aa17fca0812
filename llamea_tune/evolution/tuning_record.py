"""What tuning its hyperparameters did to a candidate, as a part of a line of the run log, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from llamea_tune.candidate import Evaluation, HyperparameterValue
from llamea_tune.evolution.records import evaluation_from_json


@dataclass(frozen=True)
class Tuning:
    """The outcome of tuning one candidate.

    Attributes:
        candidate: Its id.
        hyperparameters: Tuned values; empty where the defaults were kept.
        evaluation: The candidate's evaluation with them, on the seeds of its confirmation; None where they were kept.
        gain: Fitness with the best values that the study found less that with the defaults, on those seeds; None where
            the study found nothing better, or a run with them failed.
        trials: Trials that were made.
        runs: Runs of those trials.
        confirm_runs: Runs to confirm the best values.
    """

    candidate: str
    hyperparameters: Mapping[str, HyperparameterValue]
    evaluation: Evaluation | None
    gain: float | None
    trials: int
    runs: int
    confirm_runs: int

    @property
    def all_runs(self) -> int:
        """What it took of the run's allowance."""
        return self.runs + self.confirm_runs

    def summary(self) -> dict[str, Any]:
        """What was spent and gained, as plain JSON data without timings."""
        summary = asdict(self)
        del summary["evaluation"]
        return summary

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tuning:
        """Read back what the log holds."""
        evaluation = data["evaluation"]
        return cls(**{**data, "evaluation": None if evaluation is None else evaluation_from_json(evaluation)})
