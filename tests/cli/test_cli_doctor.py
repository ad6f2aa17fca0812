"""`llamea-tune doctor`, from the outside."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from llamea_tune.cli import doctor_checks
from llamea_tune.exceptions import SandboxError
from llamea_tune.llm.asking_options import LLMOptions
from llamea_tune.sandbox import LayerStatus


class Server(BaseHTTPRequestHandler):
    """A server with a list of models that answers prompts, or fails with a status; or answers without a word."""

    status = 200
    text = "ready"
    requests: ClassVar[list[dict]] = []

    def do_GET(self) -> None:
        models = [{"id": name, "object": "model", "created": 1, "owned_by": "me"} for name in ("tiny", "large")]
        listed = self.status in (200, 404)
        self.answer(200 if listed else self.status, {"object": "list", "data": models} if listed else {})

    def do_POST(self) -> None:
        self.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if self.status != 200:
            self.answer(self.status, {"error": {"message": "that will not do"}})
            return
        message = {"role": "assistant", "content": self.text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22}
        self.answer(200, {"id": "1", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage})

    def answer(self, status: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Server, "requests", [])
    running = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/v1"
    running.shutdown()
    running.server_close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers as on a good machine, without starting a process to find them."""
    layers = (
        LayerStatus("seccomp filter", True, "no sockets", True),
        LayerStatus("own user", False, "not root", False),
    )
    monkeypatch.setattr("llamea_tune.sandbox.layers", lambda: layers)


def by_name(done) -> dict[str, dict[str, str]]:
    return {entry["check"]: entry for entry in done.json}


def test_this_machine(command):
    """The sandbox for real: what it says is what the exit code says."""
    done = command("doctor", "--json")
    found = by_name(done)
    assert found["kernel_tuner"]["status"] == "ok"
    assert found["cores"]["status"] == "ok"
    assert any(name.startswith("sandbox: ") for name in found)
    assert (done.code == 1) == any(entry["status"] == "fail" for entry in found.values())


def test_each_check_is_a_line(command, quick):
    done = command("doctor")
    assert done.code == 0
    assert all(line.split()[0] in ("ok", "warn") for line in done.out.splitlines())
    quiet = command("doctor", "-q")
    assert all(line.split()[0] == "warn" for line in quiet.out.splitlines())


def test_a_missing_layer_that_is_needed_fails(command, monkeypatch):
    layers = (LayerStatus("seccomp filter", False, "Function not implemented", True),)
    monkeypatch.setattr("llamea_tune.sandbox.layers", lambda: layers)
    done = command("doctor")
    assert done.code == 1
    assert "lacks seccomp filter" in done.out and "--allow-weak-sandbox" in done.out
    assert "failed" in done.err


def test_a_sandbox_that_cannot_start_fails(command, monkeypatch):
    def refuse():
        raise SandboxError("nothing can be run here; use another machine")

    monkeypatch.setattr("llamea_tune.sandbox.layers", refuse)
    done = command("doctor", "--json")
    assert (done.code, by_name(done)["sandbox"]["status"]) == (1, "fail")


def test_a_folder_that_cannot_be_written_is_a_warning(command, quick, monkeypatch, own_folders):
    (own_folders / "file").write_text("in the way")
    monkeypatch.setenv("LLAMEA_TUNE_CACHE", str(own_folders / "file" / "cache"))
    found = by_name(command("doctor", "--json"))
    assert found["cache folder"]["status"] == "warn" and "LLAMEA_TUNE_CACHE" in found["cache folder"]["detail"]
    assert found["strategies folder"]["status"] == "ok"


def test_missing_tools_and_packages_are_warnings(command, quick, monkeypatch):
    monkeypatch.setattr(doctor_checks.shutil, "which", lambda tool: None)
    monkeypatch.setitem(doctor_checks._OPTIONAL, "nonsuch-package", ("llamea-tune[nonsuch]", "nothing"))
    done = command("doctor", "--json")
    found = by_name(done)
    assert done.code == 0
    assert [found[name]["status"] for name in ("gcc", "nvcc", "GPU", "nonsuch-package")] == ["warn"] * 4
    assert "pip install 'llamea-tune[nonsuch]'" in found["nonsuch-package"]["detail"]


def test_a_missing_package_that_is_needed_fails(command, quick, monkeypatch):
    monkeypatch.setattr(doctor_checks, "_NEEDED", ("nonsuch-package",))
    done = command("doctor", "--json")
    assert (done.code, by_name(done)["nonsuch-package"]["status"]) == (1, "fail")


@pytest.mark.parametrize(
    ("status", "text", "expected", "said"),
    [
        (200, "ready", "ok", "answered a tiny prompt in"),
        (200, "", "warn", "it answers, but not a tiny prompt: "),
        (404, "", "fail", "it has: large, tiny"),
        (400, "", "fail", "that will not do"),
        (401, "", "fail", "refused the key"),
        (500, "", "fail", "500"),
    ],
)
def test_a_server_is_asked_for_one_word(server, monkeypatch, status, text, expected, said):
    monkeypatch.setattr(Server, "status", status)
    monkeypatch.setattr(Server, "text", text)
    check = doctor_checks.check_proposer(f"openai:huge@{server}", LLMOptions())
    assert check.status == expected
    assert said in check.detail


def test_a_server_is_asked_as_in_a_run(command, quick, server):
    spec = ("--proposer", f"openai:tiny@{server}")
    assert command("doctor", *spec, "--llm-parameter", "top_k=4", "--llm-parameter", "user=me").code == 0
    assert command("doctor", *spec, "--llm-parameter", "max_completion_tokens=9").code == 0
    first, second = Server.requests
    assert (first["top_k"], first["user"], first["max_tokens"]) == (4, "me", 500)
    assert second["max_completion_tokens"] == 9 and "max_tokens" not in second


def test_a_server_that_is_not_there_fails(command, quick):
    done = command("doctor", "--proposer", "openai:tiny@http://127.0.0.1:9/v1", "--json")
    assert (done.code, by_name(done)["proposer"]["status"]) == (1, "fail")
    assert "cannot be reached" in by_name(done)["proposer"]["detail"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [("offline", "ok"), ("handoff:prompts", "ok"), ("replay:nowhere", "fail"), ("oracle:x", "fail")],
)
def test_other_proposers(own_folders, spec, expected):
    assert doctor_checks.check_proposer(spec, LLMOptions()).status == expected


def test_a_missing_key_fails(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    check = doctor_checks.check_proposer("openai:gpt-4o", LLMOptions())
    assert check.status == "fail" and "OPENAI_API_KEY" in check.detail
