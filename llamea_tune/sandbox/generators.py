"""Every generator of random numbers in a run starts from the run's seed, also those that nobody seeded."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.random import bit_generator


def own_generators(seed: int) -> None:
    """Make generators that would ask the operating system for a seed take one that follows from `seed`.

    Covers `random.Random()`, `random.seed()`, `numpy.random.default_rng()`, `RandomState()` and all that scipy and
    scikit-learn build from them, so that a run repeats bit for bit. It alters this process only, and is meant for
    a guest: a process that ends with the run.

    Args:
        seed: Seed of the run.
    """
    source = random.Random(f"unseeded {seed}")
    of_imports = random.Random("imports")
    reseed = random.Random.seed

    def draw(n_bits: int) -> int:
        return (of_imports if _scipy_stats_is_being_imported() else source).getrandbits(n_bits)

    def seed_generator(self: random.Random, a: Any = None, version: int = 2) -> None:
        reseed(self, draw(128) if a is None else a, version)

    def seed_global(a: Any = None, version: int = 2) -> None:
        seed_generator(random._inst, a, version)

    random.Random.seed = seed_generator  # type: ignore[method-assign]
    random.seed = seed_global
    bit_generator.randbits = draw  # type: ignore[attr-defined]


def _scipy_stats_is_being_imported() -> bool:
    """Whether what asks for a seed does so for itself: a run must not depend on who was the first to import it."""
    spec = getattr(sys.modules.get("scipy.stats"), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


@contextmanager
def owned_generators(seed: int) -> Iterator[None]:
    """The same in a process that makes many runs, while one of them lasts.

    Kernel Tuner's differential evolution needs it: scipy's Latin hypercube asks the operating system for a seed.

    Args:
        seed: Seed of the run.
    """
    method, function, source = random.Random.seed, random.seed, bit_generator.randbits  # type: ignore[attr-defined]
    own_generators(seed)
    try:
        yield
    finally:
        random.Random.seed = method  # type: ignore[method-assign]
        random.seed = function
        bit_generator.randbits = source  # type: ignore[attr-defined]
