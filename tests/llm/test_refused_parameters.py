"""What a server refuses is dropped and remembered, whatever the status and however it names it."""

from __future__ import annotations

import pytest
from chat_server import PROMPT, Planned, answers, fails, model, says

from llamea_tune.llm import CompletionError, Prompt

NEXT = Prompt("k2", "You are terse.", "Say goodbye.", 0.3)
GIVEN = {"max_tokens": 8000, "seed": 7, "top_p": 0.9, "chat_template_kwargs": {"enable_thinking": False}}


@pytest.mark.parametrize(
    ("refusal", "name"),
    [
        (fails(400, "Unsupported value: 'temperature' does not support 0.3", param="temperature"), "temperature"),
        (fails(400, "Unsupported value", param="temperature"), "temperature"),
        (fails(400, "Temperature is deprecated for this model"), "temperature"),
        (fails(500, "UnsupportedParamsError: does not support parameters: ['temperature']"), "temperature"),
        (answers({"error": {"message": "temperature: not supported", "code": 400}}), "temperature"),
        (answers({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, 422), "seed"),
        (answers({"detail": "seed is not supported"}, 422), "seed"),
        (answers({"error": "unknown field `seed`", "error_type": "validation"}, 422), "seed"),
        (answers([{"error": {"message": "seed: unknown name"}}], 400), "seed"),
        (Planned(400, b"unknown argument: top_p"), "top_p"),
        (fails(400, "unknown argument: topP"), "top_p"),
        (fails(400, "Unrecognized request argument supplied: chat_template_kwargs"), "chat_template_kwargs"),
        (fails(400, "max_tokens is too large: 8000"), "max_tokens"),
        (fails(400, "'max tokens' cannot be given"), "max_tokens"),
        (answers({"error": "`inputs` tokens + `max_new_tokens` must be <= 4096"}, 422), "max_tokens"),
    ],
)
def test_a_refused_parameter_is_dropped_for_good(server, refusal, name):
    server.plan = [refusal, says("one"), says("two")]
    llm = model(server, parameters=GIVEN)
    assert [llm.complete(PROMPT).text, llm.complete(NEXT).text] == ["one", "two"]
    everything = {"model", "messages", "temperature", *GIVEN}
    assert [set(request) for request in server.requests] == [everything, everything - {name}, everything - {name}]


@pytest.mark.parametrize(
    ("old", "new"), [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")]
)
def test_a_limit_is_renamed_where_the_server_says_what_it_wants(server, old, new):
    refusal = fails(400, f"Unsupported parameter: '{old}' is not supported. Use '{new}' instead.", param=old)
    server.plan = [refusal, says("one"), says("two")]
    llm = model(server, parameters={old: 8000})
    assert [llm.complete(PROMPT).text, llm.complete(NEXT).text] == ["one", "two"]
    assert [(request.get(old), request.get(new)) for request in server.requests] == [(8000, None), *[(None, 8000)] * 2]


def test_a_limit_refused_under_both_names_is_dropped(server):
    too_large = fails(400, "'max_tokens' or 'max_completion_tokens' is too large: 8000.")
    server.plan = [too_large, too_large, says("one")]
    assert model(server, parameters={"max_tokens": 8000}).complete(PROMPT).text == "one"
    assert not {"max_tokens", "max_completion_tokens"} & set(server.requests[2])


def test_several_refusals_are_learnt_one_after_the_other(server):
    server.plan = [
        fails(400, "temperature is not supported"),
        answers({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, 422),
        fails(400, "System role not supported"),
        says("one"),
    ]
    assert model(server, parameters={"seed": 1}).complete(PROMPT).text == "one"
    assert server.requests[3] == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "You are terse.\n\nSay hello."}],
    }


@pytest.mark.parametrize(
    "refusal",
    [
        fails(400, "System role not supported"),
        fails(400, "Developer instruction is not enabled for models/tiny"),
        fails(400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
        fails(400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        fails(400, "Only user and assistant roles are supported!"),
        fails(500, "Template error: System role not supported"),
        answers(
            {"detail": [{"loc": ["body", "messages", 0, "role"], "msg": "Input should be 'user' or 'assistant'"}]}, 422
        ),
    ],
)
def test_a_refused_system_role_goes_in_front_of_the_users_text(server, refusal):
    server.plan = [refusal, says("one"), says("two")]
    llm = model(server)
    assert [llm.complete(PROMPT).text, llm.complete(NEXT).text] == ["one", "two"]
    assert [request["messages"] for request in server.requests[1:]] == [
        [{"role": "user", "content": "You are terse.\n\nSay hello."}],
        [{"role": "user", "content": "You are terse.\n\nSay goodbye."}],
    ]
    assert all(request["temperature"] == 0.3 for request in server.requests)


@pytest.mark.parametrize(
    "refusal",
    [
        fails(400, "unknown argument: top_k", param="top_k"),
        fails(400, "maximum context length is 4096", code="context_length_exceeded"),
        fails(413, "too large"),
    ],
)
def test_what_was_not_sent_cannot_be_dropped(server, refusal):
    server.plan = [refusal]
    with pytest.raises(CompletionError, match="refused the prompt"):
        model(server).complete(PROMPT)
    assert len(server.requests) == 1


def test_the_same_refusal_again_and_again_ends(server):
    server.plan = [fails(400, "temperature, seed and the system role are refused")]
    with pytest.raises(CompletionError, match=r"refused the prompt .temperature, seed and the system role"):
        model(server, parameters={"seed": 1}).complete(PROMPT)
    assert len(server.requests) == 4
