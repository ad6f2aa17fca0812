"""What answers of language models cost, from a table of prices that the user gives."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import SettingsError

Prices = Mapping[str, Mapping[str, float]]
"""By the model's name: `"input"` and `"output"`, for a million tokens of prompts and of answers."""

PER = 1_000_000
_KINDS = ("input", "output")


def read_prices(path: Path) -> Prices:
    """Read a table of prices, TOML or JSON.

    Args:
        path: The file. It has an object for each model, such as `["gpt-4o"]` with `input = 2.5` and `output = 10.0`: the
            prices of a million tokens, all in the same currency.

    Raises:
        SettingsError: It cannot be read, or holds no such table.
    """
    try:
        text = path.read_text(encoding="utf-8")
        table = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as err:
        raise SettingsError(f"the prices in {path} cannot be read ({err}); give a TOML or JSON file.") from err
    return check_prices(table, str(path))


def check_prices(table: Any, where: str) -> Prices:
    """The table, if it is one.

    Raises:
        SettingsError: It is none.
    """
    if not isinstance(table, Mapping) or not table:
        raise SettingsError(f"{where} holds no prices; give an object for each model, with input and output.")
    for llm, prices in table.items():
        if not isinstance(prices, Mapping) or set(prices) != set(_KINDS) or not all(map(_is_price, prices.values())):
            raise SettingsError(
                f"the prices of {llm!r} in {where} are {prices!r}; give input and output, the prices of a million tokens."
            )
    return {llm: {kind: float(prices[kind]) for kind in _KINDS} for llm, prices in table.items()}


def price_of(prices: Prices, llm: str) -> Mapping[str, float] | None:
    """The prices of a language model: under its whole name, or without its kind, its URL, or both; None if unknown.

    Args:
        prices: The table.
        llm: Name as completions have it, such as `"openai:gpt-4o"`.
    """
    model = llm.partition(":")[2]
    names = (llm, llm.partition("@")[0], model, model.partition("@")[0])
    return next((prices[name] for name in names if name in prices), None)


def cost(price: Mapping[str, float], prompt_tokens: int, completion_tokens: int) -> float:
    """What an answer costs, in the currency of the table."""
    return (prompt_tokens * price["input"] + completion_tokens * price["output"]) / PER


def _is_price(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0  # type: ignore[arg-type, operator]
