"""Every selection scheme keeps its promises, whatever it favours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Scored
from llamea_tune.evolution.selection import SELECTIONS, by_fitness, make_selection


def scored(number: int, fitness: float) -> Scored:
    candidate = Candidate(f"{number:04d}", "A", f"{number}", "", "offline", "initial", 0)
    return Scored(candidate, Evaluation(CandidateState.SCORED, fitness=fitness))


fitnesses = st.lists(st.floats(-5, 1), min_size=1, max_size=20)


@pytest.mark.parametrize("name", SELECTIONS)
@given(fitnesses=fitnesses, size=st.integers(1, 6))
def test_the_best_survives(name, fitnesses, size):
    entries = [scored(number, fitness) for number, fitness in enumerate(fitnesses)]
    survivors = make_selection(name).survivors(entries, size)
    assert len(survivors) == min(size, len(entries))
    assert survivors[0].evaluation.fitness == max(fitnesses)
    assert list(survivors) == by_fitness(survivors)


@pytest.mark.parametrize("name", SELECTIONS)
@given(fitnesses=fitnesses, count=st.integers(1, 3), seed=st.integers(0, 100))
def test_parents_are_different_and_repeatable(name, fitnesses, count, seed):
    entries = [scored(number, fitness) for number, fitness in enumerate(fitnesses)]
    selection = make_selection(name)
    population = selection.survivors(entries, 4)
    parents = selection.parents(population, entries, count, np.random.default_rng(seed))
    again = selection.parents(population, entries, count, np.random.default_rng(seed))
    ids = [entry.candidate.id for entry in parents]
    assert parents == again
    assert len(set(ids)) == len(ids) == min(count, len(entries) if name == "epsilon-greedy" else len(population))


def test_epsilon_greedy_reaches_the_whole_tree_and_favours_the_best():
    entries = [scored(number, -number) for number in range(10)]
    selection = make_selection("epsilon-greedy")
    population = selection.survivors(entries, 2)
    rng = np.random.default_rng(0)
    drawn = [selection.parents(population, entries, 1, rng)[0].candidate.id for _ in range(1000)]
    assert set(drawn) == {entry.candidate.id for entry in entries}
    assert 700 < drawn.count("0000") < 850
