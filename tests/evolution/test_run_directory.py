"""The run directory: created once, locked, and read back as written."""

import subprocess
import sys
from dataclasses import replace

import pytest

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, HyperparameterRange, Scored
from llamea_tune.evolution.assemble import change_settings
from llamea_tune.evolution.leaderboard import Leaderboard, Row, read_leaderboard
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import RunDirectoryError, SettingsError
from llamea_tune.llm.asking_options import LLMOptions
from llamea_tune.runners.trace import RunState
from llamea_tune.sandbox.sandboxed import Limits

CANDIDATE = Candidate(
    id="0003",
    class_name="Climber",
    code="class Climber: ...\n",
    description="climbs",
    proposer="offline",
    operator="crossover",
    generation=1,
    parents=("0001", "0002"),
    ranges={
        "size": HyperparameterRange("int", 1, 30, log=True),
        "kind": HyperparameterRange("categorical", choices=("a", "b")),
    },
)
EVALUATION = Evaluation(
    CandidateState.SCORED,
    fitness=0.5,
    scores={"a/b": 0.5},
    interval=(0.4, 0.6),
    repeats=10,
    own_compute_ms=0.1,
    notes={"invalid": 0.5},
)


@pytest.fixture
def run(tmp_path):
    return RunDirectory.create(tmp_path / "run", {"settings": Settings().to_json(), "spaces": [], "versions": {}})


def test_candidates_and_confirmations_are_read_back(run):
    run.record_candidate(Scored(CANDIDATE, EVALUATION))
    confirmed = Evaluation(CandidateState.FAILED, "ValueError: late")
    run.record_confirmation(CANDIDATE, confirmed)
    again = RunDirectory.open_existing(run.path)
    assert again.candidates() == {"0003": Scored(CANDIDATE, EVALUATION)}
    assert again.confirmations() == {"0003": confirmed}
    assert (run.path / "candidates" / "0003_Climber.py").read_text() == CANDIDATE.code


def test_settings_are_read_back(run):
    llm = LLMOptions(timeout_s=900.0, max_retries=0, parameters={"stop": ["a"], "deep": {"er": 1}})
    settings = Settings(seed=7, final_strategies=("pso",), limits=Limits(wall_s=5.0), llm=llm)
    assert Settings.from_json(settings.to_json()) == settings
    assert Settings.from_json(run.header()["settings"]) == Settings()


def test_settings_from_before_there_were_options_of_the_language_model_are_read():
    later = ("llm", "max_unanswered", "model_choice")
    older = {name: value for name, value in Settings(seed=7).to_json().items() if name not in later}
    assert Settings.from_json(older) == Settings(seed=7)


def test_options_of_the_language_model_change_one_by_one(run):
    settings = Settings(proposer="handoff:prompts", llm=LLMOptions(timeout_s=900.0, parameters={"a": 1, "b": 2}))
    changed = settings.with_llm(LLMOptions(max_retries=0, parameters={"b": 3}))
    assert changed.llm == LLMOptions(timeout_s=900.0, max_retries=0, parameters={"a": 1, "b": 3})


def test_a_change_that_the_proposer_does_not_take_is_not_kept(run, tmp_path):
    settings = Settings(proposer=f"handoff:{tmp_path / 'prompts'}")
    run.write_json("run.json", {**run.header(), "settings": settings.to_json()})
    with pytest.raises(SettingsError, match="handoff takes no option 'max_retries'"):
        change_settings(run, max_candidates=99, llm=LLMOptions(max_retries=3))
    assert Settings.from_json(run.header()["settings"]) == settings
    change_settings(run, max_candidates=99, llm=LLMOptions(timeout_s=60.0))
    kept = Settings.from_json(run.header()["settings"])
    assert (kept.llm.timeout_s, kept.max_candidates) == (60.0, 99)


def test_an_existing_run_is_not_overwritten(run):
    with pytest.raises(RunDirectoryError, match="exists already; resume it with: llamea-tune resume"):
        RunDirectory.create(run.path, {})


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("important")
    with pytest.raises(RunDirectoryError, match="exists already; choose another"):
        RunDirectory.create(tmp_path, {})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"format": 99}', '{"format": 1, "settings": {}}'])
