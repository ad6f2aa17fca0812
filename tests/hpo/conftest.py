"""Things to tune, on small spaces of our own."""

from __future__ import annotations

import pytest

from llamea_tune.execution import NamedStrategy
from llamea_tune.sandbox.sandboxed import SandboxedCandidate
from llamea_tune.scoring.score import SpaceScale, space_scale
from llamea_tune.spaces.space import RecordedSpace
from llamea_tune.testing.synthetic_spaces import synthetic_space

WALKER = '''"""Walks about."""
import random

from kernel_tuner.strategies.wrapper import OptAlg


class Walker(OptAlg):
    """Walks to neighbours, sometimes jumps.

    Args:
        jump: Probability to jump.
        patience: Steps without gain before it jumps.
    """

    def __init__(self, jump=0.9, patience=3, greedy=True, seed=7):
        super().__init__()
        self.jump = jump
        self.patience = patience
        self.greedy = greedy

    def __call__(self, func, searchspace):
        if self.patience > 12:
            raise ValueError("out of patience")
        current = searchspace.get_random_sample(1)[0]
        cost = func(current)
        stuck = 0
        while func.budget_spent_fraction < 1:
            near = searchspace.get_neighbors(current, "Hamming")
            leap = random.random() < self.jump or not near or stuck > self.patience
            config = searchspace.get_random_sample(1)[0] if leap else random.choice(near)
            new = func(config)
            stuck += 1
            if new < cost or not self.greedy:
                current, cost, stuck = config, new, 0
'''


@pytest.fixture(scope="session")
def spaces() -> list[RecordedSpace]:
    """Two small spaces."""
    params = {"block_size_x": (16, 32, 64, 128), "block_size_y": (1, 2, 4, 8), "tile": (1, 2, 3, 4), "unroll": (0, 1)}
    return [synthetic_space(seed, name=f"space {seed}/cpu", tune_params=params, kept=0.9) for seed in (1, 2)]


@pytest.fixture(scope="session")
def scales(spaces) -> list[SpaceScale]:
    """Their scales."""
    return [space_scale(space) for space in spaces]


@pytest.fixture
def walker() -> SandboxedCandidate:
    """A candidate with two tunable numbers and a switch, and an argument that is none; it fails with much patience."""
    return SandboxedCandidate(WALKER, "Walker", label="walker")


@pytest.fixture
def hillclimber() -> NamedStrategy:
    """A strategy of Kernel Tuner with eight settings in all."""
    return NamedStrategy("greedy_mls", "greedy_mls")
