"""TUNE: hyperparameters of a strategy, by Optuna.

`make_tunable` finds what can be tuned and in which ranges, `tune` makes a study, `rescore` tells how much of its gain
survives on fresh seeds, `importances` which hyperparameters mattered.
"""

from llamea_tune.hpo.importances import importances
from llamea_tune.hpo.rescoring import Rescored, rescore
from llamea_tune.hpo.samplers import SAMPLERS
from llamea_tune.hpo.search_ranges import candidate_ranges, derive_range
from llamea_tune.hpo.study import StudyResult, StudySettings, TrialDone, tune
from llamea_tune.hpo.trial import TrialOutcome, TrialRecord
from llamea_tune.hpo.tunable import TunableContender, make_tunable, tunable_candidate, tunable_strategy
from llamea_tune.scoring.run_score import FLOOR, run_score

__all__ = [
    "FLOOR",
    "SAMPLERS",
    "Rescored",
    "StudyResult",
    "StudySettings",
    "TunableContender",
    "TrialDone",
    "TrialOutcome",
    "TrialRecord",
    "candidate_ranges",
    "derive_range",
    "importances",
    "make_tunable",
    "tunable_candidate",
    "rescore",
    "run_score",
    "tunable_strategy",
    "tune",
]
