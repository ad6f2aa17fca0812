"""The text of a standalone strategy module."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from string import Template

from llamea_tune.candidate_code import Argument, CandidateCode, literal
from llamea_tune.exporting.docstrings import argument_descriptions
from llamea_tune.exporting.imports import with_imports
from llamea_tune.exporting.request import ExportRequest

_LINE_LENGTH = 88

_TUNE = Template((Path(__file__).parent / "wrapper.py.template").read_text(encoding="utf-8"))


def render_module(request: ExportRequest, code: CandidateCode) -> str:
    """Source of the standalone module: the candidate's code, Kernel Tuner's `_options` and `tune` around it."""
    tune = _TUNE.substitute(name=request.name, class_name=code.class_name, weighs_prior=_weighs_prior(code))
    body = with_imports(code).strip("\n")
    return f"{_header(request)}\n{body}\n\n\n{_options(code)}{tune}"


def _weighs_prior(code: CandidateCode) -> bool:
    """Whether a candidate makes use of a prior by itself: it names the attribute where it finds one."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "prior_mean")
        or (isinstance(node, ast.Constant) and node.value == "prior_mean")
        for node in ast.walk(code.tree)
    )


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


def _options(code: CandidateCode) -> str:
    if not code.arguments:
        return "_options = {}\n"
    descriptions = argument_descriptions(code)
    rows = (_option(argument, descriptions[argument.name]) for argument in code.arguments)
    return "_options = {\n" + "".join(rows) + "}\n"


def _option(argument: Argument, description: str) -> str:
    """One row of `_options`, on several lines where it is long, so that formatters of any line length leave it alone."""
    plain = description.replace('"', "'").replace("\\", "/")
    description = literal(textwrap.shorten(plain, _LINE_LENGTH - 11, placeholder=" ..."))
    row = f'    "{argument.name}": ({description}, {argument.text}),\n'
    if len(row) <= _LINE_LENGTH:
        return row
    return f'    "{argument.name}": (\n        {description},\n        {argument.text},\n    ),\n'
