"""`llamea-tune report`, from the outside; what is on the page is tested with the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Scored
from llamea_tune.evolution.run_directory import RunDirectory


@pytest.fixture
def run(own_folders: Path) -> Path:
    directory = RunDirectory.create(own_folders / "runs" / "first", {"settings": {}, "spaces": [], "versions": {}})
    candidate = Candidate("0001", "Search", "class Search: ...", "Searches.", "offline", "initial", 0)
    evaluation = Evaluation(CandidateState.SCORED, "", 0.5, {"a": 0.5}, (0.4, 0.6), 5, 0.1)
    directory.record_candidate(Scored(candidate, evaluation))
    return directory.path


def test_the_page_lies_in_the_run_directory(command, run):
    done = command("report", run)
    assert (done.code, done.out.strip()) == (0, str(run / "report.html"))
    assert "fitness 0.500" in done.err
    assert "class Search" in (run / "report.html").read_text()


def test_or_elsewhere(command, run):
    done = command("report", run, "--output", "page.html", "--json")
    assert done.json["page"] == "page.html" and done.json["best"]["candidate"] == "0001"
    assert Path("page.html").is_file() and not (run / "report.html").exists()


@pytest.mark.parametrize("bad", [("nowhere",), (".",), ("runs/first", "--output", "nowhere/page.html")], ids=" ".join)
def test_bad_input_gets_one_sentence(command, run, bad):
    assert command("report", *bad).is_refusal()


def test_a_corrupt_run_gets_one_sentence(command, run):
    (run / "run.json").write_text("{")
    assert command("report", run).is_refusal()
