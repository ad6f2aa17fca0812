"""Moves imports of heavy packages into the functions that use them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from llamea_tune.export.edits import SourceEdits

HEAVY_PACKAGES = frozenset({"scipy", "sklearn"})
_LINE_LENGTH = 88

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Import = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class _Move:
    statement: _Import
    functions: tuple[_Function, ...]


def delay_heavy_imports(tree: ast.Module, edits: SourceEdits) -> None:
    """Move the top-level imports of scipy and scikit-learn to where they are used.

    An import stays where it is if one of its names is needed when the module is loaded (a base class, a decorator, an
    annotation, a default), or has another meaning somewhere in the module.
    """
    functions = list(_outer_functions(tree.body))
    heavy = [statement for statement in tree.body if _is_heavy(statement)]
    moves = [move for statement in heavy if (move := _plan(tree, statement, functions, edits))]
    remove_statements([move.statement for move in moves], edits)
    for function in functions:
        statements = [move.statement for move in moves if function in move.functions]
        if statements:
            _insert(function, statements, edits)


def bound_name(alias: ast.alias) -> str:
    """The name that one part of an import statement binds."""
    return alias.asname or alias.name.partition(".")[0]


def _is_heavy(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import):
        return all(alias.name.partition(".")[0] in HEAVY_PACKAGES for alias in statement.names)
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] in HEAVY_PACKAGES


def _outer_functions(body: Iterable[ast.stmt]) -> Iterator[_Function]:
    for node in body:
        if isinstance(node, _Function):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _outer_functions(node.body)


def _plan(tree: ast.Module, statement: ast.stmt, functions: list[_Function], edits: SourceEdits) -> _Move | None:
    assert isinstance(statement, _Import)
    names = {bound_name(alias) for alias in statement.names}
    if not _fills_its_lines(statement, edits) or names & _other_meanings(tree):
        return None
    users = tuple(function for function in functions if any(_uses(function.body, names)))
    inside = sum(len(list(_uses(function.body, names))) for function in users)
    if inside < len(list(_uses(tree.body, names))) or not all(_starts_its_line(f.body[0], edits) for f in users):
        return None
    return _Move(statement, users)


def _uses(body: Iterable[ast.stmt], names: set[str]) -> Iterator[ast.Name]:
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id in names:
                yield node


def _other_meanings(tree: ast.Module) -> set[str]:
    """Names that something else than a top-level import of a heavy package binds."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.add(name)
            case ast.Global(names=declared) | ast.Nonlocal(names=declared):
                names.update(declared)
            case ast.Import() | ast.ImportFrom() if node not in tree.body or not _is_heavy(node):
                names.update(bound_name(alias) for alias in node.names)
    return names


def _starts_its_line(statement: ast.stmt, edits: SourceEdits) -> bool:
    return not edits.text(edits.line_start(statement.lineno), edits.start(statement)).strip()


def _fills_its_lines(statement: _Import, edits: SourceEdits) -> bool:
    assert statement.end_lineno is not None
    rest = edits.text(edits.end(statement), edits.line_start(statement.end_lineno + 1)).strip()
    return _starts_its_line(statement, edits) and (not rest or rest.startswith("#"))


def remove_statements(statements: Sequence[ast.stmt], edits: SourceEdits) -> None:
    """Remove statements with their lines, and the blank lines that would be left over."""
    numbers = {n for statement in statements for n in range(statement.lineno, (statement.end_lineno or 0) + 1)}
    for first in sorted(n for n in numbers if n - 1 not in numbers):
        last = first
        while last + 1 in numbers:
            last += 1
        above = _blank_lines(first - 1, -1, edits)
        below = _blank_lines(last + 1, 1, edits)
        edits.replace(edits.line_start(first - min(above, below)), edits.line_start(last + 1), "")


def _blank_lines(number: int, step: int, edits: SourceEdits) -> int:
    count = 0
    while 1 <= number <= edits.line_count and not edits.line(number).strip():
        count += 1
        number += step
    return count


def _insert(function: _Function, statements: list[_Import], edits: SourceEdits) -> None:
    """Insert import statements at the top of a function's body, after its docstring."""
    has_docstring = ast.get_docstring(function, clean=False) is not None
    first = function.body[1] if has_docstring else function.body[0]
    line = min([first.lineno, *(node.lineno for node in getattr(first, "decorator_list", []))])
    while edits.line(line - 1).strip().startswith("#"):
        line -= 1
    indent = " " * function.body[0].col_offset
    names = {node.id for statement in function.body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    lines = [_import_text(statement, names, indent) for statement in statements]
    separator = "" if isinstance(first, _Import) else "\n"
    edits.insert(edits.line_start(line), "".join(lines) + separator)


def _import_text(statement: _Import, used: set[str], indent: str) -> str:
    parts = [
        f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        for alias in statement.names
        if bound_name(alias) in used
    ]
    if isinstance(statement, ast.Import):
        return "".join(f"{indent}import {part}\n" for part in parts)
    head = f"{indent}from {statement.module} import "
    if len(head) + len(", ".join(parts)) <= _LINE_LENGTH:
        return f"{head}{', '.join(parts)}\n"
    return f"{head}(\n" + "".join(f"{indent}    {part},\n" for part in parts) + f"{indent})\n"
