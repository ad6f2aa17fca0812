"""A JSON text read value by value, so that a file of any size needs little memory.

It reads what Python's own `json` reads, NaN and Infinity included, which Kernel Tuner writes, and says where a text is
cut off, as Kernel Tuner leaves its files while it runs. The parsers of `ijson` do neither.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

_CHUNK = 1 << 20
_LONGEST_VALUE = 1 << 28
_LONGEST_CUT_NUMBER_TAIL = len("e+")  # "1e+" decodes as 1 where the buffer ends before the exponent
_LONGEST_WORD = len("-Infinity")


class JsonError(ValueError):
    """The text is not JSON from some place on.

    Attributes:
        cut_off: Whether it is as if more text had followed once.
    """

    def __init__(self, place: str, *, cut_off: bool = False) -> None:
        super().__init__(place)
        self.cut_off = cut_off


class TextAfterEndError(JsonError):
    """The text goes on after its end."""


class JsonStream:
    """Reads one JSON text from front to back.

    `members` and `elements` walk an object or array; before each next step the caller takes the member's value,
    with `value` or by walking it in turn. `entries` and `values` take the values themselves.

    Attributes:
        landmark: What the caller last read, for messages.
        salvage: Whether a text that is cut off ends there, without the entry or value that is not whole.
        unclosed: Whether the text ended before it was closed.
        dropped: How many entries or values were left out, as the text was cut off in them.
    """

    def __init__(self, text: TextIO, *, salvage: bool = False) -> None:
        self._text = text
        self.salvage = salvage
        self.unclosed = False
        self.dropped = 0
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
                rest = self._buffer[err.pos :]
                ends_here = len(rest) <= _LONGEST_WORD and not {"}", "]"} & set(rest)
                cut = err.msg.startswith("Unterminated string") or ends_here
                raise self._error(err.pos, cut_off=cut) from err
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

    def entries(self) -> Iterator[tuple[str, Any]]:
        """The keys and values of an object, which may end after a complete one.

        Raises:
            JsonError: There is no object, or it is broken.
        """
        try:
            for key in self.members(open_ended=True):
                yield key, self.value()
        except JsonError as err:
            self._leave_out(err)

    def values(self) -> Iterator[Any]:
        """The elements of an array.

        Raises:
            JsonError: There is no array, or it is broken.
        """
        try:
            for _ in self.elements():
                yield self.value()
        except JsonError as err:
            self._leave_out(err)

    def end(self) -> None:
        """Make sure that nothing follows.

        Raises:
            TextAfterEndError: Something does.
        """
        if self.peek():
            raise TextAfterEndError(f"character {self._characters_before_buffer + self._position + 1}")

    def _leave_out(self, err: JsonError) -> None:
        if not (self.salvage and err.cut_off):
            raise err
        self._position = len(self._buffer)
        self.unclosed = True
        self.dropped += 1

    def _parts(self, opening: str, closing: str, open_ended: bool) -> Iterator[None]:
        open_ended = open_ended or self.salvage
        self._take(opening)
        if self.peek() == closing:
            self._position += 1
            return
        following = ","
        while following == ",":
            if open_ended and not self.peek():
                break
            yield
            following = self.peek()
            if open_ended and not following:
                break
            self._take("," if following == "," else closing)
        else:
            return
        self.unclosed = True

    def _take(self, expected: str) -> None:
        found = self.peek()
        if found != expected:
            raise self._error(self._position, cut_off=not found)
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

    def _error(self, position: int, *, cut_off: bool = False) -> JsonError:
        place = f"character {self._characters_before_buffer + position + 1}"
        return JsonError(f"{place} on, after {self.landmark}" if self.landmark else f"{place} on", cut_off=cut_off)
