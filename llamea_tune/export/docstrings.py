"""Descriptions of arguments, from the docstrings of a candidate."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

_ENTRY = re.compile(
    r"^\s*(?::param\s+|[-*]\s+)?`{0,2}(?P<name>\w+)`{0,2}\s*(?:\([^)]*\))?\s*:\s+(?P<text>\S.*)$",
)


def argument_descriptions(docstrings: Iterable[str | None], names: Iterable[str]) -> dict[str, str]:
    """One line about each argument: what a docstring says, else its name in words.

    Args:
        docstrings: Where to look, the first that tells wins. Understood are `name: text`, `name (type): text`, list
            items of that form, and `:param name: text`, with continuation lines indented deeper.
        names: The arguments.
    """
    found: dict[str, str] = {}
    for docstring in docstrings:
        for name, text in _entries(docstring or ""):
            found.setdefault(name, text)
    return {name: found.get(name, name.replace("_", " ").strip()) for name in names}


def _entries(docstring: str) -> list[tuple[str, str]]:
    entries: list[tuple[str, str]] = []
    indent: int | None = None
    for line in inspect.cleandoc(docstring).splitlines():
        entry = _ENTRY.match(line)
        depth = len(line) - len(line.lstrip())
        if indent is not None and line.strip() and depth > indent:
            name, text = entries[-1]
            entries[-1] = (name, f"{text} {line.strip()}")
        elif entry:
            indent = depth
            entries.append((entry["name"], entry["text"]))
        else:
            indent = None
    return [(name, " ".join(text.split()).rstrip(".")) for name, text in entries]
