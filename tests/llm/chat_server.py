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

from llamea_tune.llm import Prompt
from llamea_tune.llm.openai_compatible import OpenAICompatible

PROMPT = Prompt("k", "You are terse.", "Say hello.", 0.3)


@dataclass(frozen=True)
class Planned:
    """One answer.

    Attributes:
        status: Status.
        body: Body.
        headers: Headers.
        delay_s: Seconds to wait before it.
        cut: Whether to drop the connection instead, `"before"` or `"within"` the answer.
        drip_s: Seconds between blanks that are sent in its place, without end.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: str = ""
    drip_s: float = 0.0


def says(text: Any, *, finish_reason: str = "stop", refusal: str | None = None, **headers: str) -> Planned:
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


def answers(data: Any, status: int = 200, **headers: str) -> Planned:
    """Any data as JSON."""
    return Planned(status, json.dumps(data).encode(), headers)


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
    hung_up: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_answer(self, request: dict[str, Any], authorization: str | None) -> Planned:
        with self.lock:
            self.requests.append(request)
            self.authorizations.append(authorization)
            self.times.append(time.monotonic())
            return self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]


@contextmanager
def chat_server(port: int = 0) -> Iterator[ChatServer]:
    """Run the server in a thread, on any port that is free if none is given."""
    state = ChatServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send(state.next_answer({"path": self.path}, self.headers.get("Authorization")))

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            planned = state.next_answer(request, self.headers.get("Authorization"))
            if not self.path.endswith("/v1/chat/completions"):
                planned = fails(404, f"no route {self.path}")
            self.send(planned)

        def send(self, planned: Planned) -> None:
            time.sleep(planned.delay_s)
            if planned.cut == "before":
                self.close_connection = True
                return
            self.send_response(planned.status)
            for name, value in {"Content-Type": "application/json", **planned.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(10**9 if planned.drip_s or planned.cut else len(planned.body)))
            self.end_headers()
            self.wfile.write(planned.body)
            if planned.drip_s:
                self.drip(planned.drip_s)
            self.close_connection = bool(planned.cut)

        def drip(self, pause_s: float) -> None:
            try:
                while True:
                    self.wfile.write(b" ")
                    time.sleep(pause_s)
            except OSError:
                state.hung_up.set()
                raise

        def log_message(self, *args: Any) -> None:
            """Keep quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that hung up is part of the tests."""

    server = Server(("127.0.0.1", port), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def model(server: ChatServer, **options: Any) -> OpenAICompatible:
    """A language model that asks the server, and does not really wait before it asks again."""
    waits: list[float] = []
    return OpenAICompatible("tiny", server.url, **{"timeout_s": 5.0, "max_retries": 2, "wait": waits.append, **options})
