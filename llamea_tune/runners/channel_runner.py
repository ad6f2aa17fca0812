"""Kernel Tuner's runner and budget over a channel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from kernel_tuner.searchspace import Searchspace

from llamea_tune.kernel_tuner_internals import (
    CompilationFailedConfig,
    ErrorConfig,
    InvalidConfig,
    RuntimeFailedConfig,
    SimulationDevice,
    StopCriterionReached,
    TuningBudget,
)
from llamea_tune.kernel_tuner_internals import Runner as KernelTunerRunner
from llamea_tune.runners.channel import Channel
from llamea_tune.runners.compute import ComputeClock
from llamea_tune.runners.meter import Reply
from llamea_tune.spaces.space import FailureKind, ParamConfig, ParamValue

_MAX_THREADS = 1_000_000_000

_ERRORS: dict[FailureKind, ErrorConfig] = {
    FailureKind.COMPILE: CompilationFailedConfig(),
    FailureKind.RUNTIME: RuntimeFailedConfig(),
    FailureKind.INVALID: InvalidConfig(),
    FailureKind.OTHER: ErrorConfig(),
}


class Result(Mapping[str, Any]):
    """Kernel Tuner's dictionary for one measurement, made when it is read; a run has thousands, and few are."""

    __slots__ = ("_config", "_names", "_objective", "_reply", "_time_ms")

    def __init__(
        self, names: Sequence[str], config: Sequence[ParamValue], objective: str, reply: Reply, time_ms: float
    ) -> None:
        self._names = names
        self._config = config
        self._objective = objective
        self._reply = reply
        self._time_ms = time_ms

    def copy(self) -> dict[str, Any]:
        """A dictionary of its own."""
        entries: dict[str, Any] = dict(zip(self._names, self._config, strict=False))
        entries.update(compile_time=0.0, verification_time=0.0, benchmark_time=self._time_ms)
        if self._reply.failure is FailureKind.NONE:
            entries[self._objective] = self._reply.cost
        else:
            entries["__error__"] = _ERRORS[self._reply.failure]
        return entries

    def __getitem__(self, name: str) -> Any:
        return self.copy()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.copy())

    def __len__(self) -> int:
        return len(self.copy())


def raise_if_done(channel: Channel) -> None:
    """Raise Kernel Tuner's `StopCriterionReached` once the run should end."""
    if channel.done:
        raise StopCriterionReached("budget spent")
    if channel.stalled:
        raise StopCriterionReached("only repeated or invalid requests for a long time")


class ChannelBudget(TuningBudget):  # type: ignore[misc]
    """Kernel Tuner's budget, with the channel's word in place of a wall clock and counters of its own."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def is_done(self) -> bool:
        """Whether no further measurement will be made."""
        return self._channel.done

    def raise_exception_if_done(self) -> None:
        """Raise Kernel Tuner's `StopCriterionReached` once the budget is gone."""
        raise_if_done(self._channel)

    def get_fraction_consumed(self) -> float:
        """Fraction of the budget spent, 0 to 1."""
        return self._channel.spent_fraction

    def get_time_spent(self) -> timedelta:
        """Not known on this side of a channel; strategies read the fraction."""
        return timedelta(0)


class ChannelRunner(KernelTunerRunner):  # type: ignore[misc]
    """Kernel Tuner's runner interface over a channel."""

    simulation_mode = True

    def __init__(
        self, searchspace: Searchspace, channel: Channel, objective: str, compute: ComputeClock | None
    ) -> None:
        super().__init__()
        self.dev = SimulationDevice(_MAX_THREADS, {"device_name": "channel"}, quiet=True)
        self.channel = channel
        self.compute = compute
        self._searchspace = searchspace
        self._objective = objective
        self._names = searchspace.param_names
        self._visited: dict[int, tuple[ParamConfig, Result]] = {}
        self._grids: dict[float, ScaledGrid] = {}

    def get_device_info(self) -> Any:
        """A device that permits everything, as in Kernel Tuner's simulation: the search space is built already."""
        return self.dev

    def get_environment(self, tuning_options: Any) -> dict[str, Any]:  # noqa: ARG002
        """No environment is recorded."""
        return {}

    def run(self, parameter_space: Iterable[Any], tuning_options: Any) -> list[Result | None]:  # noqa: ARG002
        """Measure a batch; configs after the end of the budget give None, as in Kernel Tuner."""
        return [None if self.channel.done else self._measure(tuple(config)) for config in parameter_space]

    def record(self, index: int, reply: Reply) -> tuple[ParamConfig, Result]:
        """The config just requested, and Kernel Tuner's result for it; only its first visit took time."""
        visited = self._visited.get(index)
        if visited is not None:
            return visited
        config = self._searchspace.list[index]
        self._visited[index] = (config, Result(self._names, config, self._objective, reply, 0.0))
        return config, Result(self._names, config, self._objective, reply, reply.time_us / 1000.0)

    def grid(self, eps: float) -> ScaledGrid:
        """The grid of positions for numeric optimizers, for Kernel Tuner's `eps`."""
        if eps not in self._grids:
            self._grids[eps] = ScaledGrid(self._searchspace.params_values, eps)
        return self._grids[eps]

    def _measure(self, config: tuple[ParamValue, ...]) -> Result:
        index = self._searchspace.get_param_config_index(config)
        if index is None:
            self.channel.count_invalid()
            refused = Reply(float("nan"), FailureKind.INVALID, 0, 0.0, False)
            return Result(self._names, config, self._objective, refused, 0.0)
        return self.record(index, self.channel.request(int(index)))[1]


class ScaledGrid:
    """Kernel Tuner's positions of parameter values on a scale that starts at 0, each value `eps` wide."""

    def __init__(self, values: tuple[tuple[ParamValue, ...], ...], eps: float) -> None:
        """Lay out the grid, as `unscale_and_snap_to_nearest` does for each position anew.

        Args:
            values: Values of each parameter.
            eps: Width of a value.
        """
        self._values = values
        self._centres = np.empty((len(values), max(len(column) for column in values)))
        pad = 0.5 * eps
        for row, column in zip(self._centres, values, strict=True):
            row[: len(column)] = np.linspace(pad, (eps * len(column)) - pad, len(column))
            row[len(column) :] = row[len(column) - 1]

    def snap(self, position: Any) -> tuple[ParamValue, ...]:
        """The param config nearest to a position."""
        offsets = np.asarray(position, dtype=np.float64)[: len(self._values), None]
        nearest = np.abs(self._centres - offsets).argmin(axis=1).tolist()
        return tuple(column[i] for column, i in zip(self._values, nearest, strict=True))
