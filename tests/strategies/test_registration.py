"""`import llamea_tune` makes generated strategies known to Kernel Tuner, cheaply and without running them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from kernel_tuner.interface import tune_kernel

import llamea_tune
from llamea_tune._bundled import bundled_path
from llamea_tune.exceptions import StrategyError
from llamea_tune.strategies import GeneratedStrategy, register_file, register_folder, user_folder
from llamea_tune.strategies.register import FOLDER_VARIABLE, register_generated

LOADED = """
import json, sys
import kernel_tuner
before = set(sys.modules)
import llamea_tune
from kernel_tuner.interface import strategy_map
print(json.dumps({
    "new": sorted({name.partition(".")[0] for name in set(sys.modules) - before}),
    "all": sorted({name.partition(".")[0] for name in sys.modules}),
    "rooms": sorted(name for name in set(sys.modules) - before if name.startswith("llamea_tune.")),
    "known": sorted(strategy_map),
}))
"""


def imported(**environment):
    run = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def test_import_loads_next_to_nothing(exported):
    loaded = imported(**{FOLDER_VARIABLE: str(exported.code_path.parent)})
    assert "ranked_annealing" in loaded["known"]
    assert not {"openai", "optuna", "smac", "nevergrad", "sklearn", "scipy", "matplotlib", "rich", "typer"} & set(
        loaded["all"]
    )
    assert set(loaded["new"]) - set(sys.stdlib_module_names) <= {"llamea_tune", "platformdirs"}
    rooms = {name.split(".")[1] for name in loaded["rooms"]}
    assert rooms == {"strategies", "exceptions", "kernel_tuner_internals", "_bundled", "_registry"}


def test_public_names_load_when_used():
    for name in llamea_tune.__all__:
        assert getattr(llamea_tune, name).__name__ == name
        assert name in dir(llamea_tune)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = llamea_tune.no_such_name


def test_bundled_and_own_strategies_are_registered(exported, own_strategy_map, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(exported.code_path.parent))
    for name in [name for name, strategy in own_strategy_map.items() if isinstance(strategy, GeneratedStrategy)]:
        del own_strategy_map[name]
    register_generated()
    generated = {name: s for name, s in own_strategy_map.items() if isinstance(s, GeneratedStrategy)}
    bundled = {path.stem for path in bundled_path("strategies_generated").glob("*.py")}
    assert set(generated) == bundled | {"ranked_annealing"}
    assert {name for name, strategy in generated.items() if strategy.bundled} == bundled


def test_registering_runs_nothing(tmp_path, own_strategy_map):
    (tmp_path / "boom.py").write_text("raise RuntimeError('loaded')")
    (tmp_path / "boom.json").write_text("{}")
    (tmp_path / "_hidden.py").write_text("")
    (tmp_path / "not-a-name.py").write_text("")
    assert [strategy.name for strategy in register_folder(tmp_path)] == ["boom"]
    assert repr(own_strategy_map["boom"]) == f"<generated strategy 'boom' from {str(tmp_path / 'boom.py')!r}>"


BROKEN = {
    "error": ("raise RuntimeError('a fault')", "RuntimeError: a fault"),
    "syntax": ("def tune(:", "SyntaxError"),
    "missing module": ("import no_such_module", "no_such_module"),
    "no tune": ("_options = {}", "lacks tune"),
    "no options": ("def tune(*args):\n    pass", "lacks tune"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_file_is_named_when_it_is_used(tmp_path, own_strategy_map, text, message):
    (tmp_path / "boom.py").write_text(text)
    register_folder(tmp_path)
    with pytest.raises(StrategyError, match=message) as error:
        tune_kernel("f", "float f() { return 0; }", 1, [], {"a": [1]}, lang="C", strategy="boom", quiet=True)
    assert str(tmp_path / "boom.py") in str(error.value)
    assert "llamea_tune_generated_boom" not in sys.modules


def test_names_of_kernel_tuner_are_refused(tmp_path, own_strategy_map):
    before = own_strategy_map["pso"]
    (tmp_path / "pso.py").write_text("")
    with pytest.warns(UserWarning, match="Kernel Tuner itself"):
        assert register_folder(tmp_path) == []
    assert own_strategy_map["pso"] is before


def test_first_of_two_files_keeps_its_name(tmp_path, own_strategy_map):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text("")
        if folder == "a":
            register_folder(tmp_path / folder)
    with pytest.warns(UserWarning, match=r"a/mine\.py"):
        register_folder(tmp_path / "b")
    assert own_strategy_map["mine"].path == tmp_path / "a" / "mine.py"


def test_registering_again_loads_the_new_file(exported, own_strategy_map):
    first = register_file(exported.code_path)
    assert first._options["cooling"][1] == 0.95
    exported.code_path.write_text(exported.code_path.read_text().replace("0.95", "0.5"))
    assert register_file(exported.code_path)._options["cooling"][1] == 0.5


def test_relative_path_is_found_from_elsewhere(exported, own_strategy_map, monkeypatch):
    monkeypatch.chdir(exported.code_path.parent)
    strategy = register_file(Path(exported.code_path.name))
    monkeypatch.chdir("/")
    assert strategy.load().RankedAnnealing


def test_missing_folder(tmp_path):
    assert register_folder(tmp_path / "none") == []


def test_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_folder().parts[-2:] == ("llamea-tune", "strategies")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "mine"))
    assert user_folder() == tmp_path / "mine"


def test_a_user_without_a_home_can_import():
    """As in a container under a user id that has no entry in the user database."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HOME", "XDG_", "LLAMEA"))}
    script = (
        "import pwd\n"
        "def nobody(uid): raise KeyError(uid)\n"
        "pwd.getpwuid = nobody\n"
        "import llamea_tune\n"
        "print('imported')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "imported\n", done.stderr
