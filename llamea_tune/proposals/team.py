"""A team of roles: one plans, one writes the code, one mends it. After STARK (plan, code and debug agents).

Each role has its own prompt with its own part of what is known, and may have its own language model (`ByRole`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace

from llamea_tune.llm.language_model import RETRY, LanguageModel, Prompt
from llamea_tune.proposals.anchors import Plan, read_plan
from llamea_tune.proposals.context import VITAL, Section, pack
from llamea_tune.proposals.llm_proposer import LLMProposer
from llamea_tune.proposals.operators import OPERATORS
from llamea_tune.proposals.prompt import (
    LONGEST_ANSWER,
    LONGEST_PROBLEM,
    RETRY_TOKENS,
    answer_section,
    contract,
    fenced,
    read_prompt,
    system_prompt,
    task_sections,
    tokens_left,
)
from llamea_tune.proposals.proposal import Exchange, ProposalError, ProposalTask
from llamea_tune.proposals.reply import Reply

SINGLE = "single"
TEAMS = (SINGLE, "plan-code-debug")
PLANNER, CODER, DEBUGGER = ROLES = ("planner", "coder", "debugger")
PLAN = "-plan"
"""What the key of a planner's prompt ends in."""

_TEMPERATURES = {PLANNER: 1.0, CODER: 0.2, DEBUGGER: 0.1}
_SHORT_PLAN = 1_200

TryOut = Callable[[str, str], str]
"""From a program and the name of its class to what went wrong when it was tried out; empty where nothing did."""


class TeamProposer(LLMProposer):
    """Has a planner read the evidence, a coder carry out the plan, and a debugger mend what cannot be used."""

    def __init__(self, llm: LanguageModel, try_out: TryOut | None = None) -> None:
        """Make up the team.

        Args:
            llm: Answers for all roles.
            try_out: Tries programs out on something small, before they are proposed.
        """
        super().__init__(llm)
        self._try_out = try_out

    def first_prompt(self, task: ProposalTask, exchanges: list[Exchange]) -> Prompt:
        """Ask for a plan, and write the coder's prompt with it."""
        completion = self.ask(render_plan(task), exchanges)
        return render_code(task, read_plan(completion.text, _code(task)))

    def second_prompt(self, task: ProposalTask, prompt: Prompt, answer: str, problem: str) -> Prompt:
        """The debugger's prompt."""
        return render_debug(task, prompt, answer, problem)

    def try_out(self, reply: Reply) -> None:
        """Try a program out, where that can be done.

        Raises:
            ProposalError: It went wrong.
        """
        problem = self._try_out(reply.code, reply.class_name) if self._try_out is not None else ""
        if problem:
            raise ProposalError(f"it failed when it was tried out: {problem}")


def render_plan(task: ProposalTask) -> Prompt:
    """The planner's prompt: all that is known, and a job to be planned.

    Raises:
        PromptTooLongError: It does not fit into the context window, however short.
    """
    system = f"{read_prompt('planner.md')}\n\n{contract(task.briefing.own_compute_ms)}"
    form = read_prompt("answer_plan.md" if _code(task) else "answer_plan_new.md")
    sections = [*task_sections(task, OPERATORS[task.operator]), Section((f"# Answer format\n\n{form}",))]
    user = pack(sections, tokens_left(task.briefing, system))
    return Prompt(task.key + PLAN, system, user, _TEMPERATURES[PLANNER], PLANNER, task.seed, task.llm)


def render_code(task: ProposalTask, plan: Plan) -> Prompt:
    """The coder's prompt: the contract, the parent with anchors, and the plan; none of the evidence.

    Raises:
        PromptTooLongError: It does not fit into the context window, however short.
    """
    system = system_prompt(task.briefing.own_compute_ms)
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(plan.steps, start=1))
    told = "\n\n".join(filter(None, (plan.prose, steps))) or "The planner left no plan: do as the task says."
    parents = [parent.candidate for parent in task.parents]
    codes = [plan.code, *(parent.code for parent in parents[1:])] if _code(task) else [of.code for of in parents]
    priority = VITAL if task.operator != "diversify" else 1
    sections = [
        *(
            Section((f"# Program to start from: {of.class_name}\n\n{fenced(code.strip(), 'python')}",), priority)
            for of, code in zip(parents, codes, strict=True)
        ),
        Section((f"# Plan\n\n{told}", f"# Plan\n\n{textwrap.shorten(told, _SHORT_PLAN, placeholder=' …')}"), 1),
        Section((f"# Your task\n\n{read_prompt('code.md')}",)),
        answer_section(OPERATORS[task.operator]),
    ]
    user = pack(sections, tokens_left(task.briefing, system, RETRY_TOKENS))
    return Prompt(task.key, system, user, _TEMPERATURES[CODER], CODER, task.seed, task.llm)


def render_debug(task: ProposalTask, prompt: Prompt, answer: str, problem: str) -> Prompt:
    """The debugger's prompt: the contract, what was written, and what is wrong with it.

    Raises:
        PromptTooLongError: It does not fit into the context window, however short.
    """
    parents = [parent.candidate for parent in task.parents] if OPERATORS[task.operator].edits else []
    wrong = textwrap.shorten(problem, LONGEST_PROBLEM, placeholder=" …")
    sections = [
        *(
            Section((f"# Program that was to be changed\n\n{fenced(of.code.strip(), 'python')}",), VITAL)
            for of in parents
        ),
        Section((f"# Answer\n\n{fenced(answer.strip()[:LONGEST_ANSWER])}",), 1),
        Section((read_prompt("retry.md").replace("$problem", wrong.rstrip(".")),)),
    ]
    user = pack(sections, tokens_left(task.briefing, prompt.system))
    return replace(prompt, key=prompt.key + RETRY, user=user, temperature=_TEMPERATURES[DEBUGGER], role=DEBUGGER)


def _code(task: ProposalTask) -> str:
    """The program that a plan is marked in; empty where a new one is to be written."""
    changes = OPERATORS[task.operator].edits or task.operator == "crossover"
    return task.parents[0].candidate.code if changes and task.parents else ""
