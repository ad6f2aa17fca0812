"""Which layers there are, with how few rights they hold, and what happens where one is missing."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import kernel_tuner
import numpy
import pytest
import sklearn
from adversaries import ADVERSARIES
from test_sandbox_runs import SAMPLE

import llamea_tune
from llamea_tune.exceptions import SandboxError
from llamea_tune.runners import RunState
from llamea_tune.sandbox import Layer, LayerStatus, Sandbox, layers, seccomp
from llamea_tune.sandbox.linux import give_up_privileges_for_good, set_seccomp_filter
from llamea_tune.sandbox.readable import readable_paths
from llamea_tune.sandbox.server_process import Worker, clean_environment
from llamea_tune.spaces.space import Space

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")
AS_ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="gives rights up with setpriv, which takes root",
)

# What a container gets from its runtime by default, as far as it matters here.
CONTAINER = ("setuid", "setgid", "chown", "dac_override", "fowner", "kill", "setfcap", "net_bind_service")


@ON_LINUX
def test_every_layer_is_reported_with_a_reason() -> None:
    status = layers()
    assert [layer.name for layer in status] == [layer.value for layer in Layer]
    assert all(layer.detail for layer in status)
    assert all(layer.active for layer in status if layer.required)


@AS_ROOT
@pytest.mark.parametrize("kept", [(), CONTAINER], ids=["no-rights", "container"])
def test_it_holds_for_root_with_few_rights(kept: tuple[str, ...]) -> None:
    bounding = ",".join(["-all", *(f"+{name}" for name in kept)])
    script = Path(__file__).with_name("report_layers.py")
    command = ["setpriv", "--bounding-set", bounding, "--inh-caps", "-all", sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["state"], report["reason"], report["paid"]) == ("finished", "", 3)
    assert report["layers"]["own user"] is bool(kept)
    assert report["layers"]["namespaces"] is False
    assert all(
        report["layers"][name] for name in ("no capabilities", "no new privileges", "Landlock", "seccomp filter")
    )


@ON_LINUX
def test_a_weak_sandbox_refuses_unless_told_otherwise(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    def start_without_filter(self: Worker) -> None:
        start(self)
        missing = LayerStatus("seccomp filter", active=False, detail="switched off", required=True)
        self.layers = (*self.layers[:-1], missing)

    start = Worker.start
    monkeypatch.setattr(Worker, "start", start_without_filter)
    with Sandbox([space]) as strict, pytest.raises(SandboxError, match=r"lacks seccomp filter \(switched off\)"):
        strict.run(SAMPLE, 0, 1)
    with Sandbox([space], allow_weak=True) as weak:
        assert weak.run(SAMPLE, 0, 1).state is RunState.FINISHED


def test_a_python_that_does_not_start_is_one_clear_error(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llamea_tune.sandbox.server_process._BOOT", "raise ImportError('no kernel_tuner here')")
    with Sandbox([space]) as broken, pytest.raises(SandboxError, match="did not start: ImportError: no kernel_tuner"):
        broken.run(SAMPLE, 0, 1)


def test_windows_is_told_what_to_do(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llamea_tune.sandbox.server_process.os", SimpleNamespace(name="nt"))
    with pytest.raises(SandboxError, match="WSL"):
        Worker([space], limits=None).start()  # type: ignore[arg-type]


@ON_LINUX
def test_without_landlock_the_filter_opens_no_file() -> None:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        give_up_privileges_for_good()
        set_seccomp_filter(seccomp.build_filter(os.getpid(), may_open=False))
        try:
            os.open(__file__, os.O_RDONLY)
            os.write(writer, b"opened")
        except PermissionError:
            os.write(writer, b"refused")
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reader, 10) == b"refused"
    os.close(reader)
    os.close(writer)


@ON_LINUX
def test_readable_is_the_python_installation_and_no_recorded_space() -> None:
    paths = readable_paths()
    packages = Path(llamea_tune.__file__).resolve().parent

    def readable(path: str | Path) -> bool:
        return any(Path(path).resolve().is_relative_to(allowed) for allowed in paths)

    for module in (os, json, numpy, kernel_tuner, sklearn):
        assert readable(module.__file__), module
    site_packages = Path(numpy.__file__).parent.parent
    for place in (packages, packages / "_bundled", packages.parent, site_packages, "/", "/etc", Path.home()):
        assert not readable(place), place
    assert not any(packages.is_relative_to(path) for path in paths)


def test_the_environment_of_a_fork_server_holds_nothing_of_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("PATH", "/somewhere")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    before = clean_environment()
    assert "sk-secret" not in str(before)
    assert "PATH" not in before
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/lib")
    assert clean_environment() == {**before, "LD_LIBRARY_PATH": "/opt/lib"}


HARMLESS = (
    *("read-secret-file", "list-folders", "climb-out-of-package", "read-environment", "read-proc"),
    *(
        "connect-to-loopback",
        "sockets-of-every-family",
        "socket-pair",
        "listen",
        "fork",
        "threads",
        "subprocess",
        "pidfd",
    ),
)


@ON_LINUX
@pytest.mark.parametrize("name", HARMLESS)
def test_without_walls_the_same_adversary_escapes(name: str, tmp_path: Path) -> None:
    """Those whose success harms nothing show that an attempt fails for the walls, not for a mistake in it."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    adversary = next(adversary for adversary in ADVERSARIES if adversary.name == name)
    with socket.create_server(("127.0.0.1", 0)) as server:
        candidate = adversary.program(secret_file=str(secret), port=server.getsockname()[1])
        ending = (
            "import types\nAdversary()(lambda config: 0.0, types.SimpleNamespace(get_random_sample=lambda n: []))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", candidate.code + ending],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            cwd=tmp_path,
        )
    assert "Escaped" in done.stderr
