"""The text of a standalone strategy module."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from pathlib import Path
from string import Template

from llamea_tune.exceptions import ExportError
from llamea_tune.export.annotations import evaluate_dataclass_annotations
from llamea_tune.export.code import Argument, StrategyCode, module_names, parse_strategy_code
from llamea_tune.export.edits import SourceEdits
from llamea_tune.export.imports import delay_heavy_imports
from llamea_tune.export.literals import literal
from llamea_tune.export.request import ExportRequest
from llamea_tune.export.signature import default_texts, replace_defaults

_LINE_LENGTH = 88

_TUNE = Template((Path(__file__).parent / "wrapper.py.template").read_text(encoding="utf-8"))


def render_module(request: ExportRequest) -> str:
    """Source of the standalone module: the candidate's code, Kernel Tuner's `_options` and `tune` around it.

    Raises:
        ExportError: No standalone strategy can be made of the candidate.
    """
    code = parse_strategy_code(request.candidate)
    edits = SourceEdits(code.source)
    defaults = default_texts(code, request.hyperparameters, edits)
    replace_defaults(code, defaults, edits)
    delay_heavy_imports(code.tree, edits)
    evaluate_dataclass_annotations(code.tree, edits)
    _add_imports(code, edits)
    tune = _TUNE.substitute(name=request.name, class_name=request.candidate.class_name)
    body = edits.apply().strip("\n")
    return f"{_header(request)}\n{body}\n\n\n{_options(code, defaults)}{tune}"


def _header(request: ExportRequest) -> str:
    candidate = request.candidate
    trained = ", ".join(space.name for space in request.training) or "no recorded search space"
    paragraphs = [
        f"{request.name}: an optimization strategy for Kernel Tuner.",
        " ".join(candidate.description.split()),
        f"Proposed by {candidate.proposer} ({candidate.operator}, generation {candidate.generation}) and exported by"
        f" llamea-tune on {request.date}.",
        f"Trained on {trained}.",
        f"Scores, settings and versions: {request.name}.json, beside this file.",
    ]
    lines = [line for text in paragraphs if text for line in textwrap.wrap(text, _LINE_LENGTH - 2)]
    return "".join(f"# {line}\n" for line in lines)


def _options(code: StrategyCode, defaults: Mapping[str, str]) -> str:
    if not code.arguments:
        return "_options = {}\n"
    rows = (_option(argument, defaults[argument.name]) for argument in code.arguments)
    return "_options = {\n" + "".join(rows) + "}\n"


def _option(argument: Argument, default: str) -> str:
    """One row of `_options`, on several lines where it is long, so that formatters of any line length leave it alone."""
    plain = argument.description.replace('"', "'").replace("\\", "/")
    description = literal(textwrap.shorten(plain, _LINE_LENGTH - 11, placeholder=" ..."))
    row = f'    "{argument.name}": ({description}, {default}),\n'
    if len(row) <= _LINE_LENGTH:
        return row
    return f'    "{argument.name}": (\n        {description},\n        {default},\n    ),\n'


def _add_imports(code: StrategyCode, edits: SourceEdits) -> None:
    """Import what `tune` needs, beside the candidate's own import from Kernel Tuner's strategies."""
    anchors = [node for node in code.tree.body if _imports_strategies(node)]
    if not anchors:
        raise ExportError(
            "The code imports nothing from kernel_tuner.strategies at its top level; import OptAlg there."
        )
    if _needs(code, "kernel_tuner.strategies", "common"):
        edits.insert(edits.line_start(anchors[0].lineno), "from kernel_tuner.strategies import common\n")
    if _needs(code, "kernel_tuner.util", "StopCriterionReached"):
        stop = "from kernel_tuner.util import StopCriterionReached\n"
        edits.insert(edits.line_start((anchors[-1].end_lineno or 0) + 1), stop)


def _needs(code: StrategyCode, module: str, name: str) -> bool:
    """Whether a name still has to be imported; it must not mean anything else."""
    for node in code.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == module and (name, None) in _aliases(node):
            return False
    if name in module_names(code.tree):
        raise ExportError(f"The code gives {name!r} another meaning than {module}.{name} has; rename it.")
    return True


def _aliases(node: ast.ImportFrom) -> set[tuple[str, str | None]]:
    return {(alias.name, alias.asname) for alias in node.names}


def _imports_strategies(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("kernel_tuner.strategies")
    return isinstance(node, ast.Import) and any(
        alias.name.startswith("kernel_tuner.strategies") for alias in node.names
    )
