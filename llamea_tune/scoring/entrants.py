"""Contenders from strategies as people write them."""

from __future__ import annotations

from llamea_tune.sandbox.program import Program
from llamea_tune.scoring.contender import Contender
from llamea_tune.strategies.parse import NamedStrategy, parse_strategy


def make_contender(text: str) -> Contender:
    """Make a contender from a strategy as written on a command line; see `parse_strategy`.

    A named strategy runs in-process, a class in a file runs in the sandbox.

    Raises:
        StrategyError: The strategy or one of its options is unknown, or the file or its class is not there.
    """
    parsed = parse_strategy(text)
    if isinstance(parsed, NamedStrategy):
        return Contender(label=text, strategy=parsed.name, options=parsed.options)
    code = parsed.path.read_text(encoding="utf-8")
    return Contender(label=text, program=Program(code, parsed.class_name, parsed.options))
