"""Write the prompt for a task from the files in `prompts/`, and fit it into its context window."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from string import Template

from llamea_tune.candidate import Scored
from llamea_tune.candidate_code import prompt_sentences
from llamea_tune.llm.language_model import RETRY, Prompt
from llamea_tune.own_compute import DISCOUNT_PER_DOUBLING
from llamea_tune.proposals.briefing import Briefing, Facts
from llamea_tune.proposals.context import VITAL, Section, estimated_tokens, pack
from llamea_tune.proposals.evidence import table
from llamea_tune.proposals.feedback import feedback_forms
from llamea_tune.proposals.memory import FEWER_ATTEMPTS, relatives, tree
from llamea_tune.proposals.operators import OPERATORS, Operator
from llamea_tune.proposals.proposal import ProposalTask

_MOST_TRIED = 40
_LONGEST_TRIED = 240
_MOST_RANGES = 20
LONGEST_ANSWER = 40_000
LONGEST_PROBLEM = 800
RETRY_TOKENS = 400
"""Kept free of each prompt, for what a second one says of the answer to it."""
_TUNED = "Hyperparameters of the best candidates are tuned in this run, within the ranges that are declared for them."
_NOT_TUNED = (
    "Hyperparameters are not tuned in this run: candidates are scored with their defaults, so choose these with care."
)

# What is shortened first where a prompt has to fit; the task, its direction, the form of the answer and code to edit are not.
_EVIDENCE, _FACTS, _RELATIVES, _ATTEMPTS, _SPACES, _EXAMPLE, _SIBLINGS = range(1, 8)


def render_prompt(task: ProposalTask) -> Prompt:
    """Write the prompt for a task.

    Raises:
        ValueError: The operator is unknown or takes another number of parents.
        PromptTooLongError: It does not fit into the context window, however short.
    """
    operator = OPERATORS.get(task.operator)
    if operator is None:
        raise ValueError(f"operator {task.operator!r} is none of {', '.join(OPERATORS)}")
    if len(task.parents) != operator.n_parents:
        raise ValueError(f"{operator.name} takes {operator.n_parents} parents, got {len(task.parents)}")
    system = system_prompt(task.briefing.own_compute_ms)
    sections = [*task_sections(task, operator), answer_section(operator)]
    user = pack(sections, tokens_left(task.briefing, system, RETRY_TOKENS))
    return Prompt(task.key, system, user, operator.temperature, seed=task.seed, llm=task.llm)


def render_retry(prompt: Prompt, answer: str, problem: str, most_tokens: int | None = None) -> Prompt:
    """Write the prompt that follows an unusable answer.

    Args:
        prompt: What was asked.
        answer: The answer.
        problem: What is wrong with it.
        most_tokens: What prompt and system prompt may take; the answer is left out where it would take more.
    """
    shown = answer.strip()[:LONGEST_ANSWER]
    problem = (
        textwrap.shorten(problem.strip().rstrip("."), LONGEST_PROBLEM, placeholder=" …") if most_tokens else problem
    )
    left = None if most_tokens is None else most_tokens - estimated_tokens(prompt.system)
    again = read_prompt("retry.md")
    sections = (
        Section((prompt.user,)),
        Section((f"# Your previous answer\n\n{fenced(shown)}",), _EVIDENCE),
        Section((Template(again).substitute(problem=problem.strip().rstrip(".")),)),
    )
    return replace(prompt, key=prompt.key + RETRY, user=pack(sections, left))


def answer_section(operator: Operator) -> Section:
    """The form of the answer to an operator's task."""
    answer = read_prompt("answer_edits.md" if operator.edits else "answer.md")
    return Section((f"# Answer format\n\n{answer}",))


def tokens_left(briefing: Briefing, system: str, reserved: int = 0) -> int | None:
    """Tokens that a task may take beside a system prompt; None for any number."""
    if briefing.context_tokens is None:
        return None
    return briefing.context_tokens - estimated_tokens(system) - reserved


def system_prompt(own_compute_ms: float | None = None) -> str:
    """The system prompt: the same for every task of a run, so that servers can cache it.

    Args:
        own_compute_ms: Own compute that the run aims at for each measurement, in milliseconds.
    """
    return fill("system.md", contract=contract(own_compute_ms))


def contract(own_compute_ms: float | None = None) -> str:
    """The contract of candidate code; see `system_prompt`."""
    return fill("contract.md", **prompt_sentences(own_compute_ms))


