from __future__ import annotations

import gzip
from importlib.util import find_spec

import numpy as np
import pytest
from kernel_tuner_oracle import CachedSpace, record_space

from llamea_tune.execution import NamedStrategy, Run
from llamea_tune.execution.named import PreparedSpace, run_named
from llamea_tune.runners import RunBudget
from llamea_tune.spaces import load_space

STRATEGIES = [
    "random_sample",
    "minimize",
    "basinhopping",
    "diff_evo",
    "genetic_algorithm",
    "greedy_mls",
    "ordered_greedy_mls",
    "greedy_ils",
    "dual_annealing",
    "mls",
    "pso",
    "simulated_annealing",
    "firefly_algorithm",
    "hybrid_vndx",
    "adaptive_tabu_greywolf",
    "nsga2",
    "nsga3",
]
OPTIONS = {"random_sample": {"fraction": 0.5}}


def assert_same(kernel_tuner_trace, trusted, recorded, strategy, seed, budget, cold):
    limited = "greedy" in strategy or strategy in ("mls", "nsga2", "nsga3")
    options = dict(OPTIONS.get(strategy, {"max_fevals": 100} if limited else {}))
    limits = {}
    if budget.max_fevals is not None:
        limits["max_fevals"] = budget.max_fevals
    if budget.time_limit_us is not None:
        limits["time_limit"] = budget.time_limit_us / 1e6
    expected = kernel_tuner_trace(recorded, strategy, options | limits, seed)
    run = run_named(trusted, Run(NamedStrategy(strategy, strategy, options), 0, seed, budget, cold=cold))
    assert run.state.scorable, run.reason
    np.testing.assert_array_equal(run.trace.indices, [number for number, _ in expected])
    np.testing.assert_array_equal(run.trace.costs, [cost for _, cost in expected])
    assert len(expected) > 1


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "budget", [RunBudget(max_fevals=40), RunBudget(time_limit_us=12_000_000)], ids=["max_fevals", "time_limit"]
)
def test_visits_the_same_configs_in_the_same_order(kernel_tuner_trace, recorded, strategy, budget):
    trusted = PreparedSpace(recorded.space)
    for seed in range(3):
        assert_same(kernel_tuner_trace, trusted, recorded, strategy, seed, budget, cold=seed == 0)


@pytest.mark.parametrize("strategy", ["genetic_algorithm", "simulated_annealing", "diff_evo", "pso"])
def test_maximises_as_kernel_tuner_does(kernel_tuner_trace, tmp_path, strategy):
    recorded = record_space(tmp_path, 1, higher_is_better=True)
    trusted = PreparedSpace(recorded.space)
    assert_same(kernel_tuner_trace, trusted, recorded, strategy, 7, RunBudget(max_fevals=60), cold=False)


def test_brute_force_visits_all_configs_in_the_same_order(kernel_tuner_trace, recorded):
    trusted = PreparedSpace(recorded.space)
    assert_same(kernel_tuner_trace, trusted, recorded, "brute_force", 0, RunBudget(), cold=False)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_visits_the_same_configs_on_the_hub(kernel_tuner_trace, tmp_path, hub, strategy):
    for name in ("convolution_milo/A4000", "dedispersion_milo/A4000", "pnpoly/RTX_3090"):
        compressed = hub / "cachefiles" / f"{name}.json.gz"
        cache = tmp_path / f"{name.replace('/', '_')}.json"
        cache.write_bytes(gzip.decompress(compressed.read_bytes()))
        recorded = CachedSpace(load_space(compressed), cache)
        trusted = PreparedSpace(recorded.space)
        limit_us = int(100 * np.median(recorded.space.evaluation_times_s) * 1e6)
        for seed in range(5):
            for budget in (RunBudget(max_fevals=100), RunBudget(time_limit_us=limit_us)):
                assert_same(kernel_tuner_trace, trusted, recorded, strategy, seed, budget, cold=False)


def test_every_strategy_of_kernel_tuner_is_compared_or_excused():
    from kernel_tuner.interface import _STRATEGY_IMPORTS

    excused = {
        "brute_force",  # takes no budget; compared by itself
        "bayes_opt",  # reads the wall clock
        "skopt",  # its package is no dependency
        "pyatf_strategies",  # fails with every released pyATF
    }
    assert set(STRATEGIES) | excused == set(_STRATEGY_IMPORTS)
    assert find_spec("kernel_tuner.strategies.bayes_opt") is not None
