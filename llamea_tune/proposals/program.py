"""What can be read off a candidate's source without running it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from llamea_tune._syntax import parse_source
from llamea_tune.candidate import HyperparameterValue
from llamea_tune.proposals.proposal import ProposalError

_BASE = "OptAlg"
_RENAMED = "_TheOptimizer"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Outline:
    """The outside of a candidate's class.

    Attributes:
        class_name: Its name.
        doc: Its docstring, possibly empty.
        defaults: Arguments of `__init__` with their defaults; None where a default is no plain value.
    """

    class_name: str
    doc: str
    defaults: dict[str, HyperparameterValue | None]


def outline(code: str) -> Outline:
    """Find the one class deriving from `OptAlg`.

    Raises:
        ProposalError: The code does not parse, or holds no such class or several, or the class lacks `__call__`, or an
            argument of its `__init__` has no default.
    """
    tree = parse_python(code)
    found = _optimizers(tree)
    if not found:
        raise ProposalError("no class derives from OptAlg")
    if len(found) > 1:
        raise ProposalError(f"several classes derive from OptAlg ({', '.join(c.name for c in found)}); give one")
    cls = found[0]
    methods = {node.name: node for node in cls.body if isinstance(node, Function)}
    if "__call__" not in methods:
        raise ProposalError(f"class {cls.name} has no __call__(self, func, searchspace)")
    init = methods.get("__init__")
    return Outline(cls.name, ast.get_docstring(cls) or "", _defaults(init) if init else {})


def parse_python(code: str) -> ast.Module:
    """Parse source.

    Raises:
        ProposalError: It does not parse; the message says where.
    """
    try:
        return parse_source(code)
    except SyntaxError as err:
        line = code.splitlines()[err.lineno - 1].strip() if err.lineno and err.lineno <= len(code.splitlines()) else ""
        raise ProposalError(f"the code is no valid Python: {err.msg} in line {err.lineno}: {line[:80]}") from None
    except (ValueError, RecursionError, MemoryError) as err:
        raise ProposalError(f"the code cannot be parsed: {err or type(err).__name__}") from None


def fingerprint(code: str) -> str:
    """What two programs share that differ in layout, comments, docstrings and the name of their class only.

    Raises:
        ProposalError: The code does not parse.
    """
    tree = parse_python(code)
    found = _optimizers(tree)
    name = found[0].name if len(found) == 1 else None
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if name and isinstance(node, ast.ClassDef) and node.name == name:
            node.name = _RENAMED
        if name and isinstance(node, ast.Name) and node.id == name:
            node.id = _RENAMED
    try:
        return ast.dump(tree)
    except RecursionError:
        raise ProposalError("the code is nested too deeply") from None


def _optimizers(tree: ast.Module) -> list[ast.ClassDef]:
    """Classes that derive from `OptAlg`, if only through another one here, and that no class here derives from."""
    family = {_BASE}
    members: list[ast.ClassDef] = []
    extended: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = {_last_name(base) for base in node.bases} & family
            if bases:
                family.add(node.name)
                members.append(node)
                extended |= bases
    return [node for node in members if node.name not in extended]


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _defaults(init: Function) -> dict[str, HyperparameterValue | None]:
    args = init.args
    positional = [*args.posonlyargs, *args.args][1:]
    n_missing = len(positional) - len(args.defaults)
    defaults: list[ast.expr | None] = [*[None] * max(n_missing, 0), *args.defaults, *args.kw_defaults]
    names = [argument.arg for argument in (*positional, *args.kwonlyargs)]
    values: dict[str, HyperparameterValue | None] = {}
    for name, default in zip(names, defaults[-len(names) :] if names else [], strict=True):
        if default is None:
            raise ProposalError(f"argument {name!r} of __init__ has no default; every hyperparameter needs one")
        values[name] = _plain_value(default)
    return values


def _plain_value(node: ast.expr) -> HyperparameterValue | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, int | float | str) else None
