"""How much of a study's gain survives on seeds that nothing was chosen on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from llamea_tune.hpo.study import StudyResult
from llamea_tune.hpo.trial import TrialOutcome, TrialRecord
from llamea_tune.hpo.tunable import TunableContender, Values
from llamea_tune.runners.trace import RunResult
from llamea_tune.scoring.aggregate import scorecard
from llamea_tune.scoring.compare import Comparison, compare
from llamea_tune.scoring.run_score import FLOOR, run_score
from llamea_tune.scoring.score import SpaceScale
from llamea_tune.scoring.scorecard import Scorecard
from llamea_tune.scoring.scorer import Progress, Scorer

SHORTLIST = 3
"""How many of a study's best trials are looked at again."""

_LEVEL = 0.05  # of the permutation test; with few repeats the bootstrap's interval alone is too narrow

SHORTLIST_STAGE = "shortlist"  # seeds that the best of these is chosen on
STAGE = "tuned"  # seeds that no hyperparameters were chosen on

Runs = Mapping[str, Sequence[RunResult]]


@dataclass(frozen=True)
class Rescored:
    """The best hyperparameters beside the defaults, on fresh seeds.

    Attributes:
        best: The trial whose hyperparameters they are.
        default: Scores of the defaults.
        tuned: Scores of the best hyperparameters.
        gain: Tuned less default score, paired; None where either failed.
        default_mean: Mean of the defaults' single-run scores, which is what the study maximised; None if they failed.
        tuned_mean: The same of the best hyperparameters.
        promised: Difference of those means in the study.
        repeats: Runs on each space.
    """

    best: TrialRecord
    default: Scorecard
    tuned: Scorecard
    gain: Comparison | None
    default_mean: float | None
    tuned_mean: float | None
    promised: float | None
    repeats: int

    @property
    def survived(self) -> float | None:
        """Fraction of the promised gain that was there on fresh seeds, None where none was promised or known."""
        if self.default_mean is None or self.tuned_mean is None or not self.promised:
            return None
        return (self.tuned_mean - self.default_mean) / self.promised

    @property
    def better(self) -> bool:
        """Whether the best hyperparameters are to be preferred to the defaults: they are better by more than luck."""
        if self.tuned.mean is None:
            return False
        return self.gain is None or (self.gain.interval[0] > 0.0 and self.gain.p_value <= _LEVEL)


def rescore(
    tunable: TunableContender,
    result: StudyResult,
    scorer: Scorer,
    *,
    repeats: int | None = None,
    on_progress: Progress | None = None,
) -> Rescored | None:
    """Score the defaults and the best hyperparameters on fresh seeds, the same for both.

    The best of many noisy scores is mostly luck. So the study's best few trials are scored on seeds of their own first,
    which choose one of them; and that is then compared with the defaults, on seeds again that nothing was chosen on.

    Args:
        tunable: What was tuned.
        result: What the study found.
        scorer: Scores on the spaces to judge on.
        repeats: Runs on each space, where it should not be the scorer's own number.
        on_progress: Called with runs done and runs in all, of all together.

    Returns:
        The comparison; None where the study found nothing better than the defaults.
    """
    default = result.default
    shortlist = _shortlist(result)
    if not shortlist:
        return None
    n_repeats = scorer.repeats if repeats is None else repeats
    per_side = n_repeats * len(scorer.spaces)
    sides = 2 + (len(shortlist) if len(shortlist) > 1 else 0)
    done_sides = 0

    def run(values: Values, stage: str) -> Runs:
        nonlocal done_sides
        before = done_sides * per_side

        def count(done: int, _total: int) -> None:
            if on_progress is not None:
                on_progress(before + done, sides * per_side)

        done_sides += 1
        contender = tunable.contender.with_hyperparameters(values)
        return scorer.run(contender, repeats=n_repeats, stage=stage, on_progress=count)

    best = shortlist[0]
    if len(shortlist) > 1:
        chosen_on = [_card("", scorer, run(trial.values, SHORTLIST_STAGE)).mean for trial in shortlist]
        best = max(zip(shortlist, chosen_on, strict=True), key=lambda pair: -inf if pair[1] is None else pair[1])[0]
    both = [run(values, STAGE) for values in (tunable.defaults, best.values)]
    cards = [_card(label, scorer, runs) for label, runs in zip(("default", "tuned"), both, strict=True)]
    gain = None
    if all(card.mean is not None for card in cards):
        gain = compare(scorer.scales, ("tuned", both[1]), ("default", both[0]), seed=scorer.seed)
    known = default is not None and not default.reason
    return Rescored(
        best=best,
        default=cards[0],
        tuned=cards[1],
        gain=gain,
        default_mean=_mean_run_score(scorer.scales, both[0], cards[0]),
        tuned_mean=_mean_run_score(scorer.scales, both[1], cards[1]),
        promised=best.value - default.value if default is not None and known else None,
        repeats=n_repeats,
    )


def _shortlist(result: StudyResult) -> list[TrialRecord]:
    """The best trials that made all runs, none behind the defaults."""
    default = result.default
    worst = FLOOR if default is None or default.outcome is not TrialOutcome.COMPLETE else default.value
    complete = [trial for trial in result.trials if trial.outcome is TrialOutcome.COMPLETE and trial.value > worst]
    return sorted(complete, key=lambda trial: (-trial.value, trial.number))[:SHORTLIST]


def _card(label: str, scorer: Scorer, runs: Runs) -> Scorecard:
    return scorecard(label, scorer.scales, runs, seed=scorer.seed)


def _mean_run_score(scales: Sequence[SpaceScale], runs: Runs, card: Scorecard) -> float | None:
    if card.mean is None:
        return None
    scores = [run_score(scale, run) for scale in scales for run in runs[scale.space]]
    return sum(scores) / len(scores)
