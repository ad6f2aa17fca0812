"""A contender: anything that can be run on a space and scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llamea_tune.sandbox.program import Program


@dataclass(frozen=True)
class Contender:
    """Something to run and score.

    Attributes:
        label: How tables name it.
        strategy: Name in Kernel Tuner's strategy map (its own strategies, the generated ones) or `"pyatf:<technique>"`,
            run in-process; None for a program.
        options: Its `strategy_options`.
        program: A candidate's code, run in the sandbox; None for a named strategy.
    """

    label: str
    strategy: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    program: Program | None = None
