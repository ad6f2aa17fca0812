"""pyATF's search techniques as strategies.

A technique proposes coordinates in (0, 1] for each parameter. As in pyATF, they are read along the tree of valid
configs: at each parameter, the values still possible share the interval by the number of configs beneath them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import ceil
from typing import Any

import numpy as np
from kernel_tuner.searchspace import Searchspace

from llamea_tune._imports import require
from llamea_tune.exceptions import StrategyError
from llamea_tune.kernel_tuner_internals import FAILED_COST, CostFunc
from llamea_tune.strategies.outside.library import Library

_TECHNIQUES = {
    "auc_bandit": "AUCBandit",
    "differential_evolution": "DifferentialEvolution",
    "pattern_search": "PatternSearch",
    "random": "Random",
    "round_robin": "RoundRobin",
    "simulated_annealing": "SimulatedAnnealing",
    "torczon": "Torczon",
}


class PyatfTechnique:
    """A search technique of pyATF, to be run like a strategy of Kernel Tuner."""

    def __init__(self, technique: str) -> None:
        """Find the technique.

        Raises:
            StrategyError: There is no such technique.
            MissingDependencyError: pyATF is not installed.
        """
        if technique not in _TECHNIQUES:
            raise StrategyError(f"unknown pyATF technique {technique!r}; choose one of {', '.join(_TECHNIQUES)}")
        self._kind = getattr(require(f"pyatf.search_techniques.{technique}", "pyatf"), _TECHNIQUES[technique])

    def tune(self, searchspace: Searchspace, runner: Any, tuning_options: Any) -> list[Any]:
        """Search until the budget is gone; takes no strategy options."""
        cost_func = CostFunc(searchspace, tuning_options, runner, scaling=False, snap=False)
        tree = ConfigTree(searchspace)
        technique = self._kind()
        technique.initialize(searchspace.num_params)
        while True:
            costs: dict[tuple[float, ...], float | None] = {}
            for coordinates in technique.get_next_coordinates():
                cost = cost_func(tree.config(coordinates), check_restrictions=False)
                costs[coordinates] = None if cost == FAILED_COST else cost
            technique.report_costs(costs)


class ConfigTree:
    """The valid configs as a tree with one layer for each parameter, kept as a sorted table."""

    def __init__(self, searchspace: Searchspace) -> None:
        indices = searchspace.get_list_param_indices_numpy()
        order = np.lexsort(indices.T[::-1])
        self._configs = [searchspace.list[number] for number in order]
        self._columns = [column.tolist() for column in indices[order].T]

    def config(self, coordinates: tuple[float, ...]) -> tuple[Any, ...]:
        """The config at coordinates in (0, 1]."""
        low, high = 0, len(self._configs)
        for column, coordinate in zip(self._columns, coordinates, strict=True):
            if column[low] == column[high - 1]:
                continue  # one value is left, which all coordinates mean
            leaf = low + max(0, min(high - low, ceil(coordinate * (high - low))) - 1)
            value = column[leaf]
            low, high = bisect_left(column, value, low, leaf + 1), bisect_right(column, value, leaf, high)
        return tuple(self._configs[low])


PYATF = Library(
    title="pyATF", module="pyatf", packages=("pyatf",), optimizers=tuple(_TECHNIQUES), strategy=PyatfTechnique
)
