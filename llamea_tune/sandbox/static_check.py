"""A first look at a candidate's source, without running it.

A courtesy to the proposer, who gets a clear reason at no cost: the walls of the sandbox do not rely on it.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from llamea_tune._syntax import parse_source
from llamea_tune.candidate import HyperparameterValue

DEFAULT_IMPORTS: frozenset[str] = frozenset(
    {
        *("kernel_tuner", "numpy", "scipy", "sklearn"),
        *("__future__", "abc", "bisect", "cmath", "collections", "copy", "dataclasses", "enum", "fractions"),
        *("functools", "heapq", "itertools", "math", "numbers", "operator", "random", "statistics", "string"),
        *("sys", "typing", "warnings"),
    }
)
"""Packages that a candidate may import, with all that is below them. Not `time`: runs must repeat bit for bit."""

MAX_CODE_BYTES = 200_000

_FORBIDDEN_NAMES = frozenset(
    {"__builtins__", "__import__", "breakpoint", "compile", "eval", "exec", "globals", "input", "open", "vars"}
)
_HARMLESS_DUNDERS = frozenset(
    {
        *("__init__", "__call__", "__post_init__", "__name__", "__class__", "__doc__", "__len__", "__iter__"),
        *("__next__", "__getitem__", "__setitem__", "__contains__", "__eq__", "__lt__", "__hash__", "__repr__"),
    }
)
_HARMLESS_OF_SYS = frozenset({"float_info", "maxsize"})
_SEEDED = frozenset({"default_rng", "RandomState", "Random", "SeedSequence"})
_HINTS = {
    "time": "the budget is func.budget_spent_fraction, and runs must not depend on the clock",
    "os": "candidates have no access to the system",
    "subprocess": "candidates have no access to the system",
}


class RejectedCode(Exception):  # noqa: N818
    """A candidate's source that will not be run; the message is fit to be shown to the proposer."""


@dataclass(frozen=True)
class CheckedCode:
    """What the check found.

    Attributes:
        class_name: The one class deriving from `OptAlg`.
        imports: Full names of the imported modules, sorted.
        hyperparameters: Defaults of the arguments of its `__init__`, by name.
    """

    class_name: str
    imports: tuple[str, ...]
    hyperparameters: Mapping[str, HyperparameterValue]


def check(code: str, *, allowed_imports: Collection[str] = DEFAULT_IMPORTS) -> CheckedCode:
    """Check a candidate's source against the contract.

    Args:
        code: The source.
        allowed_imports: Names of packages that it may import.

    Raises:
        RejectedCode: It cannot be run, or breaks the contract.
    """
    tree = _parse(code)
    imports = sorted(set(_imports(tree, allowed_imports)))
    own_names = set(_bound_names(tree))
    for node in ast.walk(tree):
        _refuse_escapes(node, own_names)
        _refuse_fixed_seeds(node)
    optimizer = _optimizer_class(tree)
    methods = {node.name: node for node in optimizer.body if isinstance(node, ast.FunctionDef)}
    if "__call__" not in methods:
        raise RejectedCode(f"class {optimizer.name} has no method __call__(self, func, searchspace)")
    _check_call(optimizer.name, methods["__call__"])
    hyperparameters = _defaults(methods["__init__"]) if "__init__" in methods else {}
    return CheckedCode(optimizer.name, tuple(imports), hyperparameters)


