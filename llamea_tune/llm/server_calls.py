"""HTTP calls that end: after a silence, after a time for the whole answer, at a size, or when they are told to."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import cache
from typing import Any

from llamea_tune._imports import require
from llamea_tune.llm.language_model import Unanswered
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


class ServerCalls:
    """Makes calls to one server through the official SDK, from any thread.

    They run in an event loop: there, unlike in a thread that reads from a socket, a call can be broken off at once. What
    comes back is read as bytes, since an SDK that parses answers knows nothing of servers that answer otherwise; and the
    SDK tries nothing again, as it would not wait for as long as servers ask.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        timeout_s: float,
        answer_timeout_s: float,
        closed: threading.Event,
    ) -> None:
        """Prepare to call.

        Args:
            url: Base URL.
            api_key: The key; empty where the server needs none.
            timeout_s: Seconds to wait for a server that sends nothing.
            answer_timeout_s: Seconds that a whole answer may take.
            closed: Set by `close`.

        Raises:
            MissingDependencyError: The SDK is not installed.
        """
        self._openai = require("openai", "llm")
        self._url = url
        self._timeout_s = timeout_s
        self._answer_timeout_s = answer_timeout_s
        self._closed = closed
        self._pending: set[Future[HttpReply]] = set()
        self._lock = threading.Lock()
        self._settings = {
            "base_url": url,
            "api_key": api_key or "none",  # which the SDK wants, and no server is sent
            "timeout": self._openai.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S)),
            "max_retries": 0,
        }
        self._headers = {} if api_key else {"Authorization": self._openai.Omit()}

    def completion(self, request: Mapping[str, Any]) -> HttpReply:
        """Ask for a chat completion; raises as `models`.

        Args:
            request: The body; parameters that the SDK does not know are sent as they are.
        """
        asked = {name: request[name] for name in ("model", "messages")}
        further = {name: value for name, value in request.items() if name not in asked}
        asked |= {"extra_body": further, "extra_headers": self._headers}
        return self._send(lambda client: client.chat.completions.with_streaming_response.create(**asked))

    def models(self) -> HttpReply:
        """Ask for the list of models, on a connection of its own, as one kept from before may have been dropped.

        Raises:
            TryAgain: No answer came.
            Unanswered: The whole answer took too long, or `close` was called.
        """
        return self._send(lambda client: client.models.with_streaming_response.list(extra_headers=self._headers))

    def close(self) -> None:
        """Break off all calls, also those to come."""
        self._closed.set()
        with self._lock:
            pending = tuple(self._pending)
        for future in pending:
            future.cancel()

    def _send(self, call: Callable[[Any], Any]) -> HttpReply:
        future = asyncio.run_coroutine_threadsafe(self._receive(call), _event_loop())
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
        finally:
            future.cancel()
            with self._lock:
                self._pending.discard(future)

    async def _receive(self, call: Callable[[Any], Any]) -> HttpReply:
        async with asyncio.timeout(self._answer_timeout_s), self._openai.AsyncOpenAI(**self._settings) as client:
            try:
                async with call(client) as response:
                    received = bytearray()
                    async for chunk in response.iter_bytes():
                        received += chunk
                        if len(received) > _LONGEST_BODY:
                            break
                    return _reply(response, bytes(received))
            except self._openai.APIStatusError as err:
                return _reply(err.response, err.response.content)
            except self._openai.APIConnectionError as err:  # time-outs are among them
                raise self._explain(err.__cause__ or err) from err
            except Exception as err:  # of the HTTP client, in the middle of an answer
                raise self._explain(err) from err

    def _explain(self, err: BaseException) -> BaseException:
        """What to raise for an error of the HTTP client, which is another package in another version of the SDK."""
        kinds = {kind.__name__ for kind in type(err).__mro__}
        if kinds & {"ConnectError", "ConnectTimeout", "InvalidURL"}:
            reason = str(err) or "no connection in time"
            advice = "start the server or correct the base URL"
            return TryAgain(f"{self._url} cannot be reached ({reason})", advice=advice)
        if "TimeoutException" in kinds:
            return TryAgain(f"{self._url} sent nothing for {self._timeout_s:g} s", advice="allow it more time")
        return TryAgain(f"the connection to {self._url} broke before the answer came") if "HTTPError" in kinds else err


def _reply(response: Any, body: bytes) -> HttpReply:
    whole = len(body) <= _LONGEST_BODY
    return HttpReply(response.status_code, dict(response.headers), body[:_LONGEST_BODY], whole)


@cache
def _event_loop() -> asyncio.AbstractEventLoop:
    """The loop that all calls of this process run in, in a thread that does not keep the process alive."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="http calls", daemon=True).start()
    return loop


os.register_at_fork(after_in_child=_event_loop.cache_clear)  # a child has no such thread
