"""The reason that a server gives for an error, whatever form its answer has."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

_SAYING = ("message", "msg", "error", "errors", "detail", "details", "error_message", "description", "reason", "title")
_NAMING = ("code", "type", "error_type", "status", "reason", "param")
_DEEPEST = 8
_LONGEST_REASON = 4000
_HTML_TITLE = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1", re.I | re.S)
_MARK_UP = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.I | re.S)


def decode(body: bytes) -> Any:
    """A body as JSON data, or else as its text. What is not UTF-8 costs those bytes, not the body."""
    text = body.decode("utf-8-sig", errors="replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def reason_in(data: Any, depth: int = 0) -> str:
    """What data say in words, on one line; empty if nothing.

    Args:
        data: A text, a list, or an object with the reason under any of the usual names.
        depth: How deep it lies in other data.
    """
    if depth > _DEEPEST:
        return ""
    if isinstance(data, str):
        return _said(data, depth)
    if isinstance(data, list):
        return "; ".join(filter(None, (reason_in(item, depth + 1) for item in data)))[:_LONGEST_REASON]
    if not isinstance(data, dict):
        return ""
    said = next(filter(None, (reason_in(data.get(name), depth + 1) for name in _SAYING)), "")
    where = data.get("loc")  # of the errors that pydantic finds
    if said and isinstance(where, list):
        place = " ".join(".".join(map(str, where)).split())
        return f"{place}: {said}"[:_LONGEST_REASON]
    behind = data.get("metadata")  # of a server in front of others
    raw = reason_in(behind.get("raw"), depth + 1) if isinstance(behind, dict) else ""
    return ": ".join(filter(None, (said, raw)))


def names_in(data: Any, depth: int = 0) -> str:
    """The codes, types and names of parameters by which data call an error, for programs."""
    return " ".join(_names(data, depth)).strip()[:_LONGEST_REASON]


def _said(text: str, depth: int) -> str:
    text = text[: 4 * _LONGEST_REASON].strip()
    if text.startswith(("{", "[")):
        try:
            return reason_in(json.loads(text), depth + 1)
        except (ValueError, RecursionError):
            pass
    if text.startswith("<"):
        title = _HTML_TITLE.search(text)
        text = html.unescape(_MARK_UP.sub(" ", title[2] if title else text))
    return " ".join(text.split())[:_LONGEST_REASON]


def _names(data: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(data, list):
        for item in data:
            yield from _names(item, depth + 1)
    elif isinstance(data, dict):
        yield from (str(data[name]) for name in _NAMING if isinstance(data.get(name), str | int))
        for name in _SAYING:
            yield from _names(data.get(name), depth + 1)
