"""The contract of proposers and language models, as tests to inherit.

Derive a test class, define the one fixture that it needs, and pytest does the rest:

    from llamea_tune.testing.proposer_contract import LanguageModelContract

    class TestMyModel(LanguageModelContract):
        @pytest.fixture
        def llm(self):
            return MyModel(...)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, HyperparameterRange, Scored
from llamea_tune.candidate_code import CandidateCode, fingerprint
from llamea_tune.llm.language_model import LanguageModel, Prompt
from llamea_tune.proposals.operators import OPERATORS
from llamea_tune.proposals.proposal import ProposalTask, Proposer

EXAMPLE_CODE = '''\
import random

from kernel_tuner.strategies.wrapper import OptAlg


class ExampleSearch(OptAlg):
    """Samples at random, then walks from the best config to better neighbours."""

    def __init__(self, n_initial=10, neighbor_method="Hamming"):
        super().__init__()
        self.n_initial = n_initial
        self.neighbor_method = neighbor_method

    def __call__(self, func, searchspace):
        costs = {}
        for config in searchspace.get_random_sample(min(self.n_initial, searchspace.size)):
            costs[config] = func(config)
        while func.budget_spent_fraction < 1 and len(costs) < searchspace.size:
            best = min(costs, key=costs.get)
            near = [c for c in searchspace.get_neighbors(best, self.neighbor_method) if c not in costs]
            config = random.choice(near) if near else searchspace.get_random_sample(1)[0]
            costs[config] = func(config)
        best = min(costs, key=costs.get)
        return best, costs[best]
'''

OTHER_EXAMPLE_CODE = '''\
from kernel_tuner.strategies.wrapper import OptAlg


class SpreadSample(OptAlg):
    """Measures configs in random order."""

    def __init__(self, batch=16):
        super().__init__()
        self.batch = batch

    def __call__(self, func, searchspace):
        order = searchspace.get_random_sample(searchspace.size)
        for config in order:
            func(config)
'''


def example_parents(operator: str) -> tuple[Scored, ...]:
    """Parents that an operator can start from, with feedback: a failed one for `"repair"`."""
    first = Candidate(
        id="0000",
        class_name="ExampleSearch",
        code=EXAMPLE_CODE,
        description="Random sample, then greedy steps to better neighbours.",
        proposer="example",
        operator="initial",
        generation=0,
        ranges={"n_initial": HyperparameterRange("int", 2, 50, log=True)},
    )
    second = Candidate("0001", "SpreadSample", OTHER_EXAMPLE_CODE, "Random order.", "example", "initial", 0)
    scored = Evaluation(
        CandidateState.SCORED,
        fitness=0.3125,
        scores={"convolution/A": 0.5, "gemm/B": 0.125},
        interval=(0.25, 0.375),
        repeats=20,
        own_compute_ms=0.75,
        notes={"measured": 210.5, "repeated": 3.0, "invalid": 1.5},
    )
    weak = Evaluation(
        CandidateState.SCORED,
        fitness=0.0,
        scores={"convolution/A": -0.015625, "gemm/B": 0.015625},
        interval=(-0.0625, 0.0625),
        repeats=20,
        own_compute_ms=0.25,
    )
    failed = Evaluation(CandidateState.FAILED, "IndexError: list index out of range in line 19")
    if operator == "repair":
        return (Scored(first, failed),)
    return (Scored(first, scored), Scored(second, weak))[: OPERATORS[operator].n_parents]


def example_task(operator: str, *, key: str | None = None, seed: int = 1) -> ProposalTask:
    """A task for an operator, with parents and feedback where it takes some."""
    return ProposalTask(
        key=key or f"g001-00-{operator}",
        operator=operator,
        parents=example_parents(operator),
        spaces=("convolution/A: 4,362 configurations of 10 parameters.", "gemm/B: 17,956 configurations."),
        tried=("Random order.", "Random sample, then greedy steps to better neighbours."),
        seed=seed,
    )


class ProposerContract:
    """What every proposer keeps to; needs a fixture `proposer`."""

    def test_has_a_name(self, proposer: Proposer) -> None:
        """The name is for provenance: not blank."""
        assert proposer.name.strip() == proposer.name != ""

    @pytest.mark.parametrize("operator", sorted(OPERATORS))
    def test_proposes_a_program(self, proposer: Proposer, operator: str) -> None:
        """Every operator gives one class deriving from `OptAlg` that keeps the contract, described on one line."""
        task = example_task(operator)
        proposal = proposer.propose(task)
        code = CandidateCode.read(proposal.code).checked()
        assert code.class_name == proposal.class_name
        assert proposal.description.strip()
        assert "\n" not in proposal.description
        assert proposal.proposer.strip()
        assert set(proposal.ranges) <= set(code.defaults)

    @pytest.mark.parametrize("operator", sorted(OPERATORS))
    def test_ranges_are_usable(self, proposer: Proposer, operator: str) -> None:
        """Declared ranges can be searched, and hold the defaults."""
        proposal = proposer.propose(example_task(operator))
        defaults = CandidateCode.read(proposal.code).defaults
        for name, of in proposal.ranges.items():
            default = defaults[name]
            if of.kind == "categorical":
                assert len(of.choices) > 1
                assert default is None or default in of.choices
            else:
                assert of.low is not None
                assert of.high is not None
                assert of.low < of.high
                assert of.low > 0 or not of.log
                assert not isinstance(default, str)
                assert default is None or of.low <= default <= of.high

    @pytest.mark.parametrize("operator", sorted(name for name, operator in OPERATORS.items() if operator.n_parents))
    def test_a_child_differs_from_its_parents(self, proposer: Proposer, operator: str) -> None:
        """A child is another program than its parents."""
        task = example_task(operator)
        child = fingerprint(proposer.propose(task).code)
        assert child not in [fingerprint(parent.candidate.code) for parent in task.parents]

    def test_exchanges_belong_to_the_task(self, proposer: Proposer) -> None:
        """Prompts have keys of their own, which begin with the task's."""
        task = example_task("mutate")
        keys = [exchange.prompt.key for exchange in proposer.propose(task).exchanges]
        assert len(set(keys)) == len(keys)
        assert all(key.startswith(task.key) for key in keys)

    def test_can_be_asked_from_several_threads(self, proposer: Proposer) -> None:
        """Several tasks at once do not disturb each other."""
        tasks = [example_task(operator) for operator in OPERATORS]
        with ThreadPoolExecutor(len(tasks)) as pool:
            proposals = list(pool.map(proposer.propose, tasks))
        assert all(CandidateCode.read(proposal.code).class_name == proposal.class_name for proposal in proposals)


