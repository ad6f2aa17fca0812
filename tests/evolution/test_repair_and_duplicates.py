"""What failed is mended once, with all that is known of the failure; what was tried goes back once."""

import json
from dataclasses import asdict, replace

import pytest
from test_interrupted_loop import LuckyScorer

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Failure, Scored
from llamea_tune.evolution import loop
from llamea_tune.evolution.history import History, duplicate_of
from llamea_tune.evolution.judge import Judge, with_line
from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.evolution.recorded_llm import RecordedLLM
from llamea_tune.evolution.records import evaluation_from_json
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.llm import Completion
from llamea_tune.proposals import LLMProposer, ProposalTask
from llamea_tune.proposals.prompt import render_prompt
from llamea_tune.testing.local_scorer import local_scorer
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE
from llamea_tune.testing.synthetic_spaces import synthetic_space

SCORED, FAILED = CandidateState.SCORED, CandidateState.FAILED


def entry(number, state, operator="initial", *parents):
    made = Candidate(
        f"{number:04d}", "A", f"code_{number}", "", "x", operator, number, tuple(f"{p:04d}" for p in parents)
    )
    return Scored(made, Evaluation(state, fitness=0.1 if state is SCORED else None))


@pytest.mark.parametrize(
    ("entries", "broken"),
    [
        ([entry(0, FAILED), entry(1, SCORED)], ["0000"]),
        ([entry(0, FAILED), entry(1, SCORED, "repair", 0)], []),
        ([entry(0, FAILED), entry(1, CandidateState.KILLED, "repair", 0)], ["0000", "0001"]),
        ([entry(0, FAILED), entry(1, FAILED, "repair", 0), entry(2, SCORED, "repair", 1)], []),
        ([entry(0, FAILED), entry(1, CandidateState.DUPLICATE, "repair", 0)], ["0000"]),
        ([entry(0, FAILED), entry(1, CandidateState.NO_PROPOSAL, "repair", 0)], ["0000"]),
        ([entry(0, SCORED), entry(1, FAILED, "mutate", 0), entry(2, SCORED, "mutate", 0)], ["0001"]),
    ],
)
def test_a_mended_candidate_is_broken_no_more(entries, broken):
    history = History({scored.candidate.id: scored for scored in entries})
    assert [scored.candidate.id for scored in history.broken()] == broken


SMALL = {"a": (1, 2, 4), "b": (1, 2), "c": (0, 1, 2, 3)}
LARGER = {"a": (1, 2, 4), "b": (1, 2), "c": (0, 1, 2, 3), "d": (1, 2, 3)}
CAREFUL = """\
from kernel_tuner.strategies.wrapper import OptAlg


class Careful(OptAlg):
    def __call__(self, func, searchspace):
        for config in searchspace.list[:5]:
            func(config)
        self.check(searchspace)

    def check(self, searchspace):
        if len(searchspace.param_names) > 3:
            raise ValueError("far too many parameters " + "!" * 900)
"""


@pytest.fixture(scope="module")
def scorer():
    spaces = [
        replace(synthetic_space(seed, tune_params=params, kept=1.0), name=name)
        for seed, (name, params) in enumerate({"first": SMALL, "second": LARGER, "third": SMALL}.items())
    ]
    with local_scorer(spaces, repeats=3, seed=1) as running:
        yield running


@pytest.fixture
def judge(scorer):
    return Judge(scorer, {})


def test_a_failure_tells_space_line_and_what_the_other_spaces_gave(judge):
    candidate = Candidate("0000", "Careful", CAREFUL, "", "x", "initial", 0)
    judged = judge.judge(candidate)
    evaluation = judged.evaluation
    assert evaluation.state is FAILED
    assert evaluation.reason.startswith("ValueError: far too many parameters !!!")
    assert evaluation.reason.endswith("(line 12 in check)")
    assert evaluation.failure.space == "second"
    assert evaluation.failure.line == '12: raise ValueError("far too many parameters " + "!" * 900)'
    assert list(evaluation.failure.others) == ["first", "third"]
    assert isinstance(evaluation.failure.others["first"], float)
    assert evaluation.failure.others["third"] is None

    logged = json.loads(json.dumps(asdict(evaluation), allow_nan=False))
    assert evaluation_from_json(logged) == evaluation
    del logged["failure"]  # as earlier versions wrote it
    assert evaluation_from_json(logged) == replace(evaluation, failure=None)

    user = render_prompt(ProposalTask("k", "repair", (judged,), ())).user
    assert "\n- the run was on second\n- line 12: raise ValueError(" in user
    assert f"\n- on first its runs before that scored {evaluation.failure.others['first']:.3f}\n" in user
    assert "\n- on third it was not run\n" in user


