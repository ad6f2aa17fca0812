"""What an adviser said of a kernel, and what that makes of each config of a space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from llamea_tune.spaces.expressions import evaluate_values, names_in
from llamea_tune.spaces.recording import config_keys
from llamea_tune.spaces.space import ParamValue

TuneParams = Mapping[str, tuple[ParamValue, ...]]

LARGEST_FACTOR = 8.0
"""No effect counts for more than this, or less than its inverse: whoever says more of one value is carried away."""


@dataclass(frozen=True)
class NamedConfig:
    """A config that the adviser would try early.

    Attributes:
        config: Value of each parameter.
        cost: Its expected cost over that of the median config; below 1 is better.
    """

    config: Mapping[str, ParamValue]
    cost: float


@dataclass(frozen=True)
class EffectRule:
    """What the adviser expects where several parameters act together.

    Attributes:
        when: A Python expression over parameter names, checked to be harmless.
        factor: What it does to the cost where it holds.
    """

    when: str
    factor: float


@dataclass(frozen=True)
class Opinion:
    """What an adviser said.

    Attributes:
        configs: The configs to try first, best expected first.
        effects: For parameters that matter, the factor on the cost of each value that was spoken of.
        rules: The same for conditions on several parameters.
        summary: What it rests on, in a sentence.
    """

    configs: tuple[NamedConfig, ...]
    effects: Mapping[str, Mapping[ParamValue, float]] = field(default_factory=dict)
    rules: tuple[EffectRule, ...] = ()
    summary: str = ""

    def named(self, tune_params: TuneParams, value_indices: NDArray[np.integer]) -> list[tuple[int, float]]:
        """The named configs that are in a space: number and expected cost, in order.

        Expected costs never fall along the order: the order is what an adviser is asked for, and counts.

        Args:
            tune_params: Values of each tunable parameter, in order.
            value_indices: Shape `(size, n_params)`: index of each config's values.
        """
        found: dict[int, float] = {}
        dearest = 0.0
        for entry in self.configs:
            dearest = max(dearest, entry.cost)
            is_it = (value_indices == np.array(_indices(entry.config, tune_params))).all(axis=1)
            for number in np.flatnonzero(is_it).tolist():
                found.setdefault(number, dearest)
        return list(found.items())

    def log_effect(self, tune_params: TuneParams, value_indices: NDArray[np.integer]) -> NDArray[np.float64]:
        """Shape `(size,)`: sum of the logarithms of all factors that apply to a config; NaN where nothing was said."""
        total = np.zeros(len(value_indices))
        said = np.zeros(len(value_indices), dtype=bool)
        for column, (name, values) in enumerate(tune_params.items()):
            if self.effects.get(name):
                total += _log_factors(self.effects[name], values)[value_indices[:, column]]
                said[:] = True
        for rule in self.rules:
            holds = _where(rule.when, tune_params, value_indices)
            total[holds] += _log(rule.factor)
            said |= holds
        return np.where(said, total, np.nan)


def _indices(config: Mapping[str, ParamValue], tune_params: TuneParams) -> list[int]:
    """The index of each value; -1 where the space has it not."""
    return [
        values.index(config[name]) if name in config and config[name] in values else 0 if len(values) == 1 else -1
        for name, values in tune_params.items()
    ]


def _log(factor: float) -> float:
    return float(np.log(np.clip(factor, 1.0 / LARGEST_FACTOR, LARGEST_FACTOR)))


def _log_factors(effects: Mapping[ParamValue, float], values: Sequence[ParamValue]) -> NDArray[np.float64]:
    """The logarithm of each value's factor; for numbers not spoken of, interpolated between those that were."""
    spoken = sorted((float(value), _log(factor)) for value, factor in effects.items() if _is_number(value))
    positions, logs = np.array(spoken).reshape(-1, 2).T
    if len(spoken) > 1 and positions[0] > 0.0:  # sizes are compared by their ratios
        positions = np.log(positions)

    def of(value: ParamValue) -> float:
        if value in effects:
            return _log(effects[value])
        if len(spoken) < 2 or not _is_number(value):
            return 0.0
        position = float(value)
        if spoken[0][0] > 0.0:
            if position <= 0.0:
                return 0.0
            position = float(np.log(position))
        return float(np.interp(position, positions, logs))

    return np.array([of(value) for value in values])


def _is_number(value: ParamValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _where(expression: str, tune_params: TuneParams, value_indices: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Shape `(size,)`: where an expression holds; evaluated once for each combination of the values that it names."""
    named = names_in(expression)
    names = [name for name in tune_params if name in named]
    indices = value_indices[:, [list(tune_params).index(name) for name in names]]
    keys = config_keys(indices.astype(np.uint16), [len(tune_params[name]) for name in names])
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    holds = [
        _holds(expression, {name: tune_params[name][index] for name, index in zip(names, row, strict=True)})
        for row in indices[first].tolist()
    ]
    return np.asarray(np.array(holds, dtype=bool)[which])


def _holds(expression: str, config: Mapping[str, ParamValue]) -> bool:
    try:
        return bool(evaluate_values(expression, config))
    except ValueError:  # of a space that lacks a parameter, or a division by zero
        return False
