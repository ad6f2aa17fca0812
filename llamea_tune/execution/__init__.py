"""RUN: contenders on spaces, with seeds and budgets.

An `Executor` makes runs and gives their results as they finish: a `LocalExecutor` in processes of this machine, a
`RayExecutor` on a cluster; `make_executor` makes one by its name.
"""

from llamea_tune.execution.contender import Contender, make_contender
from llamea_tune.execution.executor import Executor, RunResults, each_until_failure
from llamea_tune.execution.local import LocalExecutor
from llamea_tune.execution.registry import EXECUTORS, LOCAL, make_executor
from llamea_tune.execution.run import Run
from llamea_tune.sandbox.sandboxed import Limits, SandboxedCandidate
from llamea_tune.strategies.written import NamedStrategy

__all__ = [
    "EXECUTORS",
    "LOCAL",
    "Contender",
    "Executor",
    "Limits",
    "LocalExecutor",
    "NamedStrategy",
    "SandboxedCandidate",
    "Run",
    "RunResults",
    "each_until_failure",
    "make_contender",
    "make_executor",
]
