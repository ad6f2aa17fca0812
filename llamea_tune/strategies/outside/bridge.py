"""The bridge between optimizers that are asked and told, and a search space in which not every combination is a config."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from kernel_tuner.searchspace import Searchspace

from llamea_tune.exceptions import StrategyError
from llamea_tune.kernel_tuner_internals import FAILED_COST, CostFunc
from llamea_tune.strategies.outside.positions import Grid, Positions


class Outside(StrEnum):
    """What becomes of an ask for a combination that is no config of the space."""

    NEAREST = "nearest"  # the nearest config is measured in its place
    REFUSED = "refused"  # nothing is measured, and the optimizer is told that it was bad


class Outcome(StrEnum):
    """What came of an ask."""

    MEASURED = "measured"
    FAILED = "failed"  # the config gave no cost
    OUTSIDE = "outside"  # there is no such config


@dataclass(frozen=True)
class Answer:
    """What an optimizer is told about what it asked for last.

    Attributes:
        outcome: What came of it.
        cost: The cost. Where there is none, the worst that any config had so far; None if none had one yet.
    """

    outcome: Outcome
    cost: float | None


class AskTell(Protocol):
    """An optimizer of a library, on the parameters of a grid."""

    def suggest(self, positions: Positions) -> None:
        """Have the next ask be for these."""

    def ask(self) -> Positions | None:
        """What the optimizer wants to know next; None if it has come to an end."""

    def tell(self, answer: Answer) -> None:
        """Answer what was asked for last."""


Make = Callable[[Grid, int, int], AskTell]
"""Makes an optimizer on a grid, with a seed below 2**31, that plans for so many measurements."""


def bridge_options(outside: Outside, patience: int) -> dict[str, tuple[str, Any]]:
    """The options of strategies behind the bridge, with a library's defaults."""
    kinds = ", ".join(Outside)
    return {
        "outside": (f"What becomes of asks for what is no config of the space, choose any from {kinds}", outside.value),
        "patience": (
            "Asks in a row for nothing new, until the nearest unmeasured config is measured instead",
            patience,
        ),
        "planned_fevals": ("Measurements the optimizer plans for, None for what the budget pays for on average", None),
    }


class BridgedStrategy:
    """An optimizer of a library, to be run like a strategy of Kernel Tuner.

    What was measured before is answered from memory. So that no run goes on for ever, an optimizer that has asked `patience`
    times in a row for nothing new is answered by the unmeasured config that is nearest to what it asks for. A run ends with
    its budget, when all configs are measured, or when the optimizer has come to an end.
    """

    def __init__(self, make: Make, options: Mapping[str, tuple[str, Any]]) -> None:
        """Run what `make` makes, with these options where a run has no others; see `bridge_options`."""
        self._make = make
        self._defaults = {name: default for name, (_, default) in options.items()}

    def tune(self, searchspace: Searchspace, runner: Any, tuning_options: Any) -> list[Any]:
        """Search until the budget is gone; seeded from numpy's global generator, as Kernel Tuner's strategies are.

        Raises:
            StrategyError: An option has a value that it cannot have.
            ValueError: A config of `x0` is none of the space.
        """
        options = {**self._defaults, **tuning_options.strategy_options}
        outside, patience = _outside(options["outside"]), _whole(options, "patience", 0)
        grid = Grid(searchspace)
        first = [_number(grid, config) for config in _configs(options.get("x0"))]
        cost_func = CostFunc(searchspace, tuning_options, runner, scaling=False, snap=False)
        if not grid.parameters:
            cost_func(grid.config(0), check_restrictions=False)
            return list(cost_func.results)
        planned = grid.size if options["planned_fevals"] is None else _whole(options, "planned_fevals", 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimizer = self._make(grid, int(np.random.randint(2**31)), min(planned, grid.size))
            _Dialogue(optimizer, grid, cost_func, outside, patience).hold(first)
        return list(cost_func.results)


class _Dialogue:
    """Asks an optimizer and tells it, in one run."""

    def __init__(self, optimizer: AskTell, grid: Grid, cost_func: Any, outside: Outside, patience: int) -> None:
        self._optimizer = optimizer
        self._grid = grid
        self._cost_func = cost_func
        self._outside = outside
        self._patience = patience
        self._rng = np.random.default_rng(np.random.randint(2**31))
        self._costs: dict[int, float] = {}
        self._worst: float | None = None
        self._in_vain = 0

    def hold(self, first: list[int]) -> None:
        """Ask and tell to the end, about the configs of these numbers first."""
        for number in first:
            self._optimizer.suggest(self._grid.positions(number))
            self._once()
        while len(self._costs) < self._grid.size and self._once():
            pass

    def _once(self) -> bool:
        """One ask and its answer; whether there was one."""
        asked = self._optimizer.ask()
        if asked is None:
            return False
        number = self._answering(asked)
        self._in_vain += 1
        if number is not None and number not in self._costs:
            self._measure(number)
        self._optimizer.tell(self._answer(number))
        return True

    def _answering(self, asked: Positions) -> int | None:
        """Number of the config that an ask is answered by; None for none."""
        number = self._grid.number(asked)
        if number is None and self._outside is Outside.NEAREST:
            number = self._grid.nearest(asked, self._rng)
        known = number is None or number in self._costs
        if known and self._in_vain >= self._patience and len(self._costs) < self._grid.size:
            number = self._grid.nearest(asked, self._rng, besides=self._costs)
        return number

    def _measure(self, number: int) -> None:
        cost = self._costs[number] = self._cost_func(self._grid.config(number), check_restrictions=False)
        self._in_vain = 0
        if cost != FAILED_COST:
            self._worst = cost if self._worst is None else max(self._worst, cost)

    def _answer(self, number: int | None) -> Answer:
        if number is None:
            return Answer(Outcome.OUTSIDE, self._worst)
        cost = self._costs[number]
        return Answer(Outcome.FAILED, self._worst) if cost == FAILED_COST else Answer(Outcome.MEASURED, cost)


def _outside(value: Any) -> Outside:
    if value not in tuple(Outside):
        raise StrategyError(f"the option outside is {value!r}; choose one of {', '.join(Outside)}")
    return Outside(value)


def _whole(options: Mapping[str, Any], name: str, least: int) -> int:
    value = options[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise StrategyError(f"the option {name} is {value!r}; it must be a whole number from {least} on")
    return value


def _configs(x0: Any) -> list[Any]:
    """The configs of `x0`: one, or several."""
    if x0 is None:
        return []
    several = len(x0) > 0 and all(isinstance(config, list | tuple) for config in x0)
    return list(x0) if several else [x0]


def _number(grid: Grid, config: Any) -> int:
    number = grid.number_of(tuple(config))
    if number is None:
        raise ValueError(f"x0 has {config!r}, which is no config of the space")
    return number
