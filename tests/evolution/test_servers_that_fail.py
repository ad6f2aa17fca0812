"""Whole runs against servers that fail, refuse, hang and drip: no candidate is burned, and every run can go on."""

import json
import signal
import subprocess
import time

import pytest
from writing_server import Planned, fails, says, slow_server, writes, writing_server

from llamea_tune.evolution.history import History
from llamea_tune.evolution.run_directory import RunDirectory

pytestmark = pytest.mark.xdist_group("servers that fail")

BROKEN = fails(500, "the model crashed")
FEW_RUNS = (
    *("--repeats", "1", "--confirm-repeats", "1", "--final-repeats", "1"),
    *("--final-candidates", "1", "--jobs", "1"),
)


@pytest.fixture(autouse=True)
def directly(monkeypatch):
    """The servers are reached without any proxy."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(scope="module")
def server():
    with writing_server() as running:
        yield running


@pytest.fixture
def evolve(cli, server, tmp_path):
    """Starts a run against the server, whose answers are as given from then on."""

    def start(answer, *arguments):
        server.requests.clear()
        server.answer = answer
        run = tmp_path / "run"
        spec = ("--proposer", f"openai:tiny@{server.url}", "--llm-max-retries", "0")
        return run, cli("evolve", "--run-dir", run, *spec, *FEW_RUNS, "--seed", "3", *arguments)

    return start


@pytest.fixture(scope="module")
def undisturbed(cli, server, tmp_path_factory):
    """The outcome of a run without any trouble."""
    run = tmp_path_factory.mktemp("runs") / "undisturbed"
    server.answer = writes
    done = cli("evolve", "--run-dir", run, "--proposer", f"openai:tiny@{server.url}", *FEW_RUNS, "--seed", "3")
    assert done.returncode == 0, done.stderr
    return outcome(run)


def outcome(run):
    """The leaderboard, and each candidate with its fitness, which do not depend on who was answered first."""
    judged = History(RunDirectory.open_existing(run).candidates()).all()
    assert [entry.candidate.id for entry in judged] == [f"{number:04d}" for number in range(8)]
    return (run / "leaderboard.json").read_bytes(), [(entry.candidate, entry.evaluation.fitness) for entry in judged]


def candidates(run):
    log = run / "candidates.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    judged = [line for line in lines if line["kind"] == "judged"]
    return sorted(judged, key=lambda line: line["candidate"]["id"])  # they are judged as they come


def ends_in_a_sentence(done, code=2):
    """The last line, where the program ended as it should."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    return last


def resumed(cli, server, run):
    server.answer = writes
    done = cli("resume", run)
    assert done.returncode == 0, done.stderr
    return outcome(run)


def test_a_server_that_always_fails_burns_nothing(evolve, cli, server, undisturbed):
    run, done = evolve(lambda number, request: BROKEN)
    said = ends_in_a_sentence(done)
    assert "3 calls in a row got no answer" in said and "the model crashed" in said
    assert f"llamea-tune resume {run} asks again" in said
    assert candidates(run) == []
    assert resumed(cli, server, run) == undisturbed


def test_a_server_that_fails_in_the_middle_is_asked_again_on_resume(evolve, cli, server, undisturbed):
    run, done = evolve(lambda number, request: writes(number, request) if number < 5 else BROKEN)
    ends_in_a_sentence(done)
    server.answer = lambda number, request: BROKEN
    ends_in_a_sentence(cli("resume", run))
    asked = len(server.requests)
    assert resumed(cli, server, run) == undisturbed
    assert len(server.requests) - asked <= 8 - 5, "an answer was paid for twice"


def test_a_slot_stays_open_until_it_is_answered(evolve, undisturbed):
    run, done = evolve(
        lambda number, request: BROKEN if number % 3 == 1 else writes(number, request), "--asked-at-once", "1"
    )
    assert done.returncode == 0, done.stderr
    assert outcome(run) == undisturbed


def test_a_wait_that_the_server_asks_for_is_shown(evolve, undisturbed):
    busy = fails(429, "too many requests", headers={"Retry-After": "2"})
    run, done = evolve(lambda number, request: writes(number, request) if number else busy, "--llm-max-retries", "1")
    assert done.returncode == 0, done.stderr
    assert "waiting 2 s: " in done.stderr
    assert outcome(run) == undisturbed


