"""Fixtures that every room's tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from kernel_tuner.interface import strategy_map

from llamea_tune.testing.ray_clusters import RayCluster, ray_cluster

ROOT = Path(__file__).parent.parent

settings.register_profile("suite", deadline=None)  # a busy machine is no failure
settings.load_profile("suite")


@pytest.fixture(scope="session")
def hub() -> Path:
    """The Auto-Tuning Association's benchmark hub: `$LLAMEA_TUNE_HUB`, or where it lies beside a checkout."""
    path = Path(os.environ.get("LLAMEA_TUNE_HUB", ROOT.parent / "shared" / "data" / "benchmark_hub"))
    if not path.is_dir():
        pytest.skip(
            "the benchmark hub is not here; set LLAMEA_TUNE_HUB to a folder that has its cachefiles/ and kernels/"
        )
    return path


@pytest.fixture(scope="session", autouse=True)
def _compiled_spaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compiled spaces go to a temporary folder, never to the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLAMEA_TUNE_CACHE", str(tmp_path_factory.mktemp("compiled")))
        yield


@pytest.fixture(scope="session")
def cluster() -> Iterator[RayCluster]:
    """A Ray cluster of one node with two CPUs, to which tests may add others."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'llamea-tune[ray]'", exc_type=ImportError)
    with ray_cluster(cpus=2) as started:
        yield started


@pytest.fixture(autouse=True)
def _strategies() -> Iterator[None]:
    """Strategies that a test registers are gone after it."""
    before = set(strategy_map)
    yield
    for name in set(strategy_map) - before:
        del strategy_map[name]
