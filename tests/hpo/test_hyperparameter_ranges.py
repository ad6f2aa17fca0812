"""Ranges are sensible, and always contain the default."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.candidate import HyperparameterRange
from llamea_tune.hpo.search_ranges import candidate_ranges, containing, derive_range, listed_choices

NAMES = st.sampled_from(
    ["alpha", "T", "t_min", "temp0", "popsize", "mutation_rate", "crossoverProb", "n_steps", "cooling", "w", "restart"]
)
DEFAULTS = st.one_of(
    st.booleans(), st.integers(-(10**9), 10**9), st.floats(allow_nan=True, allow_infinity=True), st.text(max_size=5)
)
CASES = [
    ("popsize", 20, HyperparameterRange("int", 4, 160, log=True)),
    ("n_neighbors", 5, HyperparameterRange("int", 1, 40, log=True)),
    ("mutation_chance", 0.1, HyperparameterRange("float", 0.0, 1.0)),
    ("w", 0.5, HyperparameterRange("float", 0.0, 1.0)),
    ("crossover_prob", 1.0, HyperparameterRange("float", 0.0, 1.0)),
    ("T", 1.0, HyperparameterRange("float", 1 / 30, 30.0, log=True)),
    ("temperature", 0.3, HyperparameterRange("float", 0.01, 9.0, log=True)),
    ("learning_rate", 0.05, HyperparameterRange("float", 0.005, 0.5, log=True)),
    ("mutation_rate", 0.2, HyperparameterRange("float", 0.02, 1.0, log=True)),
    ("c1", 2.0, HyperparameterRange("float", 0.4, 10.0, log=True)),
    ("restart", True, HyperparameterRange("categorical", choices=(False, True))),
]


@pytest.mark.parametrize(("name", "default", "expected"), CASES, ids=[case[0] for case in CASES])
def test_derived_ranges(name, default, expected):
    found = derive_range(name, default)
    assert (found.kind, found.log, found.choices) == (expected.kind, expected.log, expected.choices)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    "name",
    ["seed", "random_state", "budget", "eval_budget", "max_fevals", "time_limit", "verbose", "debug", "use_seed", "x0"],
)
def test_what_is_no_hyperparameter_is_left_alone(name):
    for default in (True, 10, 0.5, "a"):
        assert derive_range(name, default) is None
    declared = {name: HyperparameterRange("int", 1, 10)}
    assert candidate_ranges({name: 5, "alpha": 0.5}, declared) == {"alpha": HyperparameterRange("float", 0.0, 1.0)}


def test_a_budget_is_known_by_its_description():
    assert derive_range("limit", 5000, "maximum number of evaluations") is None
    assert derive_range("limit", 5000, "length of the tabu list") is not None


def test_factors_near_one_are_searched_by_their_distance_to_it():
    found = derive_range("cooling", 0.995)
    assert (found.low, found.high) == pytest.approx((0.95, 0.9995))


@given(NAMES, DEFAULTS)
def test_a_derived_range_contains_the_default_and_can_be_searched(name, default):
    found = derive_range(name, default)
    if found is None:
        return
    if found.kind == "categorical":
        assert default in found.choices
        assert len(found.choices) > 1
        return
    assert type(default) is (int if found.kind == "int" else float)
    assert found.low <= default <= found.high
    assert found.low < found.high < float("inf")
    assert found.low > 0 or not found.log


@given(st.integers(1, 10**6))
def test_counts_stay_counts(default):
    found = derive_range("memory", default)
    assert found.kind == "int"
    assert found.low >= 1
    assert found.high >= 8


def test_declared_ranges_come_first_and_are_widened_to_the_default():
    declared = {
        "alpha": HyperparameterRange("float", 0.6, 0.9),
        "method": HyperparameterRange("categorical", choices=("a", "b")),
    }
    found = candidate_ranges({"alpha": 0.5, "method": "c", "plain": "text"}, declared)
    assert found["alpha"] == HyperparameterRange("float", 0.5, 0.9)
    assert found["method"].choices == ("a", "b", "c")
    assert "plain" not in found


def test_a_range_widened_to_zero_is_no_longer_logarithmic():
    assert not containing(HyperparameterRange("float", 0.1, 1.0, log=True), 0.0).log


@pytest.mark.parametrize(
    ("description", "default", "choices"),
    [
        ("crossover method to use, choose any from single_point, uniform", "uniform", ("single_point", "uniform")),
        ("choose from Hamming or adjacent", "Hamming", ("Hamming", "adjacent")),
        ("use, choose any from ['Nelder-Mead', 'L-BFGS-B']", "L-BFGS-B", ("Nelder-Mead", "L-BFGS-B")),
        ("learner (supported: ['RF', 'ET'])", "RF", ("RF", "ET")),
        ('choose any from "rbf", "matern32"', "rbf", ("rbf", "matern32")),
        ("either random or Latin Hypercube Sampling (LHS)", "lhs", ()),
        ("choose any from a, b", "c", ()),
        ("the method", "best", ()),
    ],
)
def test_choices_are_read_from_descriptions(description, default, choices):
    assert listed_choices(description, default) == choices
