"""Initial designs: the configs to measure first."""

from llamea_tune.proposals.offline.component import Component, Hyperparameter

_SAMPLE_SIZE = Hyperparameter("sample_size", 8, 2, 60, "Configs in the initial sample.", log=True)
_SAMPLE_SHARE = Hyperparameter(
    "sample_share", 0.15, 0.02, 0.4, "Share of the budget after which the initial sample is cut short."
)
_HYPERPARAMETERS = (_SAMPLE_SIZE, _SAMPLE_SHARE)

RANDOM = Component(
    name="random",
    phrase="a random sample",
    weight=1.0,
    hyperparameters=_HYPERPARAMETERS,
    methods='''
def _initial_sample(self) -> list[tuple]:
    """Draw the first configs at random."""
    return self.space.get_random_sample(min(self.sample_size, self.space.size))
''',
)

LATIN_HYPERCUBE = Component(
    name="latin_hypercube",
    phrase="a Latin hypercube sample",
    weight=2.0,
    hyperparameters=_HYPERPARAMETERS,
    imports=("import random",),
    methods='''
def _initial_sample(self) -> list[tuple]:
    """Spread the first configs evenly over the values of every parameter."""
    if self.sample_size >= self.space.size:
        return self.space.get_random_sample(self.space.size)
    sample = self.space.get_LHS_sample(self.sample_size)
    return random.sample(sample, len(sample))
''',
)

DISTRIBUTED = Component(
    name="distributed",
    phrase="a distributed sample",
    weight=2.0,
    hyperparameters=_HYPERPARAMETERS,
    needs=("encode",),
    imports=("import numpy as np",),
    methods='''
def _initial_sample(self) -> list[tuple]:
    """Add configs one by one, each as far as possible from those before it."""
    pool = self.space.get_random_sample(min(10 * self.sample_size, self.space.size))
    points = self._encode(pool)
    chosen = [0]
    distance = np.abs(points - points[0]).sum(axis=1)
    while len(chosen) < min(self.sample_size, len(pool)):
        farthest = int(distance.argmax())
        chosen.append(farthest)
        to_farthest = np.abs(points - points[farthest]).sum(axis=1)
        distance = np.minimum(distance, to_farthest)
    return [pool[i] for i in chosen]
''',
)

INITIAL_DESIGNS = (RANDOM, LATIN_HYPERCUBE, DISTRIBUTED)
