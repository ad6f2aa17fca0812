from __future__ import annotations

import math
import random
import textwrap
from dataclasses import replace

import numpy as np
import pytest
from kernel_tuner.interface import strategy_map
from kernel_tuner.strategies.common import CostFunc

from llamea_tune.exceptions import SettingsError, StrategyError
from llamea_tune.execution import NamedStrategy, Run, SandboxedCandidate
from llamea_tune.execution.named import PreparedSpace, run_named
from llamea_tune.runners import RunBudget
from llamea_tune.runners.trace import RunState
from llamea_tune.scoring import run_seed
from llamea_tune.testing.local_scorer import local_scorer
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACES = [synthetic_space(0, name="a"), synthetic_space(1, name="b", higher_is_better=True)]
PROGRAM = SandboxedCandidate(
    textwrap.dedent("""
    from kernel_tuner.strategies.wrapper import OptAlg

    class Blind(OptAlg):
        def __call__(self, func, searchspace):
            while func.budget_spent_fraction < 1:
                func(searchspace.get_random_sample(1)[0])
    """),
    "Blind",
)


def same_runs(one, other):
    for name in one:
        assert len(one[name]) == len(other[name])
        for mine, theirs in zip(one[name], other[name], strict=True):
            np.testing.assert_array_equal(mine.trace.indices, theirs.trace.indices)
            np.testing.assert_array_equal(mine.trace.elapsed_us, theirs.trace.elapsed_us)
            assert (mine.state, mine.counts) == (theirs.state, theirs.counts)
    return True


@pytest.mark.parametrize("strategy", ["genetic_algorithm", "diff_evo", "pyatf:random"])
def test_results_do_not_depend_on_the_number_of_jobs(strategy):
    pytest.importorskip("pyatf")
    made = []
    for jobs in (1, 3):
        with local_scorer(SPACES, repeats=4, seed=5, jobs=jobs) as scorer:
            made.append((scorer.run(NamedStrategy("x", strategy)), scorer.score(NamedStrategy("x", strategy))))
    assert same_runs(made[0][0], made[1][0])
    assert [entry.score for entry in made[0][1].spaces.values()] == [
        entry.score for entry in made[1][1].spaces.values()
    ]
    assert made[0][1].interval == made[1][1].interval


def test_all_contenders_get_the_same_seeds_and_another_stage_fresh_ones():
    with local_scorer(SPACES, repeats=3, seed=5) as scorer:
        first = scorer.run(NamedStrategy("a", "random_sample"))
        again = scorer.run(NamedStrategy("b", "random_sample"))
        fresh = scorer.run(NamedStrategy("a", "random_sample"), stage="rescore")
        more = scorer.run(NamedStrategy("a", "random_sample"), repeats=5)
    assert same_runs(first, again)
    assert not np.array_equal(first["a"][0].trace.indices, fresh["a"][0].trace.indices)
    assert same_runs(first, {name: runs[:3] for name, runs in more.items()})
    trusted = PreparedSpace(SPACES[0])
    budget = RunBudget(scorer.scales[0].budget.time_limit_us)
    run = Run(NamedStrategy("x", "random_sample"), 0, run_seed(5, SPACES[0].content_hash, 1), budget)
    by_hand = run_named(trusted, run)
    np.testing.assert_array_equal(by_hand.trace.indices, first["a"][1].trace.indices)


def test_programs_are_scored_beside_named_strategies():
    told = []
    with local_scorer(SPACES, repeats=5, seed=5, jobs=2, allow_weak=True) as scorer:
        card = scorer.score(replace(PROGRAM, label="blind"), on_progress=lambda *args: told.append(args))
        named = scorer.score(NamedStrategy("random", "random_sample"))
    assert card.failure is None
    assert card.spaces.keys() == named.spaces.keys()
    assert abs(card.mean) < 1.0
    assert told[-1] == (10, 10)
    assert all(entry.own_compute_ms >= 0.0 for entry in card.spaces.values())


def test_a_failing_program_is_a_failure_with_a_reason():
    broken = SandboxedCandidate(PROGRAM.code.replace("func.budget_spent_fraction < 1", "undefined < 1"), "Blind")
    with local_scorer(SPACES, repeats=5, seed=5, allow_weak=True) as scorer:
        card = scorer.score(replace(broken, label="broken"))
    assert card.failure is RunState.FAILED
    assert "undefined" in card.reason
    assert card.mean is None


@pytest.mark.parametrize(
    "wrong", ["dict(zip(searchspace.param_names, config))", "set(config)", "','.join(map(str, config))"]
)
def test_to_ask_for_what_is_no_config_is_a_failure(wrong):
    code = PROGRAM.code.replace(
        "func(searchspace.get_random_sample(1)[0])", f"config = searchspace.list[0]; func({wrong})"
    )
    with local_scorer(SPACES, repeats=5, seed=5, allow_weak=True) as scorer:
        card = scorer.score(replace(SandboxedCandidate(code, "Blind"), label="mapping"))
    assert card.failure is RunState.FAILED
    assert "func takes a tuple of values, in the order block_size_x, block_size_y" in card.reason
    assert "(line 7 in __call__)" in card.reason


