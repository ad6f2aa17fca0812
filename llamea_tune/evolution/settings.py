"""Settings of a run: one frozen record, stored in the run directory and enough to resume from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, get_args, get_type_hints

from llamea_tune.evolution.selection import SELECTIONS
from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import Limits
from llamea_tune.scoring import BASELINES
from llamea_tune.spaces.describe import InformationLevel

DEFAULT_RIVALS = ("simulated_annealing", "genetic_algorithm", "diff_evo", "pso", "random_sample")

_CHOICES: Mapping[str, Collection[str]] = {
    "selection": SELECTIONS,
    "baseline": BASELINES,
    "description_level": get_args(InformationLevel),
}


@dataclass(frozen=True)
class Settings:
    """How to evolve.

    Attributes:
        proposer: Who proposes candidates: `"offline"` or a language model's specification.
        max_candidates: Candidates to propose in all, failed ones included.
        parents: Size of the population that survives each generation.
        offspring: Candidates proposed in each generation.
        selection: Name of the selection scheme.
        repeats: Runs per space when a candidate is first scored.
        confirm_repeats: Runs per space, on fresh seeds, before a candidate is kept.
        final_repeats: Runs per space, on fresh seeds again, for the leaderboard.
        finalists: Candidates on the leaderboard.
        rivals: Named strategies beside them on the leaderboard.
        baseline: Name of the baseline that scores are relative to.
        seed: Seed of everything random in the run.
        asked_at_once: Prompts that may wait for an answer at the same time.
        description_level: What prompts say of the spaces: `"none"`, `"application"` or `"space"`.
        hpo_trials: Trials to tune the hyperparameters of a surviving candidate with; 0 to tune none.
        hpo_runs: Runs that tuning may take in the whole run, confirmations included.
        limits: What one run of a candidate may use.
    """

    proposer: str = "offline"
    max_candidates: int = 24
    parents: int = 4
    offspring: int = 12
    selection: str = "plus"
    repeats: int = 6
    confirm_repeats: int = 12
    final_repeats: int = 25
    finalists: int = 5
    rivals: tuple[str, ...] = DEFAULT_RIVALS
    baseline: str = "exact"
    seed: int = 1
    asked_at_once: int = 4
    description_level: InformationLevel = "space"
    hpo_trials: int = 0
    hpo_runs: int = 2000
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            SettingsError: A number is out of range, or a name is unknown.
        """
        positive = ("max_candidates", "parents", "offspring", "repeats", "confirm_repeats", "final_repeats")
        for name in (*positive, "finalists", "asked_at_once"):
            if getattr(self, name) < 1:
                option = name.replace("_", "-")
                raise SettingsError(f"--{option} is {getattr(self, name)}; it must be at least 1.")
        for name in ("hpo_trials", "hpo_runs"):
            if getattr(self, name) < 0:
                raise SettingsError(f"--{name.replace('_', '-')} is {getattr(self, name)}; it must not be negative.")
        if not 0 <= self.seed < 2**32:
            raise SettingsError(f"--seed is {self.seed}; it must lie between 0 and 4294967295.")
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                option = name.replace("_", "-")
                raise SettingsError(f"--{option} is {getattr(self, name)!r}; choose one of: {', '.join(choices)}.")

    def with_max_candidates(self, max_candidates: int) -> Settings:
        """The same settings for a run of another length; what tuning may take changes in proportion."""
        hpo_runs = round(self.hpo_runs * max_candidates / self.max_candidates)
        return replace(self, max_candidates=max_candidates, hpo_runs=hpo_runs)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Settings:
        """Read back what `to_json` gave; settings unknown to this version are refused.

        Raises:
            SettingsError: A setting is unknown, or of a wrong type.
        """
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise SettingsError(f"the run has settings this version does not know: {', '.join(unknown)}.")
        values = dict(data)
        hints = get_type_hints(cls)
        try:
            for name, value in values.items():
                if isinstance(value, list):
                    values[name] = tuple(value)
                elif hints[name] is Limits:
                    values[name] = Limits(**value)
            return cls(**values)
        except TypeError as err:
            raise SettingsError(f"a setting of the run is of a wrong type ({err}); restore its run.json.") from err
