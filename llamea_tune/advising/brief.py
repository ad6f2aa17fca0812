"""What an adviser is told of a kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from llamea_tune.spaces import ParamConfig, ParamValue
from llamea_tune.spaces.expressions import evaluate_values


@dataclass(frozen=True)
class KernelBrief:
    """What an adviser is told of a kernel; never a measurement of it.

    Attributes:
        name: What the kernel is filed under; not told.
        kernel_name: Name of the kernel function; empty where it is not told.
        about: What the kernel does, in words; may be empty.
        language: Language of the source; may be empty.
        source: Source code; empty where it is not told.
        tune_params: Values of each tunable parameter, in order.
        restrictions: Restrictions as Python expressions over parameter names.
        permitted: All permitted configs where the restrictions are not known as expressions, else None.
        device: Name of the device; empty where it is not told.
        problem_size: As recorded; None where it is not told.
        launch: A line each on how the kernel is launched, and on what.
        objective: What is measured, such as `"time"`.
        higher_is_better: Whether the objective is maximised.
    """

    name: str
    kernel_name: str
    tune_params: Mapping[str, tuple[ParamValue, ...]]
    restrictions: tuple[str, ...] = ()
    permitted: frozenset[ParamConfig] | None = None
    about: str = ""
    language: str = ""
    source: str = ""
    device: str = ""
    problem_size: object = None
    launch: tuple[str, ...] = ()
    objective: str = "time"
    higher_is_better: bool = False

    @property
    def n_combinations(self) -> int:
        """Number of combinations of values, permitted or not."""
        return math.prod(len(values) for values in self.tune_params.values())

    @property
    def most_configs(self) -> int:
        """How many configs there can be: those that are permitted, as far as they are known one by one."""
        return self.n_combinations if self.permitted is None else len(self.permitted)

    def broken_restriction(self, config: ParamConfig) -> str:
        """The first restriction that a config does not meet; empty if it is permitted."""
        if self.permitted is not None:
            return "" if config in self.permitted else "what is permitted"
        named = dict(zip(self.tune_params, config, strict=True))
        return next((text for text in self.restrictions if not _holds(text, named)), "")


def _holds(restriction: str, config: Mapping[str, ParamValue]) -> bool:
    try:
        return bool(evaluate_values(restriction, config))
    except ValueError:  # such as a division by zero; Kernel Tuner will know
        return True
