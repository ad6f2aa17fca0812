"""Names that tell nothing: p1, p2, … for parameters, v1, v2, … for values that are texts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from llamea_tune.spaces.space import ParamValue

_STRINGS_OR_WORDS = re.compile(r"""(['"])(.*?)\1|\b[A-Za-z_]\w*\b""")


def hidden_names(tune_params: Mapping[str, tuple[ParamValue, ...]]) -> dict[str, str]:
    """The name in place of each parameter's."""
    return {name: f"p{number}" for number, name in enumerate(tune_params, start=1)}


def hidden_value(values: tuple[ParamValue, ...], value: ParamValue) -> ParamValue:
    """What stands for a value of a parameter: the value itself unless it is a text."""
    return f"v{values.index(value) + 1}" if isinstance(value, str) else value


def hidden_expression(expression: str, tune_params: Mapping[str, tuple[ParamValue, ...]]) -> str:
    """An expression over parameters with all names hidden; a text that is no value of any is hidden too."""
    texts = {
        value: str(hidden_value(values, value))
        for values in tune_params.values()
        for value in values
        if isinstance(value, str)
    }
    return renamed_expression(expression, hidden_names(tune_params), texts, other_texts="other")


def renamed_expression(
    expression: str, names: Mapping[str, str], texts: Mapping[str, str], *, other_texts: str | None = None
) -> str:
    """An expression in other words.

    Args:
        expression: A Python expression over parameter names.
        names: New names by old ones; any other word stays.
        texts: New texts by old ones.
        other_texts: What any other text becomes; by default it stays.
    """

    def replace(match: re.Match[str]) -> str:
        if match[1]:
            return f"{match[1]}{texts.get(match[2], match[2] if other_texts is None else other_texts)}{match[1]}"
        return names.get(match[0], match[0])

    return _STRINGS_OR_WORDS.sub(replace, expression)
