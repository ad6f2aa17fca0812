"""The rooms keep their order: imports point down, and nothing outgrows its file."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "llamea_tune"
SOURCES = sorted(PACKAGE.rglob("*.py"))

# What each room may import besides itself and the modules at the top of the package.
MAY_IMPORT = {
    "spaces": set(),
    "priors": {"spaces"},
    "runners": {"spaces", "recording"},
    "recording": {"spaces"},
    "sandbox": {"runners", "spaces"},
    "strategies": set(),
    "execution": {"sandbox", "runners", "spaces", "strategies"},
    "scoring": {"execution", "runners", "spaces", "strategies"},
    "llm": set(),
    "advising": {"llm", "priors", "proposals", "recording", "spaces"},
    "proposals": {"llm", "spaces"},
    "hpo": {"scoring", "execution", "sandbox", "runners", "spaces", "strategies"},
    "exporting": {"sandbox", "spaces"},
    "evolution": {
        "priors",
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
    "report": {"scoring", "execution", "runners", "spaces", "strategies", "evolution"},
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


def test_the_docs_name_every_room_and_front_doors_that_exist():
    page = (ROOT / "docs" / "pipeline.md").read_text()
    rows = re.findall(r"^\| `(\w+)/` \| .* \| (.*) \|$", page, flags=re.MULTILINE)
    assert {room for room, _ in rows} == set(MAY_IMPORT) | UNRESTRICTED | LEAVES
    for room, doors in rows:
        for door in re.findall(r"`([\w.]+)`", doors):
            exists = (PACKAGE / room / door).is_file() or hasattr(import_module(f"llamea_tune.{room}"), door)
            assert exists, f"{room}: {door}"


@pytest.mark.parametrize(
    "page", [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))], ids=lambda page: page.name
)
def test_what_a_page_links_to_and_names_as_a_file_is_there(page):
    text = page.read_text()
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []
    rooms = "|".join(sorted(set(MAY_IMPORT) | UNRESTRICTED | LEAVES))
    files = re.findall(rf"`(?:llamea_tune/)?((?:{rooms})/[\w/]*(?:\w\.py|/))`", text)
    assert [file for file in files if not (PACKAGE / file).exists()] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_stay_small(path):
    assert len(path.read_text().splitlines()) <= 400


def test_no_pickle_of_foreign_data():
    for room in ("sandbox", "runners", "spaces"):
        for path in (PACKAGE / room).rglob("*.py"):
            assert not imported_modules(path) & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}, path
