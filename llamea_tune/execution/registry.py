"""Executors by name: the built-in ones and those of other packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llamea_tune._registry import Registry
from llamea_tune.exceptions import SettingsError
from llamea_tune.execution.executor import Executor
from llamea_tune.sandbox.sandboxed import Limits
from llamea_tune.spaces.space import Space

LOCAL = "local"

EXECUTORS: Registry[Callable[..., Executor]] = Registry(
    "llamea_tune.executors",
    "executor",
    SettingsError,
    {LOCAL: "llamea_tune.execution.local:from_spec", "ray": "llamea_tune.execution.ray_executor:from_spec"},
)


def make_executor(
    spec: str,
    spaces: Sequence[Space],
    *,
    jobs: int | None = None,
    limits: Limits | None = None,
    allow_weak: bool = False,
) -> Executor:
    """Make an executor from a spec.

    Args:
        spec: `"local"`, `"ray"`, or another name in `EXECUTORS`, with `:` and what it takes.
        spaces: The spaces that runs may be on.
        jobs: Runs that go on at the same time; None for as many as the executor thinks right.
        limits: What one run may use; `Limits()` by default.
        allow_weak: Whether candidates may run where a machine offers only a weaker sandbox.

    Raises:
        SettingsError: The spec names nothing known, or something that cannot be used so.
        MissingDependencyError: It needs a package that is not installed.
    """
    executor: Executor = EXECUTORS.make(spec, {}, spaces=spaces, jobs=jobs, limits=limits, allow_weak=allow_weak)
    return executor
