"""A bandit among the models of a mix, asked at a server: who is asked, what is learnt, and what is told of it."""

import hashlib
import json
import re
import shutil
import signal
import subprocess
import time

import pytest
from test_interrupted_loop import LuckyScorer
from writing_server import says, writes, writing_server

from llamea_tune.evolution import loop
from llamea_tune.evolution.budgets import Budgets
from llamea_tune.evolution.events import ignore
from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.evolution.ledger import Ledger
from llamea_tune.evolution.model_summary import summarise_models
from llamea_tune.evolution.proposers import opened_proposer
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import SettingsError
from llamea_tune.runners.trace import RequestCounts
from llamea_tune.scoring.scorecard import Scorecard, SpaceScore
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE

pytestmark = pytest.mark.xdist_group("model choice")


def called(llm):
    """The name at the server of a model `openai:NAME@URL`."""
    return llm.partition(":")[2].partition("@")[0]


def asked(run):
    """Which model each candidate was asked of."""
    judged = RunDirectory(run).candidates()
    return {key: called(judged[key].candidate.llm) for key in sorted(judged)}


@pytest.fixture(scope="module")
def server():
    with pytest.MonkeyPatch.context() as patch, writing_server() as running:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        yield running


@pytest.fixture(scope="module")
def mix(server):
    return f"mix:openai:good@{server.url}=1,openai:poor@{server.url}=2"


# Long searches, in which programs are scored by the one number in them, and nothing is run.


class ByNumber(LuckyScorer):
    """The greater the number in a program, the better it is."""

    def score(self, contender, repeats=1, stage="train", on_progress=None, race=None):
        score = int(re.search(r"n_initial=(\d+)", contender.code)[1]) / 100_000
        name = self.scales[0].space
        spaces = {name: SpaceScore(name, score, (score, score), repeats, 1.0, RequestCounts())}
        return Scorecard(contender.label, score, (score, score), spaces, runs=repeats)


def improves_if_it_is_good(_number, request):
    """A greater number than in any parent from the good model, a smaller one from the other; the prompt decides which."""
    user = request["messages"][-1]["content"]
    best = max(map(int, re.findall(r"n_initial=(\d+)", user)), default=50_000)
    by = 1 + hashlib.sha256(user.encode()).digest()[0]
    number = best + by if request["model"] == "good" else best - by
    code = EXAMPLE_CODE.replace("n_initial=10", f"n_initial={number}")
    return says(f"Description: Starts with {number}.\n\n```python\n{code}```\n")


@pytest.fixture
def go_on(monkeypatch, server):
    monkeypatch.setattr(loop, "make_leaderboard", lambda history, *_: Leaderboard((), 1, len(history)))
    server.answer = improves_if_it_is_good

    def evolve(path, settings):
        run = RunDirectory(path) if path.exists() else RunDirectory.create(path, {"settings": settings.to_json()})
        ledger = Ledger(run, Budgets())
        with run.locked(), opened_proposer(run, settings, None, ignore, ledger, lambda *_: "") as proposer:
            loop.evolve(run, settings, proposer, ByNumber(), [], ledger=ledger)
        return (path / "candidates.jsonl").read_bytes()

    return evolve


def long_run(mix, **changed):
    settings = {"max_candidates": 48, "offspring": 6, "parents": 2, "seed": 5, "asked_at_once": 1, "proposer": mix}
    return Settings(**settings, model_choice="bandit", final_strategies=(), **changed)


@pytest.mark.parametrize("steady_state", [False, True], ids=["generations", "steady state"])
def test_who_makes_parents_worse_is_asked_less_and_less(steady_state, go_on, mix, server, tmp_path):
    settings = long_run(mix, steady_state=steady_state)
    go_on(tmp_path / "run", settings)
    names = list(asked(tmp_path / "run").values())
    assert names[:12].count("poor") > 4  # of whom nothing is known, twice the weight
    assert 0 < names[-18:].count("poor") < 6
    good, poor = summarise_models(settings, list(RunDirectory(tmp_path / "run").candidates().values()))
    assert good.mean_gain > 0 > poor.mean_gain
    assert (good.asked, poor.asked) == (names.count("good"), names.count("poor"))


