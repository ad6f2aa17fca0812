"""The offline proposer keeps the contract of proposers, and its operators do what they are called."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Scored
from llamea_tune.candidate_code import fingerprint
from llamea_tune.proposals.offline import OfflineProposer
from llamea_tune.proposals.offline.design import Design, complete, read_design
from llamea_tune.proposals.offline.operators import SLOTS
from llamea_tune.proposals.offline.prose import class_name, description
from llamea_tune.proposals.offline.variation import cross, fresh, lighten, mutate, simplify, vary
from llamea_tune.proposals.offline.writer import write
from llamea_tune.proposals.operators import OPERATORS
from llamea_tune.proposals.proposal import ProposalTask
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE, ProposerContract

seeds = st.integers(0, 2**32 - 1)


def design_of(seed: int) -> Design:
    return fresh(np.random.default_rng(seed))


def parent(code: str, state: CandidateState = CandidateState.SCORED) -> Scored:
    candidate = Candidate("0001", "Parent", code, "A parent.", "someone", "initial", 0)
    return Scored(candidate, Evaluation(state, fitness=0.25 if state is CandidateState.SCORED else None))


def task(operator: str, *parents: Scored, seed: int = 1, tried: tuple[str, ...] = ()) -> ProposalTask:
    return ProposalTask(f"g001-00-{operator}", operator, parents, ("a space",), tried, seed)


class TestOfflineContract(ProposerContract):
    @pytest.fixture
    def proposer(self) -> OfflineProposer:
        return OfflineProposer()


@settings(max_examples=60, deadline=None)
@given(seed=seeds, operator=st.sampled_from([*OPERATORS, "unheard-of"]), readable=st.booleans())
def test_same_task_same_proposal(seed: int, operator: str, readable: bool) -> None:
    """Two proposers that share nothing give the same answer."""
    code = write(design_of(seed)) if readable else EXAMPLE_CODE
    asked = task(operator, parent(code), parent(write(design_of(seed + 1))), seed=seed)
    assert OfflineProposer().propose(asked) == OfflineProposer().propose(asked)


@settings(max_examples=60, deadline=None)
@given(seed=seeds, operator=st.sampled_from(["mutate", "simplify", "diversify", "crossover", "repair", "unheard-of"]))
def test_the_program_changes(seed: int, operator: str) -> None:
    """No operator gives back a parent's program, whatever the layout or the name."""
    codes = [write(design_of(seed)), write(design_of(seed // 2))]
    child = OfflineProposer().propose(task(operator, *map(parent, codes), seed=seed))
    assert fingerprint(child.code) not in {fingerprint(code) for code in codes}


@settings(max_examples=60, deadline=None)
@given(first=seeds, second=seeds, seed=seeds)
def test_crossover_takes_from_both(first: int, second: int, seed: int) -> None:
    """Where parents differ in two slots or more, the child has a component that only the one has, and one of the other."""
    one, other = design_of(first), design_of(second)
    assume(one.choices != other.choices)
    child = cross(one, other, np.random.default_rng(seed))
    genes = [tuple(gene(design, slot) for slot in SLOTS if slot != "schedule") for design in (child, one, other)]
    differing = [(mine, a, b) for mine, a, b in zip(*genes, strict=True) if a != b]
    assert all(mine in (a, b) for mine, a, b in zip(*genes, strict=True))
    if len(differing) > 1:
        assert any(mine == a for mine, a, _ in differing)
        assert any(mine == b for mine, _, b in differing)


def gene(design: Design, slot: str) -> tuple[str, str | None]:
    """What is inherited together: an acceptance rule comes with its schedule."""
    return design.choices[slot], design.choices.get("schedule") if slot == "acceptance" else None


def test_crossover_of_the_same_mixes_their_hyperparameters() -> None:
    """Parents with the same components have children with the same, and values of both."""
    one = complete({}, {"patience": 10, "sample_size": 5, "sample_share": 0.1, "exploration": 0.1})
    other = complete({}, {"patience": 90, "sample_size": 50, "sample_share": 0.3, "exploration": 0.4})
    children = [cross(one, other, np.random.default_rng(seed)) for seed in range(20)]
    mixed = [c for c in children if c.choices == one.choices]
    assert mixed
    for child in mixed:
        assert child not in (one, other)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, operator=st.sampled_from(["mutate", "crossover", "simplify", "diversify", "repair"]))
def test_unreadable_parents_count_as_absent(seed: int, operator: str) -> None:
    """A parent that a language model wrote gives a fresh design, or leaves the stage to the readable one."""
    alone = OfflineProposer().propose(task(operator, parent(EXAMPLE_CODE), seed=seed))
    assert read_design(alone.code) is not None
    readable = design_of(seed)
    both = OfflineProposer().propose(task("crossover", parent(EXAMPLE_CODE), parent(write(readable)), seed=seed))
    child = read_design(both.code)
    assert child is not None
    assert any(child.choices.get(slot) == name for slot, name in readable.choices.items())


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_simplify_ends_at_the_plainest_design(seed: int) -> None:
    """Each simplification leaves one slot plainer, until only hyperparameters are left to change."""
    rng = np.random.default_rng(seed)
    design = design_of(seed)
    for _ in SLOTS:
        simpler = simplify(design, rng)
        assert simpler != design
        design = simpler
    assert all(next(iter(SLOTS[slot])) == name for slot, name in design.choices.items())
    assert simplify(design, rng).choices == design.choices


@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_vary_keeps_components_and_ranges(seed: int) -> None:
    """Only values change, and they stay in range."""
    design = design_of(seed)
    changed = vary(design, np.random.default_rng(seed))
    assert changed.choices == design.choices
    assert changed.hyperparameters != design.hyperparameters
    assert complete(changed.choices, changed.hyperparameters) == changed


def test_mutation_reaches_every_component() -> None:
    """Mutations of mutations visit the whole library."""
    rng = np.random.default_rng(1)
    design = design_of(1)
    seen: set[tuple[str, str]] = set()
    for _ in range(600):
        design = mutate(design, rng)
        seen.update(design.choices.items())
    assert seen == {(slot, name) for slot, components in SLOTS.items() for name in components}


def test_repair_of_a_slow_parent_makes_it_lighter() -> None:
    """After a time-out the component that computes most goes; after an error anything may change."""
    slow = complete({"screening": "forest"}, {})
    timed_out = task("repair", parent(write(slow), CandidateState.TIMED_OUT))
    repaired = read_design(OfflineProposer().propose(timed_out).code)
    assert repaired is not None
    assert repaired.choices == {**slow.choices, "screening": "none"}
    light = complete({"screening": "none"}, {})
    assert lighten(light, np.random.default_rng(1)) != light


def test_initial_designs_avoid_what_was_tried() -> None:
    """A description that was tried is not proposed again while there are others."""
    tried: tuple[str, ...] = ()
    for seed in (1, 1, 1, 1):
        proposal = OfflineProposer().propose(task("initial", seed=seed, tried=tried))
        assert proposal.description not in tried
        tried += (proposal.description,)


def test_diversify_goes_far() -> None:
    """It shares less with its parent than a mutation does."""
    shared = {"diversify": 0, "mutate": 0}
    for seed in range(20):
        design = design_of(seed)
        for operator in shared:
            child = read_design(OfflineProposer().propose(task(operator, parent(write(design)), seed=seed)).code)
            assert child is not None
            shared[operator] += sum(child.choices.get(slot) == name for slot, name in design.choices.items())
    assert shared["diversify"] < 0.6 * shared["mutate"]


def test_proposal_is_complete() -> None:
    """Name, description and ranges are those of the design that the code states."""
    proposal = OfflineProposer("recombiner").propose(task("initial", seed=7))
    design = read_design(proposal.code)
    assert design is not None
    assert proposal.proposer == "recombiner"
    assert proposal.class_name == class_name(design)
    assert proposal.description == description(design)
    assert set(proposal.ranges) == set(design.hyperparameters)
