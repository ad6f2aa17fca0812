"""The shapes that answers have, and what is kept of those that cannot be used."""

from __future__ import annotations

import json

import pytest
from chat_server import PROMPT, Planned, answers, model, says

from llamea_tune.llm import Completion, CompletionError


def unusable(server, planned: Planned, message: str) -> Completion:
    """What the error keeps of an answer."""
    server.plan = [planned]
    llm = model(server)
    with pytest.raises(CompletionError, match=message) as raised:
        llm.complete(PROMPT)
    completion = raised.value.completion
    assert completion is not None
    assert completion.llm == llm.name
    assert completion.seconds > 0
    assert len(server.requests) == 1
    return completion


def tokens(completion: Completion) -> tuple[int | None, int | None]:
    return completion.prompt_tokens, completion.completion_tokens


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}], "a"),
        ([{"type": "reasoning", "text": "hm"}, {"type": "output_text", "text": "a"}], "a"),
        (["a", {"text": "b"}, None, 5, {"type": "text", "text": None}], "ab"),
        ("half a \ud800 character", "half a ? character"),
    ],
)
def test_contents(server, content, text):
    server.plan = [says(content)]
    assert model(server).complete(PROMPT).text == text


@pytest.mark.parametrize("content", [None, "", "  \n ", [], [{"type": "thinking", "text": "hm"}], 5, {"text": "a"}])
def test_an_empty_answer_costs_tokens(server, content):
    assert tokens(unusable(server, says(content), "tiny gave an empty answer")) == (1000, 200)


def test_a_refusal_costs_tokens(server):
    kept = unusable(server, says(None, refusal="I must not."), r"tiny refused to answer: I must not\.")
    assert tokens(kept) == (1000, 200)


def test_a_filtered_answer_keeps_its_text(server):
    kept = unusable(server, says("half", finish_reason="content_filter"), "content filter")
    assert (kept.text, *tokens(kept)) == ("half", 1000, 200)


def test_an_error_within_an_answer_keeps_what_there_is(server):
    data = json.loads(says("half").body)
    data["choices"][0]["error"] = {"message": "stopped"}
    kept = unusable(server, answers(data), "stopped")
    assert (kept.text, *tokens(kept)) == ("half", 1000, 200)


def test_an_answer_cut_off_is_an_answer(server):
    server.plan = [says("class A", finish_reason="length"), says("class A")]
    llm = model(server)
    assert [(c.text, c.cut_off) for c in (llm.complete(PROMPT), llm.complete(PROMPT))] == [
        ("class A", True),
        ("class A", False),
    ]


def test_an_answer_cut_off_before_it_began(server):
    kept = unusable(server, says("", finish_reason="length"), "ran out of tokens before its answer began")
    assert tokens(kept) == (1000, 200)


@pytest.mark.parametrize("count", [-1, True, "12", 1.5, None, [], {}])
def test_what_is_no_count_of_tokens_is_not_counted(server, count):
    data = json.loads(says("x").body)
    server.plan = [answers({**data, "usage": {"prompt_tokens": count, "completion_tokens": 7}})]
    assert tokens(model(server).complete(PROMPT)) == (None, 7)


@pytest.mark.parametrize("usage", [None, [], "many", 5])
def test_an_answer_without_usage(server, usage):
    server.plan = [answers({"choices": [{"message": {"content": "x"}}], "usage": usage})]
    completion = model(server).complete(PROMPT)
    assert (completion.text, *tokens(completion)) == ("x", None, None)


def test_bytes_that_are_no_utf8_cost_themselves_only(server):
    server.plan = [Planned(200, says("one two").body.replace(b"one two", b"one\xff\xfe two"))]
    assert model(server).complete(PROMPT).text == "one\ufffd\ufffd two"


def test_an_answer_without_end_is_kept_in_part(server):
    kept = unusable(server, says("x" * 50_000_000), "tiny gave an answer longer than 2 MB")
    assert 1000 < len(kept.text) <= 10_000
    assert "xxxx" in kept.text


@pytest.mark.parametrize(
    "planned",
    [
        Planned(200, b""),
        answers({}),
        answers({"choices": []}),
        answers({"choices": "x"}),
        answers({"choices": [None]}),
        answers({"choices": [{"message": None}]}),
        answers([1, 2]),
        answers(None),
        Planned(200, b"[" * 100_000),
        Planned(200, b'{"choices": ' + b"9" * 10_000 + b"}"),
    ],
)
def test_nonsense(server, planned):
    unusable(server, planned, "something that is no chat completion")


def test_nonsense_is_shown(server):
    page = Planned(200, b"<html><title>Welcome</title></html>", {"Content-Type": "text/html"})
    unusable(server, page, r"no chat completion .Welcome.; is it the right base URL\?")
