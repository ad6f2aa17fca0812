"""Drawing with matplotlib, without a display and without anything that differs from call to call."""

from __future__ import annotations

import io
from typing import Any

from llamea_tune._imports import require

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
DASHES = ("-", "--", "-.", ":")

_STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "svg.hashsalt": "llamea-tune",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def new_figure(width: float, *heights: float) -> tuple[Any, list[Any]]:
    """A figure of several parts, one below the other, each laid out by itself.

    Args:
        width: Width in inches.
        *heights: Height of each part in inches.

    Returns:
        The figure, and one subfigure and its axes for each part.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    require("matplotlib", "report")
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(width, sum(heights)), layout="constrained")
        FigureCanvasAgg(figure)
        parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        return figure, [(part, part.subplots()) for part in parts]


def figure_bytes(figure: Any, kind: str) -> bytes:
    """A figure as a file's content.

    Args:
        figure: The figure.
        kind: `"png"`, `"pdf"` or `"svg"`.
    """
    from matplotlib import rc_context

    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    content = io.BytesIO()
    with rc_context(_STYLE):
        figure.savefig(content, format=kind, dpi=160, metadata=metadata)
    return content.getvalue()


def line_style(number: int) -> dict[str, Any]:
    """Colour and dashes of line number `number`, so that no two of 32 look alike."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number // len(COLOURS) % len(DASHES)]}
