"""The openai path against a real HTTP server on the loopback interface."""

from __future__ import annotations

import logging
import socket
import time
from itertools import pairwise

import pytest
from chat_server import ChatServer, Planned, fails, says

from llamea_tune.exceptions import ProposerError, SettingsError
from llamea_tune.llm import CompletionError, Price, Prompt, make_llm
from llamea_tune.llm.openai_compatible import OpenAICompatible
from llamea_tune.testing.proposer_contract import LanguageModelContract

PROMPT = Prompt("k", "You are terse.", "Say hello.", 0.3)


def model(server: ChatServer, **options) -> OpenAICompatible:
    return OpenAICompatible("tiny", server.url, **{"timeout_s": 5.0, "max_retries": 2, **options})


class TestContract(LanguageModelContract):
    @pytest.fixture
    def llm(self, server):
        return model(server)


def test_sends_the_prompt_and_reads_the_answer(server, key):
    llm = model(server, price=Price(2.0, 10.0))
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
    assert llm.cost == pytest.approx(0.004)


def test_usage_adds_up_and_counts_unusable_answers(server):
    server.plan = [says("a"), says(None, refusal="no"), says("b")]
    llm = model(server)
    llm.complete(PROMPT)
    with pytest.raises(CompletionError):
        llm.complete(PROMPT)
    llm.complete(PROMPT)
    assert (llm.usage.answered, llm.usage.prompt_tokens, llm.usage.completion_tokens) == (3, 3000, 600)
    assert llm.usage.seconds > 0
    assert llm.cost is None


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


def test_retry_after_is_honoured(server, key):
    limited = fails(429, "slow down", headers={"Retry-After": "0.4"})
    server.plan = [limited, limited, says("at last")]
    assert model(server).complete(PROMPT).text == "at last"
    waits = [after - before for before, after in pairwise(server.times)]
    assert len(waits) == 2
    assert all(0.4 <= wait < 3.0 for wait in waits)


def test_a_lasting_rate_limit_is_one_prompt_lost(server, key):
    server.plan = [fails(429, "slow down", headers={"Retry-After": "0.01"})]
    with pytest.raises(CompletionError, match=r"limits the rate after 2 retries.*slow down"):
        model(server).complete(PROMPT)
    assert len(server.requests) == 3


def test_a_used_up_quota_ends_it(server, key):
    server.plan = [fails(429, "quota", code="insufficient_quota", headers={"Retry-After": "0.01"})]
    with pytest.raises(ProposerError, match="quota is used up"):
        model(server, max_retries=0).complete(PROMPT)


def test_a_failing_server_is_asked_again(server):
    server.plan = [fails(500, "oops"), fails(503, "busy"), says("fine")]
    assert model(server).complete(PROMPT).text == "fine"
    assert len(server.requests) == 3


def test_a_server_that_keeps_failing(server):
    server.plan = [fails(500, "oops")]
    with pytest.raises(CompletionError, match=r"status 500 after 1 retries .oops"):
        model(server, max_retries=1).complete(PROMPT)


def test_time_out(server):
    server.plan = [Planned(delay_s=1.0)]
    started = time.monotonic()
    with pytest.raises(CompletionError, match=r"did not answer within 0\.2 s, tried 1 times"):
        model(server, timeout_s=0.2, max_retries=0).complete(PROMPT)
    assert time.monotonic() - started < 0.9


def test_a_broken_connection(server):
    server.plan = [Planned(cut=True)]
    with pytest.raises(CompletionError, match=r"connection to .* broke"):
        model(server, max_retries=0).complete(PROMPT)


@pytest.mark.parametrize("text", [None, "", "  \n "])
def test_empty_answer(server, text):
    server.plan = [says(text)]
    with pytest.raises(CompletionError, match="tiny gave an empty answer"):
        model(server).complete(PROMPT)


