"""What came of each language model of a mix, where a bandit chose among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean

from llamea_tune.candidate import Scored
from llamea_tune.evolution.arms import gain
from llamea_tune.evolution.settings import Settings
from llamea_tune.llm.mixed import weights_of


@dataclass(frozen=True)
class ModelSummary:
    """What came of the candidates that one language model was asked for.

    Attributes:
        llm: The language model, as the mix names it.
        asked: Candidates that it was asked for.
        usable: Of them, those with a score.
        mean_gain: How much fitter these are than the best of their parents, on average; None where none has a parent with
            a score.
    """

    llm: str
    asked: int
    usable: int
    mean_gain: float | None


def summarise_models(settings: Settings, judged: Sequence[Scored]) -> list[ModelSummary]:
    """The models of a run in the order of its mix; none where no bandit chose among them.

    Args:
        settings: The run's settings.
        judged: Every judged candidate, with its latest fitness; what own compute takes off is left out.
    """
    if settings.model_choice != "bandit":
        return []
    fitness = {entry.candidate.id: entry.evaluation.fitness for entry in judged}
    found = []
    for llm in weights_of(settings.proposer):
        own = [gain(entry, fitness) for entry in judged if entry.candidate.llm == llm]
        usable = [gained for gained in own if gained is not None]
        gains = [gained for gained in usable if isfinite(gained)]
        found.append(ModelSummary(llm, len(own), len(usable), fmean(gains) if gains else None))
    return found
