"""The strategy's side of a run: Kernel Tuner's own cost function and stop rule over a gateway.

A strategy, whether a module of Kernel Tuner or a wrapped `OptAlg`, is called as
`strategy.tune(searchspace, runner, tuning_options)`. Here are a runner and options for it whose measurements and
budget come from a `Gateway`; so the same few lines serve the trusted process and the sandbox's guest.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Protocol

import numpy as np
from kernel_tuner.interface import Options
from kernel_tuner.runners.runner import Runner as KernelTunerRunner
from kernel_tuner.searchspace import Searchspace
from kernel_tuner.util import (
    CompilationFailedConfig,
    ErrorConfig,
    InvalidConfig,
    RuntimeFailedConfig,
    StopCriterionReached,
    TuningBudget,
)

from llamea_tune.runners.gateway import Gateway
from llamea_tune.spaces.space import FailureKind

_ERRORS: dict[FailureKind, ErrorConfig] = {
    FailureKind.COMPILE: CompilationFailedConfig(),
    FailureKind.RUNTIME: RuntimeFailedConfig(),
    FailureKind.INVALID: InvalidConfig(),
    FailureKind.OTHER: ErrorConfig(),
}


class Tunable(Protocol):
    """What Kernel Tuner takes as `strategy=`: a module of its own, or any object like it."""

    def tune(self, searchspace: Searchspace, runner: Any, tuning_options: Any) -> Any:
        """Search until the budget is gone."""


class GatewayBudget(TuningBudget):  # type: ignore[misc]
    """Kernel Tuner's budget, with the gateway's word in place of a wall clock and counters of its own."""

    def __init__(self, gateway: Gateway) -> None:
        super().__init__()
        self._gateway = gateway

    def is_done(self) -> bool:
        """Whether no further measurement will be made."""
        return self._gateway.done

    def raise_exception_if_done(self) -> None:
        """Raise Kernel Tuner's `StopCriterionReached` once the budget is gone."""
        if self._gateway.done:
            raise StopCriterionReached("budget spent")
        if self._gateway.stalled:
            raise StopCriterionReached("only repeated or invalid requests for a long time")

    def get_fraction_consumed(self) -> float:
        """Fraction of the budget spent, 0 to 1."""
        return self._gateway.spent_fraction

    def get_time_spent(self) -> timedelta:
        """Not known on this side of a gateway; strategies read the fraction."""
        return timedelta(0)


class GatewayRunner(KernelTunerRunner):  # type: ignore[misc]
    """Kernel Tuner's runner interface over a gateway."""

    simulation_mode = True

    def __init__(self, searchspace: Searchspace, gateway: Gateway, objective: str) -> None:
        super().__init__()
        self._searchspace = searchspace
        self._names = searchspace.param_names
        self._gateway = gateway
        self._objective = objective

    def get_device_info(self) -> Any:
        """Unused: the search space is built already."""
        raise RuntimeError("a gateway has no device")

    def get_environment(self, tuning_options: Any) -> dict[str, Any]:  # noqa: ARG002
        """No environment is recorded."""
        return {}

    def run(self, parameter_space: Iterable[Any], tuning_options: Any) -> list[dict[str, Any] | None]:  # noqa: ARG002
        """Measure a batch; configs after the end of the budget give None, as in Kernel Tuner."""
        results = [None if self._gateway.done else self._measure(config) for config in parameter_space]
        if not results:  # Kernel Tuner's cost function drops illegal configs and passes on what is left
            self._gateway.count_invalid()
        return results

    def _measure(self, config: Any) -> dict[str, Any]:
        result: dict[str, Any] = dict(zip(self._names, config, strict=False))
        result.update(compile_time=0.0, verification_time=0.0, benchmark_time=0.0)
        index = self._searchspace.get_param_config_index(tuple(config))
        if index is None:
            self._gateway.count_invalid()
            result["__error__"] = _ERRORS[FailureKind.INVALID]
            return result
        reply = self._gateway.request(int(index))
        result["benchmark_time"] = reply.time_us / 1000.0
        if reply.failure is FailureKind.NONE:
            result[self._objective] = reply.cost
        else:
            result["__error__"] = _ERRORS[reply.failure]
        return result


def run_strategy(
    strategy: Tunable,
    searchspace: Searchspace,
    gateway: Gateway,
    *,
    objective: str = "time",
    strategy_options: Mapping[str, Any] | None = None,
    seed: int,
) -> None:
    """Run a strategy to its end on the strategy's side of a gateway.

    Strategies draw from the global generators of `random` and `numpy.random`; both are seeded here, as Kernel Tuner
    leaves that to its caller.

    Args:
        strategy: A module of Kernel Tuner or an object with its `tune` method.
        searchspace: Kernel Tuner's `Searchspace`, whose indices are the gateway's.
        gateway: Where measurements come from.
        objective: Name of the objective; costs are minimised whatever its direction.
        strategy_options: As for `kernel_tuner.tune_kernel`.
        seed: Seed of the global generators, 0 to 2**32 - 1.

    Raises:
        Exception: Whatever the strategy raises, except Kernel Tuner's `StopCriterionReached`.
    """
    random.seed(seed)
    np.random.seed(seed)
    options = dict(strategy_options or {})
    limits = {key: options[key] for key in ("max_fevals", "time_limit") if key in options}
    tuning_options = Options(
        strategy_options=Options(options),
        objective=[objective],
        objective_higher_is_better=[False],
        budget=GatewayBudget(gateway),
        tune_params=searchspace.tune_params,
        restrictions=None,
        restrictions_unmodified=None,
        verbose=False,
        metrics=None,
        cache={},
        simulation_mode=True,
        seed=seed,
        **limits,
    )
    runner = GatewayRunner(searchspace, gateway, objective)
    try:
        strategy.tune(searchspace, runner, tuning_options)
    except StopCriterionReached:
        return
