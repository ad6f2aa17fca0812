"""A benchmark as IOHprofiler data, for IOHanalyzer: best cost so far over evaluations.

Every search space becomes a problem of the `ioh` package, every strategy an algorithm with a logger of its own, and
every repeat a run, in which the measurements of its trace are asked for once more in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from llamea_tune import __version__
from llamea_tune._imports import require
from llamea_tune.runners.trace import Trace
from llamea_tune.scoring.benchmark_events import ContenderDone, Event
from llamea_tune.spaces.space import Space


class IohWriter:
    """Watches a benchmark and writes what each strategy did on each space as it is done; `close` it at the end.

    Objective values are those of the space, maximised where they are. A measurement that failed counts as the worst
    value of the space, as in scores. Runs of a strategy that failed are left out, and so are runs without measurements.
    """

    def __init__(self, folder: Path) -> None:
        """Prepare to write.

        Args:
            folder: Where to; one folder for each strategy is made in it.

        Raises:
            MissingDependencyError: ioh is not installed.
        """
        self._ioh: Any = require("ioh", "ioh")
        self._folder = folder
        self._loggers: dict[str, Any] = {}
        self._triggers: list[Any] = []  # a logger does not keep its triggers alive
        self._problems: dict[str, Any] = {}
        self._replayed: Iterator[float] = iter(())

    def __enter__(self) -> IohWriter:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        for logger in self._loggers.values():
            logger.close()

    def __call__(self, event: Event) -> None:
        """Write the runs of a strategy on a space, once all are made."""
        if not isinstance(event, ContenderDone) or not all(run.state.scorable for run in event.runs):
            return
        problem = self._problem(event.space)
        problem.attach_logger(self._logger(event.label))
        for run in event.runs:
            self._replay(problem, event.space, run.trace)
        problem.detach_logger()

    def _replay(self, problem: Any, space: Space, trace: Trace) -> None:
        self._replayed = iter(objective_values(space, trace).tolist())
        for position in space.value_indices[trace.indices].tolist():
            problem(position)
        problem.reset()

    def _problem(self, space: Space) -> Any:
        """The space as a problem over the indices of its parameters' values."""
        if space.name not in self._problems:
            kind = self._ioh.OptimizationType
            known = space.known
            optimum = -known.optimum if space.higher_is_better else known.optimum
            where = known.value_indices[int(np.nanargmin(known.costs))].tolist()
            problem = self._ioh.wrap_problem(
                lambda _: next(self._replayed),
                name=file_name(space.name),
                problem_class=self._ioh.ProblemClass.INTEGER,
                dimension=len(space.param_names),
                optimization_type=kind.MAX if space.higher_is_better else kind.MIN,
                lb=0,
                ub=max(len(values) for values in space.tune_params.values()) - 1,
                calculate_objective=lambda *_: (where, optimum),
            )
            problem.set_id(len(self._problems) + 1)
            self._problems[space.name] = problem
        return self._problems[space.name]

    def _logger(self, label: str) -> Any:
        if label not in self._loggers:
            self._triggers.append(self._ioh.logger.trigger.OnImprovement())
            logger = self._ioh.logger.Analyzer(
                triggers=self._triggers[-1:],
                root=str(self._folder),
                folder_name=f"{len(self._loggers) + 1:02d}_{file_name(label)}",
                algorithm_name=label,
                algorithm_info=f"llamea-tune {__version__}",
            )
            if hasattr(logger, "full_precision"):  # ioh before 0.4 always writes ten decimals
                logger.full_precision = True
            self._loggers[label] = logger
        return self._loggers[label]


def objective_values(space: Space, trace: Trace) -> np.ndarray:
    """Objective values of a trace, in their own direction; the worst of the space where a measurement failed.

    Args:
        space: The space.
        trace: A run on it.

    Returns:
        Shape `(n,)`.
    """
    costs = np.where(np.isfinite(trace.costs), trace.costs, np.nanmax(space.known.costs))
    return -costs if space.higher_is_better else costs


def file_name(text: str) -> str:
    """A text as part of a file name."""
    return re.sub(r"[^\w.=,+-]+", "_", text).strip("_")
