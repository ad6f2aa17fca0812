"""What prompts say, and what they must not."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from golden_prompt import golden_text
from kernel_tuner.searchspace import Searchspace

from llamea_tune.candidate import CandidateState, Evaluation, Scored
from llamea_tune.candidate_code import CandidateCode
from llamea_tune.candidate_code.contract import PACKAGES, STANDARD_MODULES
from llamea_tune.proposals.feedback import feedback
from llamea_tune.proposals.operators import OPERATORS
from llamea_tune.proposals.prompt import render_prompt, render_retry, system_prompt
from llamea_tune.proposals.proposal import ProposalTask
from llamea_tune.proposals.reply import parse_reply
from llamea_tune.spaces.searchspace import build_searchspace
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE, OTHER_EXAMPLE_CODE, example_parents, example_task
from llamea_tune.testing.synthetic_spaces import synthetic_space

GOLDEN = Path(__file__).parent / "golden" / "mutate.md"


def test_the_golden_prompt():
    assert golden_text() == GOLDEN.read_text(encoding="utf-8"), "see golden_prompt.py for how to accept a change"


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_every_operator_has_a_prompt(operator):
    task = example_task(operator.name)
    prompt = render_prompt(task)
    assert prompt.key == task.key
    assert prompt.temperature == operator.temperature
    assert prompt.system == system_prompt()
    for text in (*task.spaces, *task.tried):
        assert text in prompt.user
    for parent in task.parents:
        assert parent.candidate.code.strip() in prompt.user
        assert parent.candidate.description in prompt.user
        assert feedback(parent.evaluation) in prompt.user
    assert ("SEARCH" in prompt.user) == operator.edits
    assert "$" not in prompt.user
    assert "$" not in prompt.system


def test_operators_ask_for_different_things():
    jobs = {render_prompt(replace(example_task(name), parents=example_parents(name))).user for name in OPERATORS}
    assert len(jobs) == len(OPERATORS)
    assert "one focused change" in render_prompt(example_task("mutate")).user
    assert "simpler" in render_prompt(example_task("simplify")).user
    assert "very different" in render_prompt(example_task("diversify")).user
    assert OTHER_EXAMPLE_CODE.strip() in render_prompt(example_task("crossover")).user
    assert "Parent 2: SpreadSample" in render_prompt(example_task("crossover")).user


def test_temperatures_are_high_for_ideas_and_low_for_care():
    hot = min(OPERATORS[name].temperature for name in ("initial", "diversify"))
    cold = max(OPERATORS[name].temperature for name in ("repair", "simplify"))
    assert hot > OPERATORS["mutate"].temperature > cold


def test_weights_are_shares_of_the_offspring():
    assert OPERATORS["initial"].weight == 0
    assert all(operator.weight > 0 for name, operator in OPERATORS.items() if name != "initial")


def test_feedback_of_a_score_is_complete():
    text = feedback(example_parents("mutate")[0].evaluation)
    for part in (
        "fitness is 0.312",
        "0.250 to 0.375, 20 runs per space",
        "score on convolution/A: 0.500",
        "score on gemm/B: 0.125",
        "own compute: 0.75 ms",
        "210.5 measurements paid for",
        "3.0 requests for configurations measured before",
        "1.5 requests outside the space",
    ):
        assert part in text


@pytest.mark.parametrize("state", [state for state in CandidateState if state is not CandidateState.SCORED])
def test_feedback_of_a_failure_gives_state_and_reason(state):
    text = feedback(Evaluation(state, "KeyError: 'x'\n  in line 3"))
    assert "KeyError: 'x' in line 3" in text
    assert text.startswith("It has no score: ")
    assert len(feedback(Evaluation(state, "x" * 5000))) < 1000
    assert len({feedback(Evaluation(other, "")) for other in CandidateState}) == len(CandidateState)


def test_the_optimum_never_leaks():
    """Whatever an evaluation's notes hold, no cost of the space gets into a prompt."""
    space = synthetic_space(7)
    best = int(np.nanargmin(space.costs))
    notes = {
        "measured": 50.0,
        "best_cost": space.optimum,
        "best_config": space.param_config(best),
        "optimum": space.optimum,
    }
    for operator in OPERATORS:
        parents = tuple(Scored(p.candidate, replace(p.evaluation, notes=notes)) for p in example_parents(operator))
        prompt = render_prompt(replace(example_task(operator), parents=parents))
        text = prompt.system + prompt.user
        assert f"{space.optimum:.3f}" not in text
        assert str(space.param_config(best)) not in text
        assert "50.0 measurements" in text or operator in ("initial", "repair")


