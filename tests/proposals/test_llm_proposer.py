"""The proposer that asks a language model: what it makes of answers, good and bad."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest

from llamea_tune.candidate import HyperparameterRange, Scored
from llamea_tune.candidate_code import fingerprint
from llamea_tune.exceptions import ProposerError, SettingsError
from llamea_tune.llm import Completion, CompletionError, Prompt
from llamea_tune.llm.exchanges import exchange_to_json
from llamea_tune.llm.replay import Replay
from llamea_tune.proposals import LLMProposer, ProposalError, make_proposer
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE, ProposerContract, example_task

CHILD_CODE = EXAMPLE_CODE.replace("ExampleSearch", "WiderSearch").replace("n_initial=10", "n_initial=10, width=2")
ANSWER = f"""Description: Wider steps.

```python
{CHILD_CODE}```

```json
{{"width": {{"type": "int", "low": 1, "high": 5}}, "gone": {{"type": "int", "low": 1, "high": 5}}}}
```
"""
EDITS = """Description: Larger start.

<<<<<<< SEARCH
    def __init__(self, n_initial=10, neighbor_method="Hamming"):
=======
    def __init__(self, n_initial=20, neighbor_method="Hamming"):
>>>>>>> REPLACE
"""
SAME = f"Description: Better.\n```python\n# now improved\n{EXAMPLE_CODE.replace('ExampleSearch', 'SearchV2')}\n```"


class Script:
    """A language model that answers from a list; a `CompletionError` in it is raised."""

    name = "script"

    def __init__(self, *answers: str | Exception) -> None:
        self.prompts: list[Prompt] = []
        self._answers = list(answers)
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt) -> Completion:
        with self._lock:
            self.prompts.append(prompt)
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer, "script-1", 10, 20, 0.5)


class CutOff(Script):
    """One whose answers all ran into the limit of tokens."""

    def complete(self, prompt: Prompt) -> Completion:
        return replace(super().complete(prompt), cut_off=True)


class TestContract(ProposerContract):
    @pytest.fixture
    def proposer(self):
        return LLMProposer(Script(ANSWER))


def test_a_proposal_carries_what_was_asked_and_answered():
    llm = Script(ANSWER)
    proposal = LLMProposer(llm).propose(example_task("mutate"))
    assert proposal.class_name == "WiderSearch"
    assert proposal.code == CHILD_CODE
    assert proposal.description == "Wider steps."
    assert proposal.proposer == "script-1"
    assert [e.prompt for e in proposal.exchanges] == llm.prompts
    assert [e.completion.text for e in proposal.exchanges] == [ANSWER]


def test_a_childs_ranges_add_to_its_parents():
    ranges = LLMProposer(Script(ANSWER)).propose(example_task("mutate")).ranges
    assert ranges == {
        "n_initial": HyperparameterRange("int", 2, 50, log=True),
        "width": HyperparameterRange("int", 1, 5),
    }
    assert set(LLMProposer(Script(ANSWER)).propose(example_task("diversify")).ranges) == {"width"}


@pytest.mark.parametrize("operator", ["mutate", "simplify", "repair"])
def test_edits_are_taken_where_they_were_offered(operator):
    proposal = LLMProposer(Script(EDITS)).propose(example_task(operator))
    assert proposal.code == EXAMPLE_CODE.replace("n_initial=10", "n_initial=20")
    assert proposal.description == "Larger start."


def test_edits_that_fail_lead_to_a_second_prompt():
    llm = Script(EDITS.replace("n_initial=10", "n_initial=11"), ANSWER)
    proposal = LLMProposer(llm).propose(example_task("mutate"))
    assert proposal.class_name == "WiderSearch"
    assert [prompt.key for prompt in llm.prompts] == ["g001-00-mutate", "g001-00-mutate-retry1"]
    assert "edit 1 does not match the parent's code" in llm.prompts[1].user
    assert "n_initial=11" in llm.prompts[1].user
    assert len(proposal.exchanges) == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I cannot.", "no Python code"),
        (SAME, "no change: it is the same program as its parent ExampleSearch"),
        (EDITS.replace("n_initial=20", "n_initial=10"), "no change"),
        ("```python\nclass A(OptAlg):\n  def\n```", "no valid Python"),
    ],
)
def test_a_second_bad_answer_ends_it(answer, reason):
    llm = Script(answer)
    with pytest.raises(ProposalError, match=reason) as raised:
        LLMProposer(llm).propose(example_task("mutate"))
    assert len(llm.prompts) == 2
    assert reason in llm.prompts[1].user
    assert [e.prompt for e in raised.value.exchanges] == llm.prompts


def test_an_answer_cut_off_behind_the_class_is_used():
    llm = CutOff(ANSWER[: ANSWER.index("```json")])
    assert LLMProposer(llm).propose(example_task("mutate")).class_name == "WiderSearch"
    assert len(llm.prompts) == 1


def test_an_answer_cut_off_within_the_class_is_sent_back_as_such():
    llm = CutOff(ANSWER[: ANSWER.index("costs = {}")] + "costs = {", ANSWER)
    assert LLMProposer(llm).propose(example_task("mutate")).class_name == "WiderSearch"
    assert "It cannot be used: it was cut off at the limit of tokens before its end" in llm.prompts[1].user


def test_what_was_tried_before_goes_back_once():
    tried = CHILD_CODE.replace("WiderSearch", "OlderSearch") + "# the same but for name and comment\n"
    task = replace(example_task("mutate"), seen=frozenset({fingerprint(tried)}))
    llm = Script(ANSWER, ANSWER.replace("width=2", "width=3"))
    assert "width=3" in LLMProposer(llm).propose(task).code
    assert "It cannot be used: it is the same program as one tried before" in llm.prompts[1].user
    stubborn = Script(ANSWER)
    assert LLMProposer(stubborn).propose(task).code == CHILD_CODE  # which is for others to refuse
    assert len(stubborn.prompts) == 2


def test_a_copy_of_either_parent_is_no_crossover():
    other = example_task("crossover").parents[1].candidate.code
    with pytest.raises(ProposalError, match="same program as its parent SpreadSample"):
        LLMProposer(Script(f"```python\n{other}```")).propose(example_task("crossover"))


def test_no_answer_is_a_proposal_error_without_a_second_prompt():
    llm = Script(CompletionError("timed out"))
    with pytest.raises(ProposalError, match="no answer: timed out") as raised:
        LLMProposer(llm).propose(example_task("mutate"))
    (exchange,) = raised.value.exchanges
    assert exchange.completion.text == ""


def test_no_answer_to_the_second_prompt():
    with pytest.raises(ProposalError, match="no answer: refused") as raised:
        LLMProposer(Script("nothing", CompletionError("refused"))).propose(example_task("mutate"))
    assert [e.completion.text for e in raised.value.exchanges] == ["nothing", ""]


def test_a_model_that_cannot_work_ends_everything():
    with pytest.raises(ProposerError, match="no key"):
        LLMProposer(Script(ProposerError("no key"))).propose(example_task("mutate"))


@pytest.mark.parametrize("answers", [[ANSWER], ["nothing", ANSWER], ["nothing"], [CompletionError("late")]])
def test_recorded_exchanges_replay_to_the_same_outcome(tmp_path, answers):
    def outcome(proposer):
        try:
            proposal = proposer.propose(example_task("mutate"))
            return proposal, proposal.exchanges
        except ProposalError as err:
            return type(err), err.exchanges

    first, exchanges = outcome(LLMProposer(Script(*answers)))
    lines = [json.dumps(exchange_to_json(e.prompt, e.completion)) for e in exchanges]
    (tmp_path / "exchanges.jsonl").write_text("".join(line + "\n" for line in lines))
    second, _ = outcome(LLMProposer(Replay(tmp_path)))
    assert second == first


def test_a_parent_that_does_not_parse_can_be_repaired():
    (parent,) = example_task("repair").parents
    broken = Scored(replace(parent.candidate, code="class A(OptAlg:\n    x = 1\n"), parent.evaluation)
    task = replace(example_task("repair"), parents=(broken,))
    assert LLMProposer(Script(ANSWER)).propose(task).class_name == "WiderSearch"


def test_close_reaches_the_model():
    closed = []
    llm = Script(ANSWER)
    LLMProposer(llm).close()
    llm.close = lambda: closed.append(True)
    LLMProposer(llm).close()
    assert closed == [True]


def test_specs(tmp_path):
    proposer = make_proposer(f"handoff:{tmp_path}", poll_s=0.1)
    assert isinstance(proposer, LLMProposer)
    assert proposer.name == proposer.llm.name == "handoff"
    with pytest.raises(ProposerError, match="'nobody' is not known"):
        make_proposer("nobody")
    with pytest.raises(SettingsError, match="offline takes no option 'timeout_s'"):
        make_proposer("offline", timeout_s=3.0)
    assert make_proposer("offline", timeout_s=None).name == "offline"
