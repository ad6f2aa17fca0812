"""Fixtures of the sandbox's tests: a small space, a strategy that uses all kinds of generators, a warm sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from llamea_tune.sandbox import Limits, Sandbox, SandboxedCandidate
from llamea_tune.spaces.space import Space
from llamea_tune.testing.synthetic_spaces import synthetic_space

EVOLVER = """
import random
from dataclasses import dataclass

import numpy as np
from kernel_tuner.strategies.wrapper import OptAlg


@dataclass
class Member:
    cost: float
    config: tuple


class Evolver(OptAlg):
    def __init__(self, population=12, mutation=0.3):
        super().__init__()
        self.population = population
        self.mutation = mutation

    def __call__(self, func, searchspace):
        rng = np.random.default_rng()
        own = random.Random()
        members = [Member(func(config), config) for config in searchspace.get_random_sample(self.population)]
        while func.budget_spent_fraction < 1:
            members.sort(key=lambda member: member.cost)
            mother, father = rng.choice(self.population // 2, 2, replace=False)
            pairs = zip(members[mother].config, members[father].config)
            child = tuple(random.choice(pair) for pair in pairs)
            if own.random() < self.mutation:
                child = searchspace.get_random_neighbor(child, neighbor_method="Hamming")
            members[-1] = Member(func(child), child)
        return members[0].config, members[0].cost
"""


@pytest.fixture(scope="session")
def space() -> Space:
    return synthetic_space(7)


@pytest.fixture(scope="session")
def other_space() -> Space:
    return synthetic_space(8, name="synthetic/other", higher_is_better=True)


@pytest.fixture(scope="session")
def evolver() -> SandboxedCandidate:
    return SandboxedCandidate(EVOLVER, "Evolver")


@pytest.fixture(scope="module")
def sandbox(space: Space, other_space: Space) -> Iterator[Sandbox]:
    with Sandbox([space, other_space], limits=Limits(wall_s=20, memory_mb=300)) as ready:
        yield ready