def _parse(code: str) -> ast.Module:
    if len(code.encode(errors="replace")) > MAX_CODE_BYTES:
        raise RejectedCode(f"the code is longer than {MAX_CODE_BYTES:,} bytes")
    try:
        tree = parse_source(code)
        with warnings.catch_warnings(action="ignore"):
            compile(tree, "<candidate>", "exec", dont_inherit=True)
    except SyntaxError as error:
        place = f" in line {error.lineno}" if error.lineno else ""
        raise RejectedCode(f"syntax error{place}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise RejectedCode(f"the code cannot be parsed: {error or type(error).__name__}") from error
    return tree


def _imports(tree: ast.Module, allowed: Collection[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise RejectedCode(f"line {node.lineno}: relative imports lead nowhere, as the code is one module")
            names = [node.module or ""]
        else:
            continue
        for name in names:
            package = name.partition(".")[0]
            if package not in allowed:
                why = f" ({_HINTS[package]})" if package in _HINTS else ""
                raise RejectedCode(
                    f"line {node.lineno}: import of {name} is not allowed{why}; allowed are {', '.join(sorted(allowed))}"
                )
            yield name


def _bound_names(tree: ast.Module) -> Iterator[str]:
    """Names that the code gives to things of its own, such as a list called `open`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def _refuse_escapes(node: ast.AST, own_names: Collection[str]) -> None:
    if isinstance(node, ast.Name) and node.id in _FORBIDDEN_NAMES and node.id not in own_names:
        raise RejectedCode(f"line {node.lineno}: {node.id} is not allowed in a candidate")
    name = ""
    if isinstance(node, ast.Attribute):
        name = node.attr
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value
    if _is_dunder(name) and name not in _HARMLESS_DUNDERS:
        raise RejectedCode(f"line {getattr(node, 'lineno', 0)}: {name} is not allowed in a candidate")


def _is_dunder(name: str) -> bool:
    return len(name) > 4 and name.startswith("__") and name.endswith("__") and name.isidentifier()


def _refuse_fixed_seeds(node: ast.AST) -> None:
    """Every repeat must differ, by a seed that the host chose."""
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    fixed = any(isinstance(argument, ast.Constant) and argument.value is not None for argument in arguments)
    if fixed and (name in _SEEDED or name == "seed"):
        raise RejectedCode(
            f"line {node.lineno}: {name} with a fixed seed is not allowed, as it makes all repeats alike; "
            f"leave the seed out, and the run's own is used"
        )


def _optimizer_class(tree: ast.Module) -> ast.ClassDef:
    aliases = [alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    families = {"OptAlg", *(alias.asname for alias in aliases if alias.name == "OptAlg" and alias.asname)}
    optimizers = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(_base_name(base) in families for base in node.bases):
            optimizers.append(node)
            families.add(node.name)
    if len(optimizers) != 1:
        found = ", ".join(node.name for node in optimizers) or "none"
        raise RejectedCode(f"the code must have exactly one class that derives from OptAlg; found {found}")
    return optimizers[0]


def _base_name(base: ast.expr) -> str:
    return base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")


def _check_call(class_name: str, method: ast.FunctionDef) -> None:
    arguments = method.args
    count = len(arguments.posonlyargs) + len(arguments.args)
    required = count - len(arguments.defaults)
    keywords = any(default is None for default in arguments.kw_defaults)
    if required > 3 or keywords or (count < 3 and arguments.vararg is None):
        raise RejectedCode(f"{class_name}.__call__ must take the arguments (self, func, searchspace)")


def _defaults(method: ast.FunctionDef) -> dict[str, HyperparameterValue]:
    arguments = method.args
    if arguments.vararg or arguments.kwarg:
        raise RejectedCode(f"line {method.lineno}: __init__ must name its arguments, without * or **")
    positional = [*arguments.posonlyargs, *arguments.args][1:]
    padding = [None] * (len(positional) - len(arguments.defaults))
    pairs = [
        *zip(positional, [*padding, *arguments.defaults][: len(positional)], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {argument.arg: _literal(argument, default) for argument, default in pairs}


def _literal(argument: ast.arg, default: ast.expr | None) -> HyperparameterValue:
    place = f"line {argument.lineno}: the argument {argument.arg} of __init__"
    if default is None:
        raise RejectedCode(f"{place} has no default; every hyperparameter needs one")
    try:
        value = ast.literal_eval(default)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, (bool, int, float, str)):
        raise RejectedCode(f"{place} must have a number, a boolean or a string, written out, as its default")
    return value
