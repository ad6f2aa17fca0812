"""Landscape features: neighbourhoods equal Kernel Tuner's; known landscapes give the known answer."""

from __future__ import annotations

import dataclasses
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llamea_tune.spaces import LandscapeFeatures, RecordedSpace, build_searchspace, landscape_features, load_space
from llamea_tune.spaces.features import _page_rank
from llamea_tune.spaces.neighbourhoods import adjacent_pairs, hamming_adjacent_pairs, hamming_pairs, successive_pairs
from llamea_tune.testing.synthetic_spaces import synthetic_space


def grid_space(costs: np.ndarray) -> RecordedSpace:
    """A space without restrictions: costs by value indices."""
    template = synthetic_space(0)
    indices = np.array(list(product(*(range(n) for n in costs.shape))), dtype=np.uint16)
    flat = costs[tuple(indices.T)].astype(float)
    return dataclasses.replace(
        template,
        tune_params={f"p{i}": tuple(range(n)) for i, n in enumerate(costs.shape)},
        value_indices=indices,
        costs=flat,
        failures=np.isnan(flat).astype(np.uint8),
        stage_times_ms=np.ones((len(flat), 3)),
    )


def as_sets(pairs: np.ndarray, size: int) -> list[set[int]]:
    neighbours: list[set[int]] = [set() for _ in range(size)]
    for one, other in pairs.tolist():
        assert other not in neighbours[one]
        neighbours[one].add(other)
        neighbours[other].add(one)
    return neighbours


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), kept=st.floats(0.02, 1.0))
def test_neighbourhoods_equal_kernel_tuners(seed: int, kept: float) -> None:
    params = {"a": (1, 2, 4, 8), "b": ("x", "y", "z"), "c": (False, True), "d": (0.5, 1.5, 2.5, 3.5, 4.5)}
    space = synthetic_space(seed, tune_params=params, kept=kept)
    searchspace = build_searchspace(space.tune_params, space.value_indices)
    pairs = {
        "Hamming": hamming_pairs(space.value_indices),
        "adjacent": adjacent_pairs(space.value_indices, 10**6),
    }
    for method, found in pairs.items():
        assert found is not None
        neighbours = as_sets(found, space.size)
        for index in range(space.size):
            theirs = searchspace.get_neighbors_indices(space.param_config(index), neighbor_method=method)
            assert neighbours[index] == {int(other) for other in theirs}, method


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), kept=st.floats(0.05, 1.0))
def test_successive_pairs_are_the_closest_on_their_line(seed: int, kept: float) -> None:
    space = synthetic_space(seed, tune_params={"a": (1, 2, 4, 8), "b": (1, 2, 3), "c": (5, 6, 7)}, kept=kept)
    rows = [tuple(row) for row in space.value_indices.tolist()]
    for param in range(3):
        expected = set()
        for i, j in product(range(len(rows)), repeat=2):
            same_line = all(rows[i][p] == rows[j][p] for p in range(3) if p != param)
            between = [r for r in rows if rows[i][param] < r[param] < rows[j][param]]
            on_line = [r for r in between if all(r[p] == rows[i][p] for p in range(3) if p != param)]
            if same_line and rows[i][param] < rows[j][param] and not on_line:
                expected.add((i, j))
        assert {tuple(pair) for pair in successive_pairs(space.value_indices, param).tolist()} == expected
    total = sum(len(successive_pairs(space.value_indices, param)) for param in range(3))
    assert len(hamming_adjacent_pairs(space.value_indices)) == total


