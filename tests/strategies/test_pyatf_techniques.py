from __future__ import annotations

import numpy as np
import pytest

from llamea_tune.exceptions import StrategyError
from llamea_tune.execution import NamedStrategy, Run
from llamea_tune.execution.named import PreparedSpace, run_named
from llamea_tune.runners import RunBudget
from llamea_tune.spaces import build_searchspace
from llamea_tune.strategies.outside.pyatf_techniques import ConfigTree, PyatfTechnique
from llamea_tune.testing.synthetic_spaces import synthetic_space

pytest.importorskip("pyatf")

SPACE = synthetic_space(0, kept=0.3)
TECHNIQUES = [
    "auc_bandit",
    "differential_evolution",
    "pattern_search",
    "random",
    "round_robin",
    "simulated_annealing",
    "torczon",
]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_every_technique_runs_and_repeats(technique):
    trusted = PreparedSpace(SPACE)
    run = Run(NamedStrategy("x", f"pyatf:{technique}"), 0, 3, RunBudget(max_fevals=40))
    runs = [run_named(trusted, run) for _ in range(2)]
    assert runs[0].state.scorable, runs[0].reason
    assert 1 < runs[0].counts.paid <= 40
    assert runs[0].counts.invalid == 0
    np.testing.assert_array_equal(runs[0].trace.indices, runs[1].trace.indices)


def test_the_tree_reads_coordinates_as_pyatf_does():
    """On an unrestricted space, against pyATF's own tree, which is then a chain of one-parameter trees."""
    from pyatf import TP, Set
    from pyatf.search_space import SearchSpace

    params = {"a": (1, 2, 4), "b": ("x", "y"), "c": (0.5, 1.0, 1.5, 2.0)}
    space = synthetic_space(0, tune_params=params, kept=1.0)
    tree = ConfigTree(build_searchspace(space.tune_params, space.value_indices))
    theirs = SearchSpace(*(TP(name, Set(*values)) for name, values in params.items()), verbosity=0)
    for coordinates in 1.0 - np.random.default_rng(0).random((200, 3)):
        expected = theirs.get_configuration(tuple(coordinates.tolist()))
        assert tree.config(tuple(coordinates.tolist())) == tuple(expected[name] for name in params)


def test_the_tree_shares_intervals_by_the_number_of_configs_beneath():
    from pyatf import TP, Set
    from pyatf.search_space import SearchSpace

    params = {"a": (1, 2, 3, 4), "b": (1, 2, 3, 4), "c": (1, 2, 3)}
    space = synthetic_space(0, tune_params=params, kept=1.0)
    allowed = [space.param_config(i)[1] <= space.param_config(i)[0] for i in range(space.size)]
    tree = ConfigTree(build_searchspace(space.tune_params, space.value_indices[allowed]))
    theirs = SearchSpace(
        TP("a", Set(1, 2, 3, 4)), TP("b", Set(1, 2, 3, 4), lambda a, b: b <= a), TP("c", Set(1, 2, 3)), verbosity=0
    )
    for coordinates in 1.0 - np.random.default_rng(1).random((300, 3)):
        expected = theirs.get_configuration(tuple(coordinates.tolist()))
        assert tree.config(tuple(coordinates.tolist())) == tuple(expected[name] for name in params)


@pytest.mark.parametrize("params", [{"a": (1, 2), "b": (False, True)}, {"a": (True, False), "b": (False, True)}])
def test_booleans_can_be_reached(params):
    searchspace = build_searchspace(params, np.array([[0, 1], [1, 0], [1, 1]], dtype=np.uint16))
    tree = ConfigTree(searchspace)
    coordinates = [(a, b) for a in (0.1, 0.9) for b in (0.1, 0.9)]
    assert {tree.config(place) for place in coordinates} == set(searchspace.list)


def test_every_config_can_be_reached():
    searchspace = build_searchspace(SPACE.tune_params, SPACE.value_indices)
    tree = ConfigTree(searchspace)
    rng = np.random.default_rng(0)
    reached = {tree.config(tuple((1.0 - rng.random(6)).tolist())) for _ in range(20 * SPACE.size)}
    assert reached == set(searchspace.list)
    assert tree.config((1.0,) * 6) in reached
    assert tree.config((5e-324,) * 6) in reached


def test_unknown_techniques_are_refused():
    with pytest.raises(StrategyError, match="torczon"):
        PyatfTechnique("gradient_descent")
