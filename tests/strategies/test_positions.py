"""A search space as positions of values, and the config nearest to what is none."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.spaces import build_searchspace
from llamea_tune.strategies.outside.positions import Grid

PARAMS = {
    "size": (8, 2, 4, 16),
    "kind": ("row", "column", "block"),
    "fused": (False, True),
    "scale": (0.5, 0.25),
    "one": (7,),
}
COMBINATIONS = list(product(*(range(len(values)) for values in PARAMS.values())))
subsets = st.sets(st.integers(0, len(COMBINATIONS) - 1), min_size=1).map(sorted)


def grid_of(kept):
    indices = np.array([COMBINATIONS[place] for place in kept], dtype=np.uint16)
    return Grid(build_searchspace(PARAMS, indices))


@given(subsets)
def test_every_config_is_where_its_positions_say(kept):
    grid = grid_of(kept)
    assert grid.size == len(kept)
    assert len({grid.positions(number) for number in range(grid.size)}) == grid.size
    for number in range(grid.size):
        assert grid.number(grid.positions(number)) == grid.number_of(grid.config(number)) == number
    for parameter, column in zip(
        grid.parameters, zip(*map(grid.positions, range(grid.size)), strict=True), strict=True
    ):
        assert set(column) == set(range(parameter.n_values)) and parameter.n_values > 1


def test_numbers_are_in_order_and_others_are_not():
    grid = grid_of(range(len(COMBINATIONS)))
    assert [(parameter.name, parameter.n_values, parameter.ordered) for parameter in grid.parameters] == [
        ("size", 4, True),
        ("kind", 3, False),
        ("fused", 2, False),
        ("scale", 2, True),
    ]
    by_size = {grid.positions(number)[0]: grid.config(number)[0] for number in range(grid.size)}
    by_scale = {grid.positions(number)[3]: grid.config(number)[3] for number in range(grid.size)}
    assert by_size == {0: 2, 1: 4, 2: 8, 3: 16}
    assert by_scale == {0: 0.25, 1: 0.5}


@given(subsets, st.data())
def test_the_nearest_config_is_that_of_a_search_through_all(kept, data):
    grid = grid_of(kept)
    asked = data.draw(st.tuples(*(st.integers(0, parameter.n_values - 1) for parameter in grid.parameters)))
    besides = data.draw(st.sets(st.integers(0, grid.size - 1), max_size=grid.size - 1))

    def distance(number):
        pairs = list(zip(grid.parameters, grid.positions(number), asked, strict=True))
        differing = sum(mine != theirs for _, mine, theirs in pairs)
        steps = sum(abs(mine - theirs) if parameter.ordered else mine != theirs for parameter, mine, theirs in pairs)
        return differing, steps

    allowed = sorted(set(range(grid.size)) - besides, key=distance)
    nearest = {number for number in allowed if distance(number) == distance(allowed[0])}
    rng = np.random.default_rng(0)
    found = {grid.nearest(asked, rng, besides) for _ in range(20)}
    assert found <= nearest
    if len(nearest) == 2:
        assert found == nearest
