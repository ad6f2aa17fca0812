"""Who is clearly behind in the same runs is dropped after few runs, and nobody else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llamea_tune.execution import make_contender
from llamea_tune.scoring.behaviour import kept_run_scores
from llamea_tune.scoring.racing import Race, clearly_behind
from llamea_tune.scoring.run_score import run_score
from llamea_tune.testing.local_scorer import local_scorer
from llamea_tune.testing.synthetic_spaces import synthetic_space

REPEATS = 6


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(-1, 1), min_size=0, max_size=30))
def test_who_is_not_behind_by_the_mean_is_not_behind(differences):
    if clearly_behind(differences, 0.4):
        assert sum(differences) > 0
    assert not clearly_behind([0.0] * len(differences), 0.99)


def test_of_equals_few_are_dropped_and_of_the_worse_many():
    rng = np.random.default_rng(0)
    noise = rng.normal(0.0, 0.3, size=(200, 12))
    assert np.mean([clearly_behind(row, 0.05) for row in noise]) < 0.08
    assert np.mean([clearly_behind(row + 0.3, 0.05) for row in noise]) > 0.8


@pytest.fixture(scope="module")
def scorer():
    tune_params = {"a": tuple(range(8)), "b": tuple(range(8)), "c": (0, 1, 2, 3)}
    with local_scorer([synthetic_space(1, tune_params=tune_params)], repeats=REPEATS, seed=3) as running:
        yield running


def test_a_scorer_stops_after_few_runs_where_a_race_is_lost(scorer):
    contender = make_contender("random_sample")
    whole = scorer.score(contender)
    (name,) = whole.spaces
    assert len(whole.behaviour[name].ranks) == whole.runs == REPEATS
    far_ahead = Race({name: [1.0] * REPEATS}, first=2, p_threshold=0.2)
    lost = scorer.score(contender, race=far_ahead)
    assert (lost.raced_out, lost.runs, lost.spaces[name].repeats) == (True, 4, 4)
    assert lost.behaviour[name].ranks == whole.behaviour[name].ranks[:4]
    assert lost.mean is not None


def test_a_race_that_is_not_lost_changes_nothing(scorer):
    contender = make_contender("random_sample")
    whole = scorer.score(contender)
    for against in (
        kept_run_scores(scorer.scales, whole.behaviour),
        {},
        {name: [-10.0] * REPEATS for name in whole.spaces},
    ):
        raced = scorer.score(contender, race=Race(against))
        assert not raced.raced_out
        assert (raced.mean, raced.interval) == (whole.mean, whole.interval)
        assert [of.ranks for of in raced.behaviour.values()] == [of.ranks for of in whole.behaviour.values()]


def test_the_ranks_that_are_kept_give_the_scores_of_single_runs(scorer):
    contender = make_contender("genetic_algorithm")
    (fine,) = scorer.run(contender).values()
    (kept,) = kept_run_scores(scorer.scales, scorer.score(contender).behaviour).values()
    assert kept == pytest.approx([run_score(scorer.scales[0], run) for run in fine], abs=0.1)
    assert kept_run_scores(scorer.scales, {}) == {}
