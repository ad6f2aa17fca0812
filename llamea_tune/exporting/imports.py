"""What a candidate imports, where a strategy file needs it: its own needs added, heavy packages loaded when they are used."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from llamea_tune.candidate_code import CandidateCode, bound_name, parse_source

_HEAVY_PACKAGES = ("scipy", "sklearn")
_LISTING = [
    "",
    "import sys as _sys",
    "",
    "# Kernel Tuner loads files by path without listing them, and dataclasses look their module up.",
    "_sys.modules.setdefault(__name__, type(_sys)(__name__))",
]

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef
_Import = ast.Import | ast.ImportFrom


def with_imports(code: CandidateCode) -> str:
    """The source with all imports that a strategy file needs, those of heavy packages delayed."""
    lines = code.source.split("\n")
    loaded = [node for node in code.tree.body if not isinstance(node, _Definition)]
    anchors = _importing(loaded, "kernel_tuner.strategies") or _importing(loaded, "kernel_tuner")
    added: list[tuple[int, list[str]]] = []
    if "common" not in code.origins:
        added.append((anchors[0].lineno - 1, ["from kernel_tuner.strategies import common"]))
    if "StopCriterionReached" not in code.origins:
        added.append((anchors[-1].end_lineno or 0, ["from kernel_tuner.util import StopCriterionReached"]))
    futures = _importing(loaded, "__future__")
    if futures and "dataclasses" in code.source and _LISTING[-1] not in lines:
        added.append((futures[-1].end_lineno or 0, _LISTING))
    for line, new in sorted(added, reverse=True):
        lines[line:line] = new
    return delay_heavy_imports("\n".join(lines))


def _importing(body: Iterable[ast.stmt], package: str) -> list[ast.stmt]:
    """Statements that import from a package."""
    return [
        node for node in body if any(name.startswith(package) for part in ast.walk(node) for name in _modules(part))
    ]


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def delay_heavy_imports(source: str) -> str:
    """Move the top-level imports of scipy and scikit-learn into the functions that use them.

    An import stays where it is if one of its names is needed when the module is loaded (a base class, a decorator, an
    annotation, a default), or has another meaning somewhere in the module.
    """
    tree, lines = parse_source(source), source.split("\n")
    heavy = [node for node in tree.body if isinstance(node, _Import) and _is_heavy(node)]
    others = [node for node in tree.body if node not in heavy]
    elsewhere = {name for node in others for part in ast.walk(node) for name in _bound(part)}
    functions = list(_outer_functions(others))
    gone: set[int] = set()
    above: dict[int, list[str]] = {}
    for node in heavy:
        own_lines = range(node.lineno - 1, node.end_lineno or node.lineno)
        names = {bound_name(alias) for alias in node.names}
        users = [function for function in functions if _uses([function], names)]
        within = sum(_uses(function.body, names) for function in users)
        places = [_place(function, lines) for function in users]
        alone = not any(other.lineno - 1 in own_lines or (other.end_lineno or 0) - 1 in own_lines for other in others)
        if names & elsewhere or within < _uses(others, names) or None in places or not alone:
            continue
        gone.update(own_lines)
        for line, indent in filter(None, places):
            above.setdefault(line, []).append(indent + ast.unparse(node))
    moved: list[str] = []
    for number, text in enumerate(lines):
        moved += above.get(number, [])
        if number in above and not text.lstrip().startswith(("import ", "from ")):
            moved.append("")
        if number not in gone:
            moved.append(text)
    return "\n".join(moved)


def _is_heavy(node: _Import) -> bool:
    return all(name.partition(".")[0] in _HEAVY_PACKAGES for name in _modules(node))


def _outer_functions(body: Iterable[ast.stmt]) -> Iterator[_Function]:
    for node in body:
        if isinstance(node, _Function):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _outer_functions(node.body)


def _uses(body: Iterable[ast.stmt], names: set[str]) -> int:
    counted = Counter(node.id for entry in body for node in ast.walk(entry) if isinstance(node, ast.Name))
    return sum(counted[name] for name in names)


def _bound(node: ast.AST) -> list[str]:
    """Names that a node gives a meaning to."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.alias():
            return [bound_name(node)]
    return []


def _place(function: _Function, lines: list[str]) -> tuple[int, str] | None:
    """Index of the line where an import goes, after the docstring, and its indent; None where there is no line of its own."""
    documented = ast.get_docstring(function, clean=False) is not None and len(function.body) > 1
    first = function.body[1] if documented else function.body[0]
    line = min([first.lineno, *(node.lineno for node in getattr(first, "decorator_list", []))]) - 1
    if lines[line][: first.col_offset].strip():
        return None
    above = (function.body[0].end_lineno or 0) if documented else function.lineno
    while line > above and lines[line - 1].lstrip().startswith("#"):
        line -= 1
    return line, " " * first.col_offset
