"""Programs written offline work on every kind of search space, whatever they are made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_tuner.strategies.wrapper import OptAlgWrapper

from llamea_tune.proposals.offline.design import Design, complete
from llamea_tune.proposals.offline.operators import SLOTS
from llamea_tune.proposals.offline.prose import class_name
from llamea_tune.proposals.offline.variation import fresh
from llamea_tune.proposals.offline.writer import write
from llamea_tune.runners import CachedRunner, Meter, RunBudget
from llamea_tune.runners.strategy_run import run_strategy
from llamea_tune.spaces.searchspace import build_searchspace
from llamea_tune.spaces.space import FailureKind, RecordedSpace
from llamea_tune.testing.synthetic_spaces import synthetic_space

CHOICES = [(slot, name) for slot, components in SLOTS.items() for name in components]
SMALL = {"tile": (1, 2, 4), "unroll": (False, True), "method": ("row", "column")}
SPACES = {
    "minimised": synthetic_space(1),
    "maximised": synthetic_space(2, higher_is_better=True),
    "small": synthetic_space(3, tune_params=dict(SMALL), kept=1.0),
    "booleans": synthetic_space(7, tune_params={"tile": (1, 2, 4), "unroll": (False, True), "pad": (True, False)}),
    "one config": synthetic_space(4, tune_params={"tile": (8,)}, failing=0.0),
    "isolated": synthetic_space(5, kept=0.01),
    "mostly failing": synthetic_space(6, failing=0.9),
}
SEARCHSPACES = {name: build_searchspace(space.tune_params, space.value_indices) for name, space in SPACES.items()}


def design_with(slot: str, name: str) -> Design:
    """The plainest design with this component; annealing where only that makes the component count."""
    choices = {"screening": "none"} | ({"acceptance": "annealing"} if slot == "schedule" else {})
    return complete({**choices, slot: name}, {})


def run(design: Design, space_name: str, max_fevals: int | None, seed: int = 1) -> Meter:
    """Run the design's program in this process; returns the meter."""
    scope: dict[str, type] = {}
    exec(compile(write(design), "program", "exec"), scope)
    meter = Meter(CachedRunner(SPACES[space_name]), RunBudget(max_fevals=max_fevals))
    optimizer = OptAlgWrapper(scope[class_name(design)]())
    run_strategy(optimizer, SEARCHSPACES[space_name], meter, seed=seed)
    return meter


def regret(space: RecordedSpace, costs: np.ndarray) -> float:
    """Fraction of the valid configs better than the best of these."""
    return float(np.mean(space.costs[space.valid] < np.nanmin(costs)))


@pytest.mark.parametrize(("slot", "name"), CHOICES)
@pytest.mark.parametrize("space_name", ["minimised", "maximised"])
def test_every_component_searches(slot: str, name: str, space_name: str) -> None:
    """Eighty measurements of a thousand configs find one of the best five percent, and none is wasted."""
    meter = run(design_with(slot, name), space_name, 80)
    counts = meter.counts()
    assert (counts.paid, counts.repeated, counts.invalid) == (80, 0, 0)
    assert regret(SPACES[space_name], meter.trace().costs) < 0.05


@pytest.mark.parametrize(("slot", "name"), CHOICES)
@pytest.mark.parametrize("space_name", ["small", "one config", "isolated"])
def test_every_component_ends_when_the_space_is_exhausted(slot: str, name: str, space_name: str) -> None:
    """With no limit but the space itself, every config is measured once and the search returns."""
    meter = run(design_with(slot, name), space_name, None)
    counts = meter.counts()
    assert (counts.paid, counts.repeated, counts.invalid) == (SPACES[space_name].size, 0, 0)


@pytest.mark.parametrize(("slot", "name"), CHOICES)
def test_every_component_copes_with_a_budget_of_one(slot: str, name: str) -> None:
    """One measurement is made, and the stop is not an error."""
    assert run(design_with(slot, name), "minimised", 1).counts().paid == 1


@pytest.mark.parametrize(("slot", "name"), CHOICES)
def test_every_component_copes_with_failures(slot: str, name: str) -> None:
    """Failures all around don't end the search."""
    meter = run(design_with(slot, name), "mostly failing", 60)
    trace = meter.trace()
    assert meter.counts().paid == 60
    assert np.isnan(trace.costs).any()


@pytest.mark.parametrize("slot", ["screening", "acceptance", "scope"])
def test_components_cope_when_everything_fails(slot: str) -> None:
    """A space without one valid config is searched all the same."""
    space = synthetic_space(7, tune_params=dict(SMALL), kept=1.0)
    space.costs[:] = np.nan
    space.failures[:] = FailureKind.RUNTIME
    SPACES["all failing"] = space
    SEARCHSPACES["all failing"] = build_searchspace(space.tune_params, space.value_indices)
    for name in SLOTS[slot]:
        assert run(design_with(slot, name), "all failing", None).counts().failed == space.size


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), space_name=st.sampled_from(["maximised", "small", "isolated", "one config"]))
def test_random_designs_work(seed: int, space_name: str) -> None:
    """Components work together, too: nothing is requested twice, and nothing outside the space."""
    limit = min(40, SPACES[space_name].size)
    counts = run(fresh(np.random.default_rng(seed)), space_name, 40, seed=seed).counts()
    assert (counts.paid, counts.repeated, counts.invalid) == (limit, 0, 0)


def test_runs_repeat() -> None:
    """All randomness comes from the generators that the host seeds."""
    design = design_with("initial", "random")
    first, second = (run(design, "minimised", 60, seed=5).trace().indices for _ in range(2))
    assert first.tolist() == second.tolist()
    assert first.tolist() != run(design, "minimised", 60, seed=6).trace().indices.tolist()
