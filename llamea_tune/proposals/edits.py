"""Search/replace edits: the short way to answer with a change to a parent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llamea_tune.proposals.proposal import ProposalError

_BLOCK = re.compile(
    r"^[ \t]*<{5,9}[ \t]*SEARCH[^\n]*\n(?P<search>.*?)^[ \t]*={5,9}[ \t]*\n(?P<replace>.*?)^[ \t]*>{5,9}[ \t]*REPLACE[^\n]*$",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_SHOWN = 60


@dataclass(frozen=True)
class Edit:
    """One edit.

    Attributes:
        search: Lines to find.
        replace: Lines to put in their place, possibly none.
    """

    search: str
    replace: str


def find_edits(text: str) -> tuple[Edit, ...]:
    """The edit blocks of an answer, in order."""
    return tuple(Edit(found["search"], found["replace"]) for found in _BLOCK.finditer(text))


def without_edits(text: str) -> str:
    """An answer less its edit blocks."""
    return _BLOCK.sub("", text)


def apply_edits(code: str, edits: Sequence[Edit]) -> str:
    """Apply edits one after the other.

    The lines to find are looked for as they stand, and where that fails, whatever their white space; the replacement is
    then indented as what it replaces.

    Args:
        code: Source of the parent.
        edits: The edits.

    Raises:
        ProposalError: Some edits do not apply; the message names them all, and what is wrong with each.
    """
    problems = []
    for number, edit in enumerate(edits, start=1):
        changed = _apply(code, edit)
        if isinstance(changed, _Problem):
            problems.append(f"edit {number} {changed.what}")
        else:
            code = changed
    if problems:
        raise ProposalError("; ".join(problems))
    return code


@dataclass(frozen=True)
class _Problem:
    what: str


def _apply(code: str, edit: Edit) -> str | _Problem:
    lines = code.rstrip("\n").split("\n")
    wanted = _trimmed(edit.search.split("\n"))
    if not wanted:
        return _Problem("has nothing in its SEARCH part")
    for same in (_exact, _tolerant):
        key = [same(line) for line in wanted]
        places = _find([same(line) for line in lines], key)
        if len(places) > 1:
            return _Problem(f"matches {len(places)} places ({_shown(wanted)}); its SEARCH part needs more lines")
        if places:
            start = places[0]
            shift = _indent(lines[start]) - _indent(wanted[0])
            new = [_shifted(line, shift) for line in _trimmed(edit.replace.split("\n"))]
            return "".join(f"{line}\n" for line in [*lines[:start], *new, *lines[start + len(wanted) :]])
    return _Problem(f"does not match the parent's code ({_shown(wanted)})")


def _find(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    last = len(lines) - len(wanted)
    return [i for i in range(last + 1) if lines[i] == wanted[0] and lines[i : i + len(wanted)] == wanted]


def _exact(line: str) -> str:
    return line.rstrip()


def _tolerant(line: str) -> str:
    return "".join(line.split())


def _trimmed(lines: list[str]) -> list[str]:
    """Lines less the blank ones at both ends."""
    full = [i for i, line in enumerate(lines) if line.strip()]
    return lines[full[0] : full[-1] + 1] if full else []


def _indent(line: str) -> int:
    line = line.expandtabs(4)
    return len(line) - len(line.lstrip())


def _shifted(line: str, shift: int) -> str:
    if not shift or not line.strip():
        return line.rstrip()
    return " " * max(_indent(line) + shift, 0) + line.strip()


def _shown(lines: Sequence[str]) -> str:
    first = lines[0].strip()
    return repr(first if len(first) <= _SHOWN else first[:_SHOWN] + "…")
