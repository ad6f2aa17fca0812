"""A search space as optimizers of other libraries see it: one parameter for each tunable parameter, of positions of values.

Numbers are put in order, and their parameter is a range of whole numbers, which says that neighbouring values are alike; how far
apart they are is left out, since tunable parameters mostly grow by factors. Texts and truth values have no order, so their
parameter is a choice. Values that no config has, and parameters with one value, are left out.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from kernel_tuner.searchspace import Searchspace
from numpy.typing import NDArray

Positions = tuple[int, ...]
"""The position of a config's value in each parameter, from 0."""


class Parameter(NamedTuple):
    """A parameter for an optimizer.

    Attributes:
        name: Its name.
        n_values: How many positions it has, at least two.
        ordered: Whether they are in an order.
    """

    name: str
    n_values: int
    ordered: bool


class Grid:
    """All combinations of positions, some of which are configs of the space.

    Attributes:
        parameters: What optimizers are given.
        size: How many configs there are.
    """

    def __init__(self, searchspace: Searchspace) -> None:
        self._configs = searchspace.list
        self._lookup = searchspace.get_list_dict()
        self.size = len(self._configs)
        self.parameters: list[Parameter] = []
        self._values: list[tuple[int, list[Any]]] = []  # place in a config, and values by position
        columns = []
        indices = searchspace.get_list_param_indices_numpy()
        for place, (name, values) in enumerate(searchspace.tune_params.items()):
            present, column = np.unique(indices[:, place], return_inverse=True)
            if len(present) == 1:
                continue
            own = [values[index] for index in present]
            ordered = all(isinstance(value, int | float) and not isinstance(value, bool) for value in own)
            if ordered:
                column = np.argsort(np.argsort(own))[column]
                own.sort()
            self.parameters.append(Parameter(name, len(own), ordered))
            self._values.append((place, own))
            columns.append(column.astype(np.int32))
        self._table: NDArray[np.int32] = np.array(columns, dtype=np.int32).reshape(len(columns), self.size)

    def config(self, number: int) -> Any:
        """The config of a number."""
        return self._configs[number]

    def number_of(self, config: Any) -> int | None:
        """Number of a config, None if it is none of the space."""
        number: int | None = self._lookup.get(config)
        return number

    def positions(self, number: int) -> Positions:
        """Where the config of a number is."""
        return tuple(self._table[:, number].tolist())

    def number(self, positions: Positions) -> int | None:
        """Number of the config at these positions, None if they are outside the space."""
        config = list(self._configs[0])  # for the values that all have
        for (place, values), position in zip(self._values, positions, strict=True):
            config[place] = values[position]
        return self.number_of(tuple(config))

    def nearest(self, positions: Positions, rng: np.random.Generator, besides: Collection[int] = ()) -> int:
        """Number of the config nearest to positions: fewest parameters differ, then by the fewest steps, then any of these.

        A step leads to the next of ordered values, or to any of the others.

        Args:
            positions: Inside or outside of the space.
            rng: Chooses among those that are equally near.
            besides: Numbers of configs to leave out; not all of them.
        """
        differing = np.zeros(self.size, dtype=np.int64)
        steps = np.zeros(self.size, dtype=np.int64)
        for parameter, column, position in zip(self.parameters, self._table, positions, strict=True):
            differs = column != position
            differing += differs
            steps += np.abs(column - position) if parameter.ordered else differs
        distance = differing * (1 + steps.max()) + steps
        if besides:
            distance[np.fromiter(besides, dtype=np.int64)] = np.iinfo(np.int64).max
        return int(rng.choice(np.flatnonzero(distance == distance.min())))
