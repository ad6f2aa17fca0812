"""What export needs to know about a candidate's code, read without running it."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from llamea_tune.candidate import Candidate
from llamea_tune.exceptions import ExportError
from llamea_tune.export.docstrings import argument_descriptions
from llamea_tune.export.imports import bound_name

KERNEL_TUNER_OPTIONS = frozenset(
    {"constraint_aware", "custom_search_method_path", "max_fevals", "searchspace_construction_options", "time_limit"}
)
ADDED_NAMES = frozenset({"_CostFunc", "_SearchEnded", "_index_by_value", "_options", "tune"})


@dataclass(frozen=True)
class Argument:
    """An argument of a strategy's `__init__`.

    Attributes:
        node: Where it stands.
        default: The expression of its default.
        description: One line.
    """

    node: ast.arg
    default: ast.expr
    description: str

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.arg


@dataclass(frozen=True)
class StrategyCode:
    """A candidate's code, parsed.

    Attributes:
        source: The text, with a newline at its end.
        tree: The module.
        init: The class's own `__init__`, None if it has none.
        arguments: The arguments of `__init__`, in order.
    """

    source: str
    tree: ast.Module
    init: ast.FunctionDef | None
    arguments: tuple[Argument, ...]


def parse_strategy_code(candidate: Candidate) -> StrategyCode:
    """Parse a candidate's code and check that a standalone strategy can be made of it.

    Raises:
        ExportError: It does not parse, lacks the class, or uses names that the exported module or Kernel Tuner needs.
    """
    source = candidate.code.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as err:
        raise ExportError(f"The code of candidate {candidate.id} does not parse ({err}); export another one.") from err
    clashes = sorted(ADDED_NAMES & module_names(tree))
    if clashes:
        raise ExportError(
            f"The code of candidate {candidate.id} defines {clashes[0]!r}, which the strategy file needs; rename it."
        )
    cls = _class(tree, candidate)
    init = next((node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)
    return StrategyCode(source, tree, init, _arguments(cls, init, candidate, module_names(tree)))


def module_names(tree: ast.Module) -> set[str]:
    """Names that a module binds at its top level."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        else:
            names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            aliases = (alias for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom) for alias in n.names)
            names |= {bound_name(alias) for alias in aliases}
    return names


def _class(tree: ast.Module, candidate: Candidate) -> ast.ClassDef:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == candidate.class_name:
            return node
    raise ExportError(
        f"The code of candidate {candidate.id} has no class {candidate.class_name!r} at its top level; "
        "export another candidate."
    )


def _arguments(
    cls: ast.ClassDef, init: ast.FunctionDef | None, candidate: Candidate, names: set[str]
) -> tuple[Argument, ...]:
    if init is None:
        return ()
    pairs = _pairs(init.args, candidate)
    docstrings = [ast.get_docstring(init), ast.get_docstring(cls)]
    descriptions = argument_descriptions(docstrings, [node.arg for node, _ in pairs])
    for node, default in pairs:
        if node.arg in KERNEL_TUNER_OPTIONS:
            raise ExportError(
                f"Argument {node.arg!r} of {cls.name}.__init__ is an option that Kernel Tuner keeps for itself; rename it."
            )
        unknown = {n.id for n in ast.walk(default) if isinstance(n, ast.Name)} - names - set(dir(builtins))
        if unknown:
            raise ExportError(
                f"The default of argument {node.arg!r} of {cls.name}.__init__ needs {min(unknown)!r}, "
                "which the module does not define at its top level; write the value."
            )
    return tuple(Argument(node, default, descriptions[node.arg]) for node, default in pairs)


def _pairs(args: ast.arguments, candidate: Candidate) -> list[tuple[ast.arg, ast.expr]]:
    where = f"{candidate.class_name}.__init__ of candidate {candidate.id}"
    if args.posonlyargs:
        raise ExportError(f"{where} takes positional-only arguments; drop the '/' from its signature.")
    positional = args.args[1:]
    if len(args.defaults) < len(positional) or None in args.kw_defaults:
        raise ExportError(f"{where} has arguments without a default; give every argument one.")
    defaults = args.defaults[len(args.defaults) - len(positional) :]
    keyword_only = [(node, default) for node, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default]
    return [*zip(positional, defaults, strict=True), *keyword_only]
