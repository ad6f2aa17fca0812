"""What the sandbox runs, and within what limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf

from llamea_tune.candidate import HyperparameterValue
from llamea_tune.exceptions import SettingsError


@dataclass(frozen=True)
class SandboxedCandidate:
    """A candidate's code, ready to run.

    Attributes:
        code: Python source.
        class_name: The class deriving from `OptAlg` to run.
        hyperparameters: Arguments for its `__init__`; defaults are used for the others.
        label: How tables name it.
    """

    code: str
    class_name: str
    hyperparameters: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    label: str = ""

    def with_hyperparameters(self, values: Mapping[str, HyperparameterValue]) -> SandboxedCandidate:
        """The candidate with some hyperparameters set, beside those that are."""
        return replace(self, hyperparameters={**self.hyperparameters, **values})


@dataclass(frozen=True)
class Limits:
    """What one run may use. A candidate's is always one process with one thread, and writes no files.

    Attributes:
        wall_s: Wall-clock seconds of a candidate, from the start of its process.
        cpu_s: CPU seconds; the kernel rounds up to whole ones.
        memory_mb: Address space beyond what the warm process it is forked from has already, in MiB.
        open_files: Open file descriptors.
        named_s: Wall-clock seconds of a named strategy, which no other limit holds for. Some of those that people compare
            with take a minute by right.
    """

    wall_s: float = 60.0
    cpu_s: float = 60.0
    memory_mb: int = 1024
    open_files: int = 32
    named_s: float = 300.0

    def __post_init__(self) -> None:
        """Refuse a time that is none.

        Raises:
            SettingsError: A wall-clock limit is no number of seconds above 0.
        """
        for name in ("wall_s", "named_s"):
            seconds = getattr(self, name)
            if not 0.0 < seconds < inf:
                raise SettingsError(f"{name} is {seconds:g}; it must be a number of seconds above 0.", fields=(name,))
