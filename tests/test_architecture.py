"""The rooms keep their order: imports point down, and nothing outgrows its file."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "llamea_tune"
SOURCES = sorted(PACKAGE.rglob("*.py"))

# What each room may import besides itself and the modules at the top of the package.
MAY_IMPORT = {
    "spaces": set(),
    "runners": {"spaces", "recording"},
    "recording": {"spaces"},
    "sandbox": {"runners", "spaces"},
    "strategies": set(),
    "execution": {"sandbox", "runners", "spaces", "strategies"},
    "scoring": {"execution", "runners", "spaces", "strategies"},
    "llm": set(),
    "proposals": {"llm", "spaces"},
    "hpo": {"scoring", "execution", "sandbox", "runners", "spaces", "strategies"},
    "exporting": {"sandbox", "spaces"},
    "evolution": {
        "proposals",
        "hpo",
        "exporting",
        "scoring",
        "execution",
        "sandbox",
        "runners",
        "spaces",
        "llm",
        "strategies",
    },
    "report": {"scoring", "runners", "spaces", "strategies", "evolution"},
}
MAY_IMPORT["front_door"] = set(MAY_IMPORT) - {"report"}
LEAVES = {"candidate_code", "storage"}  # which all may import
UNRESTRICTED = {"cli", "testing"}


def imported_modules(path: Path) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
    return modules


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path):
    room = path.relative_to(PACKAGE).parts[0]
    if room.endswith(".py") or room in UNRESTRICTED | LEAVES:
        return
    rooms = {module.split(".")[1] for module in imported_modules(path) if module.startswith("llamea_tune.")}
    folders = {folder.name for folder in PACKAGE.iterdir() if folder.is_dir()}
    assert (rooms & folders) - {room} <= MAY_IMPORT[room] | LEAVES


@pytest.mark.parametrize("room", sorted(LEAVES))
def test_leaves_import_nothing_of_the_package_but_its_errors(room):
    imported = {module for path in (PACKAGE / room).rglob("*.py") for module in imported_modules(path)}
    parts = {module.split(".")[1] for module in imported if module.startswith("llamea_tune.")}
    assert parts <= {room, "exceptions"}


def test_candidate_code_is_parsed_in_one_room():
    for path in SOURCES:
        if "candidate_code" not in path.parts and path.name != "expressions.py":  # which reads restrictions
            assert not re.search(r"\bast\.(parse|literal_eval)\(", path.read_text()), path


def test_every_room_is_covered():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == set(MAY_IMPORT) | UNRESTRICTED | LEAVES


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_stay_small(path):
    assert len(path.read_text().splitlines()) <= 400


def test_no_pickle_of_foreign_data():
    for room in ("sandbox", "runners", "spaces"):
        for path in (PACKAGE / room).rglob("*.py"):
            assert not imported_modules(path) & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}, path
