"""Runs an adversary against the real sandbox, and looks for what it may have broken."""

from __future__ import annotations

import contextlib
import os
import platform
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from adversaries import Adversary

from llamea_tune.runners import RunBudget, RunResult
from llamea_tune.sandbox import Limits, Sandbox, SandboxedCandidate
from llamea_tune.spaces.space import Space
from llamea_tune.testing.processes import children_of
from llamea_tune.testing.synthetic_spaces import synthetic_space

LIMITS = Limits(wall_s=1.5, cpu_s=30, memory_mb=200)
MAX_FEVALS = 12
SECRET = "sk-nobody-may-read-this"

HONEST = SandboxedCandidate(
    """
import random
import numpy as np
from kernel_tuner.strategies.wrapper import OptAlg

class Honest(OptAlg):
    def __init__(self):
        super().__init__()

    def __call__(self, func, searchspace):
        rng = np.random.default_rng()
        while func.budget_spent_fraction < 1:
            func(searchspace.list[rng.integers(searchspace.size)])
            func(random.choice(searchspace.list))
""",
    "Honest",
)


@dataclass
class Gauntlet:
    """A sandbox with a secret file and a server nearby, and what an honest candidate does in it."""

    sandbox: Sandbox
    secret_file: Path
    server: socket.socket
    baseline: RunResult
    others: set[int]  # processes that other tests have started

    def run(self, adversary: Adversary) -> tuple[RunResult, list[str]]:
        """Run an adversary; its result, and a sentence for everything that is not as it must be."""
        program = adversary.program(secret_file=str(self.secret_file), port=self.server.getsockname()[1])
        result = self.sandbox.run(program, 0, 1, RunBudget(max_fevals=MAX_FEVALS))
        return result, [*_wrong_end(adversary, result), *self._damage()]

    def _damage(self) -> Iterator[str]:
        folder = self.secret_file.parent
        if self.secret_file.read_text() != SECRET or list(folder.iterdir()) != [self.secret_file]:
            yield f"{folder} has changed"
        with contextlib.suppress(BlockingIOError):
            self.server.accept()
            yield "it connected to the server"
        for fork_server in children_of(os.getpid()) - self.others:
            if left := children_of(fork_server):
                yield f"it left processes {left}"
        after = honest_run(self.sandbox)
        if not same_trace(after, self.baseline):
            yield f"the next candidate is not as it was: {after}"


def honest_run(sandbox: Sandbox) -> RunResult:
    return sandbox.run(HONEST, 0, 5, RunBudget(max_fevals=MAX_FEVALS))


def same_trace(one: RunResult, other: RunResult) -> bool:
    """Whether two runs ended alike and paid for the same measurements at the same times."""
    return (
        one.state is other.state
        and np.array_equal(one.trace.indices, other.trace.indices)
        and np.array_equal(one.trace.costs, other.trace.costs, equal_nan=True)
        and np.array_equal(one.trace.elapsed_us, other.trace.elapsed_us)
    )


def _wrong_end(adversary: Adversary, result: RunResult) -> Iterator[str]:
    if "Escaped" in result.reason:
        yield f"it escaped: {result.reason}"
    if result.state not in adversary.states:
        yield f"it ended as {result.state.value} ({result.reason})"
    if adversary.reason not in result.reason:
        yield f"the reason is {result.reason!r}"
    if len(result.reason) > 500 or not result.reason.isprintable():
        yield f"the reason is not fit to be shown: {result.reason!r}"
    if adversary.paid is not None and len(result.trace) != adversary.paid:
        yield f"it paid for {len(result.trace)} measurements"
    if len(result.trace) > MAX_FEVALS:
        yield "it stretched its budget"
    if result.state.scorable and result.reason:
        yield f"a good run has a reason: {result.reason!r}"


def makes_sense_here(adversary: Adversary) -> bool:
    return adversary.machine in ("", platform.machine())


@contextlib.contextmanager
def gauntlet(space: Space | None = None) -> Iterator[Gauntlet]:
    """Set everything up; the caller's environment holds a secret meanwhile."""
    os.environ["LLAMEA_TUNE_TEST_API_KEY"] = SECRET
    others = children_of(os.getpid())
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
        Sandbox([space or synthetic_space(3)], limits=LIMITS) as sandbox,
    ):
        server.setblocking(False)
        Path(folder).chmod(0o755)
        secret_file = Path(folder) / "secret"
        secret_file.write_text(SECRET)
        secret_file.chmod(0o644)
        yield Gauntlet(sandbox, secret_file, server, honest_run(sandbox), others)
    del os.environ["LLAMEA_TUNE_TEST_API_KEY"]
