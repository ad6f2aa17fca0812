"""Prompts fit into context windows: the least important part goes first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.candidate import Behaviour, CandidateState, Evaluation
from llamea_tune.exceptions import ProposerError
from llamea_tune.proposals import LLMProposer
from llamea_tune.proposals.anchors import read_plan, without_anchors
from llamea_tune.proposals.briefing import Attempt, Briefing, Facts
from llamea_tune.proposals.context import Section, estimated_tokens, pack
from llamea_tune.proposals.directions import directions, kinds
from llamea_tune.proposals.evidence import losses
from llamea_tune.proposals.feedback import feedback
from llamea_tune.proposals.memory import relatives, tree
from llamea_tune.proposals.prompt import render_prompt, render_retry
from llamea_tune.proposals.proposal import RefusedPromptError
from llamea_tune.proposals.team import render_code, render_debug
from llamea_tune.testing.proposer_contract import example_parents, example_task


class Silent:
    """A language model that must not be asked."""

    name = "silent"


PARTS = (Section(("the task",)), Section(("evidence " * 9, "evidence"), 1), Section(("spaces " * 9, "spaces"), 2))


def test_a_token_is_three_characters():
    assert [estimated_tokens("x" * n) for n in (0, 1, 3, 4)] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (None, ["the task", PARTS[1].forms[0], PARTS[2].forms[0]]),
        (60, ["the task", PARTS[1].forms[0], PARTS[2].forms[0]]),
        (40, ["the task", PARTS[1].forms[0], "spaces"]),
        (10, ["the task", "evidence", "spaces"]),
        (8, ["the task", "evidence"]),
        (4, ["the task"]),
    ],
)
def test_short_forms_come_before_gaps_and_the_least_important_goes_first(most, shown):
    assert pack(PARTS, most) == "\n\n".join(shown)


def test_what_cannot_fit_is_told():
    with pytest.raises(
        ProposerError, match="context_tokens leaves 2 tokens for the task, which takes 3 with everything"
    ):
        pack(PARTS, 2)


@given(
    st.lists(st.tuples(st.lists(st.text("ab \n", max_size=30), min_size=1, max_size=3), st.integers(1, 4)), max_size=6)
)
def test_whatever_may_vanish_fits_into_anything(parts):
    sections = [Section(tuple(forms), priority) for forms, priority in parts]
    for most in range(0, 40, 7):
        assert estimated_tokens(pack(sections, most)) <= most


def behaviour(*tenths, **more):
    given = {"measured": 40.0, "failed": 1.0, "repeated": 0.0, "invalid": 0.0, "near": 0.5, "distance": 2.0}
    other = {"travelled": 3.0, "last_improvement": 0.5, "own_compute_ms": 1.5, "ranks": ((1.0,) * 20,)}
    return Behaviour(tenths=tuple(tenths), **{**given, **other, **more})


EARLY = behaviour(*(0.0, 0.0, 0.0, *(1.0,) * 7))
LATE = behaviour(*((1.0,) * 7), 0.5, 0.5, 0.5, repeated=30.0)
SEEN = {"convolution/A": EARLY, "gemm/B": LATE}


def briefed(operator="mutate", **more):
    task = example_task(operator)
    parents = tuple(
        replace(parent, evaluation=replace(parent.evaluation, behaviour=SEEN)) for parent in example_parents(operator)
    )
    facts = Facts({"convolution/A": (0.04, 0.909), "gemm/B": (0.1, 0.909)}, 60.0, tuned=True)
    attempts = (attempt("0000"), attempt("0002", "0000", gain=-0.2))
    told = Briefing(facts=facts, references={"pso": SEEN}, attempts=attempts, direction="Attend to it.", place="1 of 2")
    return replace(task, parents=parents, briefing=replace(told, siblings=("simplify of 0001: less",), **more))


def attempt(key, *parents, gain=None, **more):
    scored = Attempt(key, "A", "mutate" if parents else "initial", parents, f"Idea {key}.", "", CandidateState.SCORED)
    interval = None if gain is None else (gain - 0.1, gain + 0.1)
    return replace(scored, fitness=0.5, gain=gain, gain_interval=interval, **more)


def test_losses_add_up_to_what_the_fitness_lacks():
    found = losses(SEEN)
    assert sum(loss.fitness for loss in found) == pytest.approx(1.0 - (0.7 + 0.85) / 2)
    assert [(loss.space, loss.phase) for loss in found[:2]] == [("convolution/A", "early"), ("gemm/B", "late")]


def test_directions_name_the_weaknesses_costliest_first():
    first, second, third = directions("mutate", briefed().parents, Briefing(space_names={"gemm/B": "space 2"}))
    assert first.startswith(
        "Attend to convolution/A, early (tenths 1 to 3 of the scored time): the score is 0.00 there"
    )
    assert second.startswith("Attend to space 2, late")
    assert "30.0 ask for what is known" in third
    assert len(set(kinds())) == len(kinds()) > 10
    assert directions("repair", (), Briefing()) == []


def test_own_compute_is_a_weakness_where_it_is_aimed_at():
    (parent,) = briefed().parents
    heavy = replace(parent, evaluation=replace(parent.evaluation, own_compute_ms=64.0))
    aiming = Briefing(facts=Facts({}, 60.0, tuned=False, own_compute_ms=1.0))
    first, second, third, *_ = directions("mutate", (heavy,), aiming)
    assert first.startswith("Attend to convolution/A, early")  # which costs 0.150
    assert second.startswith("Attend to own compute: it takes 64 ms for each measurement, and 1.5 ms on convolution/A")
    assert "where 1 ms is aimed at, which takes 0.120 off" in second
    assert third.startswith("Attend to gemm/B, late")
    for parents, briefing in (((parent,), aiming), ((heavy,), Briefing())):
        assert not any("own compute" in direction for direction in directions("mutate", parents, briefing))


def test_a_whole_prompt_has_all_sections_in_order():
    user = render_prompt(briefed()).user
    headings = [line for line in user.split("\n") if line.startswith("# ")]
    assert [heading.split()[1] for heading in headings] == [
        "Search",
        "What",
        "Attempts",
        "What",
        "What",
        "Others",
        "Your",
        "Answer",
    ]
    for part in (
        "| convolution/A | this program | 0.00 | 0.00 | 0.00 | 1.00 ",
        "|  | pso | 0.00 ",
        "| gemm/B | 40.0 | 1.0 | 30.0 | 0.0 | 50 % | 2.0 | 3.0 | at 50 % of the scored time | 1.5 ms |",
        "What the fitness lacks to 1, by space: convolution/A 0.150, gemm/B 0.075.",
        "| convolution/A | 4.0 % | 91 % | 40 |",
        "are tuned in this run",
        "-0.200 [-0.300, -0.100] against 0000 on the same seeds",
        "proposal 1 of 2",
    ):
        assert part in user, part


@pytest.mark.parametrize("operator", ["mutate", "diversify", "crossover"])
@pytest.mark.parametrize("room", [0, 300, 1000, 2000])
def test_the_task_and_code_to_change_stay_whole_in_a_small_window(operator, room):
    task = briefed(operator)
    vital = render_prompt(replace(task, briefing=replace(task.briefing, context_tokens=4100 + room)))
    total = estimated_tokens(vital.system) + estimated_tokens(vital.user)
    assert total <= 4100 + room - 400
    assert "# Your task" in vital.user
    assert "Attend to it." in vital.user
    assert operator == "diversify" or task.parents[0].candidate.code.strip() in vital.user
    retry = render_retry(vital, "an answer " * 5000, "it is " + "wrong " * 500, 4100 + room)
    assert estimated_tokens(retry.system) + estimated_tokens(retry.user) <= 4100 + room
    assert "It cannot be used: it is wrong" in retry.user


def test_a_teams_prompts_fit_too():
    task = briefed(context_tokens=4600)
    plan = read_plan("Diagnosis: " + "so it is. " * 900, task.parents[0].candidate.code)
    code = render_code(task, plan)
    for prompt in (code, render_debug(task, code, "an answer " * 5000, "it is " + "wrong " * 500)):
        assert estimated_tokens(prompt.system) + estimated_tokens(prompt.user) <= 4600
        assert task.parents[0].candidate.code.strip() in prompt.user


def test_a_plan_whose_lines_are_not_there_keeps_its_steps():
    plan = read_plan("Diagnosis: no.\n<<<<<<< AT\nnowhere()\n=======\nDo it.\n>>>>>>> PLAN\n", "a = 1\n")
    assert (plan.prose, plan.steps, plan.code) == ("Diagnosis: no.", ("Do it.",), "a = 1\n")
    marked = read_plan("<<<<<<< AT\na = 1\n=======\nDo\nit.\n>>>>>>> PLAN", "a = 1\n").code
    assert marked == "# <<< PLAN 1: Do it. >>>\na = 1\n"
    assert without_anchors(marked) == "a = 1\n"


def test_a_window_that_nothing_fits_into_is_told():
    with pytest.raises(ProposerError, match="raise it, or take a model with a larger context"):
        render_prompt(briefed(context_tokens=2000))


def test_a_parent_that_is_too_long_costs_a_candidate_and_not_the_run():
    with pytest.raises(
        RefusedPromptError, match=r"no answer: its prompt takes [\d,]+ tokens at the least, where \d+ are"
    ):
        LLMProposer(Silent()).propose(briefed(context_tokens=2000))
    with pytest.raises(ProposerError, match="context_tokens leaves 0 tokens for the task"):
        LLMProposer(Silent()).propose(replace(example_task("initial"), briefing=Briefing(context_tokens=10)))


def test_every_state_can_be_told():
    for state in set(CandidateState) - {CandidateState.SCORED}:
        (line,) = tree([replace(attempt("0000"), state=state, fitness=None, reason="so it is")]).splitlines()
        assert "no score: " in line
        assert feedback(Evaluation(state, "so it is")).startswith("It has no score: ")


def test_the_tree_shows_children_below_parents_and_the_best_and_newest_of_many():
    attempts = [attempt("0000"), attempt("0001"), attempt("0002", "0000", gain=0.1), attempt("0003", "0002", gain=0.0)]
    lines = tree(attempts).split("\n")
    assert [line.split(" (")[0] for line in lines] == ["- 0000", "  - 0002", "    - 0003", "- 0001"]
    many = [replace(attempt(f"{number:04d}"), fitness=1.0 / (1 + number)) for number in range(100)]
    shown = tree(many, 10).split("\n")
    assert [line[2:6] for line in shown[:-1]] == [f"{n:04d}" for n in (*range(5), *range(95, 100))]
    assert shown[-1] == "- and 90 older ones, of lower fitness or none"


def test_relatives_tell_what_came_and_went():
    parent = example_parents("mutate")
    attempts = (
        attempt("0009"),
        attempt(
            "0000", "0009", gain=0.1, removed=("slow()",), added=("fast()",), changed="`step` (1 lines new, 1 gone)"
        ),
        attempt("0011", "0000", gain=-0.1, removed=("fast()",), added=("faster()",)),
        attempt("0012", "0009", gain=0.2, direction="Attend to haste.", added=("hasty()",)),
    )
    text = relatives(parent, attempts)
    assert "0000 came from 0009. Fitness 0.500, +0.100 [+0.000, +0.200] against 0009" in text
    assert "It changed `step` (1 lines new, 1 gone)." in text
    assert "Lines it did away with, which are not to come back: `slow()`." in text
    assert "Lines it brought, without gain: `faster()`." in text
    assert "It was asked: Attend to haste." in text
    assert "hasty()" not in text
    assert "`" not in relatives(parent, attempts, lines=False).replace("`step`", "")
    assert relatives(parent, ()) == ""
