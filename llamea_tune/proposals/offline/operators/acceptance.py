"""Acceptance rules: whether the walk moves to a candidate. Costs are compared relatively: their scale is unknown."""

from llamea_tune.proposals.offline.component import Component, Hyperparameter

IMPROVEMENT = Component(
    name="improvement",
    phrase="greedy descent",
    call="cost <= self.costs[current]",
    weight=3.0,
)

ANNEALING = Component(
    name="annealing",
    phrase="simulated annealing",
    weight=2.0,
    call="self._accepts(cost, self.costs[current])",
    imports=("import math", "import random"),
    hyperparameters=(
        Hyperparameter("temperature", 0.1, 0.005, 1.0, "First temperature, relative to the cost.", log=True),
    ),
    methods='''
def _accepts(self, cost: float, current_cost: float) -> bool:
    """Whether the candidate is no worse, or its relative loss passes by chance."""
    if cost <= current_cost:
        return True
    loss = (cost - current_cost) / max(abs(current_cost), sys.float_info.min)
    return random.random() < math.exp(-loss / (self.temperature * self._heat()))
''',
)

THRESHOLD = Component(
    name="threshold",
    phrase="threshold acceptance",
    call="self._accepts(cost, self.costs[current])",
    weight=1.0,
    hyperparameters=(Hyperparameter("tolerance", 0.05, 0.002, 0.5, "First relative loss that is accepted.", log=True),),
    methods='''
def _accepts(self, cost: float, current_cost: float) -> bool:
    """Whether the candidate's relative loss is within what is tolerated by now."""
    return cost <= current_cost + self.tolerance * self._heat() * abs(current_cost)
''',
)

LATE_ACCEPTANCE = Component(
    name="late_acceptance",
    phrase="late acceptance hill climbing",
    call="self._accepts(cost, self.costs[current])",
    weight=1.0,
    imports=("from collections import deque",),
    hyperparameters=(
        Hyperparameter("history_length", 8, 2, 60, "Steps back to the cost that a candidate must beat.", log=True),
    ),
    state="self.history = deque(maxlen=self.history_length)",
    methods='''
def _accepts(self, cost: float, current_cost: float) -> bool:
    """Whether the candidate is no worse than the walk is now or was a while ago."""
    full = len(self.history) == self.history_length
    accepted = cost <= current_cost or (full and cost <= self.history[0])
    self.history.append(cost if accepted else current_cost)
    return accepted
''',
)

GREAT_DELUGE = Component(
    name="great_deluge",
    phrase="great deluge",
    call="self._accepts(cost, self.costs[current])",
    weight=1.0,
    imports=("import math", "import statistics"),
    hyperparameters=(
        Hyperparameter("flood", 0.5, 0.02, 1.0, "First level, from the best cost (0) to the sample's median (1)."),
    ),
    state="self.median_cost = None",
    methods='''
def _accepts(self, cost: float, current_cost: float) -> bool:
    """Whether the candidate is no worse or lies below the falling level."""
    if self.median_cost is None:
        finite = [known for known in self.costs.values() if known < math.inf]
        self.median_cost = statistics.median(finite or [math.inf])
    best_cost = self.costs[self.best]
    if self.median_cost == math.inf:
        return cost <= current_cost
    level = best_cost + self.flood * self._heat() * (self.median_cost - best_cost)
    return cost <= max(current_cost, level)
''',
)

ACCEPTANCE_RULES = (IMPROVEMENT, ANNEALING, THRESHOLD, LATE_ACCEPTANCE, GREAT_DELUGE)
SCHEDULED = (ANNEALING, THRESHOLD, GREAT_DELUGE)
"""Rules that ask the schedule how tolerant to be."""
