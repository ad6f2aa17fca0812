"""A chat server that writes candidates: the same prompt gets the same candidate, whenever it is asked for."""

from __future__ import annotations

import hashlib
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "llm"))

from chat_server import ChatServer, Planned, chat_server, fails, says

from llamea_tune.llm.exchanges import without_times
from llamea_tune.testing.proposer_contract import EXAMPLE_CODE

__all__ = ["ChatServer", "Planned", "fails", "says", "slow_server", "writes", "writing_server"]

Answer = Callable[[int, dict[str, Any]], Planned]  # from the number of the request, counted from 0, and what it asks


def writes(_number: int, request: dict[str, Any]) -> Planned:
    """A candidate that the prompt decides."""
    asked = without_times("".join(message["content"] for message in request["messages"]))
    n_initial = 1 + hashlib.sha256(asked.encode()).digest()[0]
    code = EXAMPLE_CODE.replace("n_initial=10", f"n_initial={n_initial}")
    return says(f"Description: Starts with {n_initial}.\n\n```python\n{code}```\n")


@contextmanager
def writing_server(answer: Answer = writes) -> Iterator[ChatServer]:
    """Run a server that answers so; its `answer` may be exchanged while it runs."""
    with chat_server() as server:

        def next_answer(request: dict[str, Any], _authorization: str | None) -> Planned:
            with server.lock:
                server.requests.append(request)
                number = len(server.requests) - 1
            return server.answer(number, request)

        server.answer = answer
        server.next_answer = next_answer
        yield server


@contextmanager
def slow_server(*, drips: bool) -> Iterator[tuple[str, threading.Semaphore]]:
    """A server that never comes to the end of an answer: it sends a byte now and then, or nothing at all.

    Yields:
        Its base URL, and a semaphore that is released for every request.
    """
    asked = threading.Semaphore(0)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1 << 16)
            asked.release()
            if drips:
                self.request.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
                )
            while not over.wait(0.05):
                if drips:
                    self.request.sendall(b" ")

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that hung up is part of the tests."""

    over = threading.Event()
    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
        finally:
            over.set()
            server.shutdown()
