"""A full disk without one: a limit on the size of files makes writing fail part of the way, just as that does."""

import subprocess
import sys
from pathlib import Path

_LIMIT = """
import pathlib, resource, signal, sys
path = pathlib.Path(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
"""


def on_a_full_disk(script: str, path: Path, *, room: int) -> str:
    """Run a script, which finds `path`, in a process that can write no file of more bytes; give what it prints."""
    command = [sys.executable, "-c", _LIMIT + script, str(path), str(room)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
