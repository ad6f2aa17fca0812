"""Kernel Tuner's own simulation as the oracle: the same strategy, seed and budget, through `tune_kernel`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kernel_tuner.interface
import kernel_tuner.util
import numpy as np
import pytest
from kernel_tuner import tune_kernel
from kernel_tuner.searchspace import Searchspace

from llamea_tune.sandbox.generators import owned_generators
from llamea_tune.spaces import FailureKind, RecordedSpace

ERRORS = {
    FailureKind.COMPILE: "CompilationFailedConfig",
    FailureKind.RUNTIME: "RuntimeFailedConfig",
    FailureKind.INVALID: "InvalidConfig",
    FailureKind.OTHER: "ErrorConfig",
}
TUNE_PARAMS: dict[str, tuple[Any, ...]] = {
    "block_size_x": (16, 32, 64, 128, 256),
    "block_size_y": (1, 2, 4, 8),
    "tile": (1, 2, 3, 4),
    "scale": (0.5, 1.0, 2.0),
    "unroll": (0, 1),
}
RESTRICTIONS = ("block_size_x * block_size_y <= 512", "unroll == 0 or tile > 1")


@dataclass(frozen=True)
class CachedSpace:
    """A space, and the Kernel Tuner cache file that it comes from."""

    space: RecordedSpace
    cache: Path


def record_space(folder: Path, seed: int, *, higher_is_better: bool = False) -> CachedSpace:
    """Make up measurements for all permitted configs, and write them as a cache file."""
    configs = Searchspace({name: list(values) for name, values in TUNE_PARAMS.items()}, list(RESTRICTIONS), 10**9).list
    rng = np.random.default_rng(seed)
    objective = "GFLOP/s" if higher_is_better else "time"
    values = np.exp(rng.normal(0.0, 0.5, len(configs)))
    times_ms = rng.uniform((100.0, 0.0, 10.0), (500.0, 50.0, 100.0), (len(configs), 3))
    kinds = np.where(rng.random(len(configs)) < 0.1, rng.integers(1, 5, len(configs)), 0)
    entries = {}
    for config, value, kind, stages in zip(configs, values.tolist(), kinds.tolist(), times_ms.tolist(), strict=True):
        entry = dict(zip(TUNE_PARAMS, config, strict=True))
        entry |= dict(zip(("compile_time", "verification_time", "benchmark_time"), stages, strict=True))
        entry[objective] = value if kind == FailureKind.NONE else ERRORS[FailureKind(kind)]
        entries[",".join(map(str, config))] = entry
    cache = {
        "device_name": "none",
        "kernel_name": "made_up",
        "problem_size": 1024,
        "tune_params_keys": list(TUNE_PARAMS),
        "tune_params": TUNE_PARAMS,
        "objective": objective,
        "cache": entries,
    }
    path = folder / f"made_up_{seed}_{higher_is_better}.json"
    path.write_text(json.dumps(cache))
    indices = [[values.index(v) for values, v in zip(TUNE_PARAMS.values(), c, strict=True)] for c in configs]
    sign = -1.0 if higher_is_better else 1.0
    space = RecordedSpace(
        name=path.stem,
        kernel_name="made_up",
        device_name="none",
        problem_size=1024,
        tune_params=TUNE_PARAMS,
        restrictions=RESTRICTIONS,
        objective=objective,
        higher_is_better=higher_is_better,
        value_indices=np.array(indices, dtype=np.uint16),
        costs=np.where(kinds == FailureKind.NONE, sign * values, np.nan),
        failures=kinds.astype(np.uint8),
        stage_times_ms=times_ms,
        has_times=True,
        content_hash=path.stem,
        source=str(path),
    )
    return CachedSpace(space, path)


@pytest.fixture
def recorded(tmp_path: Path) -> CachedSpace:
    return record_space(tmp_path, 0)


@pytest.fixture
def kernel_tuner_trace(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[int, float]]]:
    """Config numbers and costs of the first visits that `tune_kernel` makes, its wall clock standing still."""
    caches: dict[Path, Any] = {}
    read = kernel_tuner.util.read_cache

    def read_once(path: str, open_cache: bool = True) -> Any:
        if path not in caches:
            caches[path] = read(path, open_cache=False)
        return caches[path]

    monkeypatch.setattr(kernel_tuner.util, "read_cache", read_once)
    monkeypatch.setattr(kernel_tuner.interface, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(kernel_tuner.util.Timer, "get", lambda self: 0.0)

    def trace(recorded: CachedSpace, strategy: str, options: dict[str, Any], seed: int) -> list[tuple[int, float]]:
        space = recorded.space
        numbers = {space.param_config(number): number for number in range(space.size)}
        with owned_generators(seed):
            random.seed(seed)
            np.random.seed(seed)
            results, _ = tune_kernel(
                space.kernel_name,
                "",
                space.problem_size,
                [],
                {name: list(values) for name, values in space.tune_params.items()},
                restrictions=list(space.restrictions),
                strategy=strategy,
                strategy_options=dict(options),
                objective=space.objective,
                objective_higher_is_better=space.higher_is_better,
                simulation_mode=True,
                cache=str(recorded.cache),
                lang="C",
                seed=seed,
                quiet=True,
            )
        first: dict[int, float] = {}
        for result in results:
            if result is not None:
                number = numbers[tuple(result[name] for name in space.tune_params)]
                cost = np.nan if "__error__" in result else result[space.objective]
                first.setdefault(number, -cost if space.higher_is_better else cost)
        return list(first.items())

    return trace
