"""The bridge to optimizers of other libraries, whatever these ask for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llamea_tune.exceptions import StrategyError
from llamea_tune.runners import CachedRunner, RunBudget
from llamea_tune.runners.meter import Meter
from llamea_tune.runners.strategy_run import run_strategy
from llamea_tune.spaces import build_searchspace
from llamea_tune.strategies.outside.bridge import BridgedStrategy, Outcome, Outside, bridge_options
from llamea_tune.strategies.outside.positions import Grid
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACE = synthetic_space(0, tune_params={"a": (1, 2, 3, 4), "b": ("x", "y", "z"), "c": (2, 4)}, kept=0.4, failing=0.2)
SEARCHSPACE = build_searchspace(SPACE.tune_params, SPACE.value_indices)
BUDGET = RunBudget(max_fevals=6)
ASKS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=12)


class Scripted:
    """Asks for the same places over and over, and notes what it is told."""

    def __init__(self, places, rounds=10**6):
        self.places = places
        self.rounds = rounds
        self.asked = []
        self.told = []
        self.suggested = []
        self.planned = None

    def suggest(self, positions):
        self.suggested.append(positions)

    def ask(self):
        if len(self.asked) >= self.rounds:
            return None
        place = self.suggested.pop() if self.suggested else self.places[len(self.asked) % len(self.places)]
        self.asked.append(place)
        return place

    def tell(self, answer):
        self.told.append(answer)


def run(optimizer, *, budget=BUDGET, space=SPACE, **options):
    """Run a scripted optimizer; what was measured, and the grid it was made on."""
    made = {}

    def make(grid, seed, planned):
        made["grid"], optimizer.planned = grid, planned
        return optimizer

    meter = Meter(CachedRunner(space), budget)
    searchspace = build_searchspace(space.tune_params, space.value_indices)
    strategy = BridgedStrategy(make, bridge_options(Outside.NEAREST, patience=3))
    run_strategy(strategy, searchspace, meter, strategy_options=options, seed=5)
    return meter, made.get("grid")


@settings(deadline=None, max_examples=60)
@given(ASKS, st.sampled_from(Outside), st.integers(0, 4), st.integers(1, SPACE.size))
def test_whatever_is_asked_valid_configs_are_measured_until_the_budget_is_gone(places, outside, patience, most):
    optimizer = Scripted(places)
    meter, _ = run(optimizer, outside=outside, patience=patience, budget=RunBudget(max_fevals=most))
    assert meter.counts().paid == len(set(meter.trace().indices.tolist())) == most
    assert meter.counts().invalid == meter.counts().repeated == 0
    assert len(optimizer.asked) <= (patience + 1) * most


@settings(deadline=None, max_examples=60)
@given(ASKS, st.sampled_from(Outside))
def test_what_is_told_is_what_was_measured(places, outside):
    """A cost where there is one, else the worst so far; and that it was outside only where that is refused."""
    optimizer = Scripted(places, rounds=len(places))
    meter, grid = run(optimizer, outside=outside, patience=100, budget=RunBudget())
    measured = set(meter.trace().indices.tolist())
    worst = None
    for place, answer in zip(optimizer.asked, optimizer.told, strict=False):  # the last may have had no answer
        number = grid.number(place)
        if number is None:
            assert (answer.outcome is Outcome.OUTSIDE) == (outside is Outside.REFUSED)
        else:
            assert number in measured
            assert answer.outcome is (Outcome.FAILED if np.isnan(SPACE.costs[number]) else Outcome.MEASURED)
            assert answer.outcome is Outcome.FAILED or answer.cost == SPACE.costs[number]
        if answer.outcome is Outcome.MEASURED:
            worst = answer.cost if worst is None else max(worst, answer.cost)
        else:
            assert answer.cost == worst


def test_an_optimizer_that_repeats_itself_is_led_on_by_the_nearest_unmeasured_config():
    place = Grid(SEARCHSPACE).positions(4)
    optimizer = Scripted([place])
    meter, grid = run(optimizer, patience=2, budget=RunBudget(max_fevals=5))
    order = [grid.positions(int(number)) for number in meter.trace().indices]
    differing = [sum(mine != theirs for mine, theirs in zip(place, positions, strict=True)) for positions in order]
    assert differing == sorted(differing)
    assert len(optimizer.asked) == 1 + 4 * 3  # the last is answered by the end of the run
    assert len({answer.cost for answer in optimizer.told[:3]}) == 1  # from memory


def test_a_run_ends_when_the_optimizer_has_come_to_an_end():
    meter, _ = run(Scripted([(1, 1, 0), (2, 1, 0)], rounds=2))
    assert meter.counts().paid == 2


def test_configs_to_begin_with_are_measured_first():
    first = [SEARCHSPACE.list[7], SEARCHSPACE.list[2]]
    for x0, expected in ((first[0], [7]), (first, [7, 2])):
        meter, _ = run(Scripted([(0, 0, 0)]), x0=x0)
        assert meter.trace().indices.tolist()[: len(expected)] == expected
    with pytest.raises(ValueError, match="no config of the space"):
        run(Scripted([(0, 0, 0)]), x0=(1, "x", 5))


def test_what_is_planned_for_is_told_and_never_more_than_there_is():
    for given_as, planned in ((5, 5), (10**6, SPACE.size), (None, SPACE.size)):
        optimizer = Scripted([(0, 0, 0)])
        run(optimizer, planned_fevals=given_as)
        assert optimizer.planned == planned


def test_a_space_of_one_config_needs_no_optimizer():
    space = synthetic_space(0, tune_params={"a": (1,), "b": ("x",)}, failing=0.0)
    meter, _ = run(Scripted([]), space=space)
    assert meter.counts().paid == 1


@pytest.mark.parametrize(
    "options",
    [{"outside": "ignored"}, {"patience": -1}, {"patience": "long"}, {"patience": True}, {"planned_fevals": 0}],
)
def test_options_that_make_no_sense_are_refused(options):
    (name,) = options
    with pytest.raises(StrategyError, match=f"{name} is .*"):
        run(Scripted([(0, 0, 0)]), **{"outside": "nearest", "patience": 1, **options})