def test_too_dense_a_neighbourhood_is_left_out() -> None:
    space = synthetic_space(1)
    found = adjacent_pairs(space.value_indices, 10**6)
    assert found is not None
    assert adjacent_pairs(space.value_indices, len(found) // 2) is None


def test_page_rank_is_the_stationary_distribution() -> None:
    space = synthetic_space(5, kept=0.1, failing=0.0)
    pairs = hamming_pairs(space.value_indices)
    n = space.size
    matrix = np.zeros((n, n))
    for one, other in pairs.tolist():
        worse, better = (one, other) if space.costs[one] > space.costs[other] else (other, one)
        matrix[better, worse] = 1.0
    for column in range(n):
        out = matrix[:, column].sum()
        matrix[:, column] = matrix[:, column] / out if out else 1.0 / n
    google = 0.85 * matrix + 0.15 / n
    values, vectors = np.linalg.eig(google)
    expected = np.abs(vectors[:, np.argmax(values.real)].real)
    assert _page_rank(space.costs, pairs) == pytest.approx(expected / expected.sum(), abs=1e-7)


def test_a_bowl_has_one_minimum_and_points_to_it() -> None:
    axes = np.meshgrid(np.arange(9.0), np.arange(7.0), np.arange(5.0), indexing="ij")
    features = landscape_features(grid_space(1.0 + sum(np.abs(axis - 2.0) for axis in axes)))
    for found in features.neighbourhoods.values():
        assert found.local_minima == 1
        assert (found.minima_gap, found.proportion_of_centrality) == (0.0, 1.0)
        assert found.minima_depth > 0.0
    assert features.fitness_distance_correlation > 0.5
    assert all(value > 0.5 for value in features.smoothness.values())


def test_a_trap_misleads() -> None:
    costs = np.add.outer(np.add.outer(np.arange(6.0), np.arange(6.0)), np.arange(6.0))[::-1, ::-1, ::-1] + 5.0
    costs[0, 0, 0] = 1.0
    features = landscape_features(grid_space(costs))
    adjacent = features.neighbourhoods["Hamming-adjacent"]
    assert adjacent.local_minima == 2
    assert 0.0 < adjacent.proportion_of_centrality < 0.5
    assert features.fitness_distance_correlation < 0.0


def test_additive_parameters_do_not_interact_and_products_do() -> None:
    a, b, c = np.meshgrid(np.arange(16.0), np.arange(16.0), np.arange(8.0), indexing="ij")
    additive = landscape_features(grid_space(100.0 + a * 10 + b * 3 + 0 * c))
    assert additive.importance["p0"] > 0.7
    assert 0.3 > additive.importance["p1"] > 0.01 > additive.importance["p2"]
    assert additive.importance_r2 > 0.95
    assert max(share for _, _, share in additive.interactions) < 0.05
    xor = landscape_features(grid_space(100.0 + 10.0 * ((a > 7) != (b > 7)) + 0.01 * c))
    assert set(xor.interactions[0][:2]) == {"p0", "p1"}
    assert xor.interactions[0][2] > 0.6
    assert xor.interactions[1][2] < 0.15


def test_noise_is_rough_and_cannot_be_predicted() -> None:
    costs = np.random.default_rng(1).uniform(1.0, 2.0, (12, 12, 12))
    features = landscape_features(grid_space(costs))
    assert features.importance_r2 < 0.2
    assert all(abs(value) < 0.15 for value in features.smoothness.values())
    assert features.neighbourhoods["Hamming-adjacent"].local_minima > 100


def test_plateaus_are_neutral() -> None:
    costs = np.repeat(np.arange(1.0, 5.0), 4).reshape(4, 4)
    features = landscape_features(grid_space(costs))
    assert features.neutrality == pytest.approx(24 / 48)


def test_failed_configs_are_no_neighbours() -> None:
    costs = np.array([3.0, np.nan, 1.0, 2.0, np.nan])
    found = landscape_features(grid_space(costs)).neighbourhoods
    assert found["adjacent"].local_minima == 2
    assert found["Hamming-adjacent"].local_minima == 2
    assert found["Hamming"].local_minima == 1
    assert found["adjacent"].mean_neighbours == pytest.approx(2 / 3)


def assert_same(one: LandscapeFeatures, other: LandscapeFeatures) -> None:
    assert one.importance == pytest.approx(other.importance)
    assert one.smoothness == pytest.approx(other.smoothness)
    assert one.fitness_distance_correlation == pytest.approx(other.fitness_distance_correlation)
    for name, found in one.neighbourhoods.items():
        assert found.local_minima == other.neighbourhoods[name].local_minima


def test_only_the_order_of_costs_matters_where_it_should() -> None:
    space = synthetic_space(3)
    features = landscape_features(space)
    assert_same(features, landscape_features(space))
    assert_same(features, landscape_features(dataclasses.replace(space, costs=np.exp(space.costs) - 10.0)))


@pytest.mark.parametrize("shape", [(1,), (1, 1), (2,), (1, 3)])
@pytest.mark.parametrize("flat", [True, False])
def test_tiny_and_flat_spaces_have_finite_features(shape: tuple[int, ...], flat: bool) -> None:
    costs = np.ones(shape) if flat else np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    features = landscape_features(grid_space(costs))
    numbers = [*features.importance.values(), *features.smoothness.values(), features.neutrality]
    numbers += [value for found in features.neighbourhoods.values() for value in dataclasses.astuple(found)]
    assert np.isfinite(numbers).all()


def test_twenty_thousand_configs_take_seconds(hub) -> None:
    space = load_space(hub / "cachefiles" / "gemm" / "RTX_3090.json.gz")
    start = time.process_time()
    features = landscape_features(space)
    assert time.process_time() - start < 20.0
    assert features.importance["PRECISION"] == 0.0
    assert "adjacent" not in features.neighbourhoods
