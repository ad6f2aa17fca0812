"""The figure of a run: fitness over candidates."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from llamea_tune.report.drawing import COLOURS, new_figure
from llamea_tune.report.run_summary import RunSummary


def run_figure(summary: RunSummary) -> Any:
    """Fitness of each candidate in the order of proposal, the best so far, and who failed."""
    figure, [(_, axes)] = new_figure(8.0, 4.0)
    fitness = np.array(
        [np.nan if entry.evaluation.fitness is None else entry.evaluation.fitness for entry in summary.candidates]
    )
    numbers = np.arange(1, len(fitness) + 1)
    operators = list(dict.fromkeys(entry.candidate.operator for entry in summary.candidates))
    for index, operator in enumerate(operators):
        own = np.array([entry.candidate.operator == operator for entry in summary.candidates])
        axes.plot(numbers[own], fitness[own], ".", markersize=8, color=COLOURS[index % len(COLOURS)], label=operator)
    scored = np.isfinite(fitness)
    if scored.any():
        first = int(np.argmax(scored))
        best = np.fmax.accumulate(fitness)[first:]
        axes.step(numbers[first:], best, where="post", color="black", linewidth=1, label="best so far")
        low = float(np.nanmin(fitness))
        failed = numbers[~scored]
        if len(failed):
            axes.plot(failed, np.full(len(failed), low), "x", color="grey", markersize=5, label="no score")
    _mark_generations(axes, summary)
    axes.set_xlabel("candidate")
    axes.set_ylabel("fitness: 0 = random search, 1 = optimum at once")
    axes.set_title("fitness as first measured", loc="left")
    if operators:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


def _mark_generations(axes: Any, summary: RunSummary) -> None:
    generations = [entry.candidate.generation for entry in summary.candidates]
    for number, (before, after) in enumerate(pairwise(generations), start=1):
        if after != before:
            axes.axvline(number + 0.5, color="grey", linewidth=0.6, linestyle=":")
