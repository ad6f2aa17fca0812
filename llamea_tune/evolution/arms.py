"""A bandit: which mutation operator to take next, from what each has brought so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from llamea_tune.candidate import CandidateState, Scored

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


def make_arms(weights: Mapping[str, float], judged: Sequence[Scored]) -> tuple[Arm, ...]:
    """Mutation operators with what was brought by each.

    Args:
        weights: Weight of each operator by its name.
        judged: Every judged candidate of the run; those without parents tell nothing.
    """
    fitness = {entry.candidate.id: entry.evaluation.fitness for entry in judged}
    pulls = dict.fromkeys(weights, 0)
    wins = dict.fromkeys(weights, 0)
    for entry in judged:
        arm = entry.candidate.operator
        if arm in weights and entry.candidate.parents:
            before = [known for key in entry.candidate.parents if (known := fitness.get(key)) is not None]
            pulls[arm] += 1
            wins[arm] += _is_win(entry, before)
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


def _is_win(entry: Scored, before: Sequence[float]) -> bool:
    """Whether a candidate is better than all its parents; one that mends what had no score is."""
    fitness = entry.evaluation.fitness
    is_scored = entry.evaluation.state is CandidateState.SCORED and fitness is not None
    return is_scored and fitness is not None and fitness > max(before, default=float("-inf"))
