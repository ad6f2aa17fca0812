"""Racing: who is clearly behind after few runs is given no more of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llamea_tune.own_compute import discount

FEWEST_RUNS = 4
"""The test is not made on fewer runs."""


def clearly_behind(differences: Sequence[float], p_threshold: float) -> bool:
    """Whether the other is better: by the mean, and by Wilcoxon's one-sided signed-rank test.

    Both, since the mean is what counts, and the test looks at signs and ranks. Runs that score the same count
    half for each side, so that equals are never behind.

    Args:
        differences: Score of the other less one's own, for runs on the same space with the same seed.
        p_threshold: Largest p-value with which one is behind.
    """
    from scipy.stats import wilcoxon  # slow to import, and not needed by most

    if len(differences) < 2 or sum(differences) <= 0.0:
        return False
    return bool(wilcoxon(differences, alternative="greater", zero_method="zsplit").pvalue < p_threshold)


@dataclass(frozen=True)
class Race:
    """Against whom a contender is scored, and when it is dropped.

    Attributes:
        against: Scores of single runs of the other by the name of the space, repeat by repeat.
        first: Repeats on each space before the first look; there is another one after as many again, and so on.
        p_threshold: Largest p-value with which a contender is behind.
        own_compute_ms: Own compute of the other per measurement, in milliseconds, where that counts.
        aim_ms: Own compute above which scores are discounted; None for none.
    """

    against: Mapping[str, Sequence[float]]
    first: int = 2
    p_threshold: float = 0.05
    own_compute_ms: float | None = None
    aim_ms: float | None = None

    def is_lost(self, run_scores: Mapping[str, Sequence[float]], own_compute_ms: float | None = None) -> bool:
        """Whether a contender is clearly behind, in the runs that both have.

        Args:
            run_scores: Its scores of single runs, as in `against`.
            own_compute_ms: Its own compute in them.
        """
        lighter = discount(own_compute_ms, self.aim_ms) - discount(self.own_compute_ms, self.aim_ms)  # the other is
        differences = [
            theirs - own + lighter
            for name, scores in run_scores.items()
            for own, theirs in zip(scores, self.against.get(name, ()), strict=False)
        ]
        return len(differences) >= FEWEST_RUNS and clearly_behind(differences, self.p_threshold)
