"""An answer's text taken apart: fenced blocks, prose."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field

from llamea_tune.candidate_code import parse_source
from llamea_tune.proposals.thinking import without_thinking

PYTHON = ("", "python", "python3", "py")

_PROSE = ("markdown", "md", "text", "txt", "plaintext")
_FENCE = re.compile(r"^[ \t>]*(?P<marks>`{3,}|~{3,})[ \t]*(?P<language>[\w+.-]*)[^`\n]*$")
_CODE_START = re.compile(r"^(import |from \w[\w.]* import|class \w+|@\w|def \w)", re.MULTILINE)
_DESCRIBED = re.compile(r"[\W\d_]*description\W", re.IGNORECASE)
_STRING_START = re.compile(r"""#.*|\"""|'''|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?""")
_STRING_END = {quotes: re.compile(rf"(?:\\.|[^\\])*?{quotes}") for quotes in ('"""', "'''")}
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
    return without_thinking(text)


def split(text: str) -> Answer:
    """Take a clean answer apart.

    A fence within a string of Python code, such as a docstring, is part of the code. A block of text or Markdown that
    others stand in, or that holds a whole answer, is prose. A block that is never closed reaches to the end; code without
    fences comes first.
    """
    prose, blocks, in_string = _split(text.split("\n"), strings=True)
    if in_string:  # there is none, but a string that was never closed
        prose, blocks, _ = _split(text.split("\n"), strings=False)
    text = "\n".join(prose)
    bare = _code_in_prose(text)
    if bare:
        return Answer(text.replace(bare, ""), (("python", bare), *blocks))
    return Answer(text, tuple(blocks))


@dataclass
class _Open:
    """A block that is not closed yet, or the prose around all of them."""

    language: str
    marks: str
    holds_others: bool = False
    lines: list[str] = field(default_factory=list)
    code_began: bool = False
    quotes: str = ""

    @property
    def may_hold_others(self) -> bool:
        return self.language in ("", *_PROSE)

    @property
    def is_prose(self) -> bool:
        if self.language or self.holds_others:
            return self.holds_others or self.language in _PROSE
        return _DESCRIBED.match("\n".join(self.lines[:3])) is not None

    def begins(self, fence: re.Match[str]) -> bool:
        """Whether a fence begins a block in this one."""
        return self.may_hold_others and bool(fence["language"] or not fence["marks"].startswith(self.marks))

    def ends(self, fence: re.Match[str]) -> bool:
        """Whether a fence ends this block; one that names a language can only begin the next."""
        return bool(fence["language"]) or fence["marks"].startswith(self.marks)

    def add(self, line: str) -> None:
        self.lines.append(line)
        self.code_began = self.code_began or self.language in PYTHON or _CODE_START.match(line) is not None
        if self.code_began:
            self.quotes = _quotes_after(line, self.quotes)


def _split(lines: list[str], *, strings: bool) -> tuple[list[str], list[tuple[str, str]], bool]:
    """The lines of prose, the blocks, and whether the text ends within a string."""
    around = _Open("text", "", holds_others=True)
    stack = [around]
    blocks: list[tuple[str, str]] = []

    def close() -> None:
        block = stack.pop()
        content = textwrap.dedent("\n".join(block.lines))
        if block.is_prose:
            around.lines += content.split("\n")
        else:
            blocks.append((block.language, content))

    for line in lines:
        top = stack[-1]
        fence = None if strings and top.quotes else _FENCE.match(line)
        if fence is None:
            top.add(line)
        elif top is around or top.begins(fence):
            top.holds_others = True
            stack.append(_Open(fence["language"].lower(), fence["marks"]))
        elif top.ends(fence):
            close()
            if fence["language"]:
                stack.append(_Open(fence["language"].lower(), fence["marks"]))
        else:
            top.add(line)
    in_string = strings and bool(stack[-1].quotes)
    while len(stack) > 1:
        close()
    return around.lines, blocks, in_string


def _quotes_after(line: str, quotes: str) -> str:
    """The triple quotes of the string that a line of Python ends in, if it ends in one; `quotes` is that it begins in."""
    at = 0
    while True:
        if quotes:
            end = _STRING_END[quotes].match(line, at)
            if end is None:
                return quotes
            at = end.end()
        found = _STRING_START.search(line, at)
        if found is None:
            return ""
        quotes = found[0] if found[0] in _STRING_END else ""
        at = found.end()


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
