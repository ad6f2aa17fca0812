"""The contract of an executor: whatever makes runs must do this, wherever it makes them.

Make a subclass in a test module and give it the executor, and a way to lose one of its workers:

    class TestMyExecutor(ExecutorContract):
        def make_executor(self, spaces, jobs):
            return MyExecutor(spaces, jobs=jobs)

        def lose_a_worker(self):
            ...

The processes that an executor starts are looked for among the descendants of this one. Linux only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np
import pytest

from llamea_tune.exceptions import StrategyError
from llamea_tune.execution import Contender, Executor, NamedStrategy, Run, SandboxedCandidate, each_until_failure
from llamea_tune.runners import RunBudget, RunResult, RunState
from llamea_tune.spaces.space import Space
from llamea_tune.testing.processes import alive, descendants_of, wait_until
from llamea_tune.testing.synthetic_spaces import synthetic_space

BUDGET = RunBudget(max_fevals=40)
SPACES = [synthetic_space(0, name="a"), synthetic_space(1, name="b", higher_is_better=True)]
NAMED = NamedStrategy("genetic", "genetic_algorithm", {"popsize": 6})
CANDIDATE = SandboxedCandidate(
    """
import time
from kernel_tuner.strategies.wrapper import OptAlg

class Blind(OptAlg):
    def __init__(self, fails_from=2**32, idle_s=0.0):
        super().__init__()
        self.fails_from = fails_from
        self.idle_s = idle_s

    def __call__(self, func, searchspace):
        time.sleep(self.idle_s)
        if func.tuning_options.seed >= self.fails_from:
            raise ValueError(f"seed {func.tuning_options.seed}")
        while func.budget_spent_fraction < 1:
            func(searchspace.get_random_sample(1)[0])
