"""A scorer with processes of this machine, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llamea_tune.execution import Limits, LocalExecutor
from llamea_tune.scoring import Scorer
from llamea_tune.spaces.space import Space


@contextmanager
def local_scorer(
    spaces: Sequence[Space], *, jobs: int = 1, limits: Limits | None = None, allow_weak: bool = False, **how: Any
) -> Iterator[Scorer]:
    """A scorer whose runs go on locally; leaving the context ends all processes.

    Args:
        spaces: See `LocalExecutor`.
        jobs: See `LocalExecutor`.
        limits: See `LocalExecutor`.
        allow_weak: See `LocalExecutor`.
        how: See `Scorer`.
    """
    with LocalExecutor(spaces, jobs=jobs, limits=limits, allow_weak=allow_weak) as executor:
        yield Scorer(executor, **how)
