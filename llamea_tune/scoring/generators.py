"""Generators of random numbers that nobody seeded, in a process that makes many runs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

from numpy.random import bit_generator

from llamea_tune.sandbox.generators import own_generators


@contextmanager
def owned_generators(seed: int) -> Iterator[None]:
    """Let unseeded generators start from a run's seed while it lasts; see `own_generators`.

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
