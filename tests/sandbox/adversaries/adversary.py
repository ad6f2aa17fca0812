"""What an adversary is, and how it becomes a program."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from llamea_tune.runners.trace import RunState
from llamea_tune.sandbox.sandboxed import SandboxedCandidate

HONEST = frozenset({RunState.FINISHED})
SPENT = frozenset({RunState.BUDGET_SPENT})
STALLED = frozenset({RunState.STALLED})
FAILED = frozenset({RunState.FAILED})
KILLED = frozenset({RunState.KILLED})
TIMED_OUT = frozenset({RunState.TIMED_OUT})

MAX_FEVALS = 12  # of every adversary's run
HONEST_REQUESTS = 5  # what the honest ending of a body asks for

_HEAD = '''\
import os, sys, struct
from kernel_tuner.strategies.wrapper import OptAlg

SECRET_FILE = {secret_file!r}
PORT = {port!r}


class Escaped(BaseException):
    pass


def forbidden(action, *arguments):
    """Whatever comes of it must be an error."""
    try:
        result = action(*arguments)
    except BaseException:
        return
    raise Escaped(repr(result))


def forbidden_call(*arguments):
    """A system call by number that must fail."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]) != -1:
        raise Escaped(arguments)


def message(number, repeated=0, invalid=0):
    return struct.pack("<qqq", number, repeated, invalid)


def honest(func, searchspace):
    for config in searchspace.get_random_sample({requests}):
        func(config)


'''

_CLASS = """\
class Adversary(OptAlg):
    def __init__(self):
        super().__init__()

    def __call__(self, func, searchspace):
"""


@dataclass(frozen=True)
class Adversary:
    """A candidate that misbehaves.

    Attributes:
        name: Short name.
        behaviour: What it tries.
        layer: What stops it, in the words of `llamea_tune.sandbox.Layer` where it is one of these.
        states: The states it may end in.
        body: The body of `__call__`; or the whole module, if `module` is set.
        reason: What the reason of its state must contain.
        paid: How many measurements it must have paid for; None if that may vary.
        module: Whether `body` is a module, class `Adversary` included.
        machine: The only `platform.machine()` it makes sense on.
    """

    name: str
    behaviour: str
    layer: str
    states: frozenset[RunState]
    body: str
    reason: str = ""
    paid: int | None = None
    module: bool = False
    machine: str = ""

    def program(self, *, secret_file: str, port: int) -> SandboxedCandidate:
        """The program, with the place of a secret and the port of a server on loopback filled in."""
        head = _HEAD.format(secret_file=secret_file, port=port, requests=HONEST_REQUESTS)
        body = textwrap.dedent(self.body).strip("\n")
        if not self.module:
            body = _CLASS + textwrap.indent(body, " " * 8)
        return SandboxedCandidate(head + body + "\n", "Adversary")


def foiled(name: str, behaviour: str, layer: str, body: str, *, machine: str = "") -> Adversary:
    """An adversary whose attempts give it nothing but errors, after which it must be able to go on honestly."""
    ending = "\nhonest(func, searchspace)"
    return Adversary(
        name,
        behaviour,
        layer,
        HONEST,
        textwrap.dedent(body).strip("\n") + ending,
        paid=HONEST_REQUESTS,
        machine=machine,
    )


def killed(name: str, behaviour: str, layer: str, body: str, reason: str, *, machine: str = "") -> Adversary:
    """An adversary whose process is ended for what it does."""
    return Adversary(name, behaviour, layer, KILLED, textwrap.dedent(body) + "\nraise Escaped", reason, machine=machine)
