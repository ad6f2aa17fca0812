"""How runs went: scores over time, where measurements went, and paired gains."""

from __future__ import annotations

import numpy as np
import pytest

from llamea_tune.execution import make_contender
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, Trace
from llamea_tune.scoring import score
from llamea_tune.scoring.behaviour import behaviours, paired_gain
from llamea_tune.scoring.compare import compare
from llamea_tune.scoring.score import space_scale
from llamea_tune.testing.local_scorer import local_scorer
from llamea_tune.testing.synthetic_spaces import synthetic_space

SMALL = {"a": (1, 2, 4, 8), "b": (1, 2, 3), "c": (0, 1, 2, 3), "d": (1, 2, 3)}


@pytest.fixture(scope="module")
def space():
    return synthetic_space(3, tune_params=SMALL, kept=1.0, failing=0.0)


@pytest.fixture(scope="module")
def scale(space):
    return space_scale(space)


def run_of(space, indices, elapsed=None, **counts):
    indices = np.array(indices, dtype=np.int64)
    times = np.cumsum(space.evaluation_times_s[indices] * 1e6).astype(np.int64) if elapsed is None else elapsed
    trace = Trace(indices, space.costs[indices], np.asarray(times, dtype=np.int64))
    return RunResult(trace, RunState.FINISHED, "", RequestCounts(paid=len(indices), **counts), 0.01)


def index_of(space, *positions):
    return int(np.flatnonzero((space.value_indices == positions).all(axis=1))[0])


def test_tenths_average_to_the_score(space, scale):
    rng = np.random.default_rng(1)
    runs = [run_of(space, rng.permutation(space.size)[:40]) for _ in range(5)]
    (of,) = behaviours([space], [scale], {space.name: runs}).values()
    assert len(of.tenths) == 10
    assert np.mean(of.tenths) == pytest.approx(score(scale, [run.trace for run in runs]), abs=1e-3)
    assert [len(ranks) for ranks in of.ranks] == [20] * 5


def test_distances_are_from_the_best_until_then_and_from_the_last(space, scale):
    path = [index_of(space, 0, 0, 0, 0), index_of(space, 1, 0, 0, 0), index_of(space, 1, 1, 1, 1)]
    best_second = space.costs[path[1]] < space.costs[path[0]]
    (of,) = behaviours([space], [scale], {space.name: [run_of(space, path, repeated=2, invalid=1)]}).values()
    away = [1, 3 if best_second else 4]
    assert of.distance == np.mean(away)
    assert of.travelled == np.mean([1, 3])
    assert of.near == 0.5
    assert (of.measured, of.failed, of.repeated, of.invalid) == (3, 0, 2, 1)


def test_failed_measurements_are_never_the_best(space, scale):
    first, second, third = index_of(space, 0, 0, 0, 0), index_of(space, 1, 1, 1, 1), index_of(space, 1, 1, 1, 2)
    run = run_of(space, [first, second, third])
    failed = Trace(run.trace.indices, np.array([np.nan, 1.0, 2.0]), run.trace.elapsed_us)
    run = RunResult(failed, run.state, "", RequestCounts(paid=3, failed=1), 0.0)
    (of,) = behaviours([space], [scale], {space.name: [run]}).values()
    assert of.distance == np.mean([4, 1])
    assert of.failed == 1


def test_the_last_improvement_is_a_share_of_the_scored_time(space, scale):
    order = np.argsort(space.costs)
    middle = (scale.budget.start_us + scale.budget.end_us) / 2.0
    late = run_of(space, [order[-1], order[0]], elapsed=[1, middle])
    at_once = run_of(space, [order[0], order[-1]], elapsed=[1, middle])
    for run, expected in ((late, 0.5), (at_once, 0.0)):
        (of,) = behaviours([space], [scale], {space.name: [run]}).values()
        assert of.last_improvement == pytest.approx(expected, abs=1e-3)


def test_a_run_that_measured_nothing_or_once(space, scale):
    for indices in ([], [0]):
        (of,) = behaviours([space], [scale], {space.name: [run_of(space, indices)]}).values()
        assert (of.near, of.distance, of.travelled) == (None, None, None)
        assert of.measured == len(indices)


def test_no_behaviour_where_a_run_failed(space, scale):
    run = run_of(space, [0])
    failed = RunResult(run.trace, RunState.FAILED, "it raised", run.counts, 0.0)
    assert behaviours([space], [scale], {space.name: [run, failed]}) == {}


def test_a_paired_gain_is_the_difference_of_scores_and_narrower_than_an_unpaired_one():
    spaces = [synthetic_space(seed, name=f"s{seed}", kept=1.0) for seed in (5, 6)]
    with local_scorer(spaces, repeats=6, seed=2) as scorer:
        cards = {name: scorer.score(make_contender(name)) for name in ("genetic_algorithm", "random_sample")}
        runs = {name: scorer.run(make_contender(name)) for name in cards}
        found = paired_gain(scorer.scales, *(card.behaviour for card in cards.values()))
        compared = compare(scorer.scales, *runs.items())
    assert found is not None
    assert found[0] == pytest.approx(compared.difference, abs=0.02)
    assert found[1] == pytest.approx(compared.interval, abs=0.1)
    assert paired_gain(scorer.scales, cards["random_sample"].behaviour, {}) is None
    same = paired_gain(scorer.scales, *[cards["random_sample"].behaviour] * 2)
    assert same == (0.0, (0.0, 0.0))
