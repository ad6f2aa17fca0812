"""A JSON text read value by value, so that a file of any size needs little memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

_CHUNK = 1 << 20
_LONGEST_VALUE = 1 << 28
_LONGEST_CUT_NUMBER_TAIL = len("e+")  # "1e+" decodes as 1 where the buffer ends before the exponent


class JsonError(ValueError):
    """The text is not JSON from some place on."""


class JsonStream:
    """Reads one JSON text from front to back.

    `members` and `elements` walk an object or array; before each next step the caller takes the member's value,
    with `value` or by walking it in turn.

    Attributes:
        landmark: What the caller last read, for messages.
    """

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._decode = json.JSONDecoder().raw_decode
        self._buffer = ""
        self._position = 0
        self._characters_before_buffer = 0
        self.landmark = ""

    def peek(self) -> str:
        """The next character that is no white space, not consumed; empty at the end of the text."""
        while True:
            while self._position < len(self._buffer):
                character = self._buffer[self._position]
                if character not in " \t\r\n":
                    return character
                self._position += 1
            if not self._fill():
                return ""

    def value(self) -> Any:
        """Read the next value as Python objects.

        Raises:
            JsonError: There is no complete value.
        """
        self.peek()
        while True:
            try:
                value, end = self._decode(self._buffer, self._position)
            except json.JSONDecodeError as err:
                if self._fill():
                    continue
                raise self._error(err.pos) from err
            except RecursionError as err:
                raise self._error(self._position) from err
            if end + _LONGEST_CUT_NUMBER_TAIL < len(self._buffer) or not self._fill():
                self._position = end
                return value

    def members(self, *, open_ended: bool = False) -> Iterator[str]:
        """Walk an object: yields each key, after which the caller takes the value.

        Args:
            open_ended: Accept a text that ends after a complete member, with or without a comma.

        Raises:
            JsonError: There is no object, or it is broken.
        """
        for _ in self._parts("{", "}", open_ended):
            key = self.value()
            if not isinstance(key, str):
                raise self._error(self._position)
            self._take(":")
            yield key

    def elements(self) -> Iterator[None]:
        """Walk an array: yields before each element, which the caller then takes.

        Raises:
            JsonError: There is no array, or it is broken.
        """
        yield from self._parts("[", "]", False)

    def _parts(self, opening: str, closing: str, open_ended: bool) -> Iterator[None]:
        self._take(opening)
        if self.peek() == closing:
            self._position += 1
            return
        while not (open_ended and not self.peek()):
            yield
            following = self.peek()
            if open_ended and not following:
                return
            self._take("," if following == "," else closing)
            if following != ",":
                return

    def _take(self, expected: str) -> None:
        if self.peek() != expected:
            raise self._error(self._position)
        self._position += 1

    def _fill(self) -> bool:
        """Read on; at least doubles what is in hand, so that decoding again after each stays linear."""
        pending = len(self._buffer) - self._position
        if pending > _LONGEST_VALUE:
            raise self._error(self._position)
        more = self._text.read(max(_CHUNK, pending))
        if more:
            self._characters_before_buffer += self._position
            self._buffer = self._buffer[self._position :] + more
            self._position = 0
        return bool(more)

    def _error(self, position: int) -> JsonError:
        place = f"character {self._characters_before_buffer + position + 1}"
        return JsonError(f"{place} on, after {self.landmark}" if self.landmark else f"{place} on")
