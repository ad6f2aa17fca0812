"""The pairs of space and repeat that hyperparameters are tried on, and the runs on them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType

import numpy as np

from llamea_tune.runners.meter import RunBudget
from llamea_tune.runners.trace import RunResult
from llamea_tune.sandbox.host import Sandbox
from llamea_tune.sandbox.program import Limits, RunJob
from llamea_tune.scoring.contender import Contender
from llamea_tune.scoring.score import SpaceScale
from llamea_tune.scoring.seeds import run_seed
from llamea_tune.scoring.trusted import NamedRun, TrustedSpace, run_named
from llamea_tune.spaces.space import Space


@dataclass(frozen=True)
class Pair:
    """A space and a repeat on it.

    Attributes:
        space: Number of the space.
        seed: Seed of the run.
    """

    space: int
    seed: int


def ordered_pairs(spaces: Sequence[Space], repeats: int, seed: int, stage: str = "tune") -> tuple[Pair, ...]:
    """All pairs of a study in their order: random, but every space comes once before any comes again.

    So the mean over the first pairs of any two trials is over nearly the same mixture of spaces.

    Args:
        spaces: The spaces.
        repeats: Repeats on each.
        seed: Seed of the order and of the runs.
        stage: What the runs are for; see `run_seed`.
    """
    rng = np.random.default_rng(run_seed(seed, "order of pairs", 0, stage))
    return tuple(
        Pair(int(number), run_seed(seed, spaces[number].content_hash, repeat, stage))
        for repeat in range(repeats)
        for number in rng.permutation(len(spaces))
    )


class PairRuns:
    """Makes single runs on pairs. A context manager; leaving it ends the processes that it started."""

    def __init__(
        self,
        spaces: Sequence[Space],
        scales: Sequence[SpaceScale],
        *,
        jobs: int = 1,
        limits: Limits | None = None,
        allow_weak: bool = False,
    ) -> None:
        """Prepare to run; nothing is started before it is needed.

        Args:
            spaces: The spaces.
            scales: Scale of each.
            jobs: Runs of programs to make at the same time; named strategies run one after the other.
            limits: What a run may use. Named strategies are held to it, so `run` them in a worker, which it ends;
                None sets them none.
            allow_weak: Whether programs may run where the machine offers only a weaker sandbox.
        """
        self.spaces = tuple(spaces)
        self.scales = tuple(scales)
        self._jobs = jobs
        self._limits = limits
        self._allow_weak = allow_weak
        self._processes = ExitStack()

    def __enter__(self) -> PairRuns:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._processes.close()

    @cached_property
    def trusted(self) -> tuple[TrustedSpace, ...]:
        """The spaces, ready for named strategies."""
        return tuple(TrustedSpace(space) for space in self.spaces)

    @cached_property
    def _sandbox(self) -> Sandbox:
        sandbox = Sandbox(self.spaces, jobs=self._jobs, limits=self._limits, allow_weak=self._allow_weak)
        return self._processes.enter_context(sandbox)

    def run(self, contender: Contender, pairs: Sequence[Pair]) -> list[RunResult]:
        """Run a contender on some pairs.

        Returns:
            The runs in the order of the pairs; if one fails, it is the last.

        Raises:
            SandboxError: Programs cannot be run safely here.
            StrategyError: There is no such strategy.
        """
        limits = [self.scales[pair.space].budget.time_limit_us for pair in pairs]
        if contender.program is not None:
            jobs = [RunJob(pair.space, pair.seed, limit) for pair, limit in zip(pairs, limits, strict=True)]
            return self._sandbox.run_all(contender.program, jobs)
        results: list[RunResult] = []
        limit_s = self._limits.named_s if self._limits else None
        for pair, limit in zip(pairs, limits, strict=True):
            budget = RunBudget(limit)
            run = NamedRun(contender.strategy or "", contender.options, pair.seed, budget, limit_s=limit_s)
            results.append(run_named(self.trusted[pair.space], run))
            if not results[-1].state.scorable:
                break
        return results
