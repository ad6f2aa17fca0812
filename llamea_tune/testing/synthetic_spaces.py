"""Synthetic search spaces for tests: small, made on the spot, with known properties."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import product

import numpy as np

from llamea_tune.spaces.space import FailureKind, ParamValue, RecordedSpace

_TUNE_PARAMS: dict[str, tuple[ParamValue, ...]] = {
    "block_size_x": (16, 32, 64, 128, 256),
    "block_size_y": (1, 2, 4, 8),
    "tile": (1, 2, 3, 4),
    "scale": (0.5, 1.0, 2.0),
    "unroll": (False, True),
    "method": ("row", "column", "block"),
}


def synthetic_space(
    seed: int,
    *,
    name: str = "synthetic/cpu",
    tune_params: dict[str, tuple[ParamValue, ...]] | None = None,
    kept: float = 0.7,
    failing: float = 0.05,
    higher_is_better: bool = False,
) -> RecordedSpace:
    """Make a search space with integer, float, boolean and string parameters and a smooth landscape with noise.

    Args:
        seed: Seed of everything random in it.
        name: Its name.
        tune_params: Parameters and their values; 1,440 combinations by default.
        kept: Fraction of the combinations that are permitted.
        failing: Fraction of the permitted configs that fail, in all the ways there are.
        higher_is_better: Whether the objective is maximised; costs are then negative.
    """
    rng = np.random.default_rng(seed)
    params = tune_params or _TUNE_PARAMS
    grid = np.array(list(product(*(range(len(values)) for values in params.values()))), dtype=np.uint16)
    keep = rng.random(len(grid)) < kept
    keep[rng.integers(len(grid))] = True
    indices = grid[keep]
    n_configs = len(indices)

    effects = [rng.normal(0.0, 0.3, len(values)) for values in params.values()]
    log_cost = sum(effect[indices[:, i]] for i, effect in enumerate(effects)) + rng.normal(0.0, 0.05, n_configs)
    costs = np.exp(log_cost)
    if higher_is_better:
        costs = -100.0 / costs
    failures = np.zeros(n_configs, dtype=np.uint8)
    failed = rng.random(n_configs) < failing
    failed[np.argmin(costs)] = False
    failures[failed] = rng.integers(FailureKind.COMPILE, FailureKind.OTHER + 1, int(failed.sum()))
    costs[failed] = np.nan
    stage_times_ms = rng.uniform((100.0, 0.0, 10.0), (500.0, 50.0, 100.0), (n_configs, 3))

    return RecordedSpace(
        name=name,
        kernel_name="synthetic",
        device_name="none",
        problem_size=(1024, 1024),
        tune_params=params,
        restrictions=(),
        objective="GFLOP/s" if higher_is_better else "time",
        higher_is_better=higher_is_better,
        value_indices=indices,
        costs=costs,
        failures=failures,
        stage_times_ms=stage_times_ms,
        has_times=True,
        content_hash=hashlib.sha256(indices.tobytes() + costs.tobytes() + stage_times_ms.tobytes()).hexdigest(),
        source="synthetic",
    )


def on_another_device(space: RecordedSpace, seed: int, *, device_name: str, noise: float = 0.1) -> RecordedSpace:
    """The same kernel as if measured on another device: twice as slow, and not quite alike.

    Args:
        space: The space.
        seed: Seed of how they differ.
        device_name: Name of the device, and of the space.
        noise: Standard deviation of the logarithm of what they differ by.
    """
    rng = np.random.default_rng(seed)
    return replace(
        space,
        name=f"{space.name.partition('/')[0]}/{device_name}",
        device_name=device_name,
        costs=space.costs * 2.0 * np.exp(rng.normal(0.0, noise, space.size)),
        content_hash=hashlib.sha256(f"{space.content_hash} {seed} {device_name} {noise}".encode()).hexdigest(),
        source=f"{device_name}.json",
    )
