"""Each budget stops a run cleanly, says which one it was, and lets it go on as if it had never been stopped."""

import json
import threading
from pathlib import Path

import pytest
from test_interrupted_loop import LuckyScorer, Varying
from test_servers_that_fail import FEW_RUNS, directly, outcome, server, undisturbed  # noqa: F401 (fixtures)
from writing_server import writes

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Scored
from llamea_tune.cli.costs import go_on_option
from llamea_tune.cli.progress import RunProgress
from llamea_tune.evolution import loop
from llamea_tune.evolution.budgets import Budgets, Spent
from llamea_tune.evolution.events import CandidateJudged, RunStarted
from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.evolution.ledger import Ledger, NotAsked, runs_of
from llamea_tune.evolution.recorded_llm import RecordedLLM
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import RunDirectoryError, SettingsError
from llamea_tune.llm.language_model import Completion, Prompt
from llamea_tune.llm.prices import cost, price_of, read_prices

PRICES = {"gpt-4o": {"input": 2.5, "output": 10.0}}


@pytest.fixture
def evolve(monkeypatch):
    """Evolves where nothing is run, and gives the leaderboard and the log."""
    monkeypatch.setattr(loop, "make_leaderboard", lambda history, *_: Leaderboard((), 1, len(history)))

    def go_on(run, **settings):
        chosen = Settings(max_candidates=9, offspring=3, parents=2, repeats=2, asked_at_once=1, seed=4, **settings)
        with run.locked():
            board = loop.evolve(run, chosen, Varying(), LuckyScorer(), [])
        return board, (run.path / "candidates.jsonl").read_bytes()

    return go_on


@pytest.mark.parametrize("steady_state", [False, True], ids=["generations", "steady state"])
def test_runs_are_never_exceeded_and_more_of_them_lead_to_the_same_end(evolve, tmp_path, steady_state):
    whole, log = evolve(RunDirectory.create(tmp_path / "whole", {}), steady_state=steady_state)
    assert whole.used_up is None
    assert whole.spent.runs == sum(runs_of(json.loads(line)) for line in log.splitlines())
    run = RunDirectory.create(tmp_path / "short of runs", {})
    for limit in range(13, whole.spent.runs + 13, 13):
        board, so_far = evolve(run, steady_state=steady_state, budgets=Budgets(max_runs=limit))
        assert board.spent.runs <= limit
        assert log.startswith(so_far)
    assert (board.used_up, so_far) == (None, log)


def test_hours_are_counted_over_all_sessions(evolve, tmp_path):
    run = RunDirectory.create(tmp_path / "run", {})
    board, log = evolve(run, budgets=Budgets(max_hours=1.0))
    assert board.used_up is None
    assert 0 < json.loads((run.path / "clock.json").read_text())["seconds"] <= board.spent.seconds
    other = RunDirectory.create(tmp_path / "other", {})
    other.write_json("clock.json", {"seconds": 3599.9})
    (other.path / "candidates.jsonl").write_bytes(b"".join(log.splitlines(keepends=True)[:2]))
    board, _ = evolve(other, budgets=Budgets(max_hours=0.5))
    assert (board.used_up, board.n_candidates) == ("max_hours", 2)
    assert evolve(other, budgets=Budgets(max_hours=2.0))[1] == log


class Counting:
    """A language model whose answers take so many tokens, and wait until they are let go."""

    name = "openai:gpt-4o@http://here"

    def __init__(self, go=None):
        self.asked = 0
        self._go = go

    def complete(self, prompt):
        self.asked += 1
        if self._go is not None:
            self._go.wait(5)
        return Completion(prompt.key, self.name, 1000, 200)


@pytest.mark.parametrize(
    ("budgets", "calls"),
    [
        (Budgets(max_llm_calls=3), 3),
        (Budgets(max_tokens=2400), 2),
        (Budgets(max_tokens=2401), 3),
        (Budgets(max_cost=0.009, prices=PRICES), 2),  # 0.0045 each
    ],
)
def test_nothing_is_asked_beyond_a_budget_but_what_is_known_is_answered(tmp_path, budgets, calls):
    run = RunDirectory.create(tmp_path / "run", {})
    for _ in range(2):  # and again, after an interruption
        llm = RecordedLLM(Counting(), run.exchanges, Ledger(run, budgets))
        for number in range(calls):
            assert llm.complete(Prompt(str(number), "", "")).text == str(number)
        with pytest.raises(NotAsked):
            llm.complete(Prompt("more", "", ""))
    spent = Ledger(run, budgets).spent()
    assert (spent.llm_calls, spent.tokens) == (calls, 1200 * calls)


