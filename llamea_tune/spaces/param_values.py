"""Which values a parameter can have, and which of them Kernel Tuner can tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llamea_tune.spaces.space import ParamValue


def is_param_value(value: Any) -> bool:
    """Whether a parameter can have the value: a number, a boolean or a string, but not NaN."""
    return isinstance(value, (int, float, bool, str)) and value == value  # noqa: PLR0124 (NaN)


def alike(name: str, one: ParamValue, other: ParamValue) -> str:
    """What is wrong with a parameter that has two values like 1 and True."""
    return (
        f"has both {one!r} and {other!r} as values of the parameter {name!r}, which Kernel Tuner cannot tell apart; "
        "write one of them differently"
    )


def same_keys(tune_params: Mapping[str, Sequence[ParamValue]]) -> str | None:
    """What is wrong with parameters whose values have the same text, as 1 and "1": it is the key in a cache."""
    for name, values in tune_params.items():
        texts: dict[str, ParamValue] = {}
        for value in values:
            if texts.setdefault(str(value), value) is not value:
                return alike(name, texts[str(value)], value)
    return None
