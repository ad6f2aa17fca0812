"""Who a guest is: a user that owns nothing, without capabilities."""

from __future__ import annotations

import os

from llamea_tune.sandbox import linux

_UNUSED_USERS = 1_879_100_000  # by convention neither people, services nor containers get numbers from here on
_NOBODY = 65534
_CAP_DAC_READ_SEARCH = 2
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


def candidate_users() -> tuple[int, ...]:
    """User ids to try for guests, the best first: one that no other process has, then `nobody`."""
    return (_UNUSED_USERS + os.getpid(), _NOBODY)


def become(uid: int, *, read_everything: bool) -> None:
    """Change to a user and group that owns nothing.

    Args:
        uid: The user's number, and the group's.
        read_everything: Keep the capability to read files whatever their owner; another layer must bound it.

    Raises:
        OSError: Not allowed, or there is no such user in this namespace.
    """
    if read_everything:
        linux.keep_capabilities()
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if read_everything:
        linux.set_capabilities(frozenset({_CAP_DAC_READ_SEARCH}))


def drop_capabilities(*, read_everything: bool) -> None:
    """Hold no capability, or only the one to read files whatever their owner."""
    linux.set_capabilities(frozenset({_CAP_DAC_READ_SEARCH}) if read_everything else frozenset())
