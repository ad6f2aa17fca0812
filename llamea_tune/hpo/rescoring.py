"""How much of a study's gain survives on seeds that nothing was chosen on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llamea_tune.hpo.objective import run_score
from llamea_tune.hpo.study import StudyResult
from llamea_tune.hpo.subject import Subject
from llamea_tune.runners.trace import RunResult
from llamea_tune.scoring.aggregate import scorecard
from llamea_tune.scoring.compare import Comparison, compare
from llamea_tune.scoring.contender import Contender
from llamea_tune.scoring.schedule import Progress, Scorer
from llamea_tune.scoring.score import SpaceScale
from llamea_tune.scoring.scorecard import Scorecard

STAGE = "tuned"  # seeds that no hyperparameters were chosen on

Runs = Mapping[str, Sequence[RunResult]]


@dataclass(frozen=True)
class Rescored:
    """The best hyperparameters beside the defaults, on fresh seeds.

    Attributes:
        default: Scores of the defaults.
        tuned: Scores of the best hyperparameters.
        gain: Tuned less default score, paired; None where either failed.
        default_mean: Mean of the defaults' single-run scores, which is what the study maximised; None if they failed.
        tuned_mean: The same of the best hyperparameters.
        promised: Difference of those means in the study.
        repeats: Runs on each space.
    """

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
        """Whether the best hyperparameters are to be preferred to the defaults."""
        if self.tuned.mean is None:
            return False
        return self.gain is None or self.gain.difference > 0.0


def rescore(
    subject: Subject,
    result: StudyResult,
    scorer: Scorer,
    *,
    repeats: int | None = None,
    on_progress: Progress | None = None,
) -> Rescored | None:
    """Score the defaults and the best hyperparameters on fresh seeds, the same for both.

    Args:
        subject: What was tuned.
        result: What the study found.
        scorer: Scores on the spaces to judge on.
        repeats: Runs on each space, where it should not be the scorer's own number.
        on_progress: Called with runs done and runs in all, of both together.

    Returns:
        The comparison; None where the study found nothing better than the defaults.
    """
    best, default = result.best, result.default
    if best is None or (default is not None and best.number == default.number):
        return None
    n_repeats = scorer.repeats if repeats is None else repeats
    per_side = n_repeats * len(scorer.spaces)

    def run(contender: Contender, done_before: int) -> Runs:
        def count(done: int, _total: int) -> None:
            if on_progress is not None:
                on_progress(done_before + done, 2 * per_side)

        return scorer.run(contender, repeats=n_repeats, stage=STAGE, on_progress=count)

    contenders = (
        subject.contender_with(subject.defaults, "default"),
        subject.contender_with(best.values, "tuned"),
    )
    both = [run(contender, number * per_side) for number, contender in enumerate(contenders)]
    cards = [
        scorecard(contender.label, scorer.scales, runs, seed=scorer.seed)
        for contender, runs in zip(contenders, both, strict=True)
    ]
    gain = None
    if all(card.mean is not None for card in cards):
        gain = compare(scorer.scales, ("tuned", both[1]), ("default", both[0]), seed=scorer.seed)
    known = default is not None and not default.reason
    return Rescored(
        default=cards[0],
        tuned=cards[1],
        gain=gain,
        default_mean=_mean_run_score(scorer.scales, both[0], cards[0]),
        tuned_mean=_mean_run_score(scorer.scales, both[1], cards[1]),
        promised=best.value - default.value if default is not None and known else None,
        repeats=n_repeats,
    )


def _mean_run_score(scales: Sequence[SpaceScale], runs: Runs, card: Scorecard) -> float | None:
    if card.mean is None:
        return None
    scores = [run_score(scale, run) for scale in scales for run in runs[scale.space]]
    return sum(scores) / len(scores)
