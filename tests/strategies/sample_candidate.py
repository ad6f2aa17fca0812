"""A candidate as a proposer writes it; the tests export it and use what comes out."""

import math
import random

from kernel_tuner.strategies.wrapper import OptAlg
from scipy.stats import rankdata


class RankedAnnealing(OptAlg):
    """Simulated annealing over neighbours, with the ranks of recent costs in place of a temperature scale.

    Args:
        cooling: Factor on the temperature after every step.
        neighbor_method: Which configs count as neighbours of the current one.
        memory: How many recent costs are ranked.
        restart: Whether to start anew
            where a config has no neighbours.
    """

    def __init__(self, cooling=0.97, neighbor_method="Hamming", memory=20, restart=True):
        super().__init__()
        self.cooling = cooling
        self.neighbor_method = neighbor_method
        self.memory = memory
        self.restart = restart

    def __call__(self, func, searchspace):
        temperature = 1.0
        current = searchspace.get_random_sample(1)[0]
        cost = func(current)
        best, best_cost = current, cost
        costs = [cost]
        while func.budget_spent_fraction < 1:
            neighbors = searchspace.get_neighbors(current, self.neighbor_method)
            if random.random() < 0.1 or (self.restart and not neighbors):
                neighbors = searchspace.get_random_sample(1)
            config = random.choice(neighbors)
            new_cost = func(config)
            costs = [*costs, new_cost][-self.memory :]
            if self.accepts(costs, cost, temperature):
                current, cost = config, new_cost
            if new_cost < best_cost:
                best, best_cost = config, new_cost
            temperature *= self.cooling
        return best, best_cost

    def accepts(self, costs, cost, temperature):
        """Whether to move to the config of the last cost."""
        ranks = rankdata([*costs, cost])
        loss = (ranks[-2] - ranks[-1]) / len(ranks)
        return loss <= 0 or random.random() < math.exp(-loss / max(temperature, 1e-6))
