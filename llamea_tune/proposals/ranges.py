"""Declared hyperparameter ranges: read leniently, checked against the arguments that are really there."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Literal

from llamea_tune.candidate import HyperparameterRange, HyperparameterValue
from llamea_tune.candidate_code import parse_literal

_STRING = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/|#[^\n]*", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])")
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'"})
_KINDS: Mapping[str, Literal["int", "float", "categorical"]] = {
    "int": "int",
    "integer": "int",
    "float": "float",
    "real": "float",
    "double": "float",
    "number": "float",
    "categorical": "categorical",
    "choice": "categorical",
    "bool": "categorical",
    "boolean": "categorical",
    "str": "categorical",
    "string": "categorical",
}
_LENIENT = json.JSONDecoder(strict=False)  # takes line ends within strings
_LARGEST = 1e12

Ranges = dict[str, HyperparameterRange]


def read_json_object(text: str) -> dict[str, Any] | None:
    """Read a JSON object, with comments, trailing commas, curly or Python's quotes if need be; None if it is none."""
    straight = text.translate(_QUOTES)
    plain = _TRAILING_COMMA.sub(lambda m: m[1] or "", _COMMENT.sub(lambda m: m[1] or "", straight))
    for written in (text.strip(), plain.strip()):
        for read in (_LENIENT.decode, parse_literal):
            try:
                value = read(written)
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                continue
            if isinstance(value, dict):
                return {str(key): entry for key, entry in value.items()}
    return None


def check_ranges(
    declared: Mapping[str, Any], defaults: Mapping[str, HyperparameterValue | None]
) -> tuple[Ranges, tuple[str, ...]]:
    """Turn declared ranges into ranges that can be searched.

    Args:
        declared: What the answer says of each hyperparameter.
        defaults: The arguments of `__init__` and their defaults, None where a default is no plain value.

    Returns:
        The ranges that make sense, widened where they leave out the default, and a sentence on each one that is refused.
    """
    ranges: Ranges = {}
    notes = []
    for name, entry in declared.items():
        try:
            if name not in defaults:
                raise ValueError("__init__ has no such argument")
            ranges[name] = _range(entry, defaults[name])
        except ValueError as err:
            notes.append(f"range of {name!r} refused: {err}")
    return ranges, tuple(notes)


def _range(entry: Any, default: HyperparameterValue | None) -> HyperparameterRange:
    if not isinstance(entry, dict):
        raise ValueError("it is no JSON object")
    kind = _KINDS.get(str(entry.get("type", "")).lower())
    if kind is None:
        raise ValueError(f"type {entry.get('type')!r} is none of int, float, categorical")
    log = False if entry.get("log") is None else entry["log"]
    if not isinstance(log, bool):
        raise ValueError(f"log {log!r} is neither true nor false")
    if kind == "categorical":
        is_boolean = str(entry["type"]).lower().startswith("bool")
        choices = _choices(entry.get("choices", [False, True] if is_boolean else None), default)
        return HyperparameterRange("categorical", choices=choices, log=log)
    return _numeric(kind, entry, default, log=log)


def _choices(choices: Any, default: HyperparameterValue | None) -> tuple[HyperparameterValue, ...]:
    if not isinstance(choices, list | tuple):
        raise ValueError("it has no list of choices")
    kept: list[HyperparameterValue] = []
    for choice in (*choices, *(() if default is None else (default,))):
        if not isinstance(choice, int | float | str) or (isinstance(choice, float) and not math.isfinite(choice)):
            raise ValueError(f"choice {choice!r} is no plain value")
        if not any(choice == other and type(choice) is type(other) for other in kept):
            kept.append(choice)
    if len(kept) < 2:
        raise ValueError("it has fewer than two choices")
    return tuple(kept)


def _numeric(
    kind: Literal["int", "float"], entry: Mapping[str, Any], default: HyperparameterValue | None, *, log: bool
) -> HyperparameterRange:
    if isinstance(default, bool | str):
        raise ValueError(f"its default {default!r} is no number")
    low, high = _number(entry.get("low")), _number(entry.get("high"))
    HyperparameterRange(kind, low, high, log)  # refuses what the default, which is let in below, would hide
    if log and default is not None and default <= 0:
        raise ValueError(f"log needs a default above 0, not {default:g}")
    if isinstance(default, int):
        kind = "int"
    elif isinstance(default, float):
        kind = "float"
    if default is not None:
        low, high = min(low, default), max(high, default)
    if kind == "int":
        low, high = math.ceil(low), math.floor(high)
    if not low < high:
        raise ValueError(f"low {low:g} is not below high {high:g}")
    return HyperparameterRange(kind, low, high, log=log)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
        raise ValueError(f"bound {value!r} is no number of usable size")
    return value
