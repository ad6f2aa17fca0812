"""The walls of a guest: prepared once in the fork server, put up in each guest before it sees the candidate's code.

Each layer is one step. At the start a child process tries them all, so that what this machine lacks is known, reported,
and not tried again. A step that held then and fails later ends the guest before it executes anything.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from llamea_tune.sandbox import landlock, linux, privileges, seccomp
from llamea_tune.sandbox.layers import REQUIRED, Layer, LayerStatus
from llamea_tune.sandbox.readable import readable_paths
from llamea_tune.sandbox.sandboxed import Limits
from llamea_tune.sandbox.unreadable import hide_unreadable

_FIRST_FD, _LAST_FD = 3, 1024
_MIB = 1 << 20

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class _Step:
    """A layer that each guest puts up for itself; `apply` says what holds then, or raises an OSError."""

    layer: Layer
    apply: Callable[[Limits], str]


class Confinement:
    """The layers of the sandbox, from the fork server's side."""

    def __init__(self) -> None:
        """Take the layers that the fork server itself is under; its guests inherit them."""
        self._parent = os.getpid()
        self._readable = readable_paths()
        self._devnull = os.open(os.devnull, os.O_RDWR)
        self._namespaces = _attempt(privileges.leave_shared_namespaces)
        if linux.IS_LINUX:
            linux.adopt_orphans()
            linux.hide_memory()
        self._landlock = False
        self._identity = privileges.Identity(None, frozenset())
        self._steps = [
            _Step(Layer.GROUP, self._own_group),
            _Step(Layer.LIMITS, _set_limits),
            _Step(Layer.USER, self._other_user),
            _Step(Layer.CAPABILITIES, self._no_capabilities),
            _Step(Layer.PRIVILEGES, self._no_new_privileges),
            _Step(Layer.LANDLOCK, self._restrict_files),
            _Step(Layer.SECCOMP, self._filter_calls),
        ]

    def prepare(self) -> tuple[LayerStatus, ...]:
        """Find out which layers hold here."""
        self._landlock, _ = _attempt(lambda: str(landlock.interface_version()))
        self._identity = self._find_identity()
        found = _in_child(self._try_all)
        if found is None:
            raise RuntimeError("the process that tries the layers of the sandbox died")
        self._steps = [step for step in self._steps if found[step.layer][0]]
        self._landlock = found[Layer.LANDLOCK][0]
        found[Layer.NAMESPACES] = self._namespaces
        found[Layer.ENVIRONMENT] = (True, "nothing of the host's environment variables")
        found[Layer.CLOCK] = (True, "the process group is killed at the wall-clock limit")
        return tuple(LayerStatus(layer.value, *found[layer], layer in REQUIRED) for layer in Layer)

    def apply(self, limits: Limits, fds: tuple[int, int]) -> tuple[int, int]:
        """Put up the walls around this process, a guest that has not seen the candidate's code yet.

        Args:
            limits: What it may use.
            fds: The two file descriptors that it keeps.

        Returns:
            The numbers of those descriptors now. All others are closed, but for three that lead to nothing.

        Raises:
            OSError: A layer could not be put up.
        """
        for standard in range(_FIRST_FD):
            os.dup2(self._devnull, standard)
        first_unused = _FIRST_FD + len(fds)
        out_of_the_way = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, first_unused) for fd in fds]
        for number, fd in enumerate(out_of_the_way, _FIRST_FD):
            os.dup2(fd, number)
        os.closerange(first_unused, _LAST_FD)
        for step in self._steps:
            step.apply(limits)
        return _FIRST_FD, _FIRST_FD + 1

    def _try_all(self) -> dict[str, tuple[bool, str]]:
        return {step.layer.value: _attempt(partial(step.apply, Limits())) for step in self._steps}

    def _own_group(self, _: Limits) -> str:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        return "a session and process group of its own, killed as a whole"

    def _other_user(self, _: Limits) -> str:
        if self._identity.uid is None:
            reason = "changing the user is not allowed here" if os.geteuid() == 0 else "only root can change the user"
            raise OSError(f"{reason}; guests run as the user who started the host")
        self._identity.assume()
        return f"user {self._identity.uid}, which owns nothing"

    def _no_capabilities(self, _: Limits) -> str:
        linux.set_capabilities(self._identity.capabilities)
        return "none but to read what Landlock lets it" if self._identity.capabilities else "none"

    def _no_new_privileges(self, _: Limits) -> str:
        linux.die_with_parent(signal.SIGKILL)
        if os.getppid() != self._parent:
            raise OSError("the fork server died")
        linux.hide_memory()
        linux.give_up_privileges_for_good()
        return "no set-user-id programs, no debugger, killed when the fork server dies"

    def _restrict_files(self, _: Limits) -> str:
        landlock.restrict((*self._readable, Path("/proc/self/maps")))
        hide_unreadable()
        return f"interface {landlock.interface_version()}: reads of the Python installation only, no writes"

    def _filter_calls(self, _: Limits) -> str:
        linux.set_seccomp_filter(seccomp.build_filter(os.getpid(), may_open=self._landlock))
        files = "files to write to" if self._landlock else "files"
        return f"no sockets, programs, processes, threads or {files}"

    def _find_identity(self) -> privileges.Identity:
        """The least that a guest can be and still read what it may."""

        def works(identity: privileges.Identity) -> bool:
            identity.assume()
            for path in self._readable if self._landlock else ():
                if path.exists():
                    os.close(os.open(path, os.O_RDONLY))
            return True

        found = (identity for identity in privileges.possible_identities() if _in_child(partial(works, identity)))
        return next(found, self._identity)


def _set_limits(limits: Limits) -> str:
    """Bound what the kernel counts for a process. Memory is what comes on top of the fork server's."""
    bounds = {
        "RLIMIT_AS": _address_space() + limits.memory_mb * _MIB,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_NPROC": 0,
        "RLIMIT_CORE": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_MEMLOCK": 0,
    }
    for name, bound in bounds.items():
        if hasattr(resource, name):
            _bound(getattr(resource, name), bound, bound)
    cpu_s = math.ceil(limits.cpu_s)
    _bound(resource.RLIMIT_CPU, cpu_s, cpu_s + 1)  # a signal first, then the end
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    _bound(resource.RLIMIT_STACK, soft, soft)
    return "address space, CPU time, files, one process with one thread, no core dumps"


def _bound(kind: int, soft: int, hard: int) -> None:
    """Set a limit, or keep a lower one that holds already."""
    _, highest = resource.getrlimit(kind)
    if highest != resource.RLIM_INFINITY:
        soft = highest if soft == resource.RLIM_INFINITY else min(soft, highest)
        hard = highest if hard == resource.RLIM_INFINITY else min(hard, highest)
    resource.setrlimit(kind, (soft, hard))


def _address_space() -> int:
    """Bytes of address space that this process has; a generous guess where the kernel does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 1024 * _MIB
    return int(pages) * resource.getpagesize()


def _attempt(action: Callable[[], str]) -> tuple[bool, str]:
    """Whether it worked, and what it says or why it did not."""
    try:
        return True, action()
    except (OSError, ValueError) as error:  # setrlimit raises the latter
        return False, getattr(error, "strerror", None) or str(error)


def _in_child(action: Callable[[], _Answer]) -> _Answer | None:
    """What an action returns in a process of its own, passed on as JSON; None if it failed there."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            os.write(writer, json.dumps({"answer": action()}).encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:  # noqa: PTH123
        text = pipe.read()
    os.waitpid(pid, 0)
    answer: _Answer | None = json.loads(text)["answer"] if text else None
    return answer
