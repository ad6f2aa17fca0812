"""A prior: what is known of a space's configs before the first measurement of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Prior:
    """What is expected of each config of a space: evidence, to be weighed against what is measured, never a command.

    It holds no measurement of the space itself.

    Attributes:
        mean: Shape `(size,)`: expected natural logarithm of a config's cost over the space's median cost; the lower, the
            better. NaN where nothing is known.
        sd: Shape `(size,)`: how far off that may be, one standard deviation; NaN where `mean` is.
        told: One line for people: what was found and used.
    """

    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    told: str

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together."""
        if self.mean.shape != self.sd.shape or self.mean.ndim != 1:
            raise ValueError(f"a prior needs two arrays of one length, got {self.mean.shape} and {self.sd.shape}")
        if not np.array_equal(np.isnan(self.mean), np.isnan(self.sd)) or np.any(self.sd <= 0):
            raise ValueError("a prior needs a standard deviation above 0 exactly where it has a mean")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of both arrays, which is all of it that a run depends on."""
        return hashlib.sha256(self.mean.tobytes() + self.sd.tobytes()).hexdigest()
