"""Kernel Tuner's `Searchspace` for a list of configs that is known already."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from kernel_tuner.searchspace import Searchspace
from numpy.typing import NDArray

from llamea_tune.spaces.space import ParamConfig, ParamValue


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


def build_searchspace(
    tune_params: Mapping[str, tuple[ParamValue, ...]], value_indices: NDArray[np.uint16]
) -> Searchspace:
    """Build Kernel Tuner's `Searchspace` over exactly these configs, numbered in this order.

    Args:
        tune_params: Values of each tunable parameter, in order.
        value_indices: Shape `(n_configs, n_params)`: index of each config's values.
    """
    names = tuple(tune_params)
    configs = param_configs(tune_params, value_indices)
    cache = {number: dict(zip(names, config, strict=True)) for number, config in enumerate(configs)}
    return Searchspace(
        None,
        None,
        None,
        from_cache={"tune_params": {name: list(values) for name, values in tune_params.items()}, "cache": cache},
    )
