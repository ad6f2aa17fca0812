"""What can be tuned: programs, Kernel Tuner's strategies; and what cannot, which is said clearly."""

import pytest

from llamea_tune.candidate import HyperparameterRange
from llamea_tune.exceptions import StrategyError
from llamea_tune.hpo import make_subject, program_subject, strategy_subject
from llamea_tune.sandbox.program import Program
from llamea_tune.scoring.contender import Contender
from llamea_tune.scoring.entrants import make_contender


def test_a_program_has_the_arguments_of_its_init(walker):
    subject = program_subject("walker", walker)
    assert dict(subject.defaults) == {"jump": 0.9, "patience": 3, "greedy": True}
    assert subject.ranges["patience"] == HyperparameterRange("int", 1, 24, log=True)


def test_setting_hyperparameters_leaves_the_fixed_ones(walker):
    fixed = Program(walker.code, "Walker", {"greedy": False})
    subject = program_subject("walker", fixed)
    assert set(subject.ranges) == {"jump", "patience"}
    assert subject.contender_with({"jump": 0.1}).program.hyperparameters == {"greedy": False, "jump": 0.1}


def test_a_range_that_was_declared_for_a_budget_is_passed_over(walker):
    subject = program_subject("walker", walker, {"seed": HyperparameterRange("int", 1, 9)})
    assert "seed" not in subject.ranges


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
    assert set(strategy_subject(Contender(name, name)).ranges) == tuned


def test_choices_that_only_the_strategys_module_lists_are_found():
    assert "randtobest1exp" in strategy_subject(Contender("diff_evo", "diff_evo")).ranges["method"].choices


def test_options_that_are_given_are_held_fixed():
    subject = make_subject(make_contender("genetic_algorithm:popsize=30,max_fevals=100"))
    assert "popsize" not in subject.ranges
    assert subject.contender_with({"maxiter": 9}).options == {"popsize": 30, "max_fevals": 100, "maxiter": 9}


@pytest.mark.parametrize(
    ("contender", "message"),
    [
        (Contender("x", "pyatf:torczon"), "pyATF's techniques take no options"),
        (Contender("random_sample", "random_sample"), "random_sample has no hyperparameters to tune"),
        (Contender("nobody", "nobody"), "no strategy 'nobody'"),
        (Contender("x.py", program=Program("class A: pass", "A")), "class A does not derive from OptAlg"),
    ],
)
def test_what_cannot_be_tuned_says_so(contender, message):
    with pytest.raises(StrategyError, match=message):
        make_subject(contender)


def test_a_program_must_take_what_it_is_given(walker):
    with pytest.raises(StrategyError, match="no hyperparameter 'jmp'; its hyperparameters are: jump"):
        program_subject("walker", Program(walker.code, "Walker", {"jmp": 1}))
