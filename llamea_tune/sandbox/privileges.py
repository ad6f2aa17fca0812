"""Who a guest is: a user that owns nothing, without capabilities."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from llamea_tune.sandbox import linux

_UNUSED_USERS = 1_879_100_000  # by convention neither people, services nor containers get numbers from here on
_NOBODY = 65534
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_SEPARATED = "a network without devices and System V objects of its own"


def leave_shared_namespaces() -> str:
    """Move this process and its children away from the host's network and System V objects.

    Root does so directly; an ordinary user needs a user namespace for it, where the system allows them.

    Returns:
        What holds then.

    Raises:
        OSError: Not allowed here.
    """
    if os.geteuid() == 0:
        linux.unshare(linux.CLONE_NEWNET | linux.CLONE_NEWIPC)
        return _SEPARATED
    uid, gid = os.getuid(), os.getgid()
    linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNET | linux.CLONE_NEWIPC)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123
            file.write(text)
    return _SEPARATED


@dataclass(frozen=True)
class Identity:
    """Who a guest is.

    Attributes:
        uid: Number of its user and group; None for the host's own.
        capabilities: The only capabilities that it holds.
    """

    uid: int | None
    capabilities: frozenset[int]

    def assume(self) -> None:
        """Become it, for good.

        Raises:
            OSError: Not allowed, or there is no such user in this namespace.
        """
        if self.uid is not None:
            if self.capabilities:
                linux.keep_capabilities()
            os.setgroups([])
            os.setresgid(self.uid, self.uid, self.uid)
            os.setresuid(self.uid, self.uid, self.uid)
        linux.set_capabilities(self.capabilities)


def possible_identities() -> Iterator[Identity]:
    """Who a guest may be, the best first.

    Root gives way to a user that owns nothing: one that no other process has, or `nobody`. Where such a user cannot
    read the Python installation, as below a private home folder, it may keep a capability to read it; Landlock bounds
    what it may read with it.
    """
    if os.geteuid() == 0 and linux.IS_LINUX:
        for uid in (_UNUSED_USERS + os.getpid(), _NOBODY):
            for capabilities in ((), (_CAP_DAC_READ_SEARCH,), (_CAP_DAC_OVERRIDE,)):
                yield Identity(uid, frozenset(capabilities))
    yield Identity(None, frozenset())
