"""Contenders: whatever can be run on a space and compared."""

from __future__ import annotations

from llamea_tune.sandbox.sandboxed import SandboxedCandidate
from llamea_tune.strategies.written import NamedStrategy, parse_strategy

Contender = NamedStrategy | SandboxedCandidate
"""A named strategy, run as it is in a process of its own, or a candidate's code, run in the sandbox.

Both have a `label`, which tables name it by, and `with_hyperparameters(values)`.
"""


def make_contender(text: str) -> Contender:
    """Make a contender from a strategy as written on a command line; see `parse_strategy`.

    Raises:
        StrategyError: The strategy or one of its options is unknown, or the file or its class is not there.
    """
    parsed = parse_strategy(text)
    if isinstance(parsed, NamedStrategy):
        return parsed
    return SandboxedCandidate(parsed.path.read_text(encoding="utf-8"), parsed.class_name, parsed.options, label=text)
