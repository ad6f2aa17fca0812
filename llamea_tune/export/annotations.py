"""Makes dataclasses work in a module that is loaded without being listed in `sys.modules`.

Kernel Tuner loads a file named by `custom_search_method_path` that way. `dataclasses` looks the module up there as soon
as an annotation is a string, which `from __future__ import annotations` makes of all of them.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from llamea_tune.exceptions import ExportError
from llamea_tune.export.edits import SourceEdits
from llamea_tune.export.imports import bound_name, remove_statements


def evaluate_dataclass_annotations(tree: ast.Module, edits: SourceEdits) -> None:
    """Drop `from __future__ import annotations` from a module that has dataclasses.

    Raises:
        ExportError: An annotation uses a name before it is defined, so that the import cannot be dropped.
    """
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    if not future or not any(_is_dataclass(node) for node in ast.walk(tree)):
        return
    for annotation in _annotations(tree):
        unknown = {n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)} - _known(tree, annotation.lineno)
        if unknown or any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(annotation)):
            raise ExportError(
                f"The annotation on line {annotation.lineno} names something defined later, and the code has dataclasses: "
                "Kernel Tuner cannot load such a file by its path; drop that annotation."
            )
    remove_statements(future, edits)


def _is_dataclass(node: ast.AST) -> bool:
    if not isinstance(node, ast.ClassDef):
        return False
    decorators = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(ast.unparse(decorator).rpartition(".")[2] == "dataclass" for decorator in decorators)


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        found = [node.returns] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
        found += [node.annotation] if isinstance(node, ast.AnnAssign | ast.arg) else []
        yield from (annotation for annotation in found if annotation is not None)


def _known(tree: ast.Module, line: int) -> set[str]:
    """Names that the module has bound, at its top level, before a line."""
    names = set(dir(builtins))
    for node in tree.body:
        if (node.end_lineno or 0) >= line:
            break
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {bound_name(alias) for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names
