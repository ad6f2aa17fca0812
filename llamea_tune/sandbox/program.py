"""What the sandbox runs, and within what limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from llamea_tune.candidate import HyperparameterValue


@dataclass(frozen=True)
class Program:
    """A candidate's code, ready to run.

    Attributes:
        code: Python source.
        class_name: The class deriving from `OptAlg` to run.
        hyperparameters: Arguments for its `__init__`; defaults are used for the others.
    """

    code: str
    class_name: str
    hyperparameters: Mapping[str, HyperparameterValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """What one run of a candidate may use.

    Attributes:
        wall_s: Wall-clock seconds.
        cpu_s: CPU seconds.
        memory_mb: Memory beyond what the search space itself takes, in MiB.
        processes: Processes and threads in its process group.
    """

    wall_s: float = 60.0
    cpu_s: float = 60.0
    memory_mb: int = 1024
    processes: int = 8


@dataclass(frozen=True)
class RunJob:
    """One run to make.

    Attributes:
        space: Number of the space among those that the sandbox holds.
        seed: Seed of the run's generators.
        time_limit_us: See `RunBudget`.
        max_fevals: See `RunBudget`.
    """

    space: int
    seed: int
    time_limit_us: int | None = None
    max_fevals: int | None = None
