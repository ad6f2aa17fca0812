"""Small spaces and a benchmark on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmark_samples import NAMES, SETTINGS

from llamea_tune.execution import make_contender
from llamea_tune.scoring.benchmarking import Benchmark, run_benchmark
from llamea_tune.scoring.results_store import ResultsStore
from llamea_tune.spaces.space import RecordedSpace
from llamea_tune.testing.synthetic_spaces import synthetic_space


@pytest.fixture(scope="session")
def small_spaces() -> list[RecordedSpace]:
    """Two spaces: one minimised, one maximised, with failing configs in both."""
    return [
        synthetic_space(1, name="small/one", failing=0.1),
        synthetic_space(2, name="small/two", higher_is_better=True),
    ]


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> ResultsStore:
    """Where the shared benchmark's runs are kept."""
    return ResultsStore(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="session")
def outcome(small_spaces: list[RecordedSpace], store: ResultsStore) -> Benchmark:
    """Three strategies on the two spaces."""
    return run_benchmark([make_contender(name) for name in NAMES], small_spaces, SETTINGS, store=store)


@pytest.fixture
def strategy_file(tmp_path: Path) -> Path:
    """A file with a class that samples, and one that fails on spaces whose objective is named GFLOP/s."""
    path = tmp_path / "candidates.py"
    path.write_text(
        '''
from kernel_tuner.strategies.wrapper import OptAlg


class Sampler(OptAlg):
    """Asks for random configs."""

    def __init__(self, batch=1):
        self.batch = batch

    def __call__(self, func, searchspace):
        while func.budget_spent_fraction < 1:
            for config in searchspace.get_random_sample(self.batch):
                func(config)


class Picky(OptAlg):
    """Refuses spaces whose costs are negative."""

    def __call__(self, func, searchspace):
        for config in searchspace.get_random_sample(20):
            if func(config) < 0:
                raise RuntimeError("no <negative> costs, please")
'''
    )
    return path
