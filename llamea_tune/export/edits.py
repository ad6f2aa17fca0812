"""Edits to Python source by the positions that `ast` gives, leaving everything else as it is."""

from __future__ import annotations

import ast
from itertools import accumulate


class SourceEdits:
    """Collects replacements of parts of a source text and applies them together.

    `ast` counts columns in UTF-8 bytes, so the text is handled as bytes.
    """

    def __init__(self, source: str) -> None:
        self._data = source.encode()
        self._lines = source.split("\n")
        self._line_starts = [0, *accumulate(len(line.encode()) + 1 for line in self._lines)]
        self._edits: list[tuple[int, int, bytes]] = []

    def start(self, node: ast.stmt | ast.expr | ast.arg) -> int:
        """Offset of a node's first byte."""
        return self._line_starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.stmt | ast.expr | ast.arg) -> int:
        """Offset after a node's last byte."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def line_start(self, line: int) -> int:
        """Offset of a line's first byte; lines count from 1."""
        return self._line_starts[line - 1]

    def line(self, number: int) -> str:
        """A line of the original text, without its end; lines count from 1."""
        return self._lines[number - 1]

    @property
    def line_count(self) -> int:
        """Number of lines."""
        return len(self._lines)

    def text(self, start: int, end: int) -> str:
        """The original text between two offsets."""
        return self._data[start:end].decode()

    def replace(self, start: int, end: int, text: str) -> None:
        """Replace what lies between two offsets; the parts replaced must not overlap."""
        self._edits.append((start, end, text.encode()))

    def insert(self, offset: int, text: str) -> None:
        """Insert a text."""
        self.replace(offset, offset, text)

    def apply(self) -> str:
        """The text with all edits made."""
        data = self._data
        for start, end, text in sorted(self._edits, reverse=True):
            data = data[:start] + text + data[end:]
        return data.decode()