def task_sections(task: ProposalTask, operator: Operator) -> list[Section]:
    """All of a prompt but the form of the answer."""
    briefing = task.briefing
    sections = [
        Section(_spaces(task.spaces), _SPACES),
        Section((_facts(briefing.facts, briefing),), _FACTS),
        Section(_tried(task), _ATTEMPTS),
        *_parents(task.parents, briefing, to_edit=operator.name != "diversify"),
        Section(_relatives(task), _RELATIVES),
        Section((_siblings(briefing),), _SIBLINGS),
    ]
    direction = f"\n\n{briefing.direction}" if briefing.direction else ""
    return [*sections, Section((f"# Your task\n\n{read_prompt(operator.prompt_file)}{direction}",))]


def _spaces(spaces: Sequence[str]) -> tuple[str, ...]:
    """The descriptions, then without landscapes, then what is tuned and where."""
    whole = [text.strip() for text in spaces] or ["Not described."]
    flat = [text.partition("\n- Landscape:")[0] for text in whole]
    brief = ["\n".join(line for line in text.split("\n") if not line.startswith("  ")) for text in flat]
    heading = "# Search spaces that the fitness is computed on"
    return tuple("\n\n".join([heading, *form]) for form in (whole, flat, brief))


def _facts(facts: Facts | None, briefing: Briefing) -> str:
    if facts is None:
        return ""
    rows = []
    for space, (first, last) in facts.scored.items():
        paid = [f"{on[space].measured:.0f}" for on in briefing.references.values() if space in on]
        rows.append([briefing.called(space), f"{100 * first:.1f} %", f"{100 * last:.0f} %", *paid])
    head = ["space", "scored from", "to", *(f"measurements that {label} paid for" for label in briefing.references)]
    text = fill("facts.md", limit_s=f"{facts.limit_s:g}", tuning=_TUNED if facts.tuned else _NOT_TUNED)
    if facts.own_compute_ms is not None:
        text += "\n" + fill("lean.md", aim_ms=f"{facts.own_compute_ms:g}", lost=f"{DISCOUNT_PER_DOUBLING:g}")
    return f"# What holds in this run\n\n{text}\n\n{table(head, rows)}"


def _tried(task: ProposalTask) -> tuple[str, ...]:
    attempts = task.briefing.attempts
    if attempts:
        heading = "# Attempts so far, each below what it was made from"
        return tuple(f"{heading}\n\n{tree(attempts, most)}" for most in (_MOST_TRIED, FEWER_ATTEMPTS))
    shown = [" ".join(text.split()) for text in task.tried[-_MOST_TRIED:]]
    shown = [text if len(text) <= _LONGEST_TRIED else text[:_LONGEST_TRIED].rstrip() + "…" for text in shown]
    lines = "\n".join(f"- {text}" for text in dict.fromkeys(shown)) or "None yet."
    return (f"# Algorithms tried so far, the newest last\n\n{lines}",)


def _parents(parents: Sequence[Scored], briefing: Briefing, *, to_edit: bool) -> list[Section]:
    sections = [Section(("# What to start from",))] if parents else []
    for number, parent in enumerate(parents, start=1):
        candidate = parent.candidate
        title = "Parent" if len(parents) == 1 else f"Parent {number}"
        known = any(attempt.id == candidate.id for attempt in briefing.attempts)
        named = f"{candidate.class_name} ({candidate.id})" if known else candidate.class_name
        refused = [f"- {textwrap.shorten(text, _LONGEST_TRIED, placeholder=' …')}" for text in candidate.refused_ranges]
        sections += [
            Section((f"## {title}: {named}\n\n{candidate.description}",)),
            Section(feedback_forms(parent.evaluation, briefing, refused[:_MOST_RANGES]), _EVIDENCE),
            Section((fenced(candidate.code.strip("\n"), "python"),), VITAL if to_edit else _EXAMPLE),
        ]
    return sections


def _relatives(task: ProposalTask) -> tuple[str, ...]:
    forms = (relatives(task.parents, task.briefing.attempts, lines=lines) for lines in (True, False))
    return tuple(f"# What became of relatives\n\n{text}" if text else "" for text in forms)


def _siblings(briefing: Briefing) -> str:
    if not briefing.place:
        return ""
    told = "\n".join(f"- {text}" for text in briefing.siblings) or "- nobody else is asked"
    return "# Others at work\n\n" + fill("siblings.md", place=briefing.place, siblings=told)


def fenced(content: str, language: str = "") -> str:
    """Content in a fence longer than any in it."""
    longest = max((len(marks) for marks in re.findall(r"`{3,}", content)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{content}\n{fence}"


def fill(name: str, **values: str) -> str:
    """A file of `prompts/` with values in their places."""
    return Template(read_prompt(name)).substitute(values)


@cache
def read_prompt(name: str) -> str:
    """A file of `prompts/`."""
    return files("llamea_tune.proposals").joinpath("prompts", name).read_text(encoding="utf-8").strip()
