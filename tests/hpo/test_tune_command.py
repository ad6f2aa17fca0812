"""`llamea-tune tune`, from the command line to the exported strategy."""

import importlib.util
import json

import pytest
from typer.testing import CliRunner

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, HyperparameterRange, Scored
from llamea_tune.cli.app import app, with_options
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import ExportError, LlameaTuneError
from llamea_tune.exporting import ExportRequest, export_strategy, read_record
from llamea_tune.exporting.reopen import reopen_strategy
from llamea_tune.strategies import register_file
from llamea_tune.testing.cache_files import write_cache

QUICK = ["--trials", "6", "--repeats", "4", "--final-repeats", "6", "--jobs", "2"]


@pytest.fixture
def folder(spaces, walker, tmp_path, monkeypatch):
    """A folder with cache files and a class in a file, as the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "caches").mkdir()
    for number, space in enumerate(spaces):
        write_cache(space, tmp_path / "caches" / f"space{number}.json")
    (tmp_path / "walker.py").write_text(walker.code)
    return tmp_path


def call(*arguments: str) -> tuple[str, int]:
    outcome = CliRunner().invoke(app, ["tune", "--spaces", "caches", *QUICK, *arguments])
    if outcome.exception and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    return outcome.output, outcome.exit_code


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_strategy_of_kernel_tuner(folder):
    text, code = call("genetic_algorithm:maxiter=50", "--study", "study")
    assert code == 0
    assert "6 trials" in text
    assert "did the gain survive?" in text
    assert "mutation_chance" in text
    assert (folder / "study" / "journal.log").exists()


def test_the_outcome_as_data_and_the_same_again(folder):
    first, _ = call("genetic_algorithm", "--study", "study", "--json", "--quiet")
    again, _ = call("genetic_algorithm", "--study", "study", "--json", "--quiet")
    data = json.loads(first)
    assert data == json.loads(again)
    assert data["trials"][0]["values"] == data["defaults"]
    assert data["runs_per_trial"] == 8
    assert data["runs"] <= data["runs_unpruned"]
    if data["rescored"] is not None:
        low, high = data["rescored"]["gain"]["interval"]
        assert low <= data["rescored"]["gain"]["difference"] <= high


def test_a_class_in_a_file_is_exported_with_what_is_better(folder):
    thorough = ("--trials", "12", "--repeats", "8", "--final-repeats", "60", "--seed", "3")
    text, code = call("walker.py:Walker", "--export", "tuned_walker", "--output", "out", "--json", "-q", *thorough)
    assert code == 0
    data = json.loads(text)
    module, record = load(folder / "out" / "tuned_walker.py"), read_record(folder / "out" / "tuned_walker.py")
    better = data["rescored"] is not None and data["rescored"]["better"]
    wanted = data["best"] if better else data["defaults"]
    assert {name: module._options[name][1] for name in wanted} == wanted
    assert {name: record.hyperparameters[name].default for name in wanted} == wanted
    assert better, "the case should be one with a gain"
    assert record.training_score.score == data["rescored"]["tuned"]["score"]
    assert record.seeds["tune"] == 3


def test_an_exported_strategy_is_tuned_and_exported_anew(folder):
    call("walker.py:Walker", "--export", "first_walker", "--output", "out", "-q")
    strategy = register_file(folder / "out" / "first_walker.py")
    assert strategy is not None
    call("first_walker", "--export", "second_walker", "--output", "out", "-q", "--seed", "2")
    first, second = (load(folder / "out" / f"{name}_walker.py") for name in ("first", "second"))
    assert list(first._options) == list(second._options)
    assert read_record(folder / "out" / "second_walker.py").class_name == "Walker"


def test_reopening_an_export_gives_the_same_module_again(walker, tmp_path):
    candidate = Candidate("0007", "Walker", walker.code, "Walks.", "offline", "initial", 0)
    made = export_strategy(ExportRequest("a_walker", candidate, "2026-01-31", {"patience": 9}), tmp_path / "out")
    again = export_strategy(reopen_strategy(made.code_path), tmp_path / "again")
    assert again.code_path.read_text() == made.code_path.read_text()
    assert again.record == made.record
    made.code_path.write_text("x = 1\n")
    with pytest.raises(ExportError, match="was not written by an export"):
        reopen_strategy(made.code_path)


def test_a_candidate_of_a_run_with_its_declared_ranges(folder, walker, spaces):
    candidate = Candidate(
        "0007", "Walker", walker.code, "Walks.", "offline", "initial", 0,
        ranges={"jump": HyperparameterRange("float", 0.0, 0.2)},
    )  # fmt: skip
    header = {
        "settings": Settings().to_json(),
        "spaces": [{"name": space.name, "content_hash": space.content_hash} for space in spaces],
        "versions": {},
    }
    run = RunDirectory.create(folder / "run", header)
    run.record_candidate(Scored(candidate, Evaluation(CandidateState.SCORED, fitness=0.1)))
    text, code = call("run:0007", "--export", "run_walker", "--output", "out", "--json", "-q")
    assert code == 0
    ranges = json.loads(text)["ranges"]
    assert (ranges["jump"]["low"], ranges["jump"]["high"]) == (0.0, 0.9)
    assert set(ranges) == {"jump", "patience", "greedy"}
    assert read_record(folder / "out" / "run_walker.py").candidate["id"] == "0007"


def test_ranges_of_the_users_own(folder):
    (folder / "ranges.json").write_text('{"patience": {"type": "int", "low": 2, "high": 4}}')
    text, _ = call("walker.py:Walker", "--ranges", "ranges.json", "--json", "-q", "--study", "study")
    data = json.loads(text)
    assert (data["ranges"]["patience"]["low"], data["ranges"]["patience"]["high"]) == (2, 4)
    assert {trial["values"]["patience"] for trial in data["trials"]} <= {2, 3, 4}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pyatf:torczon"], "an optimizer of pyATF, which is not tuned here"),
        (["genetic_algorthm"], "did you mean genetic_algorithm"),
        (["genetic_algorithm", "--export", "mine"], "not one of llamea-tune's strategies"),
        (["genetic_algorithm", "--trials", "0"], "--trials is 0"),
        (["genetic_algorithm", "--timeout", "nan"], "--timeout is nan"),
        (["walker.py:Walker", "--export", "no name"], "cannot name a strategy"),
        (["walker.py:Walker", "--ranges", "none.json"], "none.json cannot be read"),
        (["walker.py:Walker", "--ranges", "walker.py"], "holds no JSON object"),
        (["walker.py:Walker", "--ranges", "wrong.json"], "no such argument"),
        (["walker.py:Walker", "--ranges", "swapped.json"], "range of 'patience' refused: low 9 is above high 2"),
        (["genetic_algorithm", "--ranges", "swapped_ga.json"], "range of 'maxiter' refused: low 9 is above high 2"),
        (["walker.py:Walker", "--ranges", "log.json"], "range of 'jump' refused: log needs low above 0, not 0"),
        (["walker.py:Walker", "--ranges", "log_of_choices.json"], "range of 'greedy' refused: log is for numbers"),
    ],
)
def test_bad_input_is_refused_in_one_sentence_before_anything_runs(folder, arguments, message):
    (folder / "wrong.json").write_text('{"jmp": {"type": "float", "low": 0, "high": 1}}')
    (folder / "swapped.json").write_text('{"patience": {"type": "int", "low": 9, "high": 2}}')
    (folder / "swapped_ga.json").write_text('{"maxiter": {"type": "int", "low": 9, "high": 2}}')
    (folder / "log.json").write_text('{"jump": {"type": "float", "low": 0, "high": 1, "log": true}}')
    (folder / "log_of_choices.json").write_text('{"greedy": {"type": "bool", "log": true}}')
    outcome = CliRunner().invoke(app, ["tune", "--spaces", "caches", *QUICK, *arguments])
    assert isinstance(outcome.exception, LlameaTuneError)
    assert message in with_options(outcome.exception)
    assert not (folder / "studies").exists()
