"""An answer's text taken apart: thinking, fenced blocks, prose."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from llamea_tune.candidate_code import parse_source

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"^.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_THOUGHT_START = re.compile(r"^\s*<(?:think|thinking|thought|reasoning)>.*$", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t>]*(?P<marks>`{3,}|~{3,})[ \t]*(?P<language>[\w+.-]*)[^`\n]*$")
_CODE_START = re.compile(r"^(import |from \w[\w.]* import|class \w+|@\w|def \w)", re.MULTILINE)
_MOST_CUTS = 30


@dataclass(frozen=True)
class Answer:
    """An answer taken apart.

    Attributes:
        prose: The text outside blocks.
        blocks: Language (lower case, possibly empty) and content of each block.
    """

    prose: str
    blocks: tuple[tuple[str, str], ...]


def clean(text: str) -> str:
    """An answer with plain line ends, without a model's thinking and without characters of no width."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")
    text = re.sub("[\u200b\u200c\u200d\ufeff]", "", text)
    text = _THOUGHT.sub("", text)
    text = _THOUGHT_END.sub("", text)  # the opening tag is part of some models' prompts
    return _THOUGHT_START.sub("", text)  # thinking that never ended


def split(text: str) -> Answer:
    """Take a clean answer apart. A block that is never closed reaches to the end; code without fences comes first."""
    prose: list[str] = []
    blocks: list[tuple[str, str]] = []
    language, marks, content = "", "", list[str]()
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if not marks and fence:
            language, marks, content = fence["language"].lower(), fence["marks"], []
        elif marks and fence and not fence["language"] and fence["marks"].startswith(marks):
            blocks.append((language, textwrap.dedent("\n".join(content))))
            marks = ""
        else:
            (content if marks else prose).append(line)
    if marks:
        blocks.append((language, textwrap.dedent("\n".join(content))))
    text = "\n".join(prose)
    bare = _code_in_prose(text)
    if bare:
        return Answer(text.replace(bare, ""), (("python", bare), *blocks))
    return Answer(text, tuple(blocks))


def _code_in_prose(prose: str) -> str:
    """Python that stands in prose without fences: from its first line up to where it stops being Python."""
    start = _CODE_START.search(prose)
    if start is None:
        return ""
    lines = prose[start.start() :].split("\n")
    for _ in range(_MOST_CUTS):
        try:
            parse_source("\n".join(lines))
        except SyntaxError as err:
            lines = lines[: (err.lineno or 1) - 1]
        except (ValueError, RecursionError, MemoryError):
            return ""
        else:
            return "\n".join(lines)
    return ""
