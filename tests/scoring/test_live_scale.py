"""Scores on live spaces, whose scale comes from a sample."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from llamea_tune.exceptions import SettingsError
from llamea_tune.execution.named import PreparedSpace
from llamea_tune.runners import RunBudget
from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.runners.trace import Trace
from llamea_tune.scoring import score, space_budget, space_scale
from llamea_tune.spaces import describe
from llamea_tune.testing.live_spaces import pretend_live
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACE = synthetic_space(3)
TIMES_US = measurement_times_us(SPACE)


def random_searches(limit_us: int, n: int, seed: int) -> Iterator[Trace]:
    rng = np.random.default_rng(seed)
    for _ in range(n):
        order = rng.permutation(SPACE.size)
        elapsed = np.cumsum(TIMES_US[order])
        kept = order[: np.searchsorted(elapsed, limit_us) + 1]
        yield Trace(kept, SPACE.costs[kept], elapsed[: len(kept)])


def test_random_search_scores_0_over_many_samples():
    scores = []
    for seed in range(25):
        live = pretend_live(SPACE, sample=80, seed=seed)
        scale = space_scale(live).latest()
        scores.append(score(scale, list(random_searches(scale.budget.time_limit_us, 200, seed + 1000))))
    assert abs(np.mean(scores)) < 0.12
    assert np.std(scores) < 0.3  # what another sample would change, for all strategies alike


def test_a_sample_of_everything_gives_the_scale_of_the_recorded_space():
    live, recorded = space_scale(pretend_live(SPACE, sample=SPACE.size)), space_scale(SPACE)
    assert live.budget == recorded.budget
    assert live.optimum == recorded.optimum
    traces = list(random_searches(recorded.budget.time_limit_us, 100, 7))
    assert score(live, traces) == pytest.approx(score(recorded, traces), abs=0.02)


def test_what_the_sample_does_not_reach_scores_above_1_until_the_optimum_is_known():
    live = pretend_live(SPACE, sample=40)
    scale = space_scale(live)
    best = int(np.nanargmin(SPACE.costs))
    assert live.reference > SPACE.optimum
    at_once = Trace(np.array([best]), SPACE.costs[[best]], np.array([1]))
    assert score(scale, [at_once]) > 1.0
    assert score(scale.latest(), [at_once]) == pytest.approx(1.0, abs=1e-4)


def test_better_is_better_below_the_sample_too():
    scale = space_scale(pretend_live(SPACE, sample=40))
    scores = [
        score(scale, [Trace(np.array([0]), np.array([scale.optimum * share]), np.array([1]))])
        for share in (1, 0.9, 0.8)
    ]
    assert scores == sorted(scores)
    assert len(set(scores)) == 3
    failed = Trace(np.array([0]), np.array([np.nan]), np.array([1]))
    assert score(scale, [failed]) < 0.0


def test_the_budget_is_the_one_asked_for_or_the_published_one_of_the_sample():
    live = pretend_live(SPACE, sample=40)
    assert space_budget(live) == space_budget(live.sample)
    asked = space_budget(pretend_live(SPACE, sample=40, budget_s=5.0))
    assert asked.time_limit_us == 5_000_000
    assert asked.end_us == pytest.approx(5_000_000 / 1.1)
    assert asked.start_us < asked.end_us


def test_a_budget_that_outgrows_the_sample_is_refused():
    with pytest.raises(SettingsError, match=r"budget_s 60 pays for about \d+ .* raise sample to \d+"):
        space_budget(pretend_live(SPACE, sample=40, budget_s=60.0))
    space_budget(pretend_live(SPACE, sample=SPACE.size, budget_s=600.0))  # a sample of everything knows all


def test_the_published_baseline_is_refused():
    with pytest.raises(SettingsError, match="published"):
        space_scale(pretend_live(SPACE, sample=40), "published")


def test_what_is_told_of_a_live_space_is_that_of_its_sample():
    live = pretend_live(SPACE, sample=40)
    assert not {"costs", "failures", "stage_times_ms", "valid", "optimum"} & set(dir(live))
    told = describe(live, budget_s=5.0).splitlines()
    of_sample = [line for line in describe(live.sample, budget_s=5.0).splitlines() if "fail" in line or "takes" in line]
    assert len(of_sample) == 2
    assert set(of_sample) <= set(told)
    assert f"- {SPACE.size:,} configurations are permitted, of 1,440 combinations of values." in told


def test_a_sample_stands_for_all_configs_in_what_a_budget_can_pay_for():
    budget = RunBudget(time_limit_us=int(TIMES_US.sum() / 2))
    recorded = PreparedSpace(SPACE).most_evaluations(budget)
    assert PreparedSpace(pretend_live(SPACE, sample=SPACE.size)).most_evaluations(budget) == recorded
    estimate = PreparedSpace(pretend_live(SPACE, sample=100)).most_evaluations(budget)
    assert estimate == pytest.approx(recorded, rel=0.1)  # far more than the sample has
    assert estimate > 100
