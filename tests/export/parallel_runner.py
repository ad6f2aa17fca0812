"""Kernel Tuner's runner for several GPUs, without GPUs and without Ray: its own code, on jobs that are done in this process."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from kernel_tuner.interface import Options, tune_kernel
from kernel_tuner.util import RuntimeFailedConfig

from llamea_tune.spaces.space import FailureKind, ParamConfig, RecordedSpace

SECONDS = 1.0  # what each measurement takes


class Machine:
    """A machine with some GPUs, on which a recorded space is measured.

    Attributes:
        batches: The configs that the strategy asked for at the same time, for each time.
        measured: The configs that were measured, in the order in which they were started.
        last_start_s: When the last of them was started, on the budget's clock.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, space: RecordedSpace) -> None:
        parallel = pytest.importorskip(
            "kernel_tuner.runners.parallel", reason="ray is not installed", exc_type=ImportError
        )
        self._space = space
        self._numbers = {space.param_config(number): number for number in range(space.size)}
        self.batches: list[list[ParamConfig]] = []
        self.measured: list[ParamConfig] = []
        self.last_start_s = 0.0
        self._budget: Any = None
        self._workers = 1
        ray = SimpleNamespace(is_initialized=lambda: True, get=lambda job: job.result, wait=_wait)
        monkeypatch.setattr(parallel, "ray", ray)
        monkeypatch.setattr(parallel, "WorkerActor", SimpleNamespace(remote=lambda *_: _Actor(self)))
        device = Options(max_threads=1_000_000_000)  # as in simulation, where it decides how configs are numbered
        monkeypatch.setattr(parallel.ParallelRunner, "get_device_info", lambda _: device)
        run = parallel.ParallelRunner.run

        def noting_run(runner: Any, parameter_space: Any, tuning_options: Any) -> Any:
            self._budget = tuning_options.budget
            self.batches.append([tuple(config) for config in parameter_space])
            self._workers = len(runner.workers)
            return run(runner, parameter_space, tuning_options)

        monkeypatch.setattr(parallel.ParallelRunner, "run", noting_run)

    def tune(self, strategy: Any, gpus: int, **strategy_options: Any) -> list[ParamConfig]:
        """The configs that `tune_kernel(parallel=gpus)` has results of."""
        self.batches.clear()
        self.measured.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results, _ = tune_kernel(
                self._space.kernel_name,
                f"float {self._space.kernel_name}(int n) {{ return 0.0f; }}",
                self._space.problem_size,
                [np.int32(1)],
                {name: list(values) for name, values in self._space.tune_params.items()},
                restrictions=[self._permits],
                lang="C",
                metrics={"rate": lambda result: 1.0 / result["time"]},
                quiet=True,
                parallel=gpus,
                strategy=strategy,
                strategy_options=strategy_options,
            )
        return [tuple(result[name] for name in self._space.param_names) for result in results]

    def measure(self, params: dict[str, Any]) -> dict[str, Any]:
        """What one GPU makes of a config; a number of GPUs take as much less time for as many."""
        config = tuple(params.values())
        self.measured.append(config)
        self.last_start_s = self._budget.get_time_spent().total_seconds()
        self._budget.add_time(seconds=SECONDS / self._workers)
        number = self._numbers[config]
        outcome: dict[str, Any] = {"time": float(self._space.costs[number])}
        if self._space.failures[number] != FailureKind.NONE:
            outcome = {"__error__": RuntimeFailedConfig()}
        return {**params, **outcome, "compile_time": 900.0, "verification_time": 0.0, "benchmark_time": 100.0}

    def _permits(self, *values: Any, **named: Any) -> bool:
        return (values or tuple(named[name] for name in self._space.param_names)) in self._numbers


class _Job:
    def __init__(self, result: Any) -> None:
        self.result = result


class _Actor:
    """In place of Ray's handle of `WorkerActor`."""

    def __init__(self, machine: Machine) -> None:
        self.run = SimpleNamespace(remote=lambda params: _Job(machine.measure(params)))
        self.get_environment = SimpleNamespace(remote=lambda: _Job({"device_name": "recorded"}))
        self.shutdown = SimpleNamespace(remote=lambda: None)


def _wait(jobs: list[_Job], num_returns: int = 1, timeout: float | None = None) -> tuple[list[_Job], list[_Job]]:
    """As `ray.wait`; for jobs that are done the last comes first, as no order is promised."""
    return ([], []) if not jobs else (jobs[-1:], jobs[:-1])
