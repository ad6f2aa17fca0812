"""A bandit: which mutation operator, or which language model, to take next, from what each has brought so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from llamea_tune.candidate import Candidate, CandidateState, Scored

PRIOR_PULLS = 4.0
"""How many pulls of experience the weights count for, on average over the arms."""


@dataclass(frozen=True)
class Arm:
    """What can be chosen.

    Attributes:
        name: Its name.
        weight: How often it is chosen, relative to the others, before anything is known.
        pulls: How often it was chosen.
        wins: How often that brought a candidate better than the best of its parents.
    """

    name: str
    weight: float
    pulls: int = 0
    wins: int = 0


def make_arms(
    weights: Mapping[str, float], judged: Sequence[Scored], arm_of: Callable[[Candidate], str]
) -> tuple[Arm, ...]:
    """What can be chosen, with what was brought by each.

    Args:
        weights: Weight of each by its name.
        judged: Every judged candidate of the run; those without parents tell nothing.
        arm_of: The name of what was chosen for a candidate, such as its operator.
    """
    fitness = {entry.candidate.id: entry.evaluation.fitness for entry in judged}
    pulls = dict.fromkeys(weights, 0)
    wins = dict.fromkeys(weights, 0)
    for entry in judged:
        arm = arm_of(entry.candidate)
        if arm in weights and entry.candidate.parents:
            gained = gain(entry, fitness)
            pulls[arm] += 1
            wins[arm] += gained is not None and gained > 0.0
    return tuple(Arm(name, weight, pulls[name], wins[name]) for name, weight in weights.items())


def choose_arm(arms: Sequence[Arm], rng: np.random.Generator, *, bandit: bool) -> str:
    """Choose one: by the weights alone, or by Thompson sampling with the weights as the prior.

    The bandit draws for each arm a rate of success from its Beta posterior, and takes an arm with a chance in
    proportion to weight times that rate. So what is rare by design stays rarer than what is not, and no arm dies out.
    Source: W. R. Thompson, "On the likelihood that one unknown probability exceeds another", 1933; the proportional
    choice instead of the greatest rate keeps the weights' meaning.
    """
    weights = np.array([arm.weight for arm in arms])
    if bandit:
        wins = np.array([arm.wins for arm in arms])
        losses = np.array([arm.pulls - arm.wins for arm in arms])
        weights = weights * rng.beta(PRIOR_PULLS / 4 + wins, 3 * PRIOR_PULLS / 4 + losses)
    return arms[int(rng.choice(len(arms), p=weights / weights.sum()))].name


def gain(entry: Scored, fitness: Mapping[str, float | None]) -> float | None:
    """How much fitter a candidate is than the best of its parents.

    Args:
        entry: The candidate with its evaluation.
        fitness: Fitness of all judged candidates by id, None for those without a score.

    Returns:
        The difference, infinite for what mends parents that had no score; None where the candidate itself has none.
    """
    own = entry.evaluation.fitness
    if own is None or entry.evaluation.state is not CandidateState.SCORED:
        return None
    return own - max(
        (known for key in entry.candidate.parents if (known := fitness.get(key)) is not None), default=-inf
    )
