"""CALL: what notebooks and the command line call, with objects or names; nothing is printed."""

from llamea_tune.front_door.advice import KeptAdvice, advise
from llamea_tune.front_door.benchmarks import benchmark
from llamea_tune.front_door.evolving import evolve, resume
from llamea_tune.front_door.exports import export
from llamea_tune.front_door.named_spaces import SpaceLike, opened_spaces
from llamea_tune.front_door.tune_strategy import Tuned, tune

__all__ = [
    "KeptAdvice",
    "SpaceLike",
    "Tuned",
    "advise",
    "benchmark",
    "evolve",
    "export",
    "opened_spaces",
    "resume",
    "tune",
]
