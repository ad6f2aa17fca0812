"""A search space as arrays: what is searched, and what is known of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llamea_tune.spaces.prior import Prior

ParamValue = int | float | bool | str
ParamConfig = tuple[ParamValue, ...]


class FailureKind(IntEnum):
    """Why a measurement has no objective value. Kernel Tuner's kinds of error, as small integers."""

    NONE = 0
    COMPILE = 1  # CompilationFailedConfig
    RUNTIME = 2  # RuntimeFailedConfig
    INVALID = 3  # InvalidConfig: refused by the device or by a restriction that only the device knows
    OTHER = 4  # ErrorConfig, or a value that is no finite number


@dataclass(frozen=True, eq=False)
class Space(ABC):
    """What is searched: parameters, restrictions and every permitted param config.

    What has been measured of it is in `known`: everything of a `RecordedSpace`, a sample of a `LiveSpace`.

    Configs are numbered as Kernel Tuner's `Searchspace` numbers them: in the order of its own construction where the
    restrictions are known and every permitted config was recorded, else in the order of the file.

    Attributes:
        name: Unique among the spaces of a run, such as `"convolution/A100"`.
        kernel_name: Name of the kernel.
        device_name: Name of the device, possibly empty.
        problem_size: As recorded; unused except for description.
        tune_params: Values of each tunable parameter, in order.
        restrictions: Restrictions as Python expressions over parameter names; empty where unknown.
        objective: Name of the objective, such as `"time"`.
        higher_is_better: Whether the objective is maximised.
        value_indices: Shape `(size, n_params)`: index of each config's values in `tune_params`.
        content_hash: SHA-256 of what the space was compiled from.
        source: Where it came from, for messages.
        partial: Whether it is known that permitted configs were not recorded.
        n_permitted: How many configs are permitted in all; None where that is unknown.
        notes: What to tell people of how the file was read, a sentence each.
        opened_as: What `LiveKernel(**opened_as)` opens again; None where the space is loaded again from its source.
        on_cpu: Whether measuring it takes the processors that strategies compute on, which then disturb it.
        prior: What strategies are told of the configs before they measure any; None for nothing.
    """

    name: str
    kernel_name: str
    device_name: str
    problem_size: object
    tune_params: Mapping[str, tuple[ParamValue, ...]]
    restrictions: tuple[str, ...]
    objective: str
    higher_is_better: bool
    value_indices: NDArray[np.uint16]
    content_hash: str
    source: str
    partial: bool = field(default=False, kw_only=True)
    n_permitted: int | None = field(default=None, kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    opened_as: Mapping[str, Any] | None = field(default=None, kw_only=True)
    on_cpu: bool = field(default=False, kw_only=True)
    prior: Prior | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def known(self) -> RecordedSpace:
        """The configs whose measurements are known before a run: all of them, or a random sample."""

    @property
    def size(self) -> int:
        """Number of permitted configs, failing ones included."""
        return len(self.value_indices)

    @cached_property
    def param_names(self) -> tuple[str, ...]:
        """Names of the tunable parameters, in order."""
        return tuple(self.tune_params)

    def param_config(self, index: int) -> ParamConfig:
        """The values of config number `index`."""
        rows = zip(self.tune_params.values(), self.value_indices[index], strict=True)
        return tuple(values[i] for values, i in rows)


@dataclass(frozen=True, eq=False)
class RecordedSpace(Space):
    """A search space of which every measurement is known.

    Attributes:
        costs: Shape `(size,)`: what a strategy minimises, in Kernel Tuner's sign convention; NaN where it failed.
        failures: Shape `(size,)`: a `FailureKind` for each config.
        stage_times_ms: Shape `(size, 3)`: compile, verification and benchmark time in milliseconds.
        has_times: Whether the file records those times; if not, every measurement counts as one second.
    """

    costs: NDArray[np.float64]
    failures: NDArray[np.uint8]
    stage_times_ms: NDArray[np.float64]
    has_times: bool

    @property
    def known(self) -> RecordedSpace:
        """The space itself."""
        return self

    @cached_property
    def valid(self) -> NDArray[np.bool_]:
        """Shape `(size,)`: which configs have an objective value."""
        return np.isfinite(self.costs)

    @cached_property
    def evaluation_times_s(self) -> NDArray[np.float64]:
        """Shape `(size,)`: time one measurement takes, in seconds: compile, verification and benchmark."""
        return np.asarray(self.stage_times_ms.sum(axis=1) / 1000.0)

    @cached_property
    def optimum(self) -> float:
        """Lowest cost."""
        return float(np.nanmin(self.costs))
