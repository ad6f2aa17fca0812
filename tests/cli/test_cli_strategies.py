"""`llamea-tune strategies`, from the outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_tuner.interface import strategy_map

from llamea_tune.candidate import Candidate
from llamea_tune.exporting import ExportRequest, RecordedScore, SpaceReference, export_strategy
from llamea_tune.strategies import register_folder

CODE = '''
from kernel_tuner.strategies.wrapper import OptAlg


class Wanderer(OptAlg):
    """Wanders."""

    def __init__(self, stride=3, cooling=0.5):
        self.stride = stride
        self.cooling = cooling

    def __call__(self, func, searchspace):
        for config in searchspace.get_random_sample(self.stride):
            func(config)
'''


@pytest.fixture
def exported(own_folders: Path):
    """A generated strategy named `wanderer` in the user's own folder, registered for this test."""
    candidate = Candidate("0001", "Wanderer", CODE, "Wanders [about].", "offline", "initial", 0)
    request = ExportRequest(
        "wanderer",
        candidate,
        "2026-01-31",
        training=(SpaceReference("small/one", "00"),),
        training_score=RecordedScore(0.25, (0.1, 0.4), 50),
        scores={"small/one": RecordedScore(0.25, None, 50)},
        note="for the test",
    )
    made = export_strategy(request, own_folders / "strategies")
    before = dict(strategy_map)
    register_folder(own_folders / "strategies")
    yield made
    strategy_map.clear()
    strategy_map.update(before)


def test_list_names_every_strategy(command, exported):
    entries = {entry["name"]: entry for entry in command("strategies", "list", "--json").json}
    assert set(strategy_map) <= set(entries)
    assert entries["pso"]["origin"] == "kernel_tuner"
    assert entries["pyatf:torczon"]["origin"] == "library"
    assert entries["wanderer"]["origin"] == "user"
    assert entries["wanderer"]["path"] == str(exported.code_path)
    done = command("strategies", "list")
    line = next(line for line in done.out.splitlines() if line.startswith("wanderer"))
    assert "generated, your own" in line and "Wanders [about]." in line
    assert max(len(line) for line in done.out.splitlines()) < 160  # a sentence, however much the record says


def test_show_tells_options_with_defaults(command):
    done = command("strategies", "show", "genetic_algorithm")
    assert done.code == 0
    line = next(line for line in done.out.splitlines() if line.startswith("popsize"))
    default = strategy_map["genetic_algorithm"]._options["popsize"][1]
    assert str(default) in line and "opulation" in line
    taken = command("strategies", "show", "genetic_algorithm", "--json").json["options"]
    assert taken["popsize"]["default"] == default


def test_show_tells_that_exported_strategies_take_x0(command, exported):
    line = next(line for line in command("strategies", "show", "wanderer").out.splitlines() if line.startswith("x0"))
    assert "Configs to measure first" in line
    assert command("strategies", "show", "wanderer", "--json").json["options"]["x0"]["default"] is None


@pytest.mark.parametrize("name", sorted(name for name in strategy_map if "pyatf" not in name))
def test_show_works_for_every_strategy(command, name):
    done = command("strategies", "show", name, "--json")
    assert done.json["name"] == name if done.code == 0 else done.is_refusal()


def test_show_tells_where_a_generated_strategy_comes_from(command, exported):
    done = command("strategies", "show", "wanderer")
    for expected in (
        "Wanders [about].",
        "offline",
        "2026-01-31",
        "small/one",
        "+0.250 [+0.100, +0.400]",
        "for the test",
    ):
        assert expected in done.out
    data = command("strategies", "show", "wanderer", "--json").json
    assert data["record"]["training_score"]["score"] == 0.25
    assert set(data["options"]) >= {"stride", "cooling"}


def test_a_missing_record_is_a_warning(command, exported):
    exported.record_path.unlink()
    done = command("strategies", "show", "wanderer")
    assert done.code == 0 and "stride" in done.out
    assert done.err.startswith("warning: ")


def test_a_broken_file_is_one_sentence(command, exported):
    exported.code_path.write_text("import nonsuch_package\n")
    strategy_map["wanderer"]._module = None
    assert command("strategies", "show", "wanderer").is_refusal()
    assert command("strategies", "list").code == 0


def test_an_unknown_name_is_refused_with_what_is_near(command):
    done = command("strategies", "show", "simulated_anealing")
    assert done.is_refusal()
    assert "simulated_annealing" in done.err
