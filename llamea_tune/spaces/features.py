"""Landscape features of a recorded space: what makes it easy or hard to search, without giving its optimum away.

Sources: proportion of centrality, R. Schoonhoven, B. van Werkhoven and K. J. Batenburg, "Benchmarking optimization
algorithms for auto-tuning GPU kernels", IEEE Transactions on Evolutionary Computation 27 (2022); fitness-distance
correlation, T. Jones and S. Forrest, ICGA (1995); total-effect indices, M. J. W. Jansen, Computer Physics
Communications 117 (1999); indices of pairs, R. Liu and A. B. Owen, JASA 101 (2006).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from llamea_tune.spaces.neighbourhoods import (
    Pairs,
    adjacent_pairs,
    hamming_adjacent_pairs,
    hamming_pairs,
    successive_pairs,
)
from llamea_tune.spaces.space import RecordedSpace

CENTRALITY_MARGIN = 0.1
NEUTRAL_DIFFERENCE = 0.01

_MOST_ADJACENT_PAIRS = 3_000_000
_FOREST_CONFIGS = 5_000
_RESAMPLED_CONFIGS = 1_000
_DAMPING = 0.85
_MOST_OPTIMA = 256


@dataclass(frozen=True)
class NeighbourhoodFeatures:
    """What the landscape is like for a search that moves between neighbours. Failed configs are no neighbours.

    Attributes:
        mean_neighbours: Valid neighbours that a valid config has, on average.
        local_minima: Number of valid configs of which no neighbour is better.
        local_minima_fraction: The same as a fraction of the valid configs.
        minima_gap: How far local minima are from the optimum: median over them, where the optimum is 0 and the median
            of the space is 1.
        minima_depth: How far below their best neighbour local minima lie: median over them, on the same scale; 0 where
            they have no neighbour.
        proportion_of_centrality: Of the visits that a random walk to ever better neighbours pays to local minima, the
            fraction to minima within 10 % of the optimum: PageRank on the fitness flow graph.
    """

    mean_neighbours: float
    local_minima: int
    local_minima_fraction: float
    minima_gap: float
    minima_depth: float
    proportion_of_centrality: float


@dataclass(frozen=True)
class LandscapeFeatures:
    """Features of a space's landscape, from its valid configs.

    Attributes:
        importance: For each parameter, the fraction of the variance of the costs' ranks that it has a part in, alone
            or with others: total-effect index of a random forest, 0 to 1.
        interactions: The pairs of parameters that act together, the strongest first: two names and the fraction of
            the variance that is due to both at once.
        importance_r2: How well that forest predicts configs that it has not seen, 1 at best; importances mean little
            below about 0.5.
        neighbourhoods: By Kernel Tuner's name of the neighbourhood: `"Hamming"`, `"Hamming-adjacent"` and, where it
            is not too dense to be computed, `"adjacent"`.
        fitness_distance_correlation: Rank correlation between cost and the number of parameters in which a config
            differs from the closest optimum: near 1, better configs are closer; near 0 or below, distance misleads.
            In ranks, because costs have long tails.
        neutrality: Fraction of Hamming neighbours whose costs differ by under 1 %.
        smoothness: For each parameter with several values, the correlation of the costs' ranks over one step along
            it: near 1, a step changes little; near 0, neighbours say nothing of each other.
    """

    importance: Mapping[str, float]
    interactions: tuple[tuple[str, str, float], ...]
    importance_r2: float
    neighbourhoods: Mapping[str, NeighbourhoodFeatures]
    fitness_distance_correlation: float
    neutrality: float
    smoothness: Mapping[str, float]


def landscape_features(space: RecordedSpace, *, seed: int = 0) -> LandscapeFeatures:
    """Compute the features of a space. Takes seconds for 20,000 configs.

    Args:
        space: The space.
        seed: Seed of the random forest.
    """
    everywhere, valid = space.value_indices, space.valid
    indices, costs = everywhere[valid], space.costs[valid]
    ranks = _ranks(costs)
    hamming = _among_valid(hamming_pairs(everywhere), valid)
    graphs = {"Hamming": hamming, "Hamming-adjacent": _among_valid(hamming_adjacent_pairs(everywhere), valid)}
    adjacent = adjacent_pairs(everywhere, _MOST_ADJACENT_PAIRS)
    if adjacent is not None:
        graphs["adjacent"] = _among_valid(adjacent, valid)
    importance, interactions, r2 = _importance(space.param_names, indices, ranks, np.random.default_rng(seed))
    return LandscapeFeatures(
        importance=importance,
        interactions=interactions,
        importance_r2=r2,
        neighbourhoods={name: _neighbourhood_features(costs, pairs) for name, pairs in graphs.items()},
        fitness_distance_correlation=_correlation(_distance_to_optimum(indices, costs), ranks),
        neutrality=_neutrality(costs, hamming),
        smoothness=_smoothness(space, ranks),
    )


def _neighbourhood_features(costs: NDArray[np.float64], pairs: Pairs) -> NeighbourhoodFeatures:
    n_configs = len(costs)
    best_neighbour = np.full(n_configs, np.inf)
    np.minimum.at(best_neighbour, pairs[:, 0], costs[pairs[:, 1]])
    np.minimum.at(best_neighbour, pairs[:, 1], costs[pairs[:, 0]])
    minima = np.flatnonzero(costs <= best_neighbour)
    optimum, scale = costs.min(), np.median(costs) - costs.min()
    depths = np.where(np.isfinite(best_neighbour), best_neighbour - costs, 0.0)[minima]
    near = costs[minima] <= optimum + CENTRALITY_MARGIN * abs(optimum)
    visits = _page_rank(costs, pairs)[minima]
    return NeighbourhoodFeatures(
        mean_neighbours=2.0 * len(pairs) / n_configs,
        local_minima=len(minima),
        local_minima_fraction=len(minima) / n_configs,
        minima_gap=float(np.median(costs[minima] - optimum) / scale) if scale > 0 else 0.0,
        minima_depth=float(np.median(depths) / scale) if scale > 0 else 0.0,
        proportion_of_centrality=float(visits[near].sum() / visits.sum()),
    )


def _page_rank(costs: NDArray[np.float64], pairs: Pairs) -> NDArray[np.float64]:
    """PageRank on the fitness flow graph, whose edges lead from each config to its better neighbours.

    Computed by power iteration; from a config without better neighbours the walk goes on anywhere.
    """
    from scipy.sparse import coo_array

    n_configs = len(costs)
    first, second = pairs.T
    downhill = np.concatenate([pairs[costs[first] > costs[second]], pairs[costs[first] < costs[second]][:, ::-1]])
    better = np.bincount(downhill[:, 0], minlength=n_configs)
    weights = 1.0 / better[downhill[:, 0]]
    flow = coo_array((weights, (downhill[:, 1], downhill[:, 0])), shape=(n_configs, n_configs)).tocsr()
    rank = np.full(n_configs, 1.0 / n_configs)
    for _ in range(200):
        stuck = rank[better == 0].sum()
        following = (1.0 - _DAMPING + _DAMPING * stuck) / n_configs + _DAMPING * (flow @ rank)
        change = np.abs(following - rank).sum()
        rank = following
        if change < 1e-9:
            break
    return np.asarray(rank)


def _importance(
    names: tuple[str, ...], indices: NDArray[np.uint16], ranks: NDArray[np.float64], rng: np.random.Generator
) -> tuple[dict[str, float], tuple[tuple[str, str, float], ...], float]:
    """Total-effect indices by Jansen's estimator: how much a prediction changes when a parameter is drawn anew."""
    from sklearn.ensemble import RandomForestRegressor

    varying = [p for p in range(len(names)) if indices[:, p].min() < indices[:, p].max()]
    importance = dict.fromkeys(names, 0.0)
    order = rng.permutation(len(ranks))
    fitted, unseen = order[: max(2 * len(order) // 3, 1)][:_FOREST_CONFIGS], order[-max(len(order) // 3, 1) :]
    seed = int(rng.integers(2**31))
    forest = RandomForestRegressor(50, max_features=0.6, min_samples_leaf=2, random_state=seed)
    forest.fit(indices[fitted], ranks[fitted])
    chosen = rng.choice(len(ranks), min(_RESAMPLED_CONFIGS, len(ranks)), replace=False)
    base, other = indices[chosen], indices[rng.permutation(len(ranks))[: len(chosen)]]
    predicted = forest.predict(base)
    variance = float(np.var(predicted))
    if not varying or variance == 0.0:
        return importance, (), 0.0

    def total_effect(params: tuple[int, ...]) -> float:
        changed = base.copy()
        changed[:, params] = other[:, params]
        return float(np.mean((forest.predict(changed) - predicted) ** 2) / (2.0 * variance))

    alone = {p: total_effect((p,)) for p in varying}
    importance |= {names[p]: min(1.0, effect) for p, effect in alone.items()}
    together = [
        (names[p], names[q], min(1.0, max(0.0, alone[p] + alone[q] - total_effect((p, q)))))
        for p, q in combinations(varying, 2)
    ]
    error = np.mean((forest.predict(indices[unseen]) - ranks[unseen]) ** 2)
    r2 = 1.0 - error / max(float(np.var(ranks[unseen])), 1e-300)
    return importance, tuple(sorted(together, key=lambda pair: -pair[2])), float(max(0.0, r2))


def _distance_to_optimum(indices: NDArray[np.uint16], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    optima = indices[costs == costs.min()][:_MOST_OPTIMA]
    distance = np.full(len(costs), np.inf)
    for optimum in optima:
        distance = np.minimum(distance, (indices != optimum).sum(axis=1))
    return distance


def _neutrality(costs: NDArray[np.float64], pairs: Pairs) -> float:
    if not len(pairs):
        return 0.0
    one, other = costs[pairs].T
    return float(np.mean(np.abs(one - other) <= NEUTRAL_DIFFERENCE * np.minimum(np.abs(one), np.abs(other))))


def _smoothness(space: RecordedSpace, ranks: NDArray[np.float64]) -> dict[str, float]:
    found = {}
    for param, name in enumerate(space.param_names):
        pairs = _among_valid(successive_pairs(space.value_indices, param), space.valid)
        if len(pairs):
            one, other = ranks[pairs].T
            found[name] = _correlation(np.concatenate([one, other]), np.concatenate([other, one]))
    return found


def _among_valid(pairs: Pairs, valid: NDArray[np.bool_]) -> Pairs:
    """The pairs of valid configs, numbered among the valid ones."""
    number = np.cumsum(valid) - 1
    return np.asarray(number[pairs[valid[pairs].all(axis=1)]], dtype=np.int64)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 0 to 1, equal values sharing the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(counts) - (counts + 1) / 2.0
    return np.asarray(mean_rank[place] / max(1, len(values) - 1))


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Correlation of ranks; 0 where one of the two does not vary."""
    one, other = _ranks(one), _ranks(other)
    spread = float(one.std() * other.std())
    return float(np.mean((one - one.mean()) * (other - other.mean())) / spread) if spread > 0.0 else 0.0
