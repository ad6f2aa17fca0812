"""TUNE: hyperparameters of a strategy, by Optuna.

`make_subject` finds what can be tuned and in which ranges, `tune` makes a study, `rescore` tells how much of its gain
survives on fresh seeds, `importances` which hyperparameters mattered.
"""

from llamea_tune.hpo.importances import importances
from llamea_tune.hpo.objective import FLOOR, run_score
from llamea_tune.hpo.ranges import candidate_ranges, derive_range
from llamea_tune.hpo.rescoring import Rescored, rescore
from llamea_tune.hpo.samplers import SAMPLERS
from llamea_tune.hpo.study import StudyResult, StudySettings, TrialDone, tune
from llamea_tune.hpo.subject import Subject, make_subject, program_subject, strategy_subject
from llamea_tune.hpo.trial import TrialOutcome, TrialRecord

__all__ = [
    "FLOOR",
    "SAMPLERS",
    "Rescored",
    "StudyResult",
    "StudySettings",
    "Subject",
    "TrialDone",
    "TrialOutcome",
    "TrialRecord",
    "candidate_ranges",
    "derive_range",
    "importances",
    "make_subject",
    "program_subject",
    "rescore",
    "run_score",
    "strategy_subject",
    "tune",
]
