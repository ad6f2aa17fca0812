"""Another package brings one of each kind by entry points alone, and the program takes it like its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from llamea_tune import load_space
from llamea_tune.cli.doctor_checks import check_proposer
from llamea_tune.evolution.selection import SELECTIONS
from llamea_tune.exceptions import SettingsError, SpaceFileError
from llamea_tune.execution import EXECUTORS, Limits, NamedStrategy
from llamea_tune.execution.conditions import package_versions
from llamea_tune.llm import LLMS
from llamea_tune.llm.asking_options import LLMOptions
from llamea_tune.priors import PRIORS, with_priors
from llamea_tune.proposals import PROPOSERS
from llamea_tune.report.files import REPORTS
from llamea_tune.scoring.results_store import runs_key
from llamea_tune.spaces.readers import READERS
from llamea_tune.strategies.outside import LIBRARIES
from llamea_tune.testing.synthetic_spaces import synthetic_space

SITE = Path(__file__).with_name("third_party")
REGISTRIES = (LLMS, PROPOSERS, SELECTIONS, EXECUTORS, READERS, REPORTS, LIBRARIES, PRIORS)


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.syspath_prepend(str(SITE))
    yield
    sys.modules.pop("stranger", None)


@pytest.fixture(scope="module")
def spaces(tmp_path_factory):
    """A folder with one table among files that are no spaces."""
    folder = tmp_path_factory.mktemp("tables")
    rows = [f"{x},{y},{1 + (x - 3) ** 2 + abs(y - 5) / 7}" for x in range(16) for y in range(16)]
    (folder / "one.csv").write_text("\n".join(rows))
    (folder / "notes.json").write_text("{}")
    return folder


@pytest.fixture
def program(tmp_path):
    def run(*arguments: str, status: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [sys.executable, "-m", "llamea_tune", *arguments],
            env={**os.environ, "PYTHONPATH": str(SITE)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == status, done.stderr
        return done

    return run


@pytest.mark.parametrize("proposer", ["fixed:Samples.", "speaker:"])
def test_a_run_with_what_another_package_brings(program, spaces, tmp_path, proposer):
    sizes = ["--max-candidates", "2", "--offspring", "1", "--parents", "1", "--repeats", "2", "--confirm-repeats", "2"]
    final = ["--final-repeats", "2", "--final-candidates", "1", "--final-strategies", "random_sample", "--jobs", "1"]
    chosen = ["--proposer", proposer, "--selection", "oldest", "--spaces", str(spaces)]
    program("evolve", *chosen, *sizes, *final, "--run-dir", "run", "--allow-weak-sandbox", "--quiet")
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert (settings["proposer"], settings["selection"]) == (proposer, "oldest")
    first = json.loads((tmp_path / "run" / "candidates.jsonl").read_text().splitlines()[0])
    assert first["candidate"]["class_name"] == "Sampler"
    assert first["evaluation"]["fitness"] is not None


def test_a_benchmark_on_its_spaces_with_its_report(program, spaces, tmp_path):
    program(
        "benchmark",
        "pso",
        "dice:fair:patience=3",
        "-s",
        str(spaces),
        "-n",
        "2",
        "--executor",
        "single",
        "--report",
        "out.txt",
        "--report",
        "out.json",
        "--quiet",
    )
    rows = (tmp_path / "out.txt").read_text().splitlines()
    assert sorted(rows) == [f"{label} on {spaces.name}/one.csv" for label in ("dice:fair:patience=3", "pso")]
    assert json.loads((tmp_path / "out.json").read_text())["settings"]["repeats"] == 2
    done = program("benchmark", "pso", "-s", str(spaces), "--report", "out.doc", status=2)
    assert "kind of report 'doc' is not known; choose one of csv, json, pdf, png, svg, txt" in done.stderr


def test_names_are_listed_and_imported_when_asked_for(installed):
    added = [["speaker"], ["fixed"], ["oldest"], ["single"], ["table"], ["txt"], ["dice"], ["flat"]]
    assert [registry.added() for registry in REGISTRIES] == added
    assert "stranger" not in sys.modules
    for registry in REGISTRIES:
        assert all(name in registry and registry.load(name) for name in registry)


def test_a_library_matters_to_the_results_of_its_own_optimizers_alone(tmp_path, monkeypatch):
    space, pso = synthetic_space(0, tune_params={"a": (1, 2)}), NamedStrategy("x", "pso")
    key, versions = runs_key(pso, space, seed=1, limits=Limits()), package_versions()
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[llamea_tune.libraries]\nbroken = os:missing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "broken" in LIBRARIES
    assert runs_key(pso, space, seed=1, limits=Limits()) == key
    assert package_versions() == versions
    assert package_versions([]).keys() < package_versions([LIBRARIES.load("smac")]).keys() < versions.keys()


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.group)
def test_a_name_that_is_unknown_or_broken_or_taken_is_one_sentence(registry, tmp_path, monkeypatch):
    known = next(iter(registry))
    with pytest.raises(registry.error, match=f"{registry.kind} 'none' is not known; choose one of .*{known}"):
        registry.load("none")
    for name, expected in (
        ("broken", f"{registry.kind} 'broken' cannot be loaded from os:missing .*; reinstall its package"),
        (known, f"{registry.kind} {known!r} is registered twice, by llamea_tune.* and by os:missing; uninstall one"),
    ):
        info = tmp_path / name / "other-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{registry.group}]\n{name} = os:missing\n")
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(tmp_path / name))
            with pytest.raises(registry.error, match=expected):
                registry.load(name)


def test_options_are_checked_and_none_stands_for_the_default(installed):
    assert PROPOSERS.make("fixed:a:b", {"loud": True}).description == "a:b!"
    assert PROPOSERS.make("fixed", {"loud": None}).description == ""
    with pytest.raises(SettingsError, match="fixed takes no option 'silent'; it takes loud"):
        PROPOSERS.make("fixed", {"silent": 1})


def test_its_prior_goes_by_its_name(installed, spaces):
    (space,) = with_priors([load_space(spaces / "one.csv")], ["flat"], seed=3)
    assert space.prior.told == "the same of all"


def test_doctor_knows_it(installed):
    assert check_proposer("fixed:idea", LLMOptions()).status == "ok"
    assert "fixed takes no option 'timeout_s'" in check_proposer("fixed:idea", LLMOptions(timeout_s=1.0)).detail


def test_what_is_offered_goes_to_those_that_take_it_and_is_no_option(installed):
    assert LLMS.make("speaker:", {}, on_waiting=print, unknown=1).on_waiting is print
    with pytest.raises(SettingsError, match="speaker takes no option 'on_waiting'; it takes none"):
        LLMS.make("speaker:", {"on_waiting": print}, on_waiting=print)


def test_salvage_reaches_the_reader(installed, tmp_path):
    path = tmp_path / "cut.csv"
    path.write_text("1,1,2.5\n2,1,1.5\n2,")
    with pytest.raises(SpaceFileError, match="cut off"):
        load_space(path)
    assert load_space(path, salvage=True).size == 2


def test_files_of_no_known_format_are_still_refused(installed, tmp_path):
    (tmp_path / "other.json").write_text('{"a": 1}')
    with pytest.raises(SpaceFileError, match="neither a Kernel Tuner cache nor T4"):
        load_space(tmp_path / "other.json")
