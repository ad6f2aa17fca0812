"""The results of an earlier `tune_kernel`, still in memory, as a recording."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from llamea_tune.exceptions import PriorError
from llamea_tune.priors.configs import Configs
from llamea_tune.spaces.compile import compile_space
from llamea_tune.spaces.measurement_table import MeasurementTable
from llamea_tune.spaces.recording import KIND_OF_ERROR, Recording, number_or_nan
from llamea_tune.spaces.space import FailureKind, RecordedSpace

NAME = "results in memory"


def recording_of_results(results: Sequence[Mapping[str, Any]], configs: Configs) -> RecordedSpace:
    """Make a recording of results.

    Args:
        results: As `tune_kernel` returns them: a dictionary for each config, with its values and the objective's.
        configs: What a prior is wanted for, which names the parameters and the objective.

    Raises:
        PriorError: They hold none of the parameters, or no value of the objective.
        SpaceFileError: A parameter has values that cannot be told apart.
    """
    names = [name for name in configs.tune_params if all(name in result for result in results)]
    if not results or not names:
        raise PriorError(f"the {NAME} name none of this kernel's parameters; hand over what tune_kernel returned")
    table = MeasurementTable(names, {})
    for result in results:
        value, failure = _measured(result, configs.objective)
        try:
            table.add({name: _plain(result[name]) for name in names}, value, failure, [math.nan] * 3)
        except ValueError as err:
            raise PriorError(f"one of the {NAME} {err}; hand over what tune_kernel returned") from err
    values = table.objective_values()
    if not np.isfinite(values).any():
        raise PriorError(f"the {NAME} hold no value of the objective {configs.objective!r}; name it as it was measured")
    tune_params = table.tune_params()
    recording = Recording(
        kernel_name="",
        device_name="",
        problem_size=None,
        objective=configs.objective,
        higher_is_better=configs.higher_is_better,
        tune_params=tune_params,
        value_indices=table.value_indices(tune_params),
        objective_values=values,
        failures=table.failures(),
        stage_times_ms=table.stage_times_ms(),
    )
    content_hash = hashlib.sha256(repr(results).encode()).hexdigest()
    return compile_space(recording, None, name=NAME, source=Path(NAME), content_hash=content_hash)


def _measured(result: Mapping[str, Any], objective: str) -> tuple[float, FailureKind]:
    """Value and failure; Kernel Tuner marks a failed config by its error, as `__error__` or in place of the value."""
    error = next((str(result[key]) for key in ("__error__", objective) if str(result.get(key)) in KIND_OF_ERROR), None)
    if error is not None:
        return math.nan, KIND_OF_ERROR[error]
    value = number_or_nan(_plain(result.get(objective)))
    return value, FailureKind.OTHER if math.isnan(value) else FailureKind.NONE


def _plain(value: Any) -> Any:
    """A Python value for one of numpy's."""
    return value.item() if isinstance(value, np.generic) else value
