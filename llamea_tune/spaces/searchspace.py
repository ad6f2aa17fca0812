"""Kernel Tuner's `Searchspace` for a list of configs that is known already."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from kernel_tuner.searchspace import Searchspace
from numpy.typing import NDArray

from llamea_tune.spaces.space import ParamConfig, ParamValue

AnySearchspace = TypeVar("AnySearchspace", bound=Searchspace)


def param_configs(
    tune_params: Mapping[str, tuple[ParamValue, ...]], value_indices: NDArray[np.uint16]
) -> list[ParamConfig]:
    """The configs as tuples of values, in order.

    Args:
        tune_params: Values of each tunable parameter, in order.
        value_indices: Shape `(n_configs, n_params)`: index of each config's values.
    """
    columns = [
        [values[i] for i in column.tolist()]
        for values, column in zip(tune_params.values(), value_indices.T, strict=True)
    ]
    return list(zip(*columns, strict=True))


_Column = tuple[str, tuple[ParamValue, ...], "array[int]"]


class _Row:
    """One config as `Searchspace` reads it from a cache: pairs of name and value, made when they are asked for."""

    __slots__ = ("_columns", "_number")

    def __init__(self, columns: list[_Column], number: int) -> None:
        self._columns = columns
        self._number = number

    def items(self) -> list[tuple[str, ParamValue]]:
        number = self._number
        return [(name, values[indices[number]]) for name, values, indices in self._columns]


def build_searchspace(
    tune_params: Mapping[str, tuple[ParamValue, ...]],
    value_indices: NDArray[np.uint16],
    kind: type[AnySearchspace] = Searchspace,
) -> AnySearchspace:
    """Build Kernel Tuner's `Searchspace` over exactly these configs, numbered in this order.

    Args:
        tune_params: Values of each tunable parameter, in order.
        value_indices: Shape `(n_configs, n_params)`: index of each config's values.
        kind: The class to build: `Searchspace`, or one that derives from it.
    """
    columns: list[_Column] = [
        (name, values, array("H", np.ascontiguousarray(indices, dtype=np.uint16).tobytes()))
        for (name, values), indices in zip(tune_params.items(), value_indices.T, strict=True)
    ]
    rows = {number: _Row(columns, number) for number in range(len(value_indices))}
    built: AnySearchspace = kind(
        None,
        None,
        None,
        from_cache={"tune_params": {name: list(values) for name, values in tune_params.items()}, "cache": rows},
    )
    return built
