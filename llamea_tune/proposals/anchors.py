"""Anchors: comments that mark in a program where a plan wants a change, and what."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from llamea_tune.proposals.edits import Edit, apply_edits
from llamea_tune.proposals.proposal import ProposalError

_STEP = re.compile(
    r"^[ \t]*<{5,9}[ \t]*AT[^\n]*\n(?P<at>.*?)^[ \t]*={5,9}[ \t]*\n(?P<what>.*?)^[ \t]*>{5,9}[ \t]*PLAN[^\n]*$",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_ANCHOR = re.compile(r"^[ \t]*# <<< PLAN \d+: .* >>>[ \t]*(?:\n|\Z)", re.MULTILINE)
_LONGEST_STEP = 600


@dataclass(frozen=True)
class Plan:
    """A planner's answer, read.

    Attributes:
        prose: What it says beside its steps.
        steps: What to change, in order.
        code: The program with an anchor above each place that was found; as it was where none was.
    """

    prose: str
    steps: tuple[str, ...]
    code: str


def read_plan(text: str, code: str = "") -> Plan:
    """Read a plan, and mark its steps in a program.

    A step whose lines are not in the program is a step without an anchor.

    Args:
        text: The planner's answer.
        code: The program; empty where there is none to change.
    """
    steps = []
    for number, found in enumerate(_STEP.finditer(text), start=1):
        what = textwrap.shorten(found["what"], _LONGEST_STEP, placeholder=" …")
        steps.append(what)
        at = found["at"].strip("\n")
        if code and at.strip():
            code = _marked(code, at, f"# <<< PLAN {number}: {what} >>>")
    return Plan(_STEP.sub("", text).strip(), tuple(steps), code)


def _marked(code: str, at: str, anchor: str) -> str:
    first = at.split("\n", maxsplit=1)[0]
    indent = first[: len(first) - len(first.lstrip())]
    try:
        return apply_edits(code, [Edit(at, f"{indent}{anchor}\n{at}")])
    except ProposalError:
        return code


def without_anchors(text: str) -> str:
    """A text less its anchors."""
    return _ANCHOR.sub("", text)
