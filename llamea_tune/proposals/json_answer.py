"""Answers that are one JSON object, with the code in one of its fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from llamea_tune.proposals.ranges import read_json_object
from llamea_tune.proposals.sources import holds_optimizer, is_python

_OBJECT = re.compile(r"^[ \t>\[]*(?=\{)", re.MULTILINE)
_DESCRIPTIONS = ("description", "summary", "idea", "explanation")
_MOST_OBJECTS = 20


def as_blocks(text: str) -> str:
    """An answer in the form that was asked for, where it is a JSON object that holds the class; any other as it is."""
    for found in islice(_OBJECT.finditer(text), _MOST_OBJECTS):
        value, end = _read(text, found.end())
        answer = _with_code(value)
        if answer is not None:
            return f"{_written(answer)}\n\n{text[: found.end()]}{text[end:]}"
    return text


def _read(text: str, start: int) -> tuple[Any, int]:
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        end = text.rfind("}") + 1
        value = read_json_object(text[start:end])
    return value, end


def _with_code(value: Any) -> Mapping[str, Any] | None:
    """The object in a JSON value that has the class in one of its fields, by itself rather than in the midst of prose."""
    found: list[Mapping[str, Any]] = []
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            found += [inner for entry in inner.values() if isinstance(entry, str) and holds_optimizer(entry)]
            waiting += inner.values()
        elif isinstance(inner, list):
            waiting += inner
    return max(found, key=lambda answer: any(map(_is_code, answer.values())), default=None)


def _is_code(entry: Any) -> bool:
    return isinstance(entry, str) and holds_optimizer(entry) and (entry.lstrip().startswith("```") or is_python(entry))


def _written(answer: Mapping[str, Any]) -> str:
    fields = {str(name).lower(): entry for name, entry in answer.items()}
    texts = {name: entry for name, entry in fields.items() if isinstance(entry, str)}
    told = next((texts.pop(name) for name in _DESCRIPTIONS if name in texts), "")
    parts = [f"Description: {' '.join(told.split())}"] if told.strip() else []
    parts += [_block(entry, "python") for entry in sorted(texts.values(), key=_is_code)]
    for entry in fields.values():
        if isinstance(entry, dict) and entry and all(isinstance(of, dict) for of in entry.values()):
            parts.append(_block(json.dumps(entry), "json"))
    return "\n\n".join(parts)


def _block(content: str, language: str) -> str:
    """Content in a fence, unless it has brought one along."""
    return content if content.lstrip().startswith("```") else f"`````{language}\n{content}\n`````"
