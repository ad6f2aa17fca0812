"""Recorded replies."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm import Completion, CompletionError, Prompt, make_llm
from llamea_tune.llm.exchanges import exchange_from_json, exchange_to_json, prompt_hash
from llamea_tune.llm.replay import Replay

PROMPT = Prompt("g000-00-initial", "You are terse.", "Say hello.", 0.25)
COMPLETION = Completion("hello", "openai:gpt-4o", 12, 3, 1.5)


def record(folder, *exchanges, tail=""):
    path = folder / "exchanges.jsonl"
    path.write_text("".join(json.dumps(exchange_to_json(*e)) + "\n" for e in exchanges) + tail)
    return path


def test_from_a_run_directory_or_a_file(tmp_path):
    path = record(tmp_path, (PROMPT, COMPLETION))
    assert Replay(tmp_path).complete(PROMPT) == COMPLETION
    assert make_llm(f"replay:{path}").complete(PROMPT) == COMPLETION


def test_another_prompt_is_an_error(tmp_path):
    record(tmp_path, (PROMPT, COMPLETION))
    other = Prompt(PROMPT.key, PROMPT.system, "Say goodbye.")
    with pytest.raises(ProposerError, match="g000-00-initial is not the one recorded"):
        Replay(tmp_path).complete(other)
    with pytest.raises(ProposerError):
        Replay(tmp_path).complete(Prompt(PROMPT.key, "You talk a lot.", PROMPT.user))
    assert Replay(tmp_path, strict=False).complete(other) == COMPLETION
    assert make_llm(f"replay-by-key:{tmp_path}").complete(other) == COMPLETION


def test_an_unknown_key_is_an_error_even_when_lenient(tmp_path):
    record(tmp_path, (PROMPT, COMPLETION))
    with pytest.raises(ProposerError, match="holds no reply to prompt g9"):
        Replay(tmp_path, strict=False).complete(Prompt("g9", PROMPT.system, PROMPT.user))


def test_a_run_that_did_not_ask_again_has_no_second_answer(tmp_path):
    record(tmp_path, (PROMPT, COMPLETION))
    with pytest.raises(CompletionError, match="did not ask again"):
        Replay(tmp_path).complete(Prompt(f"{PROMPT.key}-retry1", PROMPT.system, PROMPT.user))


def test_measured_times_and_temperature_do_not_matter(tmp_path):
    def asked(milliseconds, temperature):
        return Prompt("k", "s", f"own compute: {milliseconds} ms per measurement", temperature)

    record(tmp_path, (asked("0.5", 0.1), COMPLETION))
    assert Replay(tmp_path).complete(asked("1.2e+02", 0.2)) == COMPLETION


def test_a_score_does_matter():
    assert prompt_hash(Prompt("k", "s", "fitness 0.5")) != prompt_hash(Prompt("k", "s", "fitness 0.6"))


def test_the_last_of_several_records_counts(tmp_path):
    record(tmp_path, (PROMPT, COMPLETION), (PROMPT, Completion("again", "handoff")))
    assert Replay(tmp_path).complete(PROMPT).text == "again"


def test_a_prompt_that_got_no_answer_gets_none_again(tmp_path):
    record(tmp_path, (PROMPT, Completion("", "openai:gpt-4o")))
    with pytest.raises(CompletionError, match="got no answer"):
        Replay(tmp_path).complete(PROMPT)


def test_a_last_line_cut_short_is_left_out(tmp_path):
    record(tmp_path, (PROMPT, COMPLETION), tail='{"key": "g000-01-in')
    assert Replay(tmp_path).complete(PROMPT) == COMPLETION


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"key": 1, "system": "", "user": "", "text": "", "llm": ""}'])
def test_a_bad_line_is_named(tmp_path, line):
    path = record(tmp_path, (PROMPT, COMPLETION), tail=line + "\n")
    with pytest.raises(ProposerError, match=r"line 2 of .*exchanges\.jsonl holds no recorded exchange"):
        Replay(path)


def test_nothing_there(tmp_path):
    with pytest.raises(ProposerError, match="cannot be read"):
        Replay(tmp_path / "missing")
    (tmp_path / "exchanges.jsonl").write_text("")
    with pytest.raises(ProposerError, match="holds no recorded replies"):
        Replay(tmp_path)
    with pytest.raises(ProposerError, match="replay:PATH"):
        make_llm("replay:")


@given(
    st.builds(Prompt, st.text(), st.text(), st.text(), st.floats(0, 2)),
    st.builds(
        Completion,
        st.text(),
        st.text(),
        st.none() | st.integers(0, 10**9),
        st.none() | st.integers(0, 10**9),
        st.floats(0, 1e6),
        cut_off=st.booleans(),
    ),
)
def test_json_keeps_everything(prompt, completion):
    line = json.dumps(exchange_to_json(prompt, completion))
    assert exchange_from_json(json.loads(line)) == (prompt, completion)


def test_unknown_fields_are_tolerated():
    line = {**exchange_to_json(PROMPT, COMPLETION), "candidate": "0003"}
    assert exchange_from_json(line) == (PROMPT, COMPLETION)