def test_refusal(server):
    server.plan = [says(None, refusal="I must not.")]
    with pytest.raises(CompletionError, match=r"tiny refused to answer: I must not\."):
        model(server).complete(PROMPT)


def test_content_filter(server):
    server.plan = [says("half", finish_reason="content_filter")]
    with pytest.raises(CompletionError, match="content filter"):
        model(server).complete(PROMPT)


def test_an_answer_cut_off(server):
    server.plan = [says("class A", finish_reason="length")]
    with pytest.raises(CompletionError, match="ran out of tokens"):
        model(server).complete(PROMPT)


@pytest.mark.parametrize(
    "planned",
    [
        Planned(200, b"{}"),
        Planned(200, b'{"choices": []}'),
        Planned(200, b'{"choices": "x"}'),
        Planned(200, b'{"choices": [{"message": null}]}'),
        Planned(200, b"[1, 2]"),
        Planned(200, b"not json"),
        Planned(200, b"<html>Welcome</html>", {"Content-Type": "text/html"}),
    ],
)
def test_nonsense(server, planned):
    server.plan = [planned]
    with pytest.raises(CompletionError, match="no chat completion"):
        model(server).complete(PROMPT)


def test_an_answer_without_usage(server):
    server.plan = [Planned(200, b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "x"}}]}')]
    completion = model(server).complete(PROMPT)
    assert (completion.text, completion.prompt_tokens, completion.completion_tokens) == ("x", None, None)


def test_a_refused_parameter_is_dropped_for_good(server):
    refused = fails(400, "Unsupported value: 'temperature' does not support 0.3", param="temperature")
    server.plan = [refused, says("one"), says("two")]
    llm = model(server)
    assert [llm.complete(PROMPT).text, llm.complete(PROMPT).text] == ["one", "two"]
    assert ["temperature" in request for request in server.requests] == [True, False, False]


def test_a_refused_parameter_found_in_the_message(server):
    server.plan = [fails(400, "unknown argument: top_p"), says("one")]
    assert model(server, parameters={"top_p": 0.9}).complete(PROMPT).text == "one"
    assert "top_p" in server.requests[0]
    assert "top_p" not in server.requests[1]
    assert server.requests[1]["temperature"] == 0.3


def test_a_refused_parameter_that_was_not_sent(server):
    server.plan = [fails(400, "unknown argument: top_k", param="top_k")]
    with pytest.raises(CompletionError, match="refused the prompt"):
        model(server).complete(PROMPT)
    assert len(server.requests) == 1


def test_a_prompt_too_long(server):
    server.plan = [fails(400, "maximum context length is 4096", code="context_length_exceeded")]
    with pytest.raises(CompletionError, match=r"refused the prompt .maximum context length"):
        model(server).complete(PROMPT)


@pytest.mark.parametrize("status", [404, 400])
def test_unknown_model(server, status):
    server.plan = [fails(status, "The model does not exist", code="model_not_found")]
    with pytest.raises(ProposerError, match=r"knows no model 'tiny'.*base URL ends"):
        model(server).complete(PROMPT)


def test_wrong_path(server):
    llm = OpenAICompatible("tiny", server.url.removesuffix("/v1"), max_retries=0)
    with pytest.raises(ProposerError, match="usually in /v1"):
        llm.complete(PROMPT)


def test_connection_refused():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(ProposerError, match=r"cannot be reached .*start the server or correct the base URL"):
        OpenAICompatible("tiny", url, max_retries=0).complete(PROMPT)


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
        (lambda key: fails(429, f"too fast, {key}"), CompletionError),
        (lambda key: fails(500, f"crash, Authorization: Bearer {key}"), CompletionError),
        (lambda key: says(None, refusal=f"not for {key}"), CompletionError),
        (lambda key: Planned(200, key.encode(), {"Content-Type": "text/plain"}), CompletionError),
        (lambda key: Planned(cut=True), CompletionError),
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
        assert key not in str(chain)
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