def test_a_server_that_refuses_every_prompt_burns_nothing(evolve, cli, server, undisturbed):
    def too_small(number, request):
        return fails(400, f"maximum context length is 4096 tokens, you asked for {5000 + number}")

    run, done = evolve(too_small)
    said = ends_in_a_sentence(done)
    assert "every prompt so far ended alike" in said and "maximum context length is 4096 tokens" in said
    assert candidates(run) == []
    assert resumed(cli, server, run) == undisturbed


def test_a_single_refused_prompt_is_a_candidate(evolve):
    run, done = evolve(lambda number, request: writes(number, request) if number else fails(400, "that is not allowed"))
    assert done.returncode == 0, done.stderr
    refused = [line for line in candidates(run) if line["evaluation"]["state"] == "no_proposal"]
    assert len(candidates(run)) == 8 and len(refused) == 1
    assert "that is not allowed" in refused[0]["evaluation"]["reason"]


def test_a_run_in_which_nothing_could_be_scored_says_why(evolve, cli):
    run, done = evolve(lambda number, request: says("I had rather not."), "--max-candidates", "3")
    said = ends_in_a_sentence(done, code=1)
    assert "no candidate could be scored, mostly (3 of 3)" in said and "no Python code" in said
    again = cli("resume", run, "--json")
    assert again.returncode == 1
    assert json.loads(again.stdout)["candidates"] == 3


@pytest.mark.parametrize("drips", [False, True])
def test_ctrl_c_ends_the_process_while_a_server_holds_it_up(drips, command, cli, server, undisturbed, tmp_path):
    run = tmp_path / "run"
    with slow_server(drips=drips) as (url, asked):
        line = command("evolve", "--run-dir", run, "--proposer", f"openai:tiny@{url}", *FEW_RUNS, "--seed", "3")
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3):
            assert asked.acquire(timeout=60)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, errors = process.communicate(timeout=60)
        seconds = time.monotonic() - started
    assert process.returncode == 130
    assert f"llamea-tune resume {run}" in errors and "Traceback" not in errors
    assert seconds < 2.0  # a second is promised; the machine may be busy
    header = json.loads((run / "run.json").read_text())
    header["settings"]["proposer"] = f"openai:tiny@{server.url}"
    (run / "run.json").write_text(json.dumps(header))
    assert resumed(cli, server, run) == undisturbed


def test_an_error_ends_the_run_while_other_calls_hang(evolve, server):
    refused = []

    def bad_key(number, request):
        if number < 2:
            return Planned(delay_s=30.0)
        time.sleep(1.0)
        refused.append(time.monotonic())
        return fails(401, "no such key")

    _, done = evolve(bad_key)
    assert "refused the key" in ends_in_a_sentence(done)
    assert time.monotonic() - refused[0] < 3.0  # a second is promised; the machine may be busy


def test_how_a_model_is_asked_is_kept_and_can_be_changed(cli, server, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-0123456789")
    server.requests.clear()
    server.answer = lambda number, request: BROKEN
    run = tmp_path / "run"
    patient = ("--llm-timeout", "20", "--llm-answer-timeout", "40", "--llm-max-retries", "0", "--llm-max-wait", "5")
    further = ("--llm-api-key-env", "MY_KEY", "--llm-parameter", "top_p=0.5", "--llm-parameter", "user=me")
    spec = ("--proposer", f"openai:tiny@{server.url}", "--max-unanswered", "1", "--max-candidates", "1")
    said = ends_in_a_sentence(cli("evolve", "--run-dir", run, *spec, *patient, *further))
    assert "a call got no answer" in said
    assert (server.requests[0]["top_p"], server.requests[0]["user"]) == (0.5, "me")
    ends_in_a_sentence(cli("resume", run, "--llm-parameter", "top_p=0.7", "--llm-timeout", "30"))
    assert (server.requests[-1]["top_p"], server.requests[-1]["user"]) == (0.7, "me")
    assert json.loads((run / "run.json").read_text())["settings"]["llm"] == {
        "timeout_s": 30.0,
        "answer_timeout_s": 40.0,
        "max_retries": 0,
        "max_wait_s": 5.0,
        "api_key_env": "MY_KEY",
        "parameters": {"top_p": 0.7, "user": "me"},
    }
    assert "sk-0123456789" not in (run / "run.json").read_text()
