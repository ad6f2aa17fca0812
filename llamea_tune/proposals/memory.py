"""What a prompt tells of what was tried: the tree of attempts, and the relatives of a parent in detail."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from llamea_tune.candidate import Scored
from llamea_tune.proposals.briefing import Attempt
from llamea_tune.proposals.states import STATES

MOST_ATTEMPTS = 40
FEWER_ATTEMPTS = 10
_LONGEST_DESCRIPTION = 200
_LONGEST_REASON = 160
_MOST_RELATIVES = 8
_DEEPEST = 6
_MOST_ANCESTORS = 3


def tree(attempts: Sequence[Attempt], most: int = MOST_ATTEMPTS) -> str:
    """Attempts as an indented tree, children below the first of their parents.

    Args:
        attempts: All attempts, oldest first.
        most: How many to show: the newest, and as many of the fittest.
    """
    shown = _worth_telling(attempts, most)
    by_id = {attempt.id: attempt for attempt in shown}
    children: dict[str, list[Attempt]] = {}
    for attempt in shown:
        over = next((parent for parent in attempt.parents if parent in by_id), "")
        children.setdefault(over, []).append(attempt)
    lines = []
    waiting = [(attempt, 0) for attempt in reversed(children.get("", []))]
    while waiting:
        attempt, depth = waiting.pop()
        lines.append("  " * min(depth, _DEEPEST) + f"- {_line(attempt)}")
        waiting += [(child, depth + 1) for child in reversed(children.get(attempt.id, []))]
    left_out = len(attempts) - len(shown)
    return "\n".join(lines + ([f"- and {left_out} older ones, of lower fitness or none"] if left_out else []))


def _worth_telling(attempts: Sequence[Attempt], most: int) -> list[Attempt]:
    """The newest half, and the fittest of the others."""
    if len(attempts) <= most:
        return list(attempts)
    newest = list(attempts[-(most // 2) :])
    older = attempts[: -(most // 2)]
    fittest = sorted(older, key=lambda attempt: (attempt.fitness is None, -(attempt.fitness or 0.0), attempt.id))
    kept = {attempt.id for attempt in fittest[: most - len(newest)]}
    return [attempt for attempt in older if attempt.id in kept] + newest


def _line(attempt: Attempt) -> str:
    made = attempt.operator
    if attempt.parents:
        made += f" of {' and '.join(attempt.parents)}"
    return f"{attempt.id} ({made}): {outcome(attempt)} {_shortened(attempt.description, _LONGEST_DESCRIPTION)}".rstrip()


def outcome(attempt: Attempt) -> str:
    """What came of an attempt, in a sentence."""
    if attempt.fitness is None:
        reason = _shortened(attempt.reason, _LONGEST_REASON)
        return f"no score: {STATES[attempt.state]}" + (f" ({reason})." if reason else ".")
    text = f"fitness {attempt.fitness:.3f}"
    if attempt.own_compute_ms is not None:
        text += f" with {attempt.own_compute_ms:.2g} ms of own compute"
    if attempt.gain is None or attempt.gain_interval is None:
        return text + "."
    low, high = attempt.gain_interval
    return f"{text}, {attempt.gain:+.3f} [{low:+.3f}, {high:+.3f}] against {attempt.parents[0]} on the same seeds."


def relatives(parents: Sequence[Scored], attempts: Sequence[Attempt], *, lines: bool = True) -> str:
    """Where the parents come from, and what became of their other children and of their siblings.

    Args:
        parents: The parents.
        attempts: All attempts.
        lines: Whether to show lines of code that came and went.
    """
    by_id = {attempt.id: attempt for attempt in attempts}
    parts = []
    for parent in parents:
        own = by_id.get(parent.candidate.id)
        if own is None:
            continue
        parts += [_came_from(each, lines) for each in _line_of(own, by_id)]
        groups = {
            f"What was tried from {own.id} before": [each for each in attempts if own.id in each.parents],
            f"Its siblings, from {' and '.join(own.parents)}": _siblings(own, attempts),
        }
        for title, members in groups.items():
            told = [f"- {each.id}: {_told(each, lines)}" for each in members[-_MOST_RELATIVES:]]
            if told:
                parts.append("\n".join([f"{title}:", *told]))
    return "\n\n".join(parts)


def _line_of(own: Attempt, by_id: Mapping[str, Attempt]) -> list[Attempt]:
    """An attempt and those that it came from one after the other, first parents only, that were made from others."""
    line: list[Attempt] = []
    each: Attempt | None = own
    while each is not None and each.parents and len(line) < _MOST_ANCESTORS:
        line.append(each)
        each = by_id.get(each.parents[0])
    return line


def _came_from(attempt: Attempt, lines: bool) -> str:
    text = f"{attempt.id} came from {' and '.join(attempt.parents)}. {_told(attempt, lines)}"
    if lines and attempt.removed:
        text += f"\n  Lines it did away with, which are not to come back: {_quoted(attempt.removed)}."
    return text


def _siblings(own: Attempt, attempts: Sequence[Attempt]) -> list[Attempt]:
    return [each for each in attempts if each.id != own.id and set(each.parents) & set(own.parents)]


def _told(attempt: Attempt, lines: bool) -> str:
    """An attempt in detail."""
    text = (
        f"{outcome(attempt)[0].upper()}{outcome(attempt)[1:]} {_shortened(attempt.description, _LONGEST_DESCRIPTION)}"
    )
    if attempt.direction:
        text += f" It was asked: {_shortened(attempt.direction, _LONGEST_REASON)}"
    if attempt.changed:
        text += f" It changed {attempt.changed}."
    if lines and attempt.added and _did_not_help(attempt):
        text += f"\n  Lines it brought, without gain: {_quoted(attempt.added)}."
    return text


def _did_not_help(attempt: Attempt) -> bool:
    return attempt.fitness is None or (attempt.gain is not None and attempt.gain + attempt.lighter <= 0.0)


def _quoted(lines: Sequence[str]) -> str:
    return "; ".join(f"`{line}`" for line in lines)


def _shortened(text: str, longest: int) -> str:
    return textwrap.shorten(text, longest, placeholder=" …")