def test_calls_under_way_are_spoken_for(tmp_path):
    run = RunDirectory.create(tmp_path / "run", {})
    go = threading.Event()
    llm = RecordedLLM(Counting(go), run.exchanges, Ledger(run, Budgets(max_llm_calls=1)))
    first = threading.Thread(target=llm.complete, args=[Prompt("first", "", "")])
    first.start()
    while llm._llm.asked == 0:
        pass
    with pytest.raises(NotAsked):
        llm.complete(Prompt("second", "", ""))
    go.set()
    first.join()


def test_prices_are_found_under_several_names(tmp_path):
    table = tmp_path / "prices.toml"
    table.write_text('["gpt-4o"]\ninput = 2.5\noutput = 10\n["openai:own@http://here/v1"]\ninput = 0\noutput = 0\n')
    prices = read_prices(table)
    assert price_of(prices, "openai:gpt-4o") == price_of(prices, "openai:gpt-4o@http://x/v1") == PRICES["gpt-4o"]
    assert price_of(prices, "openai:own@http://here/v1") == {"input": 0.0, "output": 0.0}
    assert price_of(prices, "openai:own") is None
    assert cost(PRICES["gpt-4o"], 1_000_000, 500_000) == 7.5


@pytest.mark.parametrize(
    "text", ["", "a = 1", "[m]\ninput = 1", "[m]\ninput = 1\noutput = -1", "[m", "[m]\ninput='1'\noutput=1"]
)
def test_what_is_no_table_of_prices_is_refused(tmp_path, text):
    table = tmp_path / "prices.toml"
    table.write_text(text)
    with pytest.raises(SettingsError, match="prices"):
        read_prices(table)


def test_budgets_stop_a_real_run_which_goes_on_to_the_same_end(cli, server, undisturbed, tmp_path):  # noqa: F811
    run = tmp_path / "run"
    server.answer = writes
    start = ("--proposer", f"openai:tiny@{server.url}", *FEW_RUNS, "--seed", "3", "--asked-at-once", "2")
    done = cli("evolve", "--run-dir", run, *start, "--max-llm-calls", "4")
    assert done.returncode == 0, done.stderr
    assert "stopped by --max-llm-calls after" in done.stderr
    assert f"llamea-tune resume {run} --max-llm-calls 8" in done.stderr
    assert (run / "leaderboard.json").exists()
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"tiny": {"input": 1.0, "output": 2.0}}))
    refused = cli("resume", run, "--max-cost", "1")
    assert refused.returncode == 2
    assert "--max-cost needs to know what tokens cost; give --prices, too" in refused.stderr
    done = cli("resume", run, "--max-llm-calls", "100", "--max-cost", "1", "--prices", prices, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["used_up"] is None
    assert told["spent"]["llm_calls"] == len((run / "exchanges.jsonl").read_text().splitlines())
    assert outcome(run) == undisturbed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--max-cost", "5"],
            "--max-cost is for language models, and 'offline' asks none that we count; leave it out.",
        ),
        (
            ["--proposer", "handoff:prompts", "--max-tokens", "5"],
            "--max-tokens needs to know how many tokens there are, which 'handoff' does not tell; leave it out.",
        ),
        (["--max-runs", "0"], "--max-runs is 0; it must be a number above 0."),
        (["--max-hours", "nan"], "--max-hours is nan; it must be a number above 0."),
        (["--prices", "nowhere.toml"], "the prices in nowhere.toml cannot be read"),
    ],
)
def test_budgets_that_make_no_sense_are_refused(cli, tmp_path, arguments, message):
    done = cli("evolve", "--run-dir", tmp_path / "run", *arguments)
    assert done.returncode == 2
    assert f"error: {message}" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_clock_that_cannot_be_read_is_told(tmp_path):
    run = RunDirectory.create(tmp_path / "run", {})
    run.write_json("clock.json", {"hours": 1})
    with pytest.raises(RunDirectoryError, match=r"clock.json does not tell how long the run has taken; remove it"):
        Ledger(run, Budgets())


def test_what_goes_on_is_more_than_what_was_spent():
    assert go_on_option("max_runs", Budgets(max_runs=3), Spent(runs=5)) == "--max-runs 10"
    assert go_on_option("max_hours", Budgets(max_hours=0.5), Spent(seconds=60)) == "--max-hours 1"


def test_a_budget_that_a_server_does_not_let_be_kept_is_told_once(capsys):
    progress = RunProgress()
    progress(RunStarted(Path("run"), Settings(proposer="openai:a", budgets=Budgets(max_tokens=5)), ("a",), 0))
    nothing = Scored(Candidate("0000", "", "", "", "a", "initial", 0), Evaluation(CandidateState.NO_PROPOSAL, "it is"))
    for _ in range(2):
        progress(CandidateJudged(nothing, 1, 9, Spent(llm_calls=1, uncounted=1)))
    assert capsys.readouterr().err.count("without their number of tokens: --max-tokens cannot be kept") == 1
