"""What crosses the borders of the sandbox, byte by byte.

Two channels. Host and guest speak over a pair of pipes in messages of fixed size: the guest is hostile until proven
otherwise, so the host reads integers and one bounded text, and nothing else. Host and fork server, both trusted, speak over
a socket in frames of JSON, with file descriptors attached to the frame that starts a run.

At first the guest, still in trusted code, says `Mark.READY` and gets its assignment: see `pack_assignment`. Then,
guest to host, 24 bytes: the number of a config or a negative `Mark`, then how often the strategy has asked since the last
message for a config that it had paid for before, and for one outside the space; neither costs it anything, so neither
is worth a message. `Mark.ERROR` alone is followed by a text, in the same write. Host to guest, forty bytes for each
config asked for: see `pack_reply`.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from llamea_tune.candidate import HyperparameterValue
from llamea_tune.runners.meter import STALL_MINIMUM, Reply
from llamea_tune.spaces.space import FailureKind

MESSAGE = struct.Struct("<qqq")
REPLY = struct.Struct("<dqqdq")
REPORTED_UNPAID = STALL_MINIMUM + 1  # free requests after which the guest tells the host of them
REASON_BYTES = 400

_HEADER = struct.Struct("<I")


class Mark(IntEnum):
    """A guest's messages that are no request for a config."""

    FINISHED = -1  # the strategy returned, or Kernel Tuner's stop rule ended it
    ERROR = -2  # it raised an error, whose text follows
    OUT_OF_MEMORY = -3
    UNPAID = -4  # nothing but the counts
    READY = -5  # the walls are up and the assignment may come


def pack_reply(reply: Reply) -> bytes:
    """The forty bytes that answer a request: cost, failure, time in microseconds, spent fraction, whether it is done."""
    return REPLY.pack(*reply)


def unpack_reply(data: bytes) -> Reply:
    """The reply in forty bytes."""
    cost, failure, time_us, spent_fraction, done = REPLY.unpack(data)
    return Reply(cost, FailureKind(failure), time_us, spent_fraction, bool(done))


@dataclass(frozen=True)
class Assignment:
    """What one guest is to run.

    Attributes:
        code: The candidate's source.
        class_name: Its class.
        hyperparameters: Arguments for it.
        objective: Name of the objective.
        seed: Seed of the run.
    """

    code: str
    class_name: str
    hyperparameters: Mapping[str, HyperparameterValue]
    objective: str
    seed: int


def pack_assignment(assignment: Assignment) -> bytes:
    """The bytes that tell a guest what to run."""
    payload = json.dumps(vars(assignment) | {"hyperparameters": dict(assignment.hyperparameters)}).encode()
    return _HEADER.pack(len(payload)) + payload


def read_assignment(fd: int) -> Assignment:
    """Read what to run from a pipe, in the guest.

    Raises:
        EOFError: The host is gone.
    """
    (length,) = _HEADER.unpack(_read(fd, _HEADER.size))
    return Assignment(**json.loads(_read(fd, length)))


def _read(fd: int, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = os.read(fd, length - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def clean_text(text: str, limit: int = REASON_BYTES) -> str:
    """Text from a guest made fit for a terminal, a log and a prompt: printable, one line, bounded."""
    line = "".join(char if char.isprintable() else " " for char in text[: 4 * limit])
    line = " ".join(line.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def send_frame(channel: socket.socket, content: dict[str, Any], fds: Sequence[int] = (), tail: bytes = b"") -> None:
    """Send a frame of JSON between trusted processes.

    Args:
        channel: A Unix stream socket.
        content: What to send.
        fds: File descriptors to attach.
        tail: Raw bytes to send after it; the frame says how many there are.
    """
    payload = json.dumps({**content, "tail": len(tail)}).encode()
    header = _HEADER.pack(len(payload))
    if fds:
        socket.send_fds(channel, [header], list(fds))
    else:
        channel.sendall(header)
    channel.sendall(payload + tail)


def receive_frame(channel: socket.socket, max_fds: int = 0) -> tuple[dict[str, Any], list[int], bytes] | None:
    """Receive a frame, its file descriptors and its tail; None when the other side is gone.

    Raises:
        TimeoutError: The socket has a timeout, and nothing came.
    """
    header, fds, _, _ = socket.recv_fds(channel, _HEADER.size, max_fds)
    header += _receive(channel, _HEADER.size - len(header))
    if len(header) < _HEADER.size:
        return None
    for fd in fds:
        os.set_inheritable(fd, False)
    (length,) = _HEADER.unpack(header)
    payload = _receive(channel, length)
    if len(payload) < length:
        return None
    content: dict[str, Any] = json.loads(payload)
    tail_length = content.pop("tail")
    tail = _receive(channel, tail_length)
    return None if len(tail) < tail_length else (content, fds, tail)


def _receive(channel: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = channel.recv(min(length - len(data), 1 << 20))
        if not part:
            break
        data += part
    return bytes(data)
