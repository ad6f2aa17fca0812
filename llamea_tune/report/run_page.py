"""The page of a run: one static HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llamea_tune.candidate import Scored
from llamea_tune.evolution.leaderboard import Leaderboard, Row
from llamea_tune.report import html
from llamea_tune.report.drawing import figure_bytes
from llamea_tune.report.own_compute import own_compute_cells, own_compute_notes
from llamea_tune.report.run_plot import run_figure
from llamea_tune.report.run_summary import RunSummary
from llamea_tune.wording import counted


def run_page(summary: RunSummary) -> str:
    """The page as text; the same run gives the same bytes.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    return html.page(f"run {Path(summary.path).name}", _parts(summary))


def _parts(summary: RunSummary) -> Iterator[str]:
    yield html.paragraph(_outcome(summary))
    if summary.candidates:
        yield html.drawing(figure_bytes(run_figure(summary), "svg"))
    if summary.leaderboard is not None:
        yield from _leaderboard(summary.leaderboard)
    if summary.best is not None:
        yield from _best(summary.best)
    yield from _operators(summary)
    yield from _models(summary)
    yield from _failures(summary)
    yield from _inputs(summary.header)


def _outcome(summary: RunSummary) -> str:
    scored = sum(entry.evaluation.fitness is not None for entry in summary.latest)
    n_candidates = counted(len(summary.candidates), "candidate")
    text = f"Started {summary.header.get('created', 'at an unknown time')}: {n_candidates}, {scored} scored."
    if summary.llm is not None:
        llm = summary.llm
        text += (
            f" Language models gave {llm.answers} answers, which took {llm.prompt_tokens:,} prompt tokens, "
            f"{llm.completion_tokens:,} answer tokens and {llm.seconds:,.0f} s."
        )
        text += "" if llm.cost is None else f" They cost {llm.cost:.4f}."
    if summary.leaderboard is None:
        text += " The run is not finished: there is no leaderboard yet."
    return text


def _leaderboard(board: Leaderboard) -> Iterator[str]:
    spaces = sorted({name for row in board.rows for name in row.scores})
    best = next((number for number, row in enumerate(board.rows) if row.candidate is not None), None)
    yield html.heading("Leaderboard")
    told = "per space on seeds that nothing was selected on; 0 = random search, 1 = optimum at once."
    yield html.paragraph(f"{counted(board.repeats, 'run')} {told}", note=True)
    for note in own_compute_notes(board):
        yield html.paragraph(f"{note[0].upper()}{note[1:]}.", note=True)
    own = own_compute_cells(board)
    rows = [
        [row.label, _score(row.mean), _interval(row), *own[number : number + 1], *_on_spaces(row, spaces)]
        for number, row in enumerate(board.rows)
    ]
    headings = ["strategy", "score", "95 % interval", *(["own ms"] if own else []), *spaces]
    yield html.table(headings, rows, numbers=1, best=best)


def _best(best: Scored) -> Iterator[str]:
    candidate = best.candidate
    yield html.heading(f"Best candidate: {candidate.id} {candidate.class_name}")
    yield html.paragraph(candidate.description)
    parents = ", ".join(candidate.parents) or "none"
    yield html.paragraph(
        f"Proposed by {candidate.proposer}, operator {candidate.operator}, generation {candidate.generation}, "
        f"parents: {parents}.",
        note=True,
    )
    yield html.code(candidate.code)


def _operators(summary: RunSummary) -> Iterator[str]:
    if not summary.operators:
        return
    yield html.heading("Operators")
    rows = [
        [entry.operator, str(entry.candidates), str(entry.scored), _score(entry.best)] for entry in summary.operators
    ]
    yield html.table(["operator", "candidates", "scored", "best fitness"], rows, numbers=1)


def _models(summary: RunSummary) -> Iterator[str]:
    if not summary.models:
        return
    yield html.heading("Language models")
    rows = [[entry.llm, str(entry.asked), str(entry.usable), _score(entry.mean_gain)] for entry in summary.models]
    yield html.table(["language model", "asked", "usable", "mean gain over the best parent"], rows, numbers=1)


def _failures(summary: RunSummary) -> Iterator[str]:
    if not summary.failures:
        return
    yield html.heading("Candidates without a score")
    rows = [[entry.state, entry.reason, str(entry.candidates)] for entry in summary.failures]
    yield html.table(["state", "reason", "candidates"], rows, numbers=2)


def _inputs(header: Mapping[str, Any]) -> Iterator[str]:
    yield html.heading("Spaces")
    spaces = [[str(space[key]) for key in ("name", "configs", "content_hash")] for space in header.get("spaces", [])]
    yield html.table(["space", "configs", "SHA-256"], spaces)
    yield html.heading("Settings")
    yield html.table(["setting", "value"], [[name, str(value)] for name, value in header.get("settings", {}).items()])
    yield html.heading("Versions")
    yield html.table(["package", "version"], [[name, str(value)] for name, value in header.get("versions", {}).items()])


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:+.3f}"


def _interval(row: Row) -> str:
    return row.reason if row.interval is None else f"{row.interval[0]:+.3f} to {row.interval[1]:+.3f}"


def _on_spaces(row: Row, spaces: list[str]) -> list[str]:
    return [_score(row.scores.get(name)) for name in spaces]
