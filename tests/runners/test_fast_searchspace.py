from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_tuner.searchspace import Searchspace

from llamea_tune.runners.fast_searchspace import FastSearchspace
from llamea_tune.spaces import build_searchspace
from llamea_tune.testing.synthetic_spaces import synthetic_space

METHODS = ["Hamming", "Hamming-adjacent", "strictly-adjacent", "adjacent"]


def spaces_alike(seed, kept, tune_params=None):
    space = synthetic_space(seed, kept=kept, tune_params=tune_params)
    arguments = space.tune_params, space.value_indices
    return build_searchspace(*arguments), build_searchspace(*arguments, FastSearchspace)


def any_config(searchspace, draw):
    """A config of the space, or one that it lacks."""
    if draw(st.booleans()):
        return searchspace.list[draw(st.integers(0, searchspace.size - 1))]
    return tuple(draw(st.sampled_from(values)) for values in searchspace.params_values)


@pytest.mark.parametrize("kept", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("method", [*METHODS, "closest-param-indices"])
def test_finds_the_same_neighbours_in_the_same_order(method, kept):
    plain, fast = spaces_alike(3, kept)
    outside = [tuple(random.Random(i).choice(values) for values in plain.params_values) for i in range(50)]
    for config in [*plain.list[:150], *outside]:
        expected = plain.get_neighbors_indices_no_cache(config, method)
        for _ in range(2):  # looked up, then remembered
            np.testing.assert_array_equal(fast.get_neighbors_indices_no_cache(config, method), expected)


@pytest.mark.parametrize(
    "params", [{"a": (True, False), "b": (1, 2, 4), "c": (0, 8)}, dict.fromkeys("abc", (False, True))]
)
@pytest.mark.parametrize("method", METHODS)
def test_finds_neighbours_among_booleans_and_whole_numbers(method, params):
    plain, fast = spaces_alike(1, 0.8, params)
    for config in plain.list:
        found = fast.get_neighbors_indices_no_cache(config, method)
        np.testing.assert_array_equal(found, plain.get_neighbors_indices_no_cache(config, method))
        if method == "Hamming":
            differing = [sum(a != b for a, b in zip(config, other, strict=True)) for other in plain.list]
            assert found.tolist() == [index for index, n in enumerate(differing) if n == 1]


@settings(max_examples=40, deadline=None)
@given(data=st.data(), seed=st.integers(0, 3), kept=st.sampled_from([0.02, 0.5, 1.0]))
def test_any_mixture_of_calls_gives_the_same_answers(data, seed, kept):
    plain, fast = spaces_alike(seed, kept)
    fast.get_random_neighbor(fast.list[0], "Hamming")
    fast.begin_run()
    random.seed(seed)
    plain_random, fast_random = random.getstate(), random.getstate()
    for _ in range(data.draw(st.integers(5, 40))):
        config = any_config(plain, data.draw)
        method = data.draw(st.sampled_from(METHODS))
        call = data.draw(st.sampled_from(["get_random_neighbor", "get_neighbors", "get_partial_neighbors_indices"]))
        random.setstate(plain_random)
        expected = getattr(plain, call)(config, method)
        plain_random = random.getstate()
        random.setstate(fast_random)
        assert getattr(fast, call)(config, method) == expected
        fast_random = random.getstate()
        assert fast_random == plain_random


def test_a_run_that_begins_cold_does_all_the_work(monkeypatch):
    _, fast = spaces_alike(0, 0.5)
    config = fast.list[5]
    fast.get_neighbors(config, "Hamming")
    calls = []
    own = Searchspace.get_neighbors_indices_no_cache
    monkeypatch.setattr(
        Searchspace, "get_neighbors_indices_no_cache", lambda self, *args: calls.append(args) or own(self, *args)
    )
    fast.begin_run()
    fast.get_neighbors(config, "Hamming")
    assert not calls
    fast.begin_run(cold=True)
    fast.get_neighbors(config, "Hamming")
    assert len(calls) == 1


def test_what_a_run_changes_does_not_reach_the_next():
    plain, fast = spaces_alike(0, 0.5)
    config = fast.list[5]
    fast.get_neighbors_indices(config, "Hamming")[:] = 0
    fast.begin_run()
    np.testing.assert_array_equal(
        fast.get_neighbors_indices(config, "Hamming"), plain.get_neighbors_indices(config, "Hamming")
    )


def test_remembers_a_bounded_number(monkeypatch):
    monkeypatch.setattr("llamea_tune.runners.fast_searchspace.MAX_REMEMBERED", 50)
    plain, fast = spaces_alike(0, 1.0)
    for config in plain.list[:100]:
        assert fast.get_neighbors(config, "adjacent") == plain.get_neighbors(config, "adjacent")
    assert sum(len(known) for known in fast._remembered.values()) < 200