def test_ideas_tried_are_listed_once_each_and_not_without_end():
    tried = (*(f"idea number {n} " + "y" * 500 for n in range(100)), "the\nlast", "the\nlast")
    user = render_prompt(replace(example_task("initial"), tried=tried)).user
    assert "idea number 99" in user
    assert "idea number 20" not in user
    assert user.count("- the last") == 1
    assert len(user) < 20_000


def test_nothing_tried_and_nothing_described():
    user = render_prompt(ProposalTask("k", "initial", (), ())).user
    assert "None yet." in user
    assert "Not described." in user


def test_code_with_fences_and_dollars_survives():
    code = EXAMPLE_CODE.replace('"""Samples', '"""```\n    $code ${x}\n    ```` Samples')
    parent = example_parents("mutate")[0]
    parent = Scored(replace(parent.candidate, code=code), parent.evaluation)
    user = render_prompt(replace(example_task("mutate"), parents=(parent,))).user
    assert f"`````python\n{code.strip()}\n`````" in user


def test_unknown_operators_and_wrong_numbers_of_parents_are_refused():
    with pytest.raises(ValueError, match="operator 'graft' is none of initial, mutate"):
        render_prompt(replace(example_task("mutate"), operator="graft"))
    with pytest.raises(ValueError, match="crossover takes 2 parents, got 1"):
        render_prompt(replace(example_task("crossover"), parents=example_parents("mutate")))


def test_a_retry_says_what_was_wrong():
    prompt = render_prompt(example_task("mutate"))
    retry = render_retry(prompt, "Sure! ```python\nx```", "no class derives from OptAlg")
    assert retry.key == f"{prompt.key}-retry1"
    assert (retry.system, retry.temperature) == (prompt.system, prompt.temperature)
    assert retry.user.startswith(prompt.user)
    assert "Sure! ```python\nx```" in retry.user
    assert "It cannot be used: no class derives from OptAlg." in retry.user


CONTRACT_METHODS = re.findall(r"`searchspace\.(\w+)\(([\w, ]*)\)`", system_prompt())


def test_the_contract_names_methods():
    assert len(CONTRACT_METHODS) > 8


@pytest.mark.parametrize(("name", "arguments"), CONTRACT_METHODS)
def test_the_contract_gives_kernel_tuners_own_signatures(name, arguments):
    method = getattr(Searchspace, name)
    taken = list(inspect.signature(method).parameters)[1:]
    assert [argument.strip() for argument in arguments.split(",") if argument.strip()] == taken[
        : len(arguments.split(","))
    ]


def test_the_contract_names_attributes_that_are_there():
    space = synthetic_space(1)
    searchspace = build_searchspace(space.tune_params, space.value_indices)
    names = set(re.findall(r"`searchspace\.(\w+)`", system_prompt()))
    assert {"size", "param_names", "params_values", "list"} <= names
    for name in names:
        assert getattr(searchspace, name) is not None
    for method in re.findall(r'`"([\w-]+)"`', system_prompt()):
        searchspace.get_neighbors(searchspace.list[0], method)


def test_the_contracts_own_example_is_a_candidate():
    example = re.search(r"```python\n(.*?)```", system_prompt(), re.DOTALL)
    assert example is not None
    assert CandidateCode.read(example[1]).checked().defaults == {"n_initial": 10, "temperature": 1.0}


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_prompts_own_example_of_ranges_is_read(operator):
    user = render_prompt(example_task(operator)).user
    example = user[user.rindex("```json") :]
    code = EXAMPLE_CODE.replace("n_initial=10", "n_initial=10, temperature=1.0")
    reply = parse_reply(f"```python\n{code}```\n{example}")
    assert set(reply.ranges) == {"n_initial", "temperature", "neighbor_method"}


def test_the_words_a_prompt_must_have():
    """Facts without which good answers are luck."""
    text = " ".join(system_prompt().split())
    for part in (
        "sys.float_info.max",
        "Costs may be negative",
        "budget_spent_fraction",
        "StopCriterionReached",
        "every argument has a default",
        "is free and gives the same cost",
        "50 to 1,000 measurements",
        "0 means as good as random search",
        "1 means at the optimum from the start",
        "numpy, scipy, sklearn",
    ):
        assert part in text


def test_the_contract_allows_what_the_check_allows():
    found = re.search(r"Imports allowed: ([\w, ]+?), and ([\w, ]+)\.", " ".join(system_prompt().split()))
    assert found is not None
    named = {*found[1].split(", "), *found[2].split(", ")}
    assert named == {*PACKAGES, *STANDARD_MODULES}
    for refused in ("eval", "exec", "compile", "open", "globals", "vars"):
        assert f"`{refused}`" in system_prompt()
