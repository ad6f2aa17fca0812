"""A package as somebody else might write it, laid out as pip installs it: one of each kind that can be added."""

import csv
import random

import numpy as np

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.execution import LocalExecutor
from llamea_tune.llm import Completion
from llamea_tune.proposals import Proposal
from llamea_tune.spaces.prior import Prior
from llamea_tune.spaces.readers import SpaceReader
from llamea_tune.spaces.recording import Recording
from llamea_tune.strategies.outside.bridge import BridgedStrategy, Outside, bridge_options
from llamea_tune.strategies.outside.library import Library

CODE = """
from kernel_tuner.strategies.wrapper import OptAlg


class Sampler(OptAlg):
    def __init__(self, at_once=10):
        self.at_once = at_once

    def __call__(self, func, searchspace):
        while func.budget_spent_fraction < 1:
            for config in searchspace.get_random_sample(self.at_once):
                func(config)
"""


class Fixed:
    """A proposer with one idea."""

    name = "fixed"

    def __init__(self, description):
        self.description = description

    def propose(self, task):
        return Proposal(class_name="Sampler", code=CODE, description=self.description, proposer=self.name)


def fixed(argument, *, loud=False):
    return Fixed(argument + "!" * loud)


class Speaker:
    """A language model with one answer."""

    name = "speaker"

    def complete(self, prompt):
        return Completion(f"Description: Samples.\n```python{CODE}```", self.name)


def speaker(argument, *, on_waiting=None):
    model = Speaker()
    model.on_waiting = on_waiting
    return model


class Oldest:
    """A selection scheme that learns nothing."""

    def survivors(self, scored, size):
        return tuple(sorted(scored, key=lambda entry: entry.candidate.id)[:size])

    def parents(self, situation, count, rng):
        return tuple(situation.population[:count])


def single(argument, *, spaces, limits):
    """An executor that makes one run at a time."""
    return LocalExecutor(spaces, limits=limits)


def read_table(path, objective, *, salvage):
    with path.open() as file:
        entries = list(csv.reader(file))
    if len(entries[-1]) < 3:
        if not salvage:
            raise SpaceFileError(f"{path} is cut off")
        del entries[-1]
    rows = [(int(x), int(y), float(time)) for x, y, time in entries]
    values = {name: tuple(sorted({row[i] for row in rows})) for i, name in enumerate(("x", "y"))}
    return Recording(
        kernel_name="table",
        device_name="",
        problem_size=None,
        objective=objective or "time",
        higher_is_better=None,
        tune_params=values,
        value_indices=np.array([[values["x"].index(x), values["y"].index(y)] for x, y, _ in rows], dtype=np.uint16),
        objective_values=np.array([time for _, _, time in rows]),
        failures=np.zeros(len(rows), dtype=np.uint8),
        stage_times_ms=np.ones((len(rows), 3)),
    )


table = SpaceReader(lambda path, salvage: path.suffix == ".csv", read_table)


def text(outcome, spaces, *, timings):
    names = ", ".join(space.name for space in spaces)
    return "".join(f"{row.label} on {names}\n" for row in outcome.rows).encode()


def flat(space, spaces, seed):
    return Prior(np.zeros(space.size), np.ones(space.size), "the same of all")


class Dice:
    """An optimizer that learns nothing."""

    def __init__(self, grid, seed, planned):
        self.sizes = [parameter.n_values for parameter in grid.parameters]
        self.rng = random.Random(seed)
        self.suggested = []

    def suggest(self, positions):
        self.suggested.append(positions)

    def ask(self):
        return self.suggested.pop() if self.suggested else tuple(map(self.rng.randrange, self.sizes))

    def tell(self, answer):
        pass


OPTIONS = bridge_options(Outside.NEAREST, patience=10)
dice = Library("Dice", "random", ("stranger",), ("fair",), lambda name: BridgedStrategy(Dice, OPTIONS), OPTIONS)