class LanguageModelContract:
    """What every language model keeps to; needs a fixture `llm` that answers any prompt."""

    def test_has_a_name(self, llm: LanguageModel) -> None:
        """The name is for provenance: not blank."""
        assert llm.name.strip() == llm.name != ""

    def test_answers_with_text_and_counts(self, llm: LanguageModel) -> None:
        """An answer has text, and tokens are counted or unknown."""
        completion = llm.complete(Prompt("contract-0", "You are brief.", "Say hello.", 0.5))
        assert completion.text.strip()
        assert completion.llm.strip()
        assert completion.seconds >= 0
        for tokens in (completion.prompt_tokens, completion.completion_tokens):
            assert tokens is None or (isinstance(tokens, int) and tokens >= 0)

    def test_can_be_asked_from_several_threads(self, llm: LanguageModel) -> None:
        """Several prompts may wait at once."""
        prompts = [Prompt(f"contract-{number}", "You are brief.", f"Say {number}.", 0.0) for number in range(4)]
        with ThreadPoolExecutor(len(prompts)) as pool:
            completions = list(pool.map(llm.complete, prompts))
        assert all(completion.text.strip() for completion in completions)

    def test_takes_any_text(self, llm: LanguageModel) -> None:
        """No character of a prompt is special."""
        awkward = 'quotes " and \\ and $name and {braces} and ``` and <think> and \u00fc\u4e16\U0001f600\r\n'
        assert llm.complete(Prompt("contract-awkward", awkward, awkward, 1.0)).text.strip()
