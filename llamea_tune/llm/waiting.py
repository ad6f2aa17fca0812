"""Waiting for a server, and asking it again."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TypeVar

from llamea_tune.llm.language_model import OnWaiting, Unanswered, Waiting

_FIRST_PAUSE_S = 2.0  # doubled each time: five retries outlast a minute
_LONGEST_PAUSE_S = 60.0
_LOADING_PAUSE_S = 10.0
_LOADING_S_PER_RETRY = 180.0

T = TypeVar("T")


class TryAgain(Exception):  # noqa: N818 - what to do, not what is wrong
    """A try failed and the next may not; the message says why.

    Attributes:
        wait_s: Seconds that the server asks to wait, None where it does not say.
        loading: Whether the server is only getting ready, which takes longer than an error and ends by itself.
        advice: What to do if it stays so.
    """

    def __init__(
        self, message: str, *, wait_s: float | None = None, loading: bool = False, advice: str | None = None
    ) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        self.loading = loading
        self.advice = advice


class Patience:
    """How often, and with which pauses, a server is asked again."""

    def __init__(
        self, max_retries: int, max_wait_s: float, wait: Callable[[float], bool], on_waiting: OnWaiting | None = None
    ) -> None:
        """Be patient.

        Args:
            max_retries: Tries after the first. A server that is loading uses up one every three minutes.
            max_wait_s: Longest wait before a try, whatever the server asks for.
            wait: Waits for that many seconds, and returns true as soon as waiting is no use any more.
            on_waiting: Told of each wait before it begins.
        """
        self._max_retries = max_retries
        self._max_wait_s = max_wait_s
        self._wait = wait
        self._on_waiting = on_waiting

    def persist(self, key: str, attempt: Callable[[], T]) -> T:
        """Make an attempt until it does not raise `TryAgain`.

        Args:
            key: Key of the prompt; it also seeds the random part of the pauses.
            attempt: What to attempt.

        Raises:
            Unanswered: No attempt worked, or waiting was ended.
        """
        rng = random.Random(key)
        left = float(self._max_retries)
        tries = 0
        while True:
            tries += 1
            try:
                return attempt()
            except TryAgain as err:
                if left <= 0:
                    often = f"tried {tries} times" if tries > 1 else "tried once"
                    raise Unanswered("; ".join(filter(None, (f"{err}, {often}", err.advice)))) from None
                pause_s = self._pause_s(err, tries, rng)
                left -= max(pause_s, 1.0) / _LOADING_S_PER_RETRY if err.loading else 1.0
                reason = str(err)
            if self._on_waiting is not None:
                self._on_waiting(Waiting(key, reason, pause_s))
            if self._wait(pause_s):
                raise Unanswered(f"{reason}, and it is no longer waited for")

    def _pause_s(self, err: TryAgain, tries: int, rng: random.Random) -> float:
        if err.wait_s is not None and (err.wait_s >= 1.0 or tries == 1):  # who asks for none, again and again, is busy
            asked_s = max(err.wait_s, 1.0) if err.loading else err.wait_s
        elif err.loading:
            asked_s = _LOADING_PAUSE_S
        else:
            asked_s = min(_FIRST_PAUSE_S * 2.0 ** min(tries - 1, 30), _LONGEST_PAUSE_S) * rng.uniform(1.0, 1.25)
        return min(asked_s, self._max_wait_s)


def asked_wait_s(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, by lower-case names of headers; None where it does not say."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit_s
        except (KeyError, ValueError):
            continue
        if isfinite(seconds):
            return max(seconds, 0.0)
    try:
        until = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - datetime.now(UTC)).total_seconds(), 0.0)