def test_what_is_no_run_directory_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunDirectoryError, match=r"run\.json|format 99"):
        RunDirectory.open_existing(tmp_path)


def test_a_run_is_held_by_one_process(run):
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from llamea_tune.evolution.run_directory import RunDirectory\n"
        "with RunDirectory.open_existing(Path(sys.argv[1])).locked(): print('held')\n"
    )
    command = [sys.executable, "-c", script, str(run.path)]
    with run.locked():
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "in use by another process" in done.stderr
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "held\n"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"max_candidates": 0}, "max_candidates is 0; it must be at least 1"),
        ({"offspring": -1}, "offspring is -1"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 2**32}, "seed is 4294967296"),
        ({"selection": "wheel"}, "selection is 'wheel'; choose one of: plus, comma, tournament, "),
        ({"baseline": "grid"}, "baseline is 'grid'"),
        ({"information": "all"}, "information is 'all'"),
        ({"max_unanswered": 0}, "max_unanswered is 0"),
        ({"llm": LLMOptions(timeout_s=0.0)}, "llm.timeout_s is 0; it must be a number of seconds above 0"),
        ({"llm": LLMOptions(answer_timeout_s=float("nan"))}, "llm.answer_timeout_s is nan"),
        ({"llm": LLMOptions(max_wait_s=float("inf"))}, "llm.max_wait_s is inf"),
        ({"llm": LLMOptions(max_retries=-1)}, "llm.max_retries is -1"),
    ],
)
def test_settings_out_of_range_name_the_field(values, message):
    with pytest.raises(SettingsError, match=f"^{message}"):
        Settings(**values)


@pytest.mark.parametrize("wall_s", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_limit_is_a_number_of_seconds(wall_s):
    with pytest.raises(SettingsError, match=f"wall_s is {wall_s:g}; it must be a number of seconds above 0"):
        Limits(wall_s=wall_s)


def test_settings_of_another_version_are_refused():
    with pytest.raises(SettingsError, match="does not know: temperature"):
        Settings.from_json({"temperature": 1.0})


@pytest.mark.parametrize("values", [{"max_candidates": "many"}, {"limits": {"hours": 1}}])
def test_settings_of_a_wrong_type_are_refused(values):
    with pytest.raises(SettingsError, match=r"restore its run\.json"):
        Settings.from_json(values)


def test_a_leaderboard_counts_only_until_the_run_goes_on(run):
    assert read_leaderboard(run) is None
    run.record_candidate(Scored(CANDIDATE, EVALUATION))
    board = Leaderboard((Row("0003 Climber", "0003", 0.5, (0.4, 0.6), {"a/b": 0.5}),), repeats=25, n_candidates=1)
    run.write_json("leaderboard.json", board.to_json())
    assert read_leaderboard(run) == board
    run.record_candidate(Scored(replace(CANDIDATE, id="0004"), EVALUATION))
    assert read_leaderboard(run) is None


@pytest.mark.parametrize("content", ["{}", "[]", '{"rows": [1], "repeats": 1, "candidates": 0}'])
def test_a_corrupt_leaderboard_is_named(run, content):
    (run.path / "leaderboard.json").write_text(content)
    with pytest.raises(RunDirectoryError, match=r"leaderboard\.json holds no leaderboard"):
        read_leaderboard(run)


@pytest.mark.parametrize("content", ["[]", '{"0003 Climber": "fast"}'])
def test_corrupt_timings_of_a_leaderboard_are_named(run, content):
    run.write_json("leaderboard.json", Leaderboard((), 1, 0).to_json())
    assert read_leaderboard(run).own_compute() == {}
    (run.path / "own_compute.json").write_text(content)
    with pytest.raises(RunDirectoryError, match=r"own_compute\.json holds no own compute"):
        read_leaderboard(run)


def test_names_of_earlier_versions_are_read() -> None:
    earlier = {"rivals": ["pso"], "finalists": 2}
    assert Settings.from_json(earlier) == Settings(final_strategies=("pso",), final_candidates=2)
    assert RunState("settled") is RunState.TARGET_REACHED
