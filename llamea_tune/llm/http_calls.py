"""HTTP calls that end: after a silence, after a time for the whole answer, at a size, or when they are told to."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import cache
from typing import Any

from llamea_tune._imports import require
from llamea_tune.llm.protocol import Unanswered
from llamea_tune.llm.waiting import TryAgain

_LONGEST_BODY = 2_000_000
_CONNECT_S = 30.0


@dataclass(frozen=True)
class HttpReply:
    """What a server answered.

    Attributes:
        status: Status code.
        headers: Headers, by lower-case name.
        body: The body, or its first part.
        whole: Whether that is all of it.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool


class HttpCalls:
    """Makes calls to one server, from any thread.

    They run in an event loop: there, unlike in a thread that reads from a socket, a call can be broken off at once.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        timeout_s: float,
        answer_timeout_s: float,
        closed: threading.Event,
    ) -> None:
        """Prepare to call.

        Args:
            url: Base URL.
            headers: Headers of each request.
            timeout_s: Seconds to wait for a server that sends nothing.
            answer_timeout_s: Seconds that a whole answer may take.
            closed: Set by `close`.

        Raises:
            MissingDependencyError: The HTTP client is not installed.
        """
        self._httpx = require("httpx2", "llm")
        self._url = url
        self._timeout_s = timeout_s
        self._answer_timeout_s = answer_timeout_s
        self._closed = closed
        self._pending: set[Future[HttpReply]] = set()
        self._lock = threading.Lock()
        self._settings = {
            "headers": headers,
            "timeout": self._httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S)),
            "verify": self._httpx.create_ssl_context(),
            "follow_redirects": True,
        }

    def send(self, method: str, path: str, body: bytes | None = None) -> HttpReply:
        """Make a call on a connection of its own, as one kept from before may have been dropped by the server.

        Raises:
            TryAgain: No answer came.
            Unanswered: The whole answer took too long, or `close` was called.
        """
        future = asyncio.run_coroutine_threadsafe(self._send(method, path, body), _event_loop())
        with self._lock:
            self._pending.add(future)
        if self._closed.is_set():
            future.cancel()
        try:
            return future.result()
        except CancelledError:
            raise Unanswered(f"{self._url} is no longer waited for") from None
        except TimeoutError:
            message = (
                f"{self._url} did not end its answer within {self._answer_timeout_s:g} s; allow more, or ask for less"
            )
            raise Unanswered(message) from None
        except (self._httpx.HTTPError, self._httpx.InvalidURL) as err:
            raise self._explain(err) from None
        finally:
            future.cancel()
            with self._lock:
                self._pending.discard(future)

    def close(self) -> None:
        """Break off all calls, also those to come."""
        self._closed.set()
        with self._lock:
            pending = tuple(self._pending)
        for future in pending:
            future.cancel()

    async def _send(self, method: str, path: str, body: bytes | None) -> HttpReply:
        async with (
            asyncio.timeout(self._answer_timeout_s),
            self._httpx.AsyncClient(**self._settings) as client,
            client.stream(method, self._url.rstrip("/") + path, content=body) as response,
        ):
            received = bytearray()
            async for chunk in response.aiter_bytes():
                received += chunk
                if len(received) > _LONGEST_BODY:
                    break
            whole = len(received) <= _LONGEST_BODY
            return HttpReply(response.status_code, dict(response.headers), bytes(received[:_LONGEST_BODY]), whole)

    def _explain(self, err: Any) -> TryAgain:
        if isinstance(err, (self._httpx.ConnectError, self._httpx.ConnectTimeout, self._httpx.InvalidURL)):
            reason = str(err) or "no connection in time"
            advice = "start the server or correct the base URL"
            return TryAgain(f"{self._url} cannot be reached ({reason})", advice=advice)
        if isinstance(err, self._httpx.TimeoutException):
            return TryAgain(f"{self._url} sent nothing for {self._timeout_s:g} s", advice="allow it more time")
        return TryAgain(f"the connection to {self._url} broke before the answer came")


@cache
def _event_loop() -> asyncio.AbstractEventLoop:
    """The loop that all calls of this process run in, in a thread that does not keep the process alive."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="http calls", daemon=True).start()
    return loop


os.register_at_fork(after_in_child=_event_loop.cache_clear)  # a child has no such thread
