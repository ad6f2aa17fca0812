"""`llamea-tune doctor`, from the outside."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from llamea_tune.cli import doctor_checks
from llamea_tune.exceptions import SandboxError
from llamea_tune.sandbox import LayerStatus


class ModelList(BaseHTTPRequestHandler):
    """A server with a list of models, or none, or one that wants another key."""

    status = 200

    def do_GET(self) -> None:
        models = [{"id": name, "object": "model", "created": 1, "owned_by": "me"} for name in ("tiny", "large")]
        body = {"object": "list", "data": models} if self.status == 200 else {"error": {"message": "no"}}
        content = json.dumps(body).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(ModelList, "status", 200)
    running = ThreadingHTTPServer(("127.0.0.1", 0), ModelList)
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
    ("status", "model", "expected", "said"),
    [
        (200, "tiny", "ok", "has tiny"),
        (200, "huge", "warn", "it has: large, tiny"),
        (404, "tiny", "warn", "no list of models"),
        (401, "tiny", "fail", "refused the key"),
        (500, "tiny", "fail", "500"),
    ],
)
def test_a_server_is_asked_for_its_models(server, monkeypatch, status, model, expected, said):
    monkeypatch.setattr(ModelList, "status", status)
    check = doctor_checks.check_proposer(f"openai:{model}@{server}")
    assert check.status == expected
    assert said in check.detail


def test_a_server_that_is_not_there_fails(command, quick):
    done = command("doctor", "--proposer", "openai:tiny@http://127.0.0.1:9/v1", "--json")
    assert (done.code, by_name(done)["proposer"]["status"]) == (1, "fail")
    assert "cannot be reached" in by_name(done)["proposer"]["detail"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [("offline", "ok"), ("handoff:prompts", "ok"), ("replay:nowhere", "fail"), ("oracle:x", "fail")],
)
def test_other_proposers(own_folders, spec, expected):
    assert doctor_checks.check_proposer(spec).status == expected


def test_a_missing_key_fails(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    check = doctor_checks.check_proposer("openai:gpt-4o")
    assert check.status == "fail" and "OPENAI_API_KEY" in check.detail