def test_a_named_strategy_that_does_so_fails_too(monkeypatch):
    class Mapping:
        def tune(self, searchspace, runner, tuning_options):
            func = CostFunc(searchspace, tuning_options, runner, snap=False)
            while func.budget_spent_fraction < 1:
                func(dict(zip(searchspace.param_names, searchspace.list[0], strict=True)))

    monkeypatch.setitem(strategy_map, "mapping", Mapping())
    with local_scorer(SPACES, repeats=5, seed=5) as scorer:
        card = scorer.score(NamedStrategy("mapping", "mapping"))
    assert card.failure is RunState.FAILED
    assert "it was given {'block_size_x':" in card.reason


def test_a_failing_strategy_is_a_failure_with_a_reason():
    with local_scorer(SPACES, repeats=3, seed=5, jobs=2) as scorer:
        card = scorer.score(NamedStrategy("typo", "genetic_algorithm", {"popsise": 3}))
        good = scorer.score(NamedStrategy("right", "genetic_algorithm", {"popsize": 4}))
    assert card.failure is RunState.FAILED
    assert "popsise" in card.reason
    assert good.failure is None


def test_progress_reaches_the_end():
    told = []
    with local_scorer(SPACES, repeats=3, seed=5, jobs=2) as scorer:
        scorer.score(NamedStrategy("a", "mls"), on_progress=lambda done, total: told.append((done, total)))
    assert told == [(i, 6) for i in range(1, 7)]


def test_random_search_spends_its_whole_budget_and_the_greedy_ones_more_than_a_hundred():
    with local_scorer(SPACES, repeats=2, seed=5) as scorer:
        for strategy in ("random_sample", "mls", "greedy_ils"):
            runs = scorer.run(NamedStrategy("x", strategy))
            assert {run.state for made in runs.values() for run in made} == {RunState.BUDGET_SPENT}, strategy
            assert all(run.counts.paid > 100 for run in runs["b"])


def test_bayesian_optimization_gets_the_device_that_it_asks_for():
    options = {"max_fevals": 25, "popsize": 10}
    with local_scorer(SPACES[:1], repeats=1, seed=1) as scorer:
        [run] = scorer.run(NamedStrategy("bayes_opt", "bayes_opt", options))[SPACES[0].name]
    assert run.reason == ""
    assert len(run.trace) == 25


def test_options_may_limit_a_run_as_in_kernel_tuner():
    with local_scorer(SPACES[:1], repeats=1, seed=5) as scorer:
        runs = scorer.run(NamedStrategy("x", "genetic_algorithm", {"max_fevals": 7}))
        assert runs["a"][0].counts.paid == 7
        with pytest.raises(StrategyError, match="above 0"):
            scorer.run(NamedStrategy("x", "genetic_algorithm", {"max_fevals": 0}))


def test_own_compute_is_measured_once_a_space_and_charged_when_asked():
    with local_scorer(SPACES, repeats=3, seed=5) as scorer:
        runs = scorer.run(NamedStrategy("x", "adaptive_tabu_greywolf"))
    assert [math.isnan(run.own_compute_s) for run in runs["a"]] == [False, True, True]
    assert runs["a"][0].own_compute_s > 0.0
    with local_scorer(SPACES, repeats=3, seed=5, charge_own_compute=True) as scorer:
        charged = scorer.run(NamedStrategy("x", "adaptive_tabu_greywolf"))
    run, free = charged["a"][1].trace, runs["a"][1].trace
    n = min(len(run), len(free))
    np.testing.assert_array_equal(run.indices[:n], free.indices[:n])
    assert (run.elapsed_us[:n] >= free.elapsed_us[:n]).all()
    assert run.elapsed_us[n - 1] > free.elapsed_us[n - 1]
    assert not any(math.isnan(run.own_compute_s) for run in charged["a"])


def test_the_callers_generators_are_left_alone():
    random.seed(1)
    np.random.seed(1)
    states = random.getstate(), np.random.get_state()[1].tolist()
    with local_scorer(SPACES, repeats=1, seed=5) as scorer:
        scorer.score(NamedStrategy("x", "random_sample"))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"spaces": []}, "distinct names"),
        ({"spaces": [SPACES[0], SPACES[0]]}, "distinct names"),
        ({"repeats": 0}, "at least one repeat"),
        ({"baseline": "none"}, "unknown baseline"),
    ],
)
def test_unusable_settings_are_refused(arguments, message):
    with (
        pytest.raises(SettingsError, match=message),
        local_scorer(**({"spaces": SPACES, "repeats": 1, "seed": 0} | arguments)),
    ):
        pass


@pytest.mark.parametrize("strategy", ["no_such_thing", "pyatf:no_such_thing"])
def test_unknown_strategies_are_refused(strategy):
    with local_scorer(SPACES, repeats=1, seed=0) as scorer, pytest.raises(StrategyError, match="no_such_thing"):
        scorer.score(NamedStrategy("x", strategy))
