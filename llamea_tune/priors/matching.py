"""What a recording of a kernel elsewhere says of the configs of a search space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llamea_tune.exceptions import PriorError
from llamea_tune.priors.configs import Configs
from llamea_tune.priors.effects import Effects
from llamea_tune.priors.relative_costs import relative_costs
from llamea_tune.spaces.recording import config_keys
from llamea_tune.spaces.space import ParamValue, RecordedSpace

FAILED_QUANTILE = 0.95
"""A config that failed elsewhere counts as dear as this quantile of those that did not: bad, but not beyond comparison."""

_LEAST_SHARED = 0.5


@dataclass(frozen=True, eq=False)
class Matched:
    """What a recording says of some configs.

    Attributes:
        expected: Shape `(n,)`: expected logarithm of the cost over the median of these configs.
        doubt: Shape `(n,)`: variance of that, as far as it comes from matching: 0 for a config that was recorded as it is.
        recorded: Shape `(n,)`: which configs were recorded as they are.
    """

    expected: NDArray[np.float64]
    doubt: NDArray[np.float64]
    recorded: NDArray[np.bool_]


def match(recording: RecordedSpace, configs: Configs) -> Matched:
    """Match a recording with configs by names and values of parameters.

    What was recorded with the same values counts as it is. Else the nearest values count, by ratio where they are
    positive numbers; the mean over parameters that only the recording has; and whatever a parameter is that only the configs
    have. What was not recorded so either is expected from the effects of single parameters. Each of these adds doubt:
    a parameter that does not match as much as if all parameters explained equal parts of the variance.

    Raises:
        PriorError: It is of another kernel, by its name or by its parameters, or of another objective.
    """
    if recording.kernel_name and configs.kernel_name and recording.kernel_name != configs.kernel_name:
        raise PriorError(
            f"{recording.source} is of the kernel {recording.kernel_name!r}, not {configs.kernel_name!r}; "
            "name recordings of the same kernel"
        )
    if recording.objective != configs.objective or configs.higher_is_better not in (None, recording.higher_is_better):
        kinds = [
            "maximised" if maximised else "minimised"
            for maximised in (recording.higher_is_better, configs.higher_is_better)
        ]
        raise PriorError(
            f"{recording.source} tells of {recording.objective!r}, {kinds[0]}, not of {configs.objective!r}, {kinds[1]}; "
            "name recordings of the same objective"
        )
    shared = _shared_names(recording, configs)
    places = [list(configs.tune_params).index(name) for name in shared]
    columns = [list(recording.tune_params).index(name) for name in shared]
    nearest = [_nearest(configs.tune_params[name], recording.tune_params[name]) for name in shared]
    wanted = np.column_stack(
        [found[configs.value_indices[:, place]] for (found, _), place in zip(nearest, places, strict=True)]
    )
    unlike = sum(
        (~same[configs.value_indices[:, place]]).astype(np.int64)
        for (_, same), place in zip(nearest, places, strict=True)
    )
    lacking = sum(len(values) > 1 for name, values in configs.tune_params.items() if name not in shared)

    costs = relative_costs(recording.costs)
    spread = float(np.nanvar(costs))
    failed = np.isnan(costs)
    costs = np.where(failed, np.nanquantile(costs, FAILED_QUANTILE), costs)
    counts = [len(recording.tune_params[name]) for name in shared]
    groups = _Groups(recording.value_indices[:, columns], costs, failed * spread, counts)
    expected, doubt, found = groups.look_up(wanted)
    doubt += (unlike + lacking) * spread / max(len(shared), 1)
    if not found.all():
        effects = Effects.fit(recording.value_indices[:, columns], costs, counts)
        expected[~found], more = effects.predict(wanted[~found])
        doubt[~found] = more + lacking * spread / len(shared)
    recorded = found & (unlike == 0) & (lacking == 0)
    return Matched(expected - np.median(expected), doubt, recorded)


def _shared_names(recording: RecordedSpace, configs: Configs) -> list[str]:
    """Names of the parameters that both have, in the configs' order.

    Raises:
        PriorError: Less than half of all parameters that vary.
    """
    varied = {
        name for params in (recording.tune_params, configs.tune_params) for name in params if len(params[name]) > 1
    }
    shared = [name for name in configs.tune_params if name in recording.tune_params]
    n_shared = len(varied & set(shared))
    if n_shared < _LEAST_SHARED * len(varied) or not shared:
        raise PriorError(
            f"{recording.source} shares only {n_shared} of {len(varied)} tunable parameters with this kernel; "
            "name recordings of the same kernel"
        )
    return shared


def _nearest(wanted: Sequence[ParamValue], there: Sequence[ParamValue]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each wanted value the place of the nearest one that is there, -1 where there is none; and whether it is the same."""
    place = {value: index for index, value in enumerate(there)}
    same = np.array([value in place for value in wanted])
    found = np.array([place.get(value, -1) for value in wanted], dtype=np.int64)
    numbers = [value for value in (*wanted, *there) if isinstance(value, int | float) and not isinstance(value, bool)]
    if same.all() or len(numbers) < len(wanted) + len(there):
        return found, same
    scale = np.log if min(numbers) > 0 else np.asarray
    distance = np.abs(scale(np.array(wanted, dtype=float))[:, None] - scale(np.array(there, dtype=float)))
    return np.where(same, found, distance.argmin(axis=1)), same


class _Groups:
    """Recorded configs that are the same in the shared parameters, as one: their mean cost, and the variance of that."""

    def __init__(
        self,
        value_indices: NDArray[np.uint16],
        costs: NDArray[np.float64],
        doubt: NDArray[np.float64],
        counts: Sequence[int],
    ) -> None:
        self._value_indices, self._counts = value_indices, counts
        self._costs, self._doubt = costs, doubt

    def look_up(self, wanted: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Mean, variance, and whether there is such a group; values that nothing is near are -1."""
        together = np.concatenate([self._value_indices.astype(np.int64), np.maximum(wanted, 0)])
        keys = config_keys(together.astype(np.uint16), self._counts)  # numbered together, so that they compare
        known, group = np.unique(keys[: len(self._costs)], return_inverse=True)
        size = np.bincount(group)
        mean = np.bincount(group, self._costs) / size
        within = np.bincount(group, (self._costs - mean[group]) ** 2 + self._doubt) / size
        place = np.minimum(np.searchsorted(known, keys[len(self._costs) :]), len(known) - 1)
        found = (known[place] == keys[len(self._costs) :]) & (wanted >= 0).all(axis=1)
        return mean[place], within[place], found
