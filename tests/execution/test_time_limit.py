"""A named strategy that goes on and on is ended at its time limit, and is a failure like a candidate's."""

from __future__ import annotations

import time

import pytest
from kernel_tuner.interface import strategy_map

from llamea_tune.execution import Limits, NamedStrategy
from llamea_tune.runners.trace import RunState
from llamea_tune.testing.live_spaces import pretend_live
from llamea_tune.testing.local_scorer import local_scorer
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACES = [synthetic_space(0, name="a"), synthetic_space(1, name="b")]


class Slow:
    """Measures one config, and then computes or waits for so long."""

    def __init__(self, seconds, wait):
        self._options = {}
        self.seconds, self.wait = seconds, wait

    def tune(self, searchspace, runner, tuning_options):
        runner.run([searchspace.list[0]], tuning_options)
        if self.wait:
            time.sleep(self.seconds)
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            pass


@pytest.mark.parametrize("wait", [True, False])
def test_a_strategy_that_takes_too_long_has_timed_out(monkeypatch, wait):
    monkeypatch.setitem(strategy_map, "slow", Slow(60, wait))
    with local_scorer(SPACES, repeats=3, seed=5, jobs=2, limits=Limits(named_s=1.0)) as scorer:
        started = time.monotonic()
        card = scorer.score(NamedStrategy("slow", "slow"))
        assert time.monotonic() - started < 20
        assert (card.failure, card.reason) == (RunState.TIMED_OUT, "ran longer than 1 s")
        assert card.mean is None
        assert scorer.score(NamedStrategy("mls", "mls")).mean is not None


def test_the_limit_is_for_each_run(monkeypatch):
    monkeypatch.setitem(strategy_map, "slow", Slow(0.7, wait=True))
    with local_scorer(SPACES, repeats=2, seed=5, limits=Limits(named_s=2.5)) as scorer:
        assert scorer.score(NamedStrategy("slow", "slow")).failure is None


def test_live_measurements_do_not_count():
    live = pretend_live(SPACES[0], sample=80, seconds=0.4)
    with local_scorer([live], repeats=1, seed=5, limits=Limits(named_s=1.5)) as scorer:
        [run] = scorer.run(NamedStrategy("random", "random_sample", {"max_fevals": 6}))[live.name]
    assert (run.state, run.counts.paid) == (RunState.BUDGET_SPENT, 6)
