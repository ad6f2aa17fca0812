"""A benchmark as data for other programs. The same seed and inputs give the same bytes, unless timings are wanted."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from llamea_tune import __version__
from llamea_tune.execution.conditions import package_versions
from llamea_tune.scoring.benchmark_rows import BenchmarkRow
from llamea_tune.scoring.benchmarking import Benchmark
from llamea_tune.scoring.compare import Comparison
from llamea_tune.scoring.score import SpaceScale
from llamea_tune.scoring.scorecard import SpaceScore
from llamea_tune.spaces.space import Space

_COLUMNS = (
    *("strategy", "space", "score", "low", "high", "mean_score", "mean_low", "mean_high", "mean_place"),
    *("difference_to_best", "p_value", "repeats", "evaluations", "repeated", "invalid", "failed", "failure"),
)


def benchmark_json(outcome: Benchmark, spaces: Sequence[Space], *, timings: bool = False) -> dict[str, Any]:
    """Everything that the tables show, and what it takes to repeat it.

    Args:
        outcome: The benchmark.
        spaces: Its spaces.
        timings: Whether to add own compute in milliseconds per evaluation, which no two calls measure alike.
    """
    settings = outcome.settings
    scales = {scale.space: scale for scale in outcome.scales}
    return {
        "settings": {
            "repeats": settings.repeats,
            "seed": settings.seed,
            "baseline": settings.baseline,
            "charge_own_compute": settings.charge_own_compute,
            "stop_at_target": settings.stop_at_target,
        },
        "versions": {"llamea-tune": __version__, **package_versions()},
        "spaces": [_space_json(space, scales[space.name]) for space in spaces],
        "strategies": [_row_json(row, timings) for row in outcome.rows],
    }


def benchmark_csv(outcome: Benchmark, *, timings: bool = False) -> str:
    """One line for each strategy and space, the strategy's mean repeated in each.

    Args:
        outcome: The benchmark.
        timings: See `benchmark_json`.
    """
    text = io.StringIO()
    columns = [*_COLUMNS, *(["own_compute_ms"] if timings else [])]
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in outcome.rows:
        for scale in outcome.scales:
            line = _csv_line(row, scale.space)
            writer.writerow({name: line[name] for name in columns})
    return text.getvalue()


def json_report(outcome: Benchmark, spaces: Sequence[Space], *, timings: bool) -> bytes:
    """`benchmark_json` as a file."""
    return (json.dumps(benchmark_json(outcome, spaces, timings=timings), indent=2, allow_nan=False) + "\n").encode()


def csv_report(outcome: Benchmark, _: Sequence[Space], *, timings: bool) -> bytes:
    """`benchmark_csv` as a file."""
    return benchmark_csv(outcome, timings=timings).encode()


def _space_json(space: Space, scale: SpaceScale) -> dict[str, Any]:
    return {
        "name": space.name,
        "content_hash": space.content_hash,
        "configs": space.size,
        "valid": round(float(space.known.valid.mean()) * space.size),
        "evaluations": scale.budget.evaluations,
        "time_limit_s": scale.budget.time_limit_us / 1e6,
        **({"prior": space.prior.told} if space.prior else {}),
    }


def _row_json(row: BenchmarkRow, timings: bool) -> dict[str, Any]:
    card = row.card
    return {
        "strategy": row.label,
        "score": card.mean,
        "interval": card.interval,
        "mean_place": row.mean_place,
        "to_best": None if row.to_best is None else _comparison_json(row.to_best),
        "spaces": {name: _score_json(entry, timings) for name, entry in card.spaces.items()},
        "failures": dict(row.failures),
    }


def _comparison_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "best": comparison.second,
        "difference": comparison.difference,
        "interval": comparison.interval,
        "p_value": comparison.p_value,
    }


def _score_json(entry: SpaceScore, timings: bool) -> dict[str, Any]:
    counts = entry.counts
    data: dict[str, Any] = {
        "score": entry.score,
        "interval": entry.interval,
        "repeats": entry.repeats,
        "evaluations": counts.paid,
        "repeated": counts.repeated,
        "invalid": counts.invalid,
        "failed": counts.failed,
    }
    if timings:
        data["own_compute_ms"] = None if math.isnan(entry.own_compute_ms) else entry.own_compute_ms
    return data


def _csv_line(row: BenchmarkRow, space: str) -> Mapping[str, object]:
    entry = row.card.spaces.get(space)
    low, high = entry.interval if entry else ("", "")
    mean_low, mean_high = row.card.interval or ("", "")
    counts = entry.counts if entry else None
    return {
        "strategy": row.label,
        "space": space,
        "score": entry.score if entry else "",
        "low": low,
        "high": high,
        "mean_score": row.card.mean,
        "mean_low": mean_low,
        "mean_high": mean_high,
        "mean_place": row.mean_place,
        "difference_to_best": row.to_best.difference if row.to_best else 0.0 if row.card.mean is not None else "",
        "p_value": row.to_best.p_value if row.to_best else "",
        "repeats": entry.repeats if entry else "",
        "evaluations": counts.paid if counts else "",
        "repeated": counts.repeated if counts else "",
        "invalid": counts.invalid if counts else "",
        "failed": counts.failed if counts else "",
        "failure": row.failures.get(space, ""),
        "own_compute_ms": "" if entry is None or math.isnan(entry.own_compute_ms) else entry.own_compute_ms,
    }
