"""Write the prompt for a task from the files in `prompts/`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template

from llamea_tune.candidate import CandidateState, Evaluation, Failure, Scored
from llamea_tune.candidate_code import prompt_sentences
from llamea_tune.llm.language_model import RETRY, Prompt
from llamea_tune.proposals.operators import OPERATORS
from llamea_tune.proposals.proposal import ProposalTask

_MOST_TRIED = 40
_LONGEST_TRIED = 240
_LONGEST_REASON = 800
_MOST_RANGES = 20
_LONGEST_ANSWER = 40_000

_COUNTS = {  # the counts that a prompt may tell: never a cost, which would tell of the optimum
    "measured": "measurements paid for",
    "failed": "of them failed",
    "repeated": "requests for configurations measured before",
    "invalid": "requests outside the space",
}

_STATES = {
    CandidateState.NO_PROPOSAL: "there was no usable program",
    CandidateState.DUPLICATE: "it is the same program as an earlier one",
    CandidateState.REJECTED: "the check of its code refused it",
    CandidateState.FAILED: "it raised an error",
    CandidateState.TIMED_OUT: "it ran past the time limit for its own compute",
    CandidateState.KILLED: "it was ended for using too much memory or something forbidden",
}


def render_prompt(task: ProposalTask) -> Prompt:
    """Write the prompt for a task.

    Raises:
        ValueError: The operator is unknown or takes another number of parents.
    """
    operator = OPERATORS.get(task.operator)
    if operator is None:
        raise ValueError(f"operator {task.operator!r} is none of {', '.join(OPERATORS)}")
    if len(task.parents) != operator.n_parents:
        raise ValueError(f"{operator.name} takes {operator.n_parents} parents, got {len(task.parents)}")
    user = _fill(
        "task.md",
        spaces="\n\n".join(text.strip() for text in task.spaces) or "Not described.",
        tried=_tried(task.tried),
        parents=_parents(task.parents),
        job=_read(operator.prompt_file),
        answer=_read("answer_edits.md" if operator.edits else "answer.md"),
    )
    return Prompt(task.key, system_prompt(), user, operator.temperature)


def render_retry(prompt: Prompt, answer: str, problem: str) -> Prompt:
    """Write the prompt that follows an unusable answer.

    Args:
        prompt: What was asked.
        answer: The answer.
        problem: What is wrong with it.
    """
    shown = answer.strip()[:_LONGEST_ANSWER]
    user = _fill("retry.md", prompt=prompt.user, answer=shown, problem=problem.strip().rstrip("."), fence=_fence(shown))
    return Prompt(prompt.key + RETRY, prompt.system, user, prompt.temperature)


def system_prompt() -> str:
    """The system prompt: the same for every task, so that servers can cache it."""
    return _fill("system.md", contract=_fill("contract.md", **prompt_sentences()))


def _parents(parents: Sequence[Scored]) -> str:
    if not parents:
        return ""
    titles = ["Parent"] if len(parents) == 1 else [f"Parent {number}" for number in range(1, len(parents) + 1)]
    sections = [_parent(title, parent) for title, parent in zip(titles, parents, strict=True)]
    return "\n\n".join(["# What to start from", *sections]) + "\n\n"


def _parent(title: str, parent: Scored) -> str:
    candidate = parent.candidate
    return _fill(
        "parent.md",
        title=title,
        class_name=candidate.class_name,
        description=candidate.description,
        feedback="\n".join([feedback(parent.evaluation), *_refused(candidate.refused_ranges)]),
        code=candidate.code.strip("\n"),
        fence=_fence(candidate.code),
    )


def _refused(ranges: Sequence[str]) -> list[str]:
    return [f"- {textwrap.shorten(text, _LONGEST_TRIED, placeholder=' …')}" for text in ranges[:_MOST_RANGES]]


def feedback(evaluation: Evaluation) -> str:
    """What a prompt says of an evaluation."""
    if evaluation.state is not CandidateState.SCORED:
        reason = " ".join(evaluation.reason.split())
        reason = reason if len(reason) <= _LONGEST_REASON else reason[:_LONGEST_REASON] + "…"
        lines = [f"It has no score: {_STATES[evaluation.state]}" + (f": {reason}" if reason else ".")]
        return "\n".join(lines + _where(evaluation.failure or Failure()))
    lines = [_fitness(evaluation)]
    lines += [f"- score on {space}: {score:.3f}" for space, score in evaluation.scores.items()]
    if evaluation.own_compute_ms is not None:
        lines.append(f"- own compute: {evaluation.own_compute_ms:.2g} ms per measurement")
    counts = [f"{evaluation.notes[name]} {what}" for name, what in _COUNTS.items() if name in evaluation.notes]
    if counts:
        lines.append(f"- in a run, on average: {', '.join(counts)}")
    return "\n".join(lines)


def _where(failure: Failure) -> list[str]:
    """What a prompt says of where a candidate failed."""
    lines = [f"- the run was on {failure.space}"] if failure.space else []
    lines += [f"- line {failure.line}"] if failure.line else []
    for space, score in failure.others.items():
        before = "it was not run" if score is None else f"its runs before that scored {score:.3f}"
        lines.append(f"- on {space} {before}")
    return lines


def _fitness(evaluation: Evaluation) -> str:
    text = "Its fitness is unknown" if evaluation.fitness is None else f"Its fitness is {evaluation.fitness:.3f}"
    if evaluation.interval is not None:
        text += " (95 % interval {:.3f} to {:.3f}".format(*evaluation.interval)
        text += f", {evaluation.repeats} runs per space)"
    return text + "."


def _tried(tried: Sequence[str]) -> str:
    if not tried:
        return "None yet."
    shown = [" ".join(text.split()) for text in tried[-_MOST_TRIED:]]
    shown = [text if len(text) <= _LONGEST_TRIED else text[:_LONGEST_TRIED].rstrip() + "…" for text in shown]
    return "\n".join(f"- {text}" for text in dict.fromkeys(shown))


def _fence(content: str) -> str:
    """A fence longer than any in the content."""
    longest = max((len(marks) for marks in re.findall(r"`{3,}", content)), default=2)
    return "`" * (longest + 1)


def _fill(name: str, **values: str) -> str:
    return Template(_read(name)).substitute(values)


@cache
def _read(name: str) -> str:
    return files("llamea_tune.proposals").joinpath("prompts", name).read_text(encoding="utf-8").strip()
