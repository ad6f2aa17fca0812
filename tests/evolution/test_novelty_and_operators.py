"""What is too much like what was tried is refused without a run; operators that bring more are chosen more often."""

from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_selection import failed, scored

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Scored
from llamea_tune.evolution.arms import choose_arm, make_arms
from llamea_tune.evolution.judge import Judge
from llamea_tune.evolution.novelty import Novelty, similarity
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import SettingsError
from llamea_tune.llm import Completion
from llamea_tune.proposals import LLMProposer, ProposalTask
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE, OTHER_EXAMPLE_CODE


def test_similarity_knows_what_matters_of_a_program():
    comments = EXAMPLE_CODE.replace("costs = {}", "costs = {}  # what was measured")
    edited = EXAMPLE_CODE.replace("n_initial=10", "n_initial=11")
    assert similarity(EXAMPLE_CODE, comments) == 1.0
    assert 0.95 < similarity(EXAMPLE_CODE, edited) < 1.0
    assert similarity(EXAMPLE_CODE, OTHER_EXAMPLE_CODE) < 0.6


@settings(deadline=None, max_examples=30)
@given(one=st.text(max_size=40), other=st.text(max_size=40))
def test_similarity_is_a_share_whatever_the_texts_are(one, other):
    assert 0.0 <= similarity(one, other) == similarity(other, one) <= 1.0
    assert similarity(one, one) == 1.0


class NeverRuns:
    """A scorer that must not be asked."""

    spaces = ()


def known():
    candidate = Candidate("0003", "ExampleSearch", EXAMPLE_CODE, "", "x", "initial", 0)
    return Scored(candidate, Evaluation(CandidateState.SCORED, fitness=0.5))


def test_what_is_too_similar_is_a_state_with_a_reason_and_takes_no_run():
    code = EXAMPLE_CODE.replace("n_initial=10", "n_initial=11")
    candidate = Candidate("0007", "ExampleSearch", code, "", "x", "mutate", 1)
    judged = Judge(NeverRuns(), {}).judge(candidate, novelty=Novelty([known()], 0.9))
    assert judged.evaluation.state is CandidateState.NOT_NOVEL
    assert judged.evaluation.runs == 0
    assert "is the program of candidate 0003, where less than 90.0% is wanted" in judged.evaluation.reason
    assert Novelty([known()], 0.9).refuses(OTHER_EXAMPLE_CODE) is None


class Repeats:
    """A language model that changes a digit, and more once it is told that this is too little."""

    name = "repeats"

    def complete(self, prompt):
        told = "too much like what was tried before" in prompt.user
        code = OTHER_EXAMPLE_CODE if told else EXAMPLE_CODE.replace("n_initial=10", "n_initial=12")
        return Completion(f"Description: As told.\n```python\n{code}```", self.name)


def test_the_language_model_is_told_and_asked_again():
    task = ProposalTask("g001-00-mutate", "initial", (), (), novelty=Novelty([known()], 0.9))
    proposal = LLMProposer(Repeats()).propose(task)
    assert proposal.class_name == "SpreadSample"
    assert len(proposal.exchanges) == 2


@pytest.mark.parametrize("threshold", [0.0, 1.0, -1.0])
def test_thresholds_that_make_no_sense_are_refused(threshold):
    with pytest.raises(SettingsError, match="novelty is"):
        Settings(novelty=threshold)


def child(number, operator, fitness, *parents):
    made = Candidate(f"{number:04d}", "A", f"{number}", "", "model-b", operator, 1, parents)
    return Scored(made, Evaluation(CandidateState.SCORED, fitness=fitness))


JUDGED = [
    scored(0, 0.5),
    *(child(number, "mutate", 0.6, "0000") for number in range(1, 21)),
    *(child(number, "crossover", 0.4, "0000", "0001") for number in range(21, 41)),
    failed(41, "0000"),
]
OPERATOR = attrgetter("operator")


def test_arms_know_what_they_brought():
    arms = {arm.name: arm for arm in make_arms({"mutate": 1.0, "crossover": 1.0, "simplify": 1.0}, JUDGED, OPERATOR)}
    assert (arms["mutate"].pulls, arms["mutate"].wins) == (21, 20)
    assert (arms["crossover"].pulls, arms["crossover"].wins) == (20, 0)
    assert (arms["simplify"].pulls, arms["simplify"].wins) == (0, 0)


def test_the_bandit_prefers_what_brought_more_and_gives_up_nothing():
    arms = make_arms({"mutate": 1.0, "crossover": 1.0}, JUDGED, OPERATOR)
    rng = np.random.default_rng(0)
    chosen = [choose_arm(arms, rng, bandit=True) for _ in range(500)]
    assert 0.85 < chosen.count("mutate") / 500 < 1.0
    even = [choose_arm(arms, rng, bandit=False) for _ in range(500)]
    assert 0.4 < even.count("mutate") / 500 < 0.6
