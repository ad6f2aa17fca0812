"""Prompts with their answers as JSON: what a run log keeps, and what `replay` reads."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.language_model import Completion, Prompt

_MILLISECONDS = re.compile(r"\d[\d.]*(?:e[-+]?\d+)?(?= ms\b)")


def without_times(text: str) -> str:
    """A prompt's text less all milliseconds: how long a parent computed is the one thing no two runs agree on."""
    return _MILLISECONDS.sub("*", text)


def prompt_hash(prompt: Prompt) -> str:
    """SHA-256 of a prompt's text without times, whatever its key and temperature."""
    return hashlib.sha256(without_times(f"{prompt.system}\0{prompt.user}").encode()).hexdigest()


def exchange_to_json(prompt: Prompt, completion: Completion) -> dict[str, Any]:
    """An exchange as a JSON object."""
    return {
        "key": prompt.key,
        "system": prompt.system,
        "user": prompt.user,
        "temperature": prompt.temperature,
        "role": prompt.role,
        "seed": prompt.seed,
        "text": completion.text,
        "llm": completion.llm,
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "seconds": completion.seconds,
        "cut_off": completion.cut_off,
        "unusable": completion.unusable,
    }


def exchange_from_json(record: Mapping[str, Any]) -> tuple[Prompt, Completion]:
    """The exchange of such an object; fields that it does not know are tolerated.

    Raises:
        ValueError: A field is missing or of the wrong type.
    """
    for name in ("key", "system", "user", "text", "llm"):
        if not isinstance(record.get(name), str):
            raise ValueError(f"field {name!r} is missing or no text")
    for name in ("temperature", "seed", "prompt_tokens", "completion_tokens", "seconds"):
        if not isinstance(record.get(name, 0), int | float | None):
            raise ValueError(f"field {name!r} is no number")
    prompt = Prompt(
        record["key"],
        record["system"],
        record["user"],
        float(record.get("temperature") or 0.0),
        str(record.get("role") or ""),
        int(record.get("seed") or 0),
    )
    completion = Completion(
        record["text"],
        record["llm"],
        record.get("prompt_tokens"),
        record.get("completion_tokens"),
        float(record.get("seconds") or 0.0),
        cut_off=bool(record.get("cut_off")),
        unusable=str(record.get("unusable") or ""),
    )
    return prompt, completion


def read_exchanges(path: Path) -> Iterator[tuple[Prompt, Completion]]:
    """Read a file with one exchange per line. A last line that was cut short, as by a crash, is left out.

    Raises:
        ProposerError: The file cannot be read, or a line holds no exchange.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as err:
        raise ProposerError(f"recorded replies in {path} cannot be read: {err}") from err
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("it is no JSON object")
            exchange = exchange_from_json(record)
        except ValueError as err:
            if number == len(lines):
                return
            message = f"line {number} of {path} holds no recorded exchange ({err}); remove or mend that line"
            raise ProposerError(message) from err
        yield exchange
