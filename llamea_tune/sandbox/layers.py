"""The layers of the sandbox: which there are, which of them hold here, and how many are enough."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """The layers, from the outside in."""

    ENVIRONMENT = "clean environment"
    CLOCK = "wall-clock limit"
    GROUP = "process group"
    LIMITS = "resource limits"
    NAMESPACES = "namespaces"
    USER = "own user"
    CAPABILITIES = "no capabilities"
    PRIVILEGES = "no new privileges"
    LANDLOCK = "Landlock"
    SECCOMP = "seccomp filter"


# Without Landlock the filter refuses to open any file, so that reading does not depend on it.
REQUIRED = frozenset(
    {
        Layer.ENVIRONMENT,
        Layer.CLOCK,
        Layer.GROUP,
        Layer.LIMITS,
        Layer.CAPABILITIES,
        Layer.PRIVILEGES,
        Layer.SECCOMP,
    }
)


@dataclass(frozen=True)
class LayerStatus:
    """Whether a layer of the sandbox holds on this machine.

    Attributes:
        name: The layer.
        active: Whether it holds.
        detail: What it does here, or why it does not.
        required: Whether a run refuses to start without it.
    """

    name: str
    active: bool
    detail: str
    required: bool
