"""Steps: how many of the candidates at hand are measured before the walk decides."""

from llamea_tune.proposals.offline.component import Component, Hyperparameter

FIRST = Component(name="first", weight=3.0)

BEST_OF = Component(
    name="best_of",
    phrase="takes the best of several",
    weight=1.0,
    hyperparameters=(
        Hyperparameter("breadth", 4, 2, 40, "Candidates measured before the best of them is considered.", log=True),
    ),
)

STEPS = (FIRST, BEST_OF)