def test_a_refusal_tells_the_line(judge):
    code = "import os\n" + EXAMPLE_CODE
    evaluation = judge.judge(Candidate("0001", "ExampleSearch", code, "", "x", "initial", 0)).evaluation
    assert evaluation.state is CandidateState.REJECTED
    assert evaluation.failure == Failure(line="1: import os")


@pytest.mark.parametrize("reason", ["in line 99", "in line 0", "in line 999999999", "out of line", ""])
def test_a_line_that_is_not_there_is_not_told(reason):
    assert with_line(Evaluation(FAILED, reason), "a\nb\n") == Evaluation(FAILED, reason)


def program(number):
    return f"Description: Number {number}.\n```python\n{EXAMPLE_CODE.replace('n_initial=10', f'n_initial={number}')}```"


class Forgetful:
    """A language model that answers with what was tried before, unless it is told so; and then with a bad range."""

    name = "forgetful"

    def __init__(self):
        self.asked = []

    def complete(self, prompt):
        self.asked.append(prompt)
        number = 1000 + int(prompt.key[1:4]) * 100 + int(prompt.key[5:7])
        if "-retry1" in prompt.key:
            ranges = json.dumps({"n_initial": {"type": "int", "low": 9, "high": 3}})
            return Completion(f"{program(number)}\n```json\n{ranges}\n```", self.name)
        generation = int(prompt.key[1:4])
        return Completion(program(2000 + int(prompt.key[5:7]) if generation == 0 else 2000), self.name)


def test_a_duplicate_goes_back_once_whatever_line_the_run_was_interrupted_after(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "make_leaderboard", lambda history, *_: Leaderboard((), 1, len(history)))
    settings = Settings(seed=5, asked_at_once=1, max_candidates=9, offspring=3, parents=2, final_candidates=2)

    def go_on(run):
        with run.locked():
            loop.evolve(run, settings, LLMProposer(RecordedLLM(Forgetful(), run.exchanges)), LuckyScorer(), [])
        return (run.path / "candidates.jsonl").read_bytes()

    whole = RunDirectory.create(tmp_path / "whole", {})
    log = go_on(whole)
    judged = [json.loads(line) for line in log.splitlines() if b'"judged"' in line]
    assert {record["evaluation"]["state"] for record in judged} == {"scored"}
    prompts = {record["key"]: record["user"] for record in whole.exchanges.records()}
    retried = [record for record in judged if record["candidate"]["generation"] > 0]
    assert sum("-retry1" in key for key in prompts) == len(retried) == 6
    for key, user in prompts.items():
        if "-retry1" in key:
            assert "It cannot be used: " in user
            assert "it is the same program as " in user
    assert any("one tried before, up to comments and layout" in user for user in prompts.values())
    refused = "range of 'n_initial' refused: low 9 is above high 3"
    assert all(record["candidate"]["refused_ranges"] == [refused] for record in retried)
    assert any(f"\n- {refused}\n" in user for user in prompts.values())

    lines = log.splitlines(keepends=True)
    for cut in range(len(lines)):
        run = RunDirectory.create(tmp_path / f"cut_{cut}", {})
        (run.path / "candidates.jsonl").write_bytes(b"".join(lines[:cut]))
        assert go_on(run) == log, f"interrupted after line {cut}"
        again = {record["key"]: record["user"] for record in run.exchanges.records()}
        assert all(prompts[key] == user for key, user in again.items())


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_that_answer_the_same_the_one_planned_first_counts_whoever_comes_first(scorer, order):
    judge = Judge(scorer, {})
    code = EXAMPLE_CODE.replace("n_initial=10", "n_initial=3")
    pair = [Candidate(number, "ExampleSearch", code, "", "x", "initial", 0) for number in ("0010", "0011")]
    history = History()
    for number in order:
        history.add(judge.judge(pair[number]))
    assert history["0010"].evaluation.state is SCORED
    assert history["0011"].evaluation == duplicate_of("0010")
    assert len(history.programs()) == 1
    logged = {"0011": Scored(pair[1], history["0010"].evaluation), "0010": history["0010"]}
    assert History(logged)["0011"].evaluation == duplicate_of("0010")
