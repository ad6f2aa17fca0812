"""Writes search spaces as Kernel Tuner cache files, and tunes on them in Kernel Tuner's own simulation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kernel_tuner
import numpy as np

from llamea_tune.spaces.space import FailureKind, ParamValue, RecordedSpace

ERROR_NAMES = {
    FailureKind.COMPILE: "CompilationFailedConfig",
    FailureKind.RUNTIME: "RuntimeFailedConfig",
    FailureKind.INVALID: "InvalidConfig",
    FailureKind.OTHER: "ErrorConfig",
}
_STAGES = ("compile_time", "verification_time", "benchmark_time")


def write_cache(space: RecordedSpace, path: Path) -> Path:
    """Write a space as a closed Kernel Tuner cache file, in the format of Kernel Tuner 1.4 and later.

    Args:
        space: The space.
        path: Where to; its name should end in `.json`.

    Returns:
        The path.
    """
    content = {
        "device_name": space.device_name,
        "kernel_name": space.kernel_name,
        "problem_size": space.problem_size,
        "tune_params_keys": list(space.param_names),
        "tune_params": {name: list(values) for name, values in space.tune_params.items()},
        "objective": [space.objective],
        "cache": dict(_entry(space, index) for index in range(space.size)),
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def _entry(space: RecordedSpace, index: int) -> tuple[str, dict[str, Any]]:
    config = space.param_config(index)
    entry: dict[str, Any] = dict(zip(space.param_names, config, strict=True))
    failure = FailureKind(space.failures[index])
    if failure is FailureKind.NONE:
        value = float(space.costs[index])
        value = -value if space.higher_is_better else value
        entry |= {space.objective: value, "times": [value]}
    else:
        entry |= {space.objective: ERROR_NAMES[failure], "__error__": ERROR_NAMES[failure]}
    entry |= dict(zip(_STAGES, space.stage_times_ms[index].tolist(), strict=True))
    entry |= {"strategy_time": 0.0, "framework_time": 0.0, "timestamp": "2026-01-01 00:00:00+00:00"}
    return ",".join(str(value) for value in config), entry


def simulate(
    strategy: Any, space: RecordedSpace, cache: Path, strategy_options: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Tune on a cache file with Kernel Tuner's own simulation.

    Args:
        strategy: Name or object, as for `kernel_tuner.tune_kernel`.
        space: The space.
        cache: Its cache file; see `write_cache`.
        strategy_options: As for `kernel_tuner.tune_kernel`.

    Returns:
        Kernel Tuner's results, one dictionary for each config that the strategy asked for.
    """
    permitted = {space.param_config(index) for index in range(space.size)}

    def is_permitted(*values: ParamValue, **named: ParamValue) -> bool:
        """Kernel Tuner passes values in order when it builds the space, and by name when it checks a config later."""
        return (values or tuple(named[name] for name in space.param_names)) in permitted

    results, _ = kernel_tuner.tune_kernel(
        space.kernel_name,
        f"float {space.kernel_name}(int n) {{ return 0.0f; }}",
        space.problem_size,
        [np.int32(1)],
        {name: list(values) for name, values in space.tune_params.items()},
        restrictions=[is_permitted],
        lang="C",
        objective=space.objective,
        objective_higher_is_better=space.higher_is_better,
        cache=str(cache),
        simulation_mode=True,
        quiet=True,
        strategy=strategy,
        strategy_options=strategy_options or {},
    )
    return list(results)
