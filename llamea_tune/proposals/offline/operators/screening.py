"""Surrogate pre-screening: which candidate looks best before anything is measured.

Every model predicts the rank of a cost rather than the cost: ranks don't depend on the scale or sign of the objective
and give failures a place.
"""

from llamea_tune.proposals.offline.component import Component, Hyperparameter

_EXPLORATION = Hyperparameter("exploration", 0.05, 0.005, 0.5, "Chance that candidates are taken unranked.", log=True)
_REFIT = Hyperparameter(
    "refit_share", 0.03, 0.01, 0.2, "New measurements that call for another fit, as a share of those known.", log=True
)

NONE = Component(name="none", weight=2.0)

NEAREST = Component(
    name="nearest_neighbours",
    phrase="ranks candidates by the nearest configs known",
    weight=2.0,
    effort=2,
    needs=("encode", "cost_ranks"),
    imports=("import random", "import numpy as np", "from scipy.spatial.distance import cdist"),
    hyperparameters=(
        _EXPLORATION,
        Hyperparameter("n_nearest", 4, 1, 15, "Known configs that predict a candidate.", log=True),
    ),
    methods='''
def _ranked(self, pool: list[tuple]) -> list[tuple]:
    """Order candidates by the distance-weighted ranks of the nearest known configs."""
    pool = random.sample(pool, min(len(pool), 100))
    if random.random() < self.exploration:
        return pool
    known, ranks = self._encode(self.costs), self._cost_ranks()
    n_nearest = min(self.n_nearest, len(known))
    distances = cdist(self._encode(pool), known, "cityblock")
    nearest = np.argpartition(distances, n_nearest - 1, axis=1)[:, :n_nearest]
    weights = 1 / np.take_along_axis(distances, nearest, axis=1)
    predicted = np.average(ranks[nearest], axis=1, weights=weights)
    return [pool[i] for i in np.argsort(predicted)]
''',
)

ADDITIVE = Component(
    name="additive_model",
    phrase="ranks candidates by an additive model of every value's effect",
    weight=2.0,
    effort=2,
    needs=("one_hot", "cost_ranks"),
    imports=("import random", "import numpy as np"),
    state="self.next_fit = 0",
    hyperparameters=(
        _EXPLORATION,
        _REFIT,
        Hyperparameter("ridge", 1.0, 0.05, 20.0, "How strongly effects are drawn to zero.", log=True),
    ),
    methods='''
def _ranked(self, pool: list[tuple]) -> list[tuple]:
    """Order candidates by the sum of their values' effects on the rank of the cost."""
    pool = random.sample(pool, len(pool))
    if random.random() < self.exploration:
        return pool
    if len(self.costs) >= self.next_fit:
        self._fit()
    return [pool[i] for i in np.argsort(self._one_hot(pool) @ self.effects)]

def _fit(self) -> None:
    """Estimate the effect of every value by ridge regression."""
    known, ranks = self._one_hot(self.costs), self._cost_ranks()
    penalty = self.ridge * np.eye(known.shape[1])
    residuals = known.T @ (ranks - ranks.mean())
    self.effects = np.linalg.solve(known.T @ known + penalty, residuals)
    self.next_fit = len(self.costs) * (1 + self.refit_share)
''',
)

FOREST = Component(
    name="forest",
    phrase="ranks candidates by extremely randomised trees",
    weight=0.5,
    effort=3,
    needs=("encode", "cost_ranks"),
    imports=("import random", "import numpy as np"),
    state="self.next_fit = 0",
    hyperparameters=(
        _EXPLORATION,
        _REFIT,
        Hyperparameter("n_trees", 25, 8, 60, "Trees in the forest.", log=True),
    ),
    methods='''
def _ranked(self, pool: list[tuple]) -> list[tuple]:
    """Order candidates by the rank that the forest predicts."""
    pool = random.sample(pool, min(len(pool), 200))
    if random.random() < self.exploration:
        return pool
    if len(self.costs) >= self.next_fit:
        self._fit()
    return [pool[i] for i in np.argsort(self.forest.predict(self._encode(pool)))]

def _fit(self) -> None:
    """Grow a new forest on everything measured so far."""
    from sklearn.ensemble import ExtraTreesRegressor

    self.forest = ExtraTreesRegressor(self.n_trees)
    self.forest.fit(self._encode(self.costs), self._cost_ranks())
    self.next_fit = len(self.costs) * (1 + self.refit_share)
''',
)

GAUSSIAN_PROCESS = Component(
    name="gaussian_process",
    phrase="ranks candidates by a Gaussian process",
    weight=6.0,
    effort=2,
    needs=("encode",),
    imports=(
        "import heapq",
        "import random",
        "import numpy as np",
        "from scipy.spatial.distance import cdist",
        "from scipy.stats import norm, rankdata",
    ),
    state="self.next_fit = 0",
    hyperparameters=(
        _EXPLORATION,
        _REFIT,
        Hyperparameter("length_scale", 1.5, 0.3, 6.0, "Distance over which costs are correlated.", log=True),
        Hyperparameter("optimism", 3.0, 0.0, 6.0, "Weight of the uncertainty in a candidate's favour."),
    ),
    methods='''
def _ranked(self, pool: list[tuple]) -> list[tuple]:
    """Order candidates by the lower confidence bound of the process."""
    pool = random.sample(pool, min(len(pool), 200))
    if random.random() < self.exploration:
        return pool
    if len(self.costs) >= self.next_fit:
        self._fit()
    covariance = self._covariance(self._encode(pool))
    weights = covariance @ self.precision
    variance = np.maximum(1 - (weights * covariance).sum(axis=1), 0)
    bound = weights @ self.scores - self.optimism * np.sqrt(variance)
    return [pool[i] for i in np.argsort(bound)]

def _fit(self) -> None:
    """Condition the process on the best and the latest costs, by normal scores."""
    best = heapq.nsmallest(100, self.costs, key=self.costs.get)
    configs = list(dict.fromkeys([*best, *list(self.costs)[-100:]]))
    ranks = rankdata([self.costs[c] for c in configs])
    self.scores = norm.ppf((ranks - 0.5) / len(configs))
    self.known = self._encode(configs)
    noisy = self._covariance(self.known) + 0.05 * np.eye(len(configs))
    self.precision = np.linalg.inv(noisy)
    self.next_fit = len(self.costs) * (1 + self.refit_share)

def _covariance(self, points: np.ndarray) -> np.ndarray:
    """Correlate points with those the process knows: value steps and differences count."""
    steps = cdist(points, self.known, "cityblock")
    differing = cdist(points, self.known, "hamming") * points.shape[1]
    return np.exp(-(steps + 0.3 * differing) / self.length_scale)
''',
)

SCREENINGS = (NONE, NEAREST, ADDITIVE, FOREST, GAUSSIAN_PROCESS)
