"""Which hyperparameters mattered in a study."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from llamea_tune.hpo.samplers import optuna
from llamea_tune.hpo.trial import TrialOutcome, TrialRecord
from llamea_tune.hpo.tunable import TunableContender

_FEWEST_TRIALS = 8  # below, importances are noise


def importances(tunable: TunableContender, trials: Sequence[TrialRecord], seed: int = 0) -> dict[str, float]:
    """Share of the scores' variance over the trials that each hyperparameter explains, by Optuna's fANOVA.

    Args:
        tunable: What was tuned.
        trials: The trials; those that failed are left out, as a failure is no score.
        seed: Seed of the estimate.

    Returns:
        By name, largest first; empty where there are too few trials to tell.
    """
    told = [trial for trial in trials if trial.outcome in (TrialOutcome.COMPLETE, TrialOutcome.PRUNED)]
    if len(told) < _FEWEST_TRIALS or len({trial.value for trial in told}) < 2:
        return {}
    module = optuna()
    with warnings.catch_warnings(action="ignore"):
        study = module.create_study(direction="maximize")
        spaces = module.distributions
        distributions = {
            name: spaces.CategoricalDistribution(entry.choices)
            if entry.kind == "categorical"
            else (spaces.IntDistribution if entry.kind == "int" else spaces.FloatDistribution)(
                entry.low, entry.high, log=entry.log
            )
            for name, entry in tunable.ranges.items()
        }
        for trial in told:
            values = {name: trial.values[name] for name in distributions}
            study.add_trial(module.trial.create_trial(params=values, distributions=distributions, value=trial.value))
        evaluator = module.importance.FanovaImportanceEvaluator(seed=seed)
        found = module.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(share) for name, share in found.items()}
