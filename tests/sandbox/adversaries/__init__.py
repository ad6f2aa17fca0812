"""Candidates that misbehave, one behaviour each, with the layer that must stop them and the state they must end in."""

from adversaries import budget, files, memory_and_time, network, processes, protocol, python, system_calls
from adversaries.adversary import Adversary

ADVERSARIES: tuple[Adversary, ...] = (
    *files.ADVERSARIES,
    *network.ADVERSARIES,
    *processes.ADVERSARIES,
    *system_calls.ADVERSARIES,
    *memory_and_time.ADVERSARIES,
    *protocol.ADVERSARIES,
    *python.ADVERSARIES,
    *budget.ADVERSARIES,
)

__all__ = ["ADVERSARIES", "Adversary"]