""",
    "Blind",
    label="blind",
)


def make_runs(*contenders: Contender, seeds: Sequence[int] = range(4)) -> list[Run]:
    """Runs of contenders on all spaces."""
    return [Run(contender, space, seed, BUDGET) for seed in seeds for contender in contenders for space in (0, 1)]


def same(one: RunResult, other: RunResult) -> bool:
    """Whether two results are the same to the last bit."""
    arrays = [(getattr(one.trace, name), getattr(other.trace, name)) for name in ("indices", "costs", "elapsed_us")]
    equal = all(np.array_equal(mine, theirs, equal_nan=True) for mine, theirs in arrays)
    return equal and (one.state, one.reason, one.counts) == (other.state, other.reason, other.counts)


class ExecutorContract:
    """The tests that every executor must pass."""

    chunks_at_once = 1
    """How many chunks of runs a worker may have been given before it is known that a run has failed."""

    def make_executor(self, spaces: Sequence[Space], jobs: int) -> Executor:
        """An executor that makes so many runs at the same time."""
        raise NotImplementedError

    def lose_a_worker(self) -> None:
        """Kill something that makes runs of named strategies, or may."""
        raise NotImplementedError

    @pytest.fixture
    def executor(self) -> Iterator[Executor]:
        """An executor of two jobs."""
        with self.make_executor(SPACES, 2) as executor:
            yield executor

    def test_results_do_not_depend_on_what_is_under_way(self) -> None:
        """One run at a time, three at a time, or in another order: the same results, each under the run it is of."""
        runs = make_runs(NAMED, CANDIDATE)
        with self.make_executor(SPACES, 1) as single, self.make_executor(SPACES, 3) as several:
            expected = dict(single.each(runs))
            assert list(expected) == runs
            for order in (runs, runs[::-1]):
                found = dict(several.each(order))
                assert all(same(found[run], expected[run]) for run in runs)
        assert all(len(result.trace) == 40 for result in expected.values())
        assert len({tuple(result.trace.indices) for result in expected.values()}) == len(runs)

    def test_every_run_has_one_result(self, executor: Executor) -> None:
        """Those that say the same, too; and where there are none, there is no result."""
        runs = make_runs(NAMED, NAMED, seeds=[1])
        made = list(executor.each(runs))
        assert len(made) == 4
        assert {id(run) for run, _ in made} == {id(run) for run in runs}
        results = dict(made)
        assert same(results[runs[0]], results[runs[2]])
        assert list(executor.each([])) == []

    def test_the_next_run_may_depend_on_the_last_result(self, executor: Executor) -> None:
        """None is no end, but a pause until another result is there."""
        ready = make_runs(NAMED, seeds=[0])
        n_made = 0

        def wanted() -> Iterator[Run | None]:
            while n_made < 6:
                yield ready.pop() if ready else None

        for _, result in executor.each(wanted()):
            n_made += 1
            ready.append(Run(CANDIDATE, n_made % 2, int(result.trace.indices[-1]), BUDGET))
        assert n_made >= 6

    def test_a_run_is_taken_when_it_can_be_begun(self, executor: Executor) -> None:
        """No sooner: who gives the runs may have seen what came of all but those under way."""
        n_taken = 0

        def wanted() -> Iterator[Run]:
            nonlocal n_taken
            for run in make_runs(NAMED):
                n_taken += 1
                yield run

        for n_given, _ in enumerate(executor.each(wanted())):
            assert n_taken <= n_given + 2

    @pytest.mark.parametrize(
        ("contender", "reason"),
        [
            (CANDIDATE.with_hyperparameters({"fails_from": 0}), "ValueError: seed 3"),
            (CANDIDATE.with_hyperparameters({"colour": "red"}), "colour"),
            (NAMED.with_hyperparameters({"popsise": 3}), "popsise"),
        ],
    )
    def test_a_failure_is_a_result(self, executor: Executor, contender: Contender, reason: str) -> None:
        """It has a reason, and nothing else is the worse for it."""
        failing, good = Run(contender, 0, 3, BUDGET), make_runs(NAMED, CANDIDATE)
        results = dict(executor.each([failing, *good]))
        assert results[failing].state is RunState.FAILED
        assert reason in results[failing].reason
        assert all(results[run].state is RunState.BUDGET_SPENT for run in good)

    @pytest.mark.parametrize("name", ["no_such_thing", "pyatf:no_such_thing"])
    def test_an_unknown_strategy_is_refused(self, executor: Executor, name: str) -> None:
        """By an error, as no run can be made; the executor is good for others."""
        with pytest.raises(StrategyError, match="no_such_thing"):
            list(executor.each(make_runs(NamedStrategy("x", name))))
        assert len(list(executor.each(make_runs(NAMED)))) == 8

    def test_options_that_make_no_sense_are_refused(self, executor: Executor) -> None:
        """An error from where a run is made comes back as what it is."""
        with pytest.raises(StrategyError, match="above 0"):
            list(executor.each(make_runs(NAMED.with_hyperparameters({"max_fevals": 0}))))
        assert len(list(executor.each(make_runs(NAMED)))) == 8

    def test_the_first_failure_is_the_same_whatever_is_under_way(self) -> None:
        """All before it are made, also where one after it fails sooner."""
        slow = CANDIDATE.with_hyperparameters({"fails_from": 3, "idle_s": 0.5})
        quick = CANDIDATE.with_hyperparameters({"fails_from": 3})
        runs = [Run(slow if seed == 3 else quick, 0, seed, BUDGET) for seed in range(9)]
        for jobs in (1, 3):
            with self.make_executor(SPACES, jobs) as executor:
                results = dict(each_until_failure(executor, runs))
            assert set(results) >= set(runs[:4])
            assert results[runs[3]].reason.startswith("ValueError: seed 3")
            assert all(results[run].state.scorable for run in runs[:3])
            assert len(results) <= 3 + jobs * self.chunks_at_once

    def test_the_first_failure_may_be_the_last_to_end(self) -> None:
        """When those after it are done already."""
        failing = CANDIDATE.with_hyperparameters({"fails_from": 0, "idle_s": 1.0})
        runs = [Run(failing, 0, 1, BUDGET), *make_runs(CANDIDATE, seeds=[1])]
        with self.make_executor(SPACES, 3) as executor:
            results = dict(each_until_failure(executor, runs))
        assert results[runs[0]].state is RunState.FAILED
        assert all(results[run].state.scorable for run in runs[1:] if run in results)

    def test_a_failure_ends_the_runs_after_it(self, executor: Executor) -> None:
        """They are not waited for."""
        lazy = CANDIDATE.with_hyperparameters({"idle_s": 50.0})
        failing = CANDIDATE.with_hyperparameters({"fails_from": 0})
        list(executor.each(make_runs(CANDIDATE)))  # all is started
        started = time.monotonic()
        runs = [Run(failing, 0, 1, BUDGET), *make_runs(lazy)]
        assert [run for run, _ in each_until_failure(executor, runs)] == runs[:1]
        assert time.monotonic() - started < 20.0

    @pytest.mark.parametrize("contender", [NAMED, CANDIDATE], ids=["named", "candidate"])
    def test_giving_up_ends_what_is_under_way(self, executor: Executor, contender: Contender) -> None:
        """The executor is good for others afterwards."""
        runs = [*make_runs(contender, seeds=[1]), *make_runs(CANDIDATE.with_hyperparameters({"idle_s": 50.0}))]
        started = time.monotonic()
        with closing(executor.each(runs)) as results:
            assert next(results)[0].contender is contender
        assert time.monotonic() - started < 20.0
        expected = make_runs(contender)
        assert len(dict(executor.each(expected))) == len(expected)

    def test_a_lost_worker_is_made_good(self, executor: Executor) -> None:
        """Its run is made again or has failed; each run has one result, and those of the others are the same."""
        runs = make_runs(NAMED, seeds=range(20))
        expected = dict(executor.each(runs))
        made = []
        with closing(executor.each(runs)) as results:
            for run, result in results:
                made.append((run, result))
                if len(made) in (5, 11):
                    self.lose_a_worker()
        assert len(made) == len({run for run, _ in made}) == len(runs)
        found = dict(made)
        assert all(found[run].state is RunState.KILLED or same(found[run], expected[run]) for run in runs)
        assert sum(result.state is RunState.KILLED for result in found.values()) <= 2

    @pytest.mark.parametrize("when", ["idle", "busy"])
    def test_closing_ends_all_processes(self, when: str) -> None:
        """Whatever they are doing."""
        before = descendants_of(os.getpid())
        lazy = CANDIDATE.with_hyperparameters({"idle_s": 50.0})
        with self.make_executor(SPACES, 2) as executor:
            list(executor.each(make_runs(NAMED, CANDIDATE)))
            assert wait_until(lambda: descendants_of(os.getpid()) - before)
            if when == "busy":
                results = executor.each([*make_runs(NAMED, seeds=[1]), *make_runs(lazy)])
                next(results)
            started = descendants_of(os.getpid()) - before
        wait_until(lambda: not alive(started))
        assert not alive(descendants_of(os.getpid()) - before)
