"""Optuna's samplers as strategies.

A failed config is a trial that failed, which samplers leave out. What is no config of the space, where that is refused, is a
trial that breaks a constraint and has the worst cost so far; for samplers that know no constraints it is one that failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any

from llamea_tune._imports import require
from llamea_tune.exceptions import MissingDependencyError, StrategyError
from llamea_tune.strategies.outside.bridge import Answer, BridgedStrategy, Outcome, Outside, bridge_options
from llamea_tune.strategies.outside.library import Library
from llamea_tune.strategies.outside.positions import Grid, Positions


@dataclass(frozen=True)
class _Sampler:
    """A sampler: its class, how it is made, a package that it needs, and whether it heeds constraints."""

    class_name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    needs: str | None = None
    constrained: bool = False


_SAMPLERS: Mapping[str, _Sampler] = MappingProxyType(
    {
        "cmaes": _Sampler("CmaEsSampler", {"with_margin": True}, needs="cmaes"),  # the margin is for whole numbers
        "gp": _Sampler("GPSampler", needs="torch", constrained=True),
        "nsgaii": _Sampler("NSGAIISampler", constrained=True),
        "random": _Sampler("RandomSampler"),
        "tpe": _Sampler("TPESampler", constrained=True),
    }
)
_OPTIONS = bridge_options(Outside.REFUSED, patience=10)


def strategy(name: str) -> BridgedStrategy:
    """The strategy that a sampler is.

    Raises:
        StrategyError: There is no such sampler.
        MissingDependencyError: Optuna, or what the sampler needs besides, is not installed, or Optuna is too old.
    """
    if name not in _SAMPLERS:
        raise StrategyError(f"unknown sampler {name!r} of Optuna; choose one of {', '.join(_SAMPLERS)}")
    optuna: Any = require("optuna", "optuna")
    if not hasattr(optuna.Trial, "set_constraint"):
        message = (
            f"Optuna {optuna.__version__} is too old to compete; install it with: pip install 'llamea-tune[optuna]'"
        )
        raise MissingDependencyError(message)
    if (needs := _SAMPLERS[name].needs) is not None:
        try:
            import_module(needs)  # now, so that it is not taken for the sampler's own compute
        except ImportError as err:
            message = f"Optuna's sampler {name!r} needs {needs} ({err}); install it with: pip install {needs}"
            raise MissingDependencyError(message) from err
    return BridgedStrategy(partial(_Study, optuna, _SAMPLERS[name]), _OPTIONS)


class _Study:
    """A study of Optuna."""

    def __init__(self, optuna: Any, sampler: _Sampler, grid: Grid, seed: int, planned: int) -> None:  # noqa: ARG002
        optuna.logging.set_verbosity(optuna.logging.CRITICAL)
        make = getattr(optuna.samplers, sampler.class_name)
        self._study = optuna.create_study(sampler=make(seed=seed, **sampler.options))
        self._failed = optuna.trial.TrialState.FAIL
        self._constrained = sampler.constrained
        kinds = optuna.distributions
        self._space = {
            parameter.name: kinds.IntDistribution(0, parameter.n_values - 1)
            if parameter.ordered
            else kinds.CategoricalDistribution(range(parameter.n_values))
            for parameter in grid.parameters
        }
        self._trial: Any = None

    def suggest(self, positions: Positions) -> None:
        """See `AskTell`."""
        self._study.enqueue_trial(dict(zip(self._space, positions, strict=True)))

    def ask(self) -> Positions:
        """See `AskTell`."""
        self._trial = self._study.ask(self._space)
        return tuple(self._trial.params[name] for name in self._space)

    def tell(self, answer: Answer) -> None:
        """See `AskTell`."""
        outside = answer.outcome is Outcome.OUTSIDE
        if answer.cost is None or answer.outcome is Outcome.FAILED or (outside and not self._constrained):
            self._study.tell(self._trial, state=self._failed)
            return
        if self._constrained:
            self._trial.set_constraint("outside", float(outside))
        self._study.tell(self._trial, answer.cost)


OPTUNA = Library(
    title="Optuna",
    module="optuna",
    packages=("optuna", "cmaes", "torch"),
    optimizers=tuple(_SAMPLERS),
    strategy=strategy,
    options=_OPTIONS,
)
