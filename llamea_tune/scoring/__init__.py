"""SCORE: turn the traces of runs into scores with intervals.

`Scorer` has an executor run contenders and gives a `Scorecard` for each; `compare` and `holm` tell whether one is better
than another. The rest is the arithmetic in between: `space_budget` and `space_scale` for a space, `score` and `scorecard`
for traces.
"""

from llamea_tune.scoring.aggregate import mean_places, scorecard
from llamea_tune.scoring.baselines import BASELINES
from llamea_tune.scoring.compare import Comparison, compare, holm
from llamea_tune.scoring.cutoff import SpaceBudget, space_budget
from llamea_tune.scoring.live_scale import LiveScale
from llamea_tune.scoring.score import SpaceScale, score, space_scale
from llamea_tune.scoring.scorecard import Scorecard, SpaceScore
from llamea_tune.scoring.scorer import Scorer
from llamea_tune.scoring.seeds import run_seed

__all__ = [
    "BASELINES",
    "Comparison",
    "LiveScale",
    "Scorecard",
    "Scorer",
    "SpaceBudget",
    "SpaceScale",
    "SpaceScore",
    "compare",
    "holm",
    "mean_places",
    "run_seed",
    "score",
    "scorecard",
    "space_budget",
    "space_scale",
]
