"""Nevergrad's optimizers as strategies.

A config that failed, and what is no config of the space where that is refused, has the worst cost so far; as long as there is
none, an infinite one, of which Nevergrad makes a large number. A parameter that is alone is a choice, ordered or not: in a space
of one dimension, which a range of numbers would be, the first run of CMA changes all later ones of the process.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from math import inf
from typing import Any

import numpy as np

from llamea_tune._imports import require
from llamea_tune.exceptions import StrategyError
from llamea_tune.strategies.outside.bridge import Answer, BridgedStrategy, Outside, bridge_options
from llamea_tune.strategies.outside.library import Library
from llamea_tune.strategies.outside.positions import Grid, Positions

_OPTIONS = bridge_options(Outside.NEAREST, patience=10)


def strategy(name: str) -> BridgedStrategy:
    """The strategy that an optimizer of Nevergrad's registry is.

    Raises:
        StrategyError: There is no such optimizer.
        MissingDependencyError: Nevergrad is not installed.
    """
    nevergrad: Any = require("nevergrad", "nevergrad")
    registry = nevergrad.optimizers.registry
    if name not in registry:
        from difflib import get_close_matches

        near = get_close_matches(name, registry, n=3) or NEVERGRAD.optimizers
        raise StrategyError(f"unknown optimizer {name!r} of Nevergrad; it has {', '.join(near)}, and others")
    return BridgedStrategy(partial(_Optimizer, nevergrad, registry[name]), _OPTIONS)


class _Optimizer:
    """An optimizer of Nevergrad."""

    def __init__(self, nevergrad: Any, kind: Any, grid: Grid, seed: int, planned: int) -> None:
        self._not_supported = nevergrad.errors.TellNotAskedNotSupportedError
        p = nevergrad.p
        several = len(grid.parameters) > 1
        kinds = (p.TransitionChoice if parameter.ordered and several else p.Choice for parameter in grid.parameters)
        choices = [make(range(parameter.n_values)) for make, parameter in zip(kinds, grid.parameters, strict=True)]
        space = p.Tuple(*choices)
        space.random_state = np.random.RandomState(seed)
        self._optimizer = kind(space, budget=planned)
        self._candidate: Any = None

    def suggest(self, positions: Positions) -> None:
        """See `AskTell`."""
        self._optimizer.suggest(positions)

    def ask(self) -> Positions | None:
        """See `AskTell`; a design of experiments, alone or in a portfolio, ends after as many asks as it was made for."""
        over = self._optimizer.num_ask >= self._optimizer.budget
        if over and self._optimizer.one_shot:
            return None
        try:
            self._candidate = self._optimizer.ask()
        except AssertionError:
            if not over:
                raise
            return None
        return tuple(int(position) for position in self._candidate.value)

    def tell(self, answer: Answer) -> None:
        """See `AskTell`; optimizers that cannot learn from a suggestion are not told of it."""
        with suppress(self._not_supported):
            self._optimizer.tell(self._candidate, inf if answer.cost is None else answer.cost)


NEVERGRAD = Library(
    title="Nevergrad",
    module="nevergrad",
    packages=("nevergrad", "cma", "bayesian-optimization", "directsearch"),
    optimizers=(
        *("NGOpt", "OnePlusOne", "DiscreteOnePlusOne", "PortfolioDiscreteOnePlusOne", "DiscreteLenglerOnePlusOne"),
        *("DoubleFastGADiscreteOnePlusOne", "CMA", "DE", "PSO"),
    ),
    strategy=strategy,
    options=_OPTIONS,
    more_optimizers=True,
)
