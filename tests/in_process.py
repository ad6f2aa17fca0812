"""The program run in this process, which does and prints the same; only loading Kernel Tuner anew takes a second."""

from __future__ import annotations

import io
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from subprocess import CompletedProcess
from unittest.mock import patch

from llamea_tune.cli.app import main


def run_program(*arguments: object) -> CompletedProcess[str]:
    """Run `llamea-tune` with these arguments to its end."""
    line = ["llamea-tune", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    code = 0
    on_sigterm = signal.getsignal(signal.SIGTERM)
    with patch.object(sys, "argv", line), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            signal.signal(signal.SIGTERM, on_sigterm)
    return CompletedProcess(line, code, out.getvalue(), err.getvalue())
