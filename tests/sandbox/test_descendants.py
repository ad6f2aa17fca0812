"""No process is left behind, even one that left its group, where nothing else keeps a guest from making one."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="child subreapers are Linux's")

SCRIPT = """
import os, signal, time
from llamea_tune.sandbox.descendants import end_group, reap_orphans
from llamea_tune.sandbox.linux import adopt_orphans

adopt_orphans()
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.setsid()
    for _ in range(3):
        if os.fork() == 0:  # a daemon: a session of its own, and a parent that ends
            os.setsid()
            if os.fork() == 0:
                os.write(writer, f"{os.getpid():<100}".encode())
                time.sleep(60)
            os._exit(0)
    time.sleep(60)
daemons = [os.read(reader, 100) for _ in range(3)]
end_group(child)
reap_orphans()
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("nothing left")
for daemon in daemons:
    try:
        os.kill(int(daemon), 0)
        print("daemon left")
    except ProcessLookupError:
        pass
"""


def test_daemons_of_a_guest_are_found_and_ended() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "nothing left\n", done.stderr
