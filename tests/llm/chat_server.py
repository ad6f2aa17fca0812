"""A chat-completions server on the loopback interface, whose answers a test writes in advance."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Planned:
    """One answer: a status, a body, headers, and how long to wait before it, or `cut` to drop the connection."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: bool = False


def says(text: str | None, *, finish_reason: str = "stop", refusal: str | None = None, **headers: str) -> Planned:
    """A proper completion."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200},
    }
    return Planned(200, json.dumps(body).encode(), headers)


def fails(status: int, message: str, *, headers: Mapping[str, str] | None = None, **error: Any) -> Planned:
    """An error as OpenAI words it."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": None, **error}}
    return Planned(status, json.dumps(body).encode(), headers or {})


@dataclass
class ChatServer:
    """What was asked, and what will be answered; the last answer repeats."""

    url: str = ""
    plan: list[Planned] = field(default_factory=lambda: [says("hello")])
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_answer(self, request: dict[str, Any], authorization: str | None) -> Planned:
        with self.lock:
            self.requests.append(request)
            self.authorizations.append(authorization)
            self.times.append(time.monotonic())
            return self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """Run the server in a thread."""
    state = ChatServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            planned = state.next_answer(request, self.headers.get("Authorization"))
            if not self.path.endswith("/v1/chat/completions"):
                planned = fails(404, f"no route {self.path}")
            time.sleep(planned.delay_s)
            if planned.cut:
                self.close_connection = True
                return
            self.send_response(planned.status)
            for name, value in {"Content-Type": "application/json", **planned.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(planned.body)))
            self.end_headers()
            self.wfile.write(planned.body)

        def log_message(self, *args: Any) -> None:
            """Keep quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that hung up is part of the tests."""

    server = Server(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
