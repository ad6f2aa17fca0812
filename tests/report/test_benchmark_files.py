"""What a benchmark is written as: JSON, CSV, plots."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from benchmark_samples import NAMES, SETTINGS

from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import make_contender
from llamea_tune.report.benchmark_data import benchmark_csv, benchmark_json
from llamea_tune.report.benchmark_plot import benchmark_figure
from llamea_tune.report.files import check_targets, report_of, write_bytes
from llamea_tune.scoring.benchmark_curves import score_curve
from llamea_tune.scoring.benchmarking import run_benchmark

SIGNATURES = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


def test_json_says_what_the_rows_say(outcome, small_spaces):
    data = json.loads(json.dumps(benchmark_json(outcome, small_spaces), allow_nan=False))
    flags = {"charge_own_compute": False, "stop_at_target": False}
    assert data["settings"] == {"repeats": 6, "seed": 3, "baseline": "published", **flags}
    assert data["versions"]["kernel_tuner"]
    assert [space["content_hash"] for space in data["spaces"]] == [space.content_hash for space in small_spaces]
    assert [entry["strategy"] for entry in data["strategies"]] == [row.label for row in outcome.rows]
    for entry, row in zip(data["strategies"], outcome.rows, strict=True):
        assert entry["score"] == row.card.mean
        assert set(entry["spaces"]) == {"small/one", "small/two"}
        for name, score in entry["spaces"].items():
            assert score["score"] == row.card.spaces[name].score
            assert score["evaluations"] == row.card.spaces[name].counts.paid > 0
            assert score["interval"][0] <= score["score"] + 0.2


def test_csv_has_a_line_for_each_strategy_and_space(outcome, small_spaces):
    lines = list(csv.DictReader(io.StringIO(benchmark_csv(outcome))))
    assert [(line["strategy"], line["space"]) for line in lines] == [
        (row.label, space.name) for row in outcome.rows for space in small_spaces
    ]
    by_label = {row.label: row for row in outcome.rows}
    for line in lines:
        card = by_label[line["strategy"]].card
        assert float(line["score"]) == card.spaces[line["space"]].score
        assert float(line["mean_score"]) == card.mean
        assert line["failure"] == ""
    assert lines[0]["difference_to_best"] == "0.0" and lines[0]["p_value"] == ""


def test_timings_are_there_when_asked_for_only(outcome, small_spaces):
    assert "own_compute_ms" not in json.dumps(benchmark_json(outcome, small_spaces)) + benchmark_csv(outcome)
    data = json.dumps(benchmark_json(outcome, small_spaces, timings=True), allow_nan=False)
    assert "own_compute_ms" in data
    assert "own_compute_ms" in benchmark_csv(outcome, timings=True).splitlines()[0]


@pytest.fixture(scope="module")
def with_failure(small_spaces, store, tmp_path_factory):
    """A benchmark in which one strategy fails on one space."""
    path = tmp_path_factory.mktemp("broken") / "broken.py"
    path.write_text(
        "from kernel_tuner.strategies.wrapper import OptAlg\n"
        "class Broken(OptAlg):\n"
        "    def __call__(self, func, searchspace):\n"
        "        if min(func(config) for config in searchspace.get_random_sample(9)) < 0: raise ValueError('a, \"b\"')\n"
    )
    contenders = [make_contender(NAMES[0]), make_contender(f"{path}:Broken")]
    return run_benchmark(contenders, small_spaces, SETTINGS, store=store)


def test_failures_are_written_too(with_failure, small_spaces):
    data = benchmark_json(with_failure, small_spaces)["strategies"][1]
    assert data["score"] is None and data["to_best"] is None
    assert "ValueError" in data["failures"]["small/two"]
    line = list(csv.DictReader(io.StringIO(benchmark_csv(with_failure))))[3]
    assert line["score"] == "" and 'a, "b"' in line["failure"]


@pytest.mark.parametrize("kind", SIGNATURES)
def test_plots_are_drawn_in_each_format_and_the_same_each_time(with_failure, small_spaces, tmp_path, kind):
    paths = [tmp_path / f"{name}.{kind}" for name in ("one", "other")]
    first, other = (report_of(path)(with_failure, small_spaces, timings=False) for path in paths)
    assert first.startswith(SIGNATURES[kind])
    assert first == other


@pytest.mark.parametrize("timings", [False, True])
def test_data_is_written_by_the_suffix(with_failure, small_spaces, tmp_path, timings):
    for name in ("scores.csv", "scores.JSON"):
        write_bytes(tmp_path / name, report_of(tmp_path / name)(with_failure, small_spaces, timings=timings))
    assert (tmp_path / "scores.csv").read_text() == benchmark_csv(with_failure, timings=timings)
    found = json.loads((tmp_path / "scores.JSON").read_text())
    assert found == json.loads(json.dumps(benchmark_json(with_failure, small_spaces, timings=timings)))


def test_the_figure_shows_every_strategy_and_space(with_failure, outcome):
    for made in (with_failure, outcome):
        figure = benchmark_figure(made)
        curves, scores = (part.axes[0] for part in figure.subfigs)
        legend = [text.get_text() for text in curves.get_legend().get_texts()]
        assert [text.split(" (")[0] for text in legend] == [row.label for row in made.rows if row.card.mean is not None]
        assert [label.get_text() for label in scores.get_yticklabels()] == [row.label for row in made.rows]
        assert [label.get_text() for label in scores.get_xticklabels()] == ["small/one", "small/two"]
    written = [text.get_text() for text in benchmark_figure(with_failure).subfigs[1].axes[0].texts]
    assert written.count("failed") == 1


def test_the_mean_of_the_curve_is_the_score(outcome):
    for row in outcome.rows:
        curve = score_curve(outcome.scales, outcome.runs[row.label])
        assert float(curve.mean.mean()) == pytest.approx(row.card.mean, abs=0.02)
        assert np.all(curve.low <= curve.high)
        assert np.mean((curve.low <= curve.mean + 1e-9) & (curve.mean <= curve.high + 1e-9)) > 0.9


def test_places_that_cannot_be_written_are_refused_first(tmp_path):
    for bad, match in (
        ({"reports": [tmp_path / "plot.gif"]}, "kind of report 'gif' is not known; choose one of csv, json, pdf"),
        ({"texts": [tmp_path / "no" / "scores.csv"]}, "no folder"),
        ({"texts": [tmp_path]}, "is a folder"),
        ({"folders": [tmp_path.parent]}, "exists already"),
    ):
        with pytest.raises(SettingsError, match=match):
            check_targets(**bad)
    check_targets(reports=[tmp_path / "a.PNG"], texts=[tmp_path / "b.csv"], folders=[tmp_path, tmp_path / "new"])


def test_a_file_is_replaced_in_one_step(tmp_path):
    target = tmp_path / "out.txt"
    target.write_bytes(b"before")
    write_bytes(target, b"after")
    assert target.read_bytes() == b"after"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    with pytest.raises(SettingsError, match="cannot be written"):
        write_bytes(target / "below", b"x")
