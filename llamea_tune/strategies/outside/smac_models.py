"""SMAC3 as a strategy: Bayesian optimization with a random forest, its facade for hyperparameters.

A config that failed, and what is no config of the space where that is refused, is a trial that crashed, at the worst cost so far;
until there is one, such trials are left open.
"""

from __future__ import annotations

import logging
from functools import cache, partial
from typing import Any

from llamea_tune._imports import require
from llamea_tune.exceptions import StrategyError
from llamea_tune.strategies.outside.bridge import Answer, BridgedStrategy, Outcome, Outside, bridge_options
from llamea_tune.strategies.outside.library import Library
from llamea_tune.strategies.outside.positions import Grid, Positions

_OPTIONS = bridge_options(Outside.REFUSED, patience=10)


def strategy(name: str) -> BridgedStrategy:
    """The strategy that a model of SMAC3 is; there is one, `"rf"`.

    Raises:
        StrategyError: There is no such model.
        MissingDependencyError: SMAC3 is not installed.
    """
    if name != "rf":
        raise StrategyError(f"unknown model {name!r} of SMAC3; choose rf")
    require("smac", "smac")
    logging.getLogger("smac").setLevel(logging.CRITICAL)
    return BridgedStrategy(partial(_Optimizer, _facade_without_files()), _OPTIONS)


@cache
def _facade_without_files() -> type[Any]:
    """SMAC's facade, whose optimizer would write down the state of every run, kept from that."""
    from ConfigSpace import Configuration
    from smac import HyperparameterOptimizationFacade
    from smac.main.smbo import SMBO

    class InMemory(SMBO):  # type: ignore[misc]
        def _initialize_state(self) -> None:
            pass

    class Facade(HyperparameterOptimizationFacade):  # type: ignore[misc]
        def _get_optimizer(self) -> SMBO:
            return InMemory(self._scenario, None, self._runhistory, self._intensifier)

    # SMAC goes through sets of them; a hash of their text, which they have, differs from process to process.
    Configuration.__hash__ = lambda self: hash(tuple(self.get_array().tolist()))
    return Facade


class _Optimizer:
    """SMAC3 in one run."""

    def __init__(self, facade: type[Any], grid: Grid, seed: int, planned: int) -> None:
        from ConfigSpace import Categorical, ConfigurationSpace, Integer
        from smac import Scenario

        self._space = ConfigurationSpace(seed=seed)
        for parameter in grid.parameters:
            positions = range(parameter.n_values)
            name, ends = parameter.name, (positions[0], positions[-1])
            self._space.add(Integer(name, ends) if parameter.ordered else Categorical(name, list(positions)))
        self._names = [parameter.name for parameter in grid.parameters]
        scenario = Scenario(self._space, deterministic=True, n_trials=planned, seed=seed)
        self._smac = facade(scenario, logging_level=False)
        self._suggested: list[Any] = []
        self._asked: Any = None
        self._open: list[Any] = []

    def suggest(self, positions: Positions) -> None:
        """See `AskTell`."""
        from ConfigSpace import Configuration
        from smac.runhistory import TrialInfo

        config = Configuration(self._space, values=dict(zip(self._names, positions, strict=True)))
        self._suggested.append(TrialInfo(config, seed=0))

    def ask(self) -> Positions | None:
        """See `AskTell`."""
        from smac.main.exceptions import ConfigurationSpaceExhaustedException

        try:
            self._asked = self._suggested.pop() if self._suggested else self._smac.ask()
        except (StopIteration, ConfigurationSpaceExhaustedException):
            return None
        return tuple(int(self._asked.config[name]) for name in self._names)

    def tell(self, answer: Answer) -> None:
        """See `AskTell`."""
        from smac.runhistory import StatusType, TrialValue

        good = answer.outcome is Outcome.MEASURED
        if not good:
            self._open.append(self._asked)
        if answer.cost is None:
            return
        if good:
            self._smac.tell(self._asked, TrialValue(answer.cost), save=False)
        for trial in self._open:
            self._smac.tell(trial, TrialValue(answer.cost, status=StatusType.CRASHED), save=False)
        self._open = []


SMAC = Library(
    title="SMAC3",
    module="smac",
    packages=("smac", "ConfigSpace"),
    optimizers=("rf",),
    strategy=strategy,
    options=_OPTIONS,
)