@pytest.mark.parametrize("steady_state", [False, True], ids=["generations", "steady state"])
def test_whatever_line_it_was_interrupted_after_it_asks_the_same(steady_state, go_on, mix, server, tmp_path):
    settings = long_run(mix, steady_state=steady_state).with_max_candidates(18)
    log = go_on(tmp_path / "whole", settings)
    lines = log.splitlines(keepends=True)
    planned = [json.loads(line) for line in lines if b'"planned"' in line]
    assert [called(line["llm"]) for line in planned] == list(asked(tmp_path / "whole").values()) * steady_state
    for cut in range(3, len(lines), 11):
        run = tmp_path / f"cut_{cut}"
        shutil.copytree(tmp_path / "whole", run)
        (run / "candidates.jsonl").write_bytes(b"".join(lines[:cut]))
        (run / "exchanges.jsonl").unlink()
        assert go_on(run, settings) == log, f"interrupted after line {cut}"


def test_its_answers_replay_without_a_choice(go_on, mix, tmp_path):
    settings = long_run(mix).with_max_candidates(18)
    go_on(tmp_path / "run", settings)
    server_less = Settings(**{**vars(settings), "proposer": f"replay:{tmp_path / 'run'}", "model_choice": "weights"})
    go_on(tmp_path / "again", server_less)
    first, again = (RunDirectory(tmp_path / name).candidates() for name in ("run", "again"))
    assert {key: entry.candidate.code for key, entry in first.items()} == {
        key: entry.candidate.code for key, entry in again.items()
    }


@pytest.mark.parametrize("proposer", ["offline", "openai:a", "mix:openai:a=3", "mix:openai:a=3,openai:a=1"])
def test_where_there_is_no_choice_there_is_no_bandit(proposer):
    with pytest.raises(SettingsError, match=f"model_choice is 'bandit', and proposer is '{proposer}', which leaves no"):
        Settings(proposer=proposer, model_choice="bandit")


# Whole runs of the program, in which one of the two answers with nothing usable.

FEW_RUNS = (
    *("--repeats", "1", "--confirm-repeats", "1", "--final-repeats", "1", "--final-strategies", "random_sample"),
    *("--final-candidates", "1", "--jobs", "1", "--seed", "4", "--llm-max-retries", "0", "--asked-at-once", "1"),
)


def writes_if_it_is_good(number, request):
    return writes(number, request) if request["model"] == "good" else says("I had rather not.")


@pytest.fixture
def options(server, mix):
    server.answer = writes_if_it_is_good
    return ("--proposer", mix, "--model-choice", "bandit", *FEW_RUNS)


@pytest.fixture
def finished(cli, options, tmp_path):
    run = tmp_path / "finished"
    done = cli("evolve", "--run-dir", run, *options)
    assert done.returncode == 0, done.stderr
    return run, done


def test_a_run_tells_what_was_learnt(finished, cli, mix):
    run, done = finished
    directory = RunDirectory.open_existing(run)
    planned = {entry.candidate.id: entry.candidate.llm for entry in directory.candidates().values()}
    answers = list(directory.exchanges.records())
    assert any(answer["key"].endswith("-retry1") for answer in answers)
    for answer in answers:  # whoever is named in the plan answers all that follows for the candidate
        generation, position = int(answer["key"][1:4]), int(answer["key"][5:7])
        assert answer["llm"] == planned[f"{3 * generation + position:04d}"]
    names = list(asked(run).values())
    told = json.loads(cli("report", run, "--json").stdout)["models"]
    assert [(called(model["llm"]), model["asked"]) for model in told] == [
        (name, names.count(name)) for name in ("good", "poor")
    ]
    good, poor = told
    assert (poor["usable"], poor["mean_gain"]) == (0, None)
    assert 0 < good["usable"] <= good["asked"]
    for shown in (done.stderr, cli("report", run).stderr):
        assert f"{good['llm']}: asked for {good['asked']} candidates, {good['usable']} usable, mean gain" in shown
        assert f"{poor['llm']}: asked for {poor['asked']} candidates, 0 usable, no gain known" in shown
    assert "Language models" in (run / "report.html").read_text()
    assert json.loads(cli("resume", run, "--json").stdout)["models"] == told


@pytest.mark.slow
@pytest.mark.parametrize("how", ["--generations", "--steady-state"])
def test_killed_and_resumed_it_asks_the_same(how, options, command, cli, tmp_path):
    """`kill -9` in the middle."""
    whole, run = tmp_path / "whole", tmp_path / "killed"
    assert cli("evolve", "--run-dir", whole, *options, how).returncode == 0
    log = run / "candidates.jsonl"
    with subprocess.Popen(command("evolve", "--run-dir", run, *options, how, "--quiet")) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (not log.exists() or log.read_text().count('"judged"') < 4):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert cli("resume", run).returncode == 0
    assert asked(run) == asked(whole)
    assert set(asked(run).values()) == {"good", "poor"}
    assert (run / "leaderboard.json").read_bytes() == (whole / "leaderboard.json").read_bytes()
