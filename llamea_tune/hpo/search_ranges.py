"""Ranges of hyperparameters: those that were declared, and sensible ones for the others, from value and name."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from llamea_tune.candidate import HyperparameterRange, HyperparameterValue
from llamea_tune.hpo.names import is_left_alone, is_population, is_probability, is_rate, is_temperature

Ranges = dict[str, HyperparameterRange]

_COUNT_FACTOR = 8  # how far from its default a count may go, either way
_MAGNITUDE_FACTOR = 30.0  # the same for temperatures
_RATE_FACTOR = 10.0  # the same for rates and for very small numbers
_FACTOR = 5.0  # the same for other positive numbers
_SMALL = 0.01  # numbers below matter by their order of magnitude, whatever they are called
_NEAR_ONE = 0.9  # factors above, such as a cooling rate, matter by their distance to 1
_NO_LIMIT = 1_000_000  # larger numbers stand for "no limit"
_SMALLEST_POPULATION = 4

_CHOICES = re.compile(r"(?:choose (?:any )?from|can be one of|one of|supported:)\s*:?\s*(?P<choices>.+)", re.IGNORECASE)
_CHOICE = re.compile(r"[\w.+-]+")


def candidate_ranges(
    defaults: Mapping[str, HyperparameterValue],
    declared: Mapping[str, HyperparameterRange],
    descriptions: Mapping[str, str] | None = None,
) -> Ranges:
    """Ranges of a class's hyperparameters.

    Args:
        defaults: Defaults of the arguments of its `__init__`.
        declared: Ranges that whoever wrote it declared; they have precedence.
        descriptions: What is said about the arguments, where anything is.

    Returns:
        By name, in the order of the arguments. Arguments that are no hyperparameters, or for which no range can be
        thought of, are missing, even if a range was declared for a budget or a seed.
    """
    told = descriptions or {}
    ranges: Ranges = {}
    for name, default in defaults.items():
        description = told.get(name, "")
        if is_left_alone(name, description):
            continue
        found = declared.get(name) or derive_range(name, default, description)
        if found is not None:
            ranges[name] = containing(found, default)
    return ranges


def derive_range(name: str, default: Any, description: str = "") -> HyperparameterRange | None:
    """A sensible range for a hyperparameter that nobody declared one for.

    It contains the default. Booleans may be either; strings take the choices that the description lists. Counts and
    other positive numbers are searched on a logarithmic scale around the default, temperatures and rates more widely;
    probabilities and other numbers between 0 and 1 over that interval; factors close below 1 by their distance to 1.

    Args:
        name: Its name.
        default: Its default.
        description: What is said about it, if anything.

    Returns:
        The range; None where none can be thought of: a string without choices, a number that stands for "no limit" or
        "off", or no plain value at all.
    """
    if is_left_alone(name, description):
        return None
    if isinstance(default, bool):
        return HyperparameterRange("categorical", choices=(False, True))
    if isinstance(default, str):
        choices = listed_choices(description, default)
        return HyperparameterRange("categorical", choices=choices) if choices else None
    if not isinstance(default, int | float) or not abs(default) <= _NO_LIMIT:
        return None
    if isinstance(default, int):
        return _count(name, default)
    return _real(name, default, description)


def listed_choices(description: str, default: str) -> tuple[str, ...]:
    """The choices that a description lists, as in "choose any from uniform, single_point".

    Args:
        description: The description.
        default: The default.

    Returns:
        The choices; none unless there are at least two and the default is one of them.
    """
    found = _CHOICES.search(description)
    if found is None:
        return ()
    text = found["choices"]
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    parts = [part.strip(" '\".()") for part in re.split(r",|\bor\b|\band\b", text)]
    choices = tuple(dict.fromkeys(part for part in parts if part))
    plain = all(_CHOICE.fullmatch(choice) for choice in choices)
    return choices if plain and len(choices) > 1 and default in choices else ()


def containing(found: HyperparameterRange, default: HyperparameterValue) -> HyperparameterRange:
    """A range that contains the default, widened where it does not."""
    if found.kind == "categorical":
        if any(default == choice and type(default) is type(choice) for choice in found.choices):
            return found
        return HyperparameterRange("categorical", choices=(*found.choices, default))
    if isinstance(default, bool | str) or found.low is None or found.high is None:
        return found
    low, high = min(found.low, default), max(found.high, default)
    return HyperparameterRange(found.kind, low, high, log=found.log and low > 0)


def _count(name: str, default: int) -> HyperparameterRange | None:
    if default < 0:  # such as -1 for "off"
        return None
    if default == 0:
        return HyperparameterRange("int", 0, 10)
    low = max(1, default // _COUNT_FACTOR)
    if is_population(name):
        low = max(low, min(default, _SMALLEST_POPULATION))
    return HyperparameterRange("int", low, default * _COUNT_FACTOR, log=True)


def _real(name: str, default: float, description: str) -> HyperparameterRange | None:
    if default <= 0.0:
        low, high = (_FACTOR * default, 0.0) if default < 0.0 else (0.0, 1.0)
        return HyperparameterRange("float", low, high)
    probable = is_probability(name, description)
    if _NEAR_ONE <= default < 1.0 and not probable:
        distance = 1.0 - default
        return HyperparameterRange("float", max(0.0, 1.0 - _RATE_FACTOR * distance), 1.0 - distance / _RATE_FACTOR)
    factor = _factor(name, default, description)
    if factor is None:
        return HyperparameterRange("float", 0.0, 1.0)
    widest = 1.0 if default <= 1.0 and (probable or is_rate(name)) else math.inf
    low, high = default / factor, min(default * factor, widest)
    return HyperparameterRange("float", low, high, log=True) if 0.0 < low < high else None


def _factor(name: str, default: float, description: str) -> float | None:
    """How far from a positive default to go, either way; None for what lies between 0 and 1."""
    if is_temperature(name, description):
        return _MAGNITUDE_FACTOR
    if is_probability(name, description) and _SMALL <= default <= 1.0:
        return None
    if default < _SMALL or is_rate(name):
        return _RATE_FACTOR
    return None if default < 1.0 else _FACTOR
