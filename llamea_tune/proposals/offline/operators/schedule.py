"""Schedules: how tolerance falls, from 1, as the budget is spent."""

from llamea_tune.proposals.offline.component import Component, Hyperparameter

GEOMETRIC = Component(
    name="geometric",
    phrase="cooling geometrically",
    weight=2.0,
    hyperparameters=(
        Hyperparameter("final_heat", 0.01, 0.0001, 0.3, "What is left of the tolerance at the end.", log=True),
    ),
    methods='''
def _heat(self) -> float:
    """Tolerance, falling geometrically from 1 as the budget is spent."""
    return self.final_heat**self.func.budget_spent_fraction
''',
)

LINEAR = Component(
    name="linear",
    phrase="cooling linearly",
    weight=1.0,
    methods='''
def _heat(self) -> float:
    """Tolerance, falling linearly from 1 as the budget is spent."""
    return max(1 - self.func.budget_spent_fraction, 1e-9)
''',
)

REHEATED = Component(
    name="reheated",
    phrase="reheated in cycles",
    weight=1.0,
    hyperparameters=(Hyperparameter("cycles", 3, 2, 10, "Times that the tolerance starts again from 1."),),
    methods='''
def _heat(self) -> float:
    """Tolerance, falling from 1 several times as the budget is spent."""
    return max((1 - self.func.budget_spent_fraction * self.cycles % 1) ** 2, 1e-9)
''',
)

STEADY = Component(
    name="steady",
    phrase="at a steady temperature",
    weight=0.5,
    methods='''
def _heat(self) -> float:
    """Tolerance, the same throughout."""
    return 1.0
''',
)

SCHEDULES = (GEOMETRIC, LINEAR, REHEATED, STEADY)
