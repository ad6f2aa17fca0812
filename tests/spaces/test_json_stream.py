"""The stream reads what `json.loads` reads, wherever its buffer happens to end."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llamea_tune.spaces import json_stream
from llamea_tune.spaces.json_stream import JsonError, JsonStream

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner))


def walk(stream: JsonStream, depth: int) -> Any:
    if depth and stream.peek() == "{":
        return {key: walk(stream, depth - 1) for key in stream.members()}
    if depth and stream.peek() == "[":
        return [walk(stream, depth - 1) for _ in stream.elements()]
    return stream.value()


@settings(max_examples=100, deadline=None)
@given(value=values, chunk=st.integers(1, 7), depth=st.integers(0, 3), indent=st.sampled_from([None, 0, 2]))
def test_what_is_read_does_not_depend_on_the_buffer(value: Any, chunk: int, depth: int, indent: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        assert walk(JsonStream(io.StringIO(json.dumps(value, indent=indent))), depth) == value


@pytest.mark.parametrize("number", ["1.5e+10", "-0.25", "1e5", "12345", "-Infinity", "1E-7"])
def test_numbers_across_the_end_of_the_buffer(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for chunk in range(1, 14):
        monkeypatch.setattr(json_stream, "_CHUNK", chunk)
        stream = JsonStream(io.StringIO(f'{{"a": {number}, "b": [{number}]}}'))
        assert walk(stream, 2) == {"a": float(number), "b": [float(number)]}


def test_values_beyond_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK", 16)
    monkeypatch.setattr(json_stream, "_LONGEST_VALUE", 100)
    assert JsonStream(io.StringIO(json.dumps([1] * 20))).value() == [1] * 20
    with pytest.raises(JsonError, match="character 1 on"):
        JsonStream(io.StringIO(json.dumps([1] * 100))).value()


def test_errors_count_characters_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK", 4)
    text = json.dumps({"a": list(range(50)), "b": 1})[:-1] + "; 5}"
    stream = JsonStream(io.StringIO(text))
    with pytest.raises(JsonError, match=f"character {text.index(';') + 1} on"):
        for _ in stream.members():
            stream.value()
