"""MEASURE: one protocol for cached, live and recording runners; the meter keeps budget, clock and trace."""

from llamea_tune.runners.cached import CachedRunner
from llamea_tune.runners.channel import Channel
from llamea_tune.runners.meter import Meter, Reply, RunBudget
from llamea_tune.runners.runner import Measurement, Runner
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, Trace

__all__ = [
    "CachedRunner",
    "Channel",
    "Measurement",
    "Meter",
    "Reply",
    "RequestCounts",
    "RunBudget",
    "RunResult",
    "RunState",
    "Runner",
    "Trace",
]
