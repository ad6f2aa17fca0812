"""The page of a run, read from a run directory of any age."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Scored
from llamea_tune.evolution.leaderboard import Leaderboard, Row
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.report.run_page import run_page
from llamea_tune.report.run_summary import summarise_run

NASTY = '<script>alert("1")</script> & [bold]'
HEADER = {
    "created": "2026-01-31T14:05:03+00:00",
    "settings": {"proposer": "offline", "seed": 1},
    "spaces": [{"name": "small/one", "source": "one.json", "t1": None, "content_hash": "ab12", "configs": 99}],
    "versions": {"python": "3.11"},
}


def candidate(number: int, operator: str, generation: int = 0) -> Candidate:
    return Candidate(
        f"{number:04d}",
        f"Search{number}",
        f"class Search{number}:  # {NASTY}\n    pass\n",
        f"Searches. {NASTY}",
        "offline",
        operator,
        generation,
    )


def scored(fitness: float) -> Evaluation:
    return Evaluation(
        CandidateState.SCORED, "", fitness, {"small/one": fitness}, (fitness - 0.1, fitness + 0.1), 5, 0.1
    )


@pytest.fixture
def run(tmp_path) -> RunDirectory:
    """Five candidates: three scored, one of them worse when confirmed, and two that failed alike."""
    directory = RunDirectory.create(tmp_path / "run", HEADER)
    failed = Evaluation(CandidateState.FAILED, f"ValueError: {NASTY}\nsecond line")
    for entry in (
        Scored(candidate(1, "initial"), scored(0.9)),
        Scored(candidate(2, "initial"), scored(0.5)),
        Scored(candidate(3, "mutate", 1), failed),
        Scored(candidate(4, "mutate", 1), failed),
        Scored(candidate(5, "crossover", 1), scored(0.6)),
    ):
        directory.record_candidate(entry)
    directory.record_confirmation(candidate(1, "initial"), scored(0.2))
    return directory


def finish(run: RunDirectory) -> None:
    board = Leaderboard(
        (
            Row("simulated_annealing", None, 0.7, (0.6, 0.8), {"small/one": 0.7}),
            Row("0002 Search2", "0002", 0.55, (0.5, 0.6), {"small/one": 0.55}),
            Row("pso", None, None, None, {}, "it broke"),
        ),
        50,
        len(run.candidates()),
    )
    run.write_json("leaderboard.json", board.to_json())


class Outline(HTMLParser):
    """Which tags a page has, and whether they are closed in order."""

    VOID = frozenset({"meta", "br", "path", "use", "image"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def outline(text: str) -> Outline:
    parser = Outline()
    parser.feed(text)
    assert parser.open == []
    return parser


def test_a_finished_run(run):
    finish(run)
    summary = summarise_run(run)
    assert summary.best.candidate.id == "0002"
    text = run_page(summary)
    assert outline(text).seen >= {"h1", "h2", "table", "pre", "svg"}
    for expected in ("Leaderboard", "+0.700", "+0.600 to +0.800", "it broke", "Best candidate: 0002 Search2", "ab12"):
        assert expected in text


def test_nothing_in_a_run_becomes_markup(run):
    finish(run)
    text = run_page(summarise_run(run))
    assert "script" not in outline(text).seen
    assert "&lt;script&gt;" in text


def test_an_unfinished_run_goes_by_confirmed_fitness(run):
    summary = summarise_run(run)
    assert summary.best.candidate.id == "0005"
    assert "not finished" in run_page(summary)


def test_failures_are_counted_by_reason(run):
    (failure,) = summarise_run(run).failures
    assert (failure.state, failure.candidates) == ("failed", 2)
    assert failure.reason.startswith("ValueError") and "second line" not in failure.reason


def test_operators_are_compared(run):
    found = {entry.operator: (entry.candidates, entry.scored, entry.best) for entry in summarise_run(run).operators}
    assert found == {"initial": (2, 2, 0.5), "mutate": (2, 0, None), "crossover": (1, 1, 0.6)}


def test_answers_of_language_models_are_added_up(run):
    assert summarise_run(run).llm is None
    for tokens in (100, None):
        run.exchanges.append({"key": "k", "text": "x", "prompt_tokens": tokens, "completion_tokens": 7, "seconds": 1.5})
    run.exchanges.append({"key": "k", "text": ""})
    llm = summarise_run(run).llm
    assert (llm.answers, llm.prompt_tokens, llm.completion_tokens, llm.seconds) == (2, 100, 14, 3.0)
    assert "2 answers" in run_page(summarise_run(run))


def test_a_run_without_candidates(tmp_path):
    summary = summarise_run(RunDirectory.create(tmp_path / "empty", HEADER))
    assert summary.best is None
    outline(run_page(summary))
    json.dumps(summary.to_json(), allow_nan=False)


def test_a_run_in_which_all_failed(tmp_path):
    directory = RunDirectory.create(tmp_path / "sad", HEADER)
    for number in (1, 2):
        evaluation = Evaluation(CandidateState.REJECTED, "imports os")
        directory.record_candidate(Scored(candidate(number, "initial"), evaluation))
    text = run_page(summarise_run(directory))
    outline(text)
    assert "imports os" in text


def test_the_same_run_gives_the_same_page(run):
    finish(run)
    assert run_page(summarise_run(run)) == run_page(summarise_run(run))


def test_a_line_cut_by_a_crash_is_passed_over_and_a_corrupt_one_named(run):
    log = run.path / "candidates.jsonl"
    whole = log.read_text()
    log.write_text(whole + '{"kind": "jud')
    assert len(summarise_run(run).candidates) == 5
    log.write_text("nonsense\n" + whole)
    with pytest.raises(RunDirectoryError, match="line 1"):
        summarise_run(run)
