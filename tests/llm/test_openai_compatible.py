"""The openai path against a real HTTP server on the loopback interface."""

from __future__ import annotations

import logging

import pytest
from chat_server import PROMPT, Planned, answers, fails, model, says

from llamea_tune.exceptions import ProposerError, SettingsError
from llamea_tune.llm import CompletionError, Unanswered, make_llm
from llamea_tune.llm.openai_compatible import OpenAICompatible
from llamea_tune.testing.proposer_contract import LanguageModelContract


class TestContract(LanguageModelContract):
    @pytest.fixture
    def llm(self, server):
        return model(server)


def test_sends_the_prompt_and_reads_the_answer(server, key):
    llm = model(server)
    completion = llm.complete(PROMPT)
    assert completion.text == "hello"
    assert completion.llm == llm.name == f"openai:tiny@{server.url}"
    assert (completion.prompt_tokens, completion.completion_tokens) == (1000, 200)
    assert server.requests == [
        {
            "model": "tiny",
            "temperature": 0.3,
            "messages": [
                {"role": "system", "content": "You are terse."},
                {"role": "user", "content": "Say hello."},
            ],
        }
    ]
    assert server.authorizations == [f"Bearer {key}"]


def test_a_local_server_needs_no_key(server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert model(server).complete(PROMPT).text == "hello"


def test_the_environment_can_name_the_server(server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert make_llm("openai:tiny").complete(PROMPT).text == "hello"


def test_another_variable_can_hold_the_key(server, monkeypatch):
    monkeypatch.setenv("MY_KEY", "my-secret-key")
    make_llm(f"openai:tiny@{server.url}", api_key_env="MY_KEY").complete(PROMPT)
    assert server.authorizations == ["Bearer my-secret-key"]


def test_missing_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ProposerError, match="set the environment variable OPENAI_API_KEY"):
        OpenAICompatible("tiny")


@pytest.mark.parametrize(
    ("planned", "error"),
    [
        (lambda key: fails(401, f"Incorrect API key provided: {key}"), ProposerError),
        (lambda key: fails(403, f"key {key} may not"), ProposerError),
        (lambda key: fails(404, f"{key} sees no model"), ProposerError),
        (lambda key: fails(400, f"bad request by {key}"), CompletionError),
        (lambda key: fails(401, f"Incorrect API key provided: {key[:9]}*****{key[-3:]}."), ProposerError),
        (lambda key: fails(401, f"no user has the key {key[:-3]}..."), ProposerError),
        (lambda key: fails(429, f"too fast, {key}"), Unanswered),
        (lambda key: fails(500, f"crash, Authorization: Bearer {key}"), Unanswered),
        (lambda key: says(None, refusal=f"not for {key}"), CompletionError),
        (lambda key: Planned(200, key.encode(), {"Content-Type": "text/plain"}), CompletionError),
        (lambda key: answers({"error": {"message": key, "code": 502}}), Unanswered),
        (lambda key: Planned(cut="before"), Unanswered),
    ],
)
def test_the_key_never_shows_in_errors_or_logs(server, key, caplog, planned, error):
    server.plan = [planned(key)]
    llm = model(server, max_retries=0)
    with caplog.at_level(logging.DEBUG), pytest.raises(error) as raised:
        llm.complete(PROMPT)
    assert server.authorizations == [f"Bearer {key}"]
    chain: BaseException | None = raised.value
    while chain is not None:
        assert key[:9] not in str(chain)
        chain = chain.__cause__
    assert key not in caplog.text
    assert key not in repr(vars(llm)["_at"])
    assert key not in llm.name


def test_the_key_is_taken_out_of_answers(server, key):
    server.plan = [says(f"your key is {key}")]
    assert model(server).complete(PROMPT).text == "your key is ***"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:8000", "is none"),
        ("ftp://host/v1", "is none"),
        ("http://user:secret@host/v1", "password"),
        ("https://host/v1?key=secret", "query"),
        ("http://host:99999/v1", "is none"),
        ("http://[::1/v1", "is none"),
    ],
)
def test_bad_urls(url, message):
    with pytest.raises(ProposerError, match=message) as raised:
        OpenAICompatible("tiny", url)
    assert "secret" not in str(raised.value)


def test_no_model_named():
    with pytest.raises(ProposerError, match="name of a model"):
        make_llm("openai:")


def test_an_option_it_does_not_take(server):
    with pytest.raises(SettingsError, match="openai takes no option 'poll_s'"):
        make_llm(f"openai:tiny@{server.url}", poll_s=1.0)


@pytest.mark.parametrize("key", ["sk-\u00fcber-secret", "sk-secret\nsk-other"])
def test_a_key_that_no_header_can_hold(server, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ProposerError, match="OPENAI_API_KEY holds characters that no key has") as raised:
        model(server)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["model", "messages", "stream"])
def test_parameters_that_are_set_already(server, name):
    with pytest.raises(SettingsError, match=f"'{name}' cannot be a further parameter"):
        model(server, parameters={name: True})


@pytest.mark.parametrize(
    ("planned", "found"),
    [
        (answers({"data": [{"id": "tiny"}, {"id": "huge"}]}), (True, "has tiny")),
        (answers([{"id": "huge"}]), (False, "it has: huge")),
        (answers({"data": []}), (False, "it has: none")),
        (fails(404, "no route"), (False, "no list of models")),
    ],
)
def test_check(server, planned, found):
    server.plan = [planned]
    known, said = model(server).check()
    assert known == found[0]
    assert found[1] in said


@pytest.mark.parametrize(
    ("planned", "error", "said"),
    [
        (fails(401, "who are you?"), ProposerError, "refused the key"),
        (fails(500, "oops"), Unanswered, "status 500"),
        (Planned(200, b"<title>Welcome</title>"), CompletionError, r"no list of models.*Welcome"),
        (answers({"data": 5}), CompletionError, "no list of models"),
    ],
)
def test_check_of_a_server_that_does_not_work(server, planned, error, said):
    server.plan = [planned]
    with pytest.raises(error, match=said):
        model(server).check()
