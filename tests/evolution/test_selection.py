"""Every selection scheme keeps its promises, whatever it favours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.candidate import Behaviour, Candidate, CandidateState, Evaluation, Scored
from llamea_tune.evolution.selection import SELECTIONS, Situation, by_fitness, make_selection, needs_generations
from llamea_tune.evolution.selection.map_elites import traits
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import SettingsError

REACH_ALL = ("epsilon-greedy", "map-elites")  # whose parents need not be survivors


def behaviour(near=0.3, travelled=2.0, repeated=0.0):
    """As on a space on which ten measurements were made in a run."""
    return Behaviour((0.5,) * 10, (), 10.0, 0.0, repeated, 0.0, near, 2.0, travelled, 0.5, None)


def scored(number, fitness, *, generation=0, parents=(), raced_out=False, on=None):
    candidate = Candidate(f"{number:04d}", "A", f"{number}", "", "offline", "initial", generation, parents)
    evaluation = Evaluation(CandidateState.SCORED, fitness=fitness, raced_out=raced_out, behaviour=on or {})
    return Scored(candidate, evaluation)


def failed(number, *parents):
    candidate = Candidate(f"{number:04d}", "A", f"{number}", "", "offline", "mutate", 1, parents)
    return Scored(candidate, Evaluation(CandidateState.FAILED, "it failed"))


def ids(entries):
    return [entry.candidate.id for entry in entries]


@st.composite
def histories(draw):
    fitnesses = draw(st.lists(st.floats(-5, 1), min_size=1, max_size=20))
    share = draw(st.lists(st.floats(0, 1), min_size=len(fitnesses), max_size=len(fitnesses)))
    return [
        scored(n, fitness, generation=n // 5, on={"space": behaviour(near=share[n])})
        for n, fitness in enumerate(fitnesses)
    ]


@pytest.mark.parametrize("name", SELECTIONS)
@given(entries=histories(), size=st.integers(1, 6))
def test_survivors_are_the_best_first(name, entries, size):
    survivors = make_selection(name).survivors(entries, size)
    assert 1 <= len(survivors) <= size
    assert set(ids(survivors)) <= set(ids(entries))
    assert len(set(ids(survivors))) == len(survivors)
    assert list(survivors) == by_fitness(survivors)
    if not needs_generations(name):
        assert survivors[0] == by_fitness(entries)[0]


@pytest.mark.parametrize("name", SELECTIONS)
@given(entries=histories(), count=st.integers(1, 3), number=st.integers(0, 40), seed=st.integers(0, 100))
def test_parents_exist_are_different_and_repeatable(name, entries, count, number, seed):
    population = make_selection(name).survivors(entries, 4)
    situation = Situation(number, population, (*entries, failed(99)))
    parents = make_selection(name).parents(situation, count, np.random.default_rng(seed))
    again = make_selection(name).parents(situation, count, np.random.default_rng(seed))
    assert ids(parents) == ids(again)
    assert set(ids(parents)) <= set(ids(entries if name in REACH_ALL else population))
    assert len(set(ids(parents))) == len(parents) >= 1
    if name != "map-elites":  # which has as many as its archive
        assert len(parents) == min(count, len(entries) if name in REACH_ALL else len(population))


@pytest.mark.parametrize("name", SELECTIONS)
def test_who_was_raced_out_is_kept_over_nobody(name):
    entries = [scored(0, 0.9, raced_out=True), scored(1, 0.1), scored(2, 0.2)]
    assert "0000" not in ids(make_selection(name).survivors(entries, 2))


def draws(selection, situation, count=1, times=1000):
    rng = np.random.default_rng(0)
    return [ids(selection.parents(situation, count, rng))[0] for _ in range(times)]


def test_comma_forgets_parents():
    entries = [scored(0, 0.9), scored(1, 0.8), scored(2, 0.1, generation=1), scored(3, 0.2, generation=1)]
    assert ids(make_selection("comma").survivors(entries, 3)) == ["0003", "0002"]
    with pytest.raises(SettingsError, match="needs generations"):
        Settings(selection="comma", steady_state=True)


def test_epsilon_greedy_reaches_the_whole_tree_favours_the_best_and_spares_those_with_many_children():
    entries = [scored(number, -number) for number in range(10)]
    selection = make_selection("epsilon-greedy", {"epsilon": 0.25})
    drawn = draws(selection, Situation(10, selection.survivors(entries, 2), entries))
    assert set(drawn) == set(ids(entries))
    assert 700 < drawn.count("0000") < 850
    barren = [failed(number, "0005") for number in range(10, 19)]
    again = draws(selection, Situation(19, selection.survivors(entries, 2), (*entries, *barren)))
    assert again.count("0005") < drawn.count("0005") / 3
    greedy = make_selection("epsilon-greedy", {"epsilon": 0.0})
    assert set(draws(greedy, Situation(10, greedy.survivors(entries, 2), entries))) == {"0000"}


@pytest.mark.parametrize("name", ["tournament", "roulette"])
def test_the_fitter_have_more_children(name):
    entries = [scored(number, -0.1 * number) for number in range(4)]
    counts = {key: draws(make_selection(name), Situation(4, entries, entries)).count(key) for key in ids(entries)}
    assert counts["0000"] > counts["0001"] > counts["0002"] > counts["0003"] or name == "roulette"
    assert counts["0000"] > 1.4 * max(1, counts["0003"])


def test_islands_keep_apart_and_exchange():
    islands = make_selection("islands", {"islands": 3, "migration": 4})
    entries = [scored(number, -number if number % 3 == 1 else 0.1 * number) for number in range(12)]
    population = islands.survivors(entries, 6)
    assert [sum(int(key) % 3 == island for key in ids(population)) for island in range(3)] == [2, 2, 2]
    origins = {}
    for number in range(12, 36):
        drawn = draws(islands, Situation(number, population, entries), times=5)
        origins[number] = {int(key) % 3 for key in drawn}
    abroad = [number for number, islands_of in origins.items() if islands_of != {number % 3}]
    assert len(abroad) == 6
    assert all(origins[number] == {(number - 1) % 3} for number in abroad)
    assert {number % 3 for number in abroad} == {0, 1, 2}


def test_the_archive_keeps_the_best_of_each_cell():
    archive = make_selection("map-elites")
    calm = {"a": behaviour(near=0.9, travelled=1.1), "b": behaviour(near=0.8, travelled=1.3)}
    wild = {"a": behaviour(near=0.1, travelled=3.9), "b": behaviour(near=None, travelled=None)}
    entries = [scored(0, 0.5, on=calm), scored(1, 0.9, on=calm), scored(2, 0.1, on=wild), scored(3, 0.2, on=wild)]
    assert ids(archive.archive(entries).values()) == ["0001", "0003"]
    assert ids(archive.survivors(entries, 4)) == ["0001", "0003"]
    assert set(draws(archive, Situation(4, archive.survivors(entries, 1), entries))) == {"0001", "0003"}


def test_traits_are_means_over_spaces():
    found = traits({"a": behaviour(0.4, 2.0, 10.0), "b": behaviour(0.2, 1.0), "c": behaviour(None, None)})
    assert found == pytest.approx({"exploitation": 0.3, "travel": 1.5, "repetition": 0.5 / 3})
    assert traits({}) == traits({"a": behaviour(None, None)}) == {}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("plus", {"epsilon": 0.1}, "selection scheme plus takes no option 'epsilon'; it takes none"),
        ("epsilon-greedy", {"epsilon": 1.5}, "epsilon is 1.5; it must lie between 0 and 1"),
        ("islands", {"islands": 0}, "islands is 0; it must be a whole number above 0"),
        ("tournament", {"size": 2.5}, "size is 2.5; it must be a whole number above 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(name, options, message):
    with pytest.raises(SettingsError, match=message):
        Settings(selection=name, selection_options=options)
