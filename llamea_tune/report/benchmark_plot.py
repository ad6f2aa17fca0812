"""The figure of a benchmark: aggregate curves over the budget, and a map of the scores on each space."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from llamea_tune.report.drawing import figure_bytes, line_style, new_figure
from llamea_tune.scoring.benchmark_curves import score_curve
from llamea_tune.scoring.benchmark_rows import BenchmarkRow
from llamea_tune.scoring.benchmarking import Benchmark
from llamea_tune.spaces.space import Space
from llamea_tune.wording import counted

_WORST_SHOWN = -0.5  # a score far below random search would flatten everything else


def _plot(kind: str, outcome: Benchmark, _: Sequence[Space], *, timings: bool) -> bytes:  # noqa: ARG001
    return figure_bytes(benchmark_figure(outcome), kind)


pdf_report, png_report, svg_report = (partial(_plot, kind) for kind in ("pdf", "png", "svg"))


def benchmark_figure(outcome: Benchmark) -> Any:
    """The figure: curves of all strategies that were scored on every space, and the map of all scores."""
    labels = 0.09 * max(len(row.label) for row in outcome.rows)
    width = max(8.0, labels + 1.5 + 0.75 * len(outcome.scales))
    figure, parts = new_figure(width, 4.5, 1.7 + 0.28 * len(outcome.rows))
    (_, curves), (map_part, map_axes) = parts
    _draw_curves(curves, outcome)
    _draw_map(map_part, map_axes, outcome.rows, [scale.space for scale in outcome.scales])
    return figure


def _draw_curves(axes: Any, outcome: Benchmark) -> None:
    scored = [row for row in outcome.rows if row.card.mean is not None]
    lowest, highest = 0.0, 0.1
    for number, row in enumerate(scored):
        curve = score_curve(outcome.scales, outcome.runs[row.label], seed=outcome.settings.seed)
        style = line_style(number)
        axes.plot(curve.fractions, curve.mean, label=f"{row.label} ({row.card.mean:+.2f})", **style)
        axes.fill_between(curve.fractions, curve.low, curve.high, color=style["color"], alpha=0.15, linewidth=0)
        lowest, highest = min(lowest, float(curve.low.min())), max(highest, float(curve.high.max()))
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(max(lowest, 2 * _WORST_SHOWN) - 0.02, min(1.0, highest) + 0.02)
    axes.set_xlabel("time, as a fraction of the budget")
    axes.set_ylabel("score: 0 = random search, 1 = optimum")
    n_spaces = len(outcome.scales)
    axes.set_title(
        f"mean over {n_spaces} space{'s' if n_spaces > 1 else ''}, "
        f"{counted(outcome.settings.repeats, 'run')} each, 95 % bootstrap bands",
        loc="left",
    )
    if scored:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def _draw_map(figure: Any, axes: Any, rows: Sequence[BenchmarkRow], spaces: Sequence[str]) -> None:
    scores = np.array(
        [[row.card.spaces[name].score if name in row.card.spaces else np.nan for name in spaces] for row in rows]
    )
    axes.grid(visible=False)
    image = axes.imshow(scores, cmap="RdBu", vmin=-1.0, vmax=1.0, aspect="auto")
    for row, column in np.ndindex(*scores.shape):
        score = scores[row, column]
        text = "failed" if np.isnan(score) else f"{score:.2f}"
        axes.text(column, row, text, ha="center", va="center", color="white" if abs(score) > 0.6 else "black", size=8)
    axes.set_xticks(range(len(spaces)), spaces, rotation=30, ha="right")
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_title("score on each space", loc="left")
    figure.colorbar(image, ax=axes, pad=0.01)
