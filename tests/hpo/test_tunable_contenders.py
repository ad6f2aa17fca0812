"""What can be tuned: candidates, Kernel Tuner's strategies; and what cannot, which is said clearly."""

import pytest

from llamea_tune.candidate import HyperparameterRange
from llamea_tune.exceptions import StrategyError
from llamea_tune.execution import NamedStrategy, make_contender
from llamea_tune.hpo import make_tunable, tunable_candidate, tunable_strategy
from llamea_tune.sandbox.sandboxed import SandboxedCandidate


def test_a_program_has_the_arguments_of_its_init(walker):
    tunable = tunable_candidate(walker)
    assert dict(tunable.defaults) == {"jump": 0.9, "patience": 3, "greedy": True}
    assert tunable.ranges["patience"] == HyperparameterRange("int", 1, 24, log=True)


def test_setting_hyperparameters_leaves_the_fixed_ones(walker):
    fixed = walker.with_hyperparameters({"greedy": False})
    tunable = tunable_candidate(fixed)
    assert set(tunable.ranges) == {"jump", "patience"}
    assert tunable.contender.with_hyperparameters({"jump": 0.1}).hyperparameters == {"greedy": False, "jump": 0.1}


def test_a_range_that_was_declared_for_a_budget_is_passed_over(walker):
    tunable = tunable_candidate(walker, {"seed": HyperparameterRange("int", 1, 9)})
    assert "seed" not in tunable.ranges


@pytest.mark.parametrize(
    ("name", "tuned"),
    [
        ("genetic_algorithm", {"popsize", "maxiter", "method", "mutation_chance"}),
        ("simulated_annealing", {"T", "T_min", "alpha", "maxiter"}),
        ("diff_evo", {"popsize", "popsize_times_dimensions", "F", "CR", "method"}),
        ("pso", {"popsize", "maxiter", "w", "c1", "c2"}),
        ("greedy_mls", {"neighbor", "restart", "randomize"}),
    ],
)
def test_kernel_tuners_strategies_have_their_options(name, tuned):
    assert set(tunable_strategy(NamedStrategy(name, name)).ranges) == tuned


def test_choices_that_only_the_strategys_module_lists_are_found():
    assert "randtobest1exp" in tunable_strategy(NamedStrategy("diff_evo", "diff_evo")).ranges["method"].choices


def test_options_that_are_given_are_held_fixed():
    tunable = make_tunable(make_contender("genetic_algorithm:popsize=30,max_fevals=100"))
    assert "popsize" not in tunable.ranges
    assert tunable.contender.with_hyperparameters({"maxiter": 9}).options == {
        "popsize": 30,
        "max_fevals": 100,
        "maxiter": 9,
    }


@pytest.mark.parametrize(
    ("contender", "message"),
    [
        (NamedStrategy("x", "pyatf:torczon"), "an optimizer of pyATF, which is not tuned here"),
        (NamedStrategy("random_sample", "random_sample"), "random_sample has no hyperparameters to tune"),
        (NamedStrategy("nobody", "nobody"), "no strategy 'nobody'"),
        (SandboxedCandidate("class A: pass", "A", label="x.py"), "class A does not derive from OptAlg"),
    ],
)
def test_what_cannot_be_tuned_says_so(contender, message):
    with pytest.raises(StrategyError, match=message):
        make_tunable(contender)


def test_a_program_must_take_what_it_is_given(walker):
    with pytest.raises(StrategyError, match="no hyperparameter 'jmp'; its hyperparameters are: jump"):
        tunable_candidate(walker.with_hyperparameters({"jmp": 1}))
