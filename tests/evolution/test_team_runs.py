"""A team and several models in whole runs: who is asked for what, what is logged, and what is mended at once."""

from __future__ import annotations

import re

import pytest
from test_briefing import SETTINGS, spaces
from test_recorded_llm import handoff

import llamea_tune
from llamea_tune.evolution.budgets import Budgets
from llamea_tune.evolution.ledger import Ledger
from llamea_tune.evolution.proposers import check_budgets
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import SettingsError
from llamea_tune.llm import Completion
from llamea_tune.llm.mixed import ByRole, Mixed
from llamea_tune.llm.replay import Replay
from llamea_tune.proposals.team import TeamProposer
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE

BROKEN = EXAMPLE_CODE.replace("costs = {}", "costs = {}['nothing']")


class Role:
    """Answers for one role; the coder's first program of each candidate fails when it is run."""

    def __init__(self, name, answer):
        self.name = name
        self.answer = answer
        self.prompts = []

    def complete(self, prompt):
        self.prompts.append(prompt)
        return Completion(self.answer(prompt), self.name, 1000, 200)


def plan(prompt):
    if "Program to start from" in prompt.user or "<<<<<<< AT" not in prompt.user:
        return "Diagnosis: nothing is known.\n\nPlan: sample, then walk."
    return "Diagnosis: it starts too small.\n\n<<<<<<< AT\n        costs = {}\n=======\nRemember more.\n>>>>>>> PLAN\n"


def numbered(code, prompt):
    number = 2 + 17 * int(prompt.key[1:4]) + int(prompt.key[5:7])
    return f"Description: Begins with {number}.\n```python\n{code.replace('n_initial=10', f'n_initial={number}')}```"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    run = tmp_path_factory.mktemp("runs") / "team"
    roles = {
        "planner": Role("thinker", plan),
        "coder": Role("writer", lambda prompt: numbered(BROKEN, prompt)),
        "debugger": Role("mender", lambda prompt: numbered(EXAMPLE_CODE, prompt)),
    }
    settings = {**SETTINGS, "max_candidates": 6, "offspring": 3}
    llamea_tune.evolve(spaces(), TeamProposer(ByRole(roles["coder"], roles)), run=run, jobs=2, **settings)
    return run, roles


def test_every_role_is_asked_with_its_own_part_of_what_is_known(finished):
    _, roles = finished
    asked = {role: llm.prompts for role, llm in roles.items()}
    assert all(len(prompts) == 6 for prompts in asked.values())
    planner, coder, debugger = (asked[role] for role in ("planner", "coder", "debugger"))
    assert all(prompt.key.endswith("-plan") and "Search spaces that the fitness" in prompt.user for prompt in planner)
    assert not any("Search spaces that the fitness" in prompt.user for prompt in coder + debugger)
    assert planner[0].temperature > coder[0].temperature >= debugger[0].temperature
    anchored = [prompt.user for prompt in coder if "it starts too small" in prompt.user]
    assert anchored
    for user in anchored:
        assert re.search(r"^        # <<< PLAN 1: Remember more. >>>\n        costs = {}$", user, re.MULTILINE)
    assert all("it failed when it was tried out: KeyError" in prompt.user for prompt in debugger)


def test_what_fails_when_it_is_tried_out_is_mended_before_it_is_judged(finished):
    run, _ = finished
    directory = RunDirectory.open_existing(run)
    judged = directory.candidates().values()
    assert {entry.evaluation.state for entry in judged} == {"scored"}
    assert {entry.candidate.proposer for entry in judged} == {"thinker, writer, mender"}
    roles = {record["key"]: record["role"] for record in directory.exchanges.records()}
    assert set(roles.values()) == {"planner", "coder", "debugger"}
    assert all((role == "planner") == key.endswith("-plan") for key, role in roles.items())


def test_the_ledger_counts_all_roles_by_the_names_of_their_models(finished):
    run, _ = finished
    prices = {name: {"input": price, "output": 0.0} for name, price in (("thinker", 100.0), ("writer", 10.0))}
    spent = Ledger(RunDirectory.open_existing(run), Budgets(prices=prices)).spent()
    assert (spent.llm_calls, spent.prompt_tokens, spent.completion_tokens) == (18, 18 * 1000, 18 * 200)
    assert spent.cost == pytest.approx(6 * (0.1 + 0.01))
    assert spent.unpriced == ("mender",)


@pytest.mark.parametrize(
    ("how", "unpriced"),
    [
        ({"proposer": "mix:openai:a=3,openai:c=1"}, "openai:c"),
        (
            {"proposer": "openai:a", "team": "plan-code-debug", "debugger_llm": "openai:b@http://here"},
            "openai:b@http://here",
        ),
    ],
)
def test_a_cost_is_limited_only_where_all_prices_are_known(how, unpriced):
    budgets = Budgets(max_cost=1.0, prices={"a": {"input": 1.0, "output": 1.0}})
    with pytest.raises(SettingsError, match=f"needs the price of '{unpriced}'"):
        check_budgets(Settings(**how, budgets=budgets), own=False)


def test_a_teams_run_replays(finished, tmp_path):
    run, _ = finished
    settings = {**SETTINGS, "max_candidates": 6, "offspring": 3}
    llamea_tune.evolve(spaces(), TeamProposer(Replay(run)), run=tmp_path / "again", jobs=2, **settings)
    assert (tmp_path / "again" / "leaderboard.json").read_bytes() == (run / "leaderboard.json").read_bytes()


def test_several_models_share_a_run_by_weight(tmp_path):
    one, other = (Role(name, lambda prompt: numbered(EXAMPLE_CODE, prompt)) for name in ("one", "other"))
    settings = {**SETTINGS, "max_candidates": 12, "offspring": 12, "parents": 1}
    proposer = llamea_tune.proposals.LLMProposer(Mixed([(one, 3.0), (other, 1.0)]))
    assert proposer.name == "mix:one=3,other=1"
    llamea_tune.evolve(spaces(), proposer, run=tmp_path / "run", jobs=2, **settings)
    judged = RunDirectory.open_existing(tmp_path / "run").candidates().values()
    names = [entry.candidate.proposer for entry in judged]
    assert names.count("one") == len(one.prompts)
    assert 0 < names.count("other") < names.count("one")


def test_a_role_without_a_team_and_a_team_without_a_model_are_refused(tmp_path):
    with pytest.raises(SettingsError, match="planner_llm is for a planner, and there is none; set team to"):
        Settings(planner_llm="openai:a")
    with pytest.raises(SettingsError, match="offline asks no language model"):
        llamea_tune.evolve(spaces(), run=tmp_path / "run", team="plan-code-debug")
    assert not (tmp_path / "run").exists()


def test_closing_a_team_closes_all_its_models(tmp_path):
    class Closing(Role):
        closed = False

        def close(self):
            self.closed = True

    models = [Closing(name, plan) for name in ("a", "b")]
    ByRole(Mixed([(models[0], 1.0), (handoff(tmp_path), 1.0)]), {"planner": models[1]}).close()
    assert all(model.closed for model in models)
