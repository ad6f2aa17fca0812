"""`llamea-tune advise`, with a server on loopback, through files, and from recorded replies."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

import pytest

from llamea_tune.advising import advice_request
from llamea_tune.llm import Completion
from llamea_tune.llm.exchanges import exchange_to_json
from llamea_tune.priors.advice import read_advice
from llamea_tune.spaces import find_space_files, load_space

sys.path.insert(0, str(Path(__file__).parent.parent / "llm"))

from chat_server import chat_server, fails, says


def answer(cache: Path, **changes: object) -> str:
    space = load_space(cache)
    configs = [dict(zip(space.param_names, space.param_config(i), strict=True)) for i in (5, 9, 70)]
    return json.dumps(
        {
            "summary": "a guess",
            "configs": [{"config": config, "cost": 0.5} for config in configs],
            "effects": {"tile": {"1": 1.5, "5": 0.8}},
            **changes,
        }
    )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_BASE_URL", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with chat_server() as running:
        yield running


def test_a_server_is_asked_once_more_with_what_is_wrong(command, caches, server):
    cache = caches / "one.json"
    server.plan = [says("I would try large blocks."), says(answer(cache))]
    done = command("advise", cache, "--proposer", f"openai:tiny@{server.url}", "--about", "a toy", "--json")
    assert done.code == 0, done.err
    assert len(server.requests) == 2
    first, second = (request["messages"][-1]["content"] for request in server.requests)
    assert "What it does: a toy" in first
    assert 'no JSON object with a list "configs"' in second
    assert done.json["file"] == str(caches / "advice" / "one.json")
    kept = read_advice(done.json["file"])
    assert (kept.llm, kept.about, kept.kernel) == (f"openai:tiny@{server.url}", "a toy", "synthetic")
    space = load_space(cache)
    assert kept.prior_over(space.tune_params, space.value_indices).mean[9] == pytest.approx(-0.693, abs=1e-3)


def test_two_useless_answers_end_it_with_the_reason(command, caches, server):
    server.plan = [says("No."), says('{"configs": [{"config": {"block": 1}}]}')]
    done = command("advise", caches / "one.json", "--proposer", f"openai:tiny@{server.url}")
    assert done.is_refusal()
    assert "in two answers: 0 of its configurations can be used" in done.err
    assert not (caches / "advice" / "one.json").exists()


def test_a_server_that_refuses_ends_it_with_its_reason(command, caches, server):
    server.plan = [fails(401, "bad key")]
    done = command("advise", caches / "one.json", "--proposer", f"openai:tiny@{server.url}")
    assert done.is_refusal()
    assert "bad key" in done.err


def test_prompts_as_files_with_the_names_hidden(command, caches, own_folders):
    handoff = own_folders / "prompts"
    space = load_space(caches / "one.json")
    configs = [[f"v{['row', 'column'].index(v) + 1}" if v in ("row", "column") else v for v in space.param_config(i)]
               for i in (0, 1, 2)]  # fmt: skip

    def write_reply() -> None:
        while not (handoff / "small-one-names-hidden.prompt.md").exists():
            time.sleep(0.05)
        reply = {"configs": [{"config": config} for config in configs], "effects": {"p2": {"1": 2.0}}}
        (handoff / "small-one-names-hidden.reply.md").write_text(f"```json\n{json.dumps(reply)}\n```")

    writer = threading.Thread(target=write_reply)
    writer.start()
    done = command("advise", caches / "one.json", "--hide-names", "--proposer", f"handoff:{handoff}", "-o", "kept")
    writer.join()
    assert done.code == 0, done.err
    kept = read_advice(own_folders / "kept" / "one-names-hidden.json")
    assert kept.hidden == ("names",)
    assert [tuple(entry.config.values()) for entry in kept.opinion.configs] == [
        space.param_config(i) for i in (0, 1, 2)
    ]
    assert kept.opinion.effects == {"tile": {1: 2.0}}
    assert "synthetic" not in (handoff / "small-one-names-hidden.prompt.md").read_text()


def test_a_recorded_answer_gives_the_same_advice(command, caches, own_folders):
    cache = caches / "two.json"
    prompt = advice_request(cache).prompt
    exchange = exchange_to_json(prompt, Completion(answer(cache), "openai:large"))
    (own_folders / "exchanges.jsonl").write_text(json.dumps(exchange) + "\n")
    done = command("advise", cache, "--proposer", "replay:exchanges.jsonl")
    assert done.code == 0, done.err
    assert read_advice(caches / "advice" / "two.json").llm == "openai:large"
    other = command("advise", cache, "--proposer", "replay:exchanges.jsonl", "--hide-device")
    assert other.is_refusal()


def test_advice_that_is_there_is_not_paid_for_again(command, caches, server):
    cache = caches / "one.json"
    server.plan = [says(answer(cache)), says(answer(cache, summary="another"))]
    ask = ("advise", cache, "--proposer", f"openai:tiny@{server.url}", "-q")
    assert command(*ask).code == 0
    again = command(*ask)
    assert again.is_refusal()
    assert "--force" in again.err
    assert len(server.requests) == 1
    assert command(*ask, "--force").code == 0
    assert read_advice(caches / "advice" / "one.json").opinion.summary == "another"


def test_advice_is_no_search_space(command, caches, server):
    server.plan = [says(answer(caches / "one.json"))]
    assert command("advise", caches / "one.json", "--proposer", f"openai:tiny@{server.url}").code == 0
    assert [path.name for path in find_space_files(caches)] == ["one.json", "two.json"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere.json",), "nowhere.json does not exist; name a kernel folder, a T1 file, or a recording"),
        (("small",), "holds no one T1 description"),
        (("nbody", "--salvage"), "leave out --t1 and --salvage"),
        (("small/one.json", "--problem-size", "12 by 3"), "--problem-size"),
        (("small/one.json", "--llm-parameter", "x"), "--llm-parameter"),
        (("small/one.json", "--proposer", "offline"), "'offline' is not known"),
        (("small/one.json", "-o", "small/one.json"), "cannot be made"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(command, caches, arguments, told):
    done = command("advise", *arguments, *(() if "--proposer" in arguments else ("--proposer", "handoff:prompts")))
    assert done.is_refusal()
    assert told in done.err
