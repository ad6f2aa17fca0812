"""The rules that candidate code can be seen to break without running it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from llamea_tune.candidate_code import contract
from llamea_tune.candidate_code.literals import plain_value
from llamea_tune.candidate_code.syntax import UNPARSABLE, check_compiles

if TYPE_CHECKING:
    from llamea_tune.candidate_code.code import CandidateCode

_IMPORTABLE = frozenset({*contract.PACKAGES, *contract.STANDARD_MODULES})

_Found = Iterator[tuple[int, str]]  # line, or 0 where there is none, and sentence


def find_violations(code: CandidateCode, given: Collection[str]) -> tuple[str, ...]:
    """All violations of the contract, each once: those of the whole first, then by line."""
    found = sorted({*_of_the_whole(code), *_of_the_class(code), *_of_arguments(code, given), *_of_nodes(code)})
    return tuple(f"line {line}: {sentence}" if line else sentence for line, sentence in found)


def _of_the_whole(code: CandidateCode) -> _Found:
    try:
        check_compiles(code.tree)
    except UNPARSABLE as err:
        yield getattr(err, "lineno", None) or 0, f"the code cannot be compiled: {getattr(err, 'msg', err)}"
    if not any(origin.partition(".")[0] == "kernel_tuner" for origin in code.origins.values()):
        yield 0, "nothing is imported from kernel_tuner; write from kernel_tuner.strategies.wrapper import OptAlg"
    for name in sorted(code.names) if not code.is_strategy_file else ():
        meant = contract.NAMES_OF_KERNEL_TUNER.get(name)
        if name in contract.RESERVED_NAMES or (meant and code.origins.get(name) != meant):
            yield (
                0,
                f"{name!r} has a meaning of its own in the file of a strategy{(meant and f', {meant}') or ''}; rename it",
            )


def _of_the_class(code: CandidateCode) -> _Found:
    cls, call = code.optimizer, code.method("__call__")
    if cls is None:
        yield 0, _why_no_class(code)
    elif call is None:
        yield 0, f"class {cls.name} has no __call__(self, func, searchspace)"
    else:
        count = len(call.args.posonlyargs) + len(call.args.args)
        required = count - len(call.args.defaults)
        if required > 3 or None in call.args.kw_defaults or (count < 3 and call.args.vararg is None):
            yield call.lineno, f"{cls.name}.__call__ must take the arguments (self, func, searchspace)"


def _why_no_class(code: CandidateCode) -> str:
    if code.wanted is None:
        found = ", ".join(node.name for node in code.leaves)
        return f"several classes derive from OptAlg ({found}); give one" if found else "no class derives from OptAlg"
    if code.wanted in code.classes:
        return f"class {code.wanted} does not derive from OptAlg"
    return f"there is no class {code.wanted!r}; the classes are: {', '.join(code.classes) or 'none'}"


def _of_arguments(code: CandidateCode, given: Collection[str]) -> _Found:
    """Arguments are hyperparameters: given by name, left alone without harm, listed outside the class by Kernel Tuner."""
    init = code.method("__init__")
    if init is not None and init.args.posonlyargs:
        yield init.lineno, "__init__ takes positional-only arguments; drop the '/' from its signature"
    for argument in code.arguments:
        what = f"argument {argument.name!r} of __init__"
        if argument.default is None:
            if argument.name not in given:
                yield argument.line, f"{what} has no default; every hyperparameter needs one"
        elif unknown := _free_names(argument.default) - code.names - set(dir(builtins)):
            yield (
                argument.line,
                f"the default of {what} needs {min(unknown)!r}, which the top level lacks; write the value",
            )
        if argument.name in contract.RESERVED_ARGUMENTS:
            yield argument.line, f"{what} is an option that Kernel Tuner keeps for itself; rename it"


def _free_names(expression: ast.expr) -> set[str]:
    nodes = list(ast.walk(expression))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return {node.id for node in nodes if isinstance(node, ast.Name)} - own - stored


def _of_nodes(code: CandidateCode) -> _Found:
    nodes = list(ast.walk(code.tree))
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}  # such as a list called `open`
    added = contract.IMPORTED_BY_EXPORT if code.is_strategy_file else frozenset[str]()
    for node in nodes:
        for sentence in (*_import_problems(node, added), *_escapes(node, own), *_fixed_seeds(node)):
            yield getattr(node, "lineno", 0), sentence


def _import_problems(node: ast.AST, added: Collection[str]) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.level:
        yield "relative imports lead nowhere, as the code is one module"
        return
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    for module in modules:
        package = module.partition(".")[0]
        if package not in _IMPORTABLE and module not in added:
            why = f" ({contract.HINTS[package]})" if package in contract.HINTS else ""
            allowed = ", ".join((*contract.PACKAGES, *contract.STANDARD_MODULES))
            yield f"import of {module} is not allowed{why}; allowed are {allowed}"


def _escapes(node: ast.AST, own_names: set[str]) -> Iterator[str]:
    refused = (*contract.REFUSED_NAMES, "__builtins__", "__import__")
    match node:
        case ast.Name(id=name) if name in refused and name not in own_names:
            yield f"{name} is not allowed in a candidate"
        case ast.Attribute(attr=name) | ast.Constant(value=str(name)) if name in contract.ESCAPES:
            yield f"{name} is not allowed in a candidate"


def _fixed_seeds(node: ast.AST) -> Iterator[str]:
    """Every repeat must differ, by a seed that the host chose."""
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    if name in contract.SEEDED and any(plain_value(argument) is not None for argument in arguments):
        yield (
            f"{name} with a fixed seed is not allowed, as it makes all repeats alike; "
            f"leave the seed out, and the run's own is used"
        )
