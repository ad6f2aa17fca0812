"""What a server's errors come to, in whatever form they are: the reason is its own, and so is what follows."""

from __future__ import annotations

import json

import pytest
from chat_server import PROMPT, Planned, answers, fails, model, says
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm import CompletionError, Unanswered
from llamea_tune.llm.server_reason import decode, names_in, reason_in


def text(status: int, body: str, kind: str = "text/plain") -> Planned:
    return Planned(status, body.encode(), {"Content-Type": kind})


@pytest.mark.parametrize(
    ("planned", "reason"),
    [
        (fails(400, "too long"), "too long"),
        (answers({"error": "too long"}, 400), "too long"),
        (answers({"error": "too long", "error_type": "validation"}, 422), "too long"),
        (answers({"error": "", "error_type": "validation"}, 422), "validation"),
        (answers({"detail": "too long"}, 422), "too long"),
        (answers({"detail": {"error": {"message": "too long"}}}, 422), "too long"),
        (
            answers({"detail": [{"loc": ["body", "n"], "msg": "too many", "input": "x"}, {"msg": "too long"}]}, 422),
            "body.n: too many; too long",
        ),
        (answers({"object": "error", "message": {"detail": [{"msg": "too long"}]}}, 400), "too long"),
        (answers([{"error": {"code": 400, "message": "too long", "status": "INVALID_ARGUMENT"}}], 400), "too long"),
        (
            answers({"error": {"message": "Provider error", "metadata": {"raw": '{"detail": "too long"}'}}}, 400),
            "Provider error: too long",
        ),
        (answers("too\nlong", 400), "too long"),
        (answers({"error": {"code": "too_long", "message": None}}, 400), "too_long"),
        (text(400, "too long"), "too long"),
        (text(413, "<html><head><title>413 Too &lt;Large&gt;</title></head><body>x</body></html>"), "413 Too <Large>"),
        (text(400, "<html><style>b {}</style><body><b>too</b> long</body></html>"), "too long"),
        (Planned(400, b"too \xff long"), "too \ufffd long"),
        (Planned(400), "Bad Request"),
        (Planned(499), "status 499"),
        (answers({"error": {"message": "too long " * 500}}, 400), "too long " * 22 + "to…"),
        (answers({"choices": [], "error": {"message": "too long"}}), "too long"),
        (answers({"object": "error", "message": "too long", "code": 50004}), "too long"),
        (answers({"error": True, "message": "too long"}), "too long"),
        (answers({"choices": [{"message": {"content": "half"}, "error": {"message": "too long"}}]}), "too long"),
    ],
)
def test_the_servers_own_reason_is_shown(server, planned, reason):
    server.plan = [planned]
    with pytest.raises(CompletionError) as raised:
        model(server).complete(PROMPT)
    assert str(raised.value) == f"{server.url} refused the prompt ({reason})"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("planned", "said"),
    [
        (fails(402, "Insufficient Balance"), r"balance or quota is used up .Insufficient Balance"),
        (fails(402, "pay"), "used up"),
        (fails(429, "quota", code="insufficient_quota"), "used up"),
        (fails(429, "You exceeded your token quota", type="exceeded_current_quota_error"), "used up"),
        (fails(400, "Your credit balance is too low"), "used up"),
        (answers({"error": {"code": 402, "message": "more credits"}}), "used up .more credits"),
        (fails(401, "who are you?"), r"refused the key .who are you\?.; put a valid one into .* OPENAI_API_KEY"),
        (fails(400, "API key not valid. Please pass a valid API key."), "refused the key"),
        (answers([{"error": {"message": "bad", "details": [{"reason": "API_KEY_INVALID"}]}}], 400), "refused the key"),
        (fails(403, "Incorrect API key provided"), "refused the key"),
        (fails(500, "litellm.AuthenticationError: Incorrect API key provided"), "refused the key"),
        (answers({"error": {"message": "no", "code": 401}}), "refused the key"),
        (answers({"choices": [{"error": {"message": "no", "code": "401"}}]}), "refused the key"),
        (fails(403, "not in your country"), r"denies access to tiny .not in your country"),
        (fails(404, "The model does not exist", code="model_not_found"), r"knows no model 'tiny'.*base URL ends"),
        (fails(400, "Model Not Exist"), "knows no model"),
        (fails(400, "foo is not a valid model ID"), "knows no model"),
        (answers({"error": 'model "tiny" not found, try pulling it first'}, 404), "try pulling it first"),
        (text(405, "<h1>Method Not Allowed</h1>"), "usually in /v1"),
        (fails(400, "This model only support stream mode, please enable the stream parameter"), "as streams only"),
        (fails(422, "Non-streaming requests are not supported"), "as streams only"),
        (text(200, 'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n'), "as streams only"),
    ],
)
def test_what_cannot_get_better_is_not_tried_again(server, planned, said):
    server.plan = [planned]
    with pytest.raises(ProposerError, match=said):
        model(server).complete(PROMPT)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("planned", "said"),
    [
        (fails(429, "slow down"), r"limits the rate .slow down., tried 3 times; ask for fewer"),
        (fails(429, "You exceeded your current quota, please retry in 23s"), "limits the rate"),
        (fails(429, "Rate limit reached for model tiny"), "limits the rate"),
        (fails(500, "oops"), r"failed with status 500 .oops., tried 3 times"),
        (text(502, "<html><head><title>502 Bad Channel</title></head></html>"), "status 502 .502 Bad Channel"),
        (fails(500, "error loading model: no such file"), "status 500"),
        (fails(500, "CUDA: failed to initialize"), "status 500"),
        (answers({"error": "Model is overloaded", "error_type": "overloaded"}, 503), "status 503 .Model is overloaded"),
        (answers({"error": {"message": "later", "code": 429}}), "limits the rate .later"),
        (answers({"error": {"message": "later", "type": "rate_limit_error"}}), "limits the rate .later"),
        (answers({"error": {"message": "later", "type": "overloaded_error"}}), "status 503 .later"),
        (answers({"choices": [{"error": {"message": "upstream", "code": 502}}]}), "status 502 .upstream"),
    ],
)
def test_what_may_get_better_is_tried_again(server, planned, said):
    server.plan = [planned]
    with pytest.raises(Unanswered, match=said):
        model(server).complete(PROMPT)
    assert len(server.requests) == 3


def test_an_error_that_says_nothing_spoils_no_answer(server):
    body = json.loads(says("fine").body)
    server.plan = [answers({**body, "error": {"message": "", "code": None}})]
    assert model(server).complete(PROMPT).text == "fine"


def test_a_prompt_stopped_by_moderation_is_one_prompt(server):
    server.plan = [fails(403, "Your input was flagged")]
    with pytest.raises(CompletionError, match="refused the prompt"):
        model(server).complete(PROMPT)


def test_wrong_path(server):
    server.url = server.url.removesuffix("/v1")
    with pytest.raises(ProposerError, match="usually in /v1"):
        model(server).complete(PROMPT)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["error", "message", "detail", "loc", "metadata", "raw", "code"]), inner)
    ),
)


@given(JSON)
def test_any_data_have_a_reason_on_one_line(data):
    reason = reason_in(decode(json.dumps(data).encode()))
    assert reason.splitlines() in ([], [reason])
    assert len(reason) <= 50_000
    assert isinstance(names_in(data), str)


@given(st.binary())
def test_any_body_has_a_reason(body):
    assert isinstance(reason_in(decode(body)), str)


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"error":' * 100_000, b'{"message": "' + b'{\\"error\\":' * 9_999])
def test_a_body_nested_without_end(body):
    assert isinstance(reason_in(decode(body)), str)
