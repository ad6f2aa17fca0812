"""Puts tuned values in place of the defaults of a strategy's `__init__`."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping

from llamea_tune.candidate import HyperparameterValue
from llamea_tune.exceptions import ExportError
from llamea_tune.export.code import StrategyCode
from llamea_tune.export.edits import SourceEdits
from llamea_tune.export.literals import literal

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


def default_texts(code: StrategyCode, tuned: Mapping[str, HyperparameterValue], edits: SourceEdits) -> dict[str, str]:
    """Source text of the default of each argument, tuned values in place of the original ones.

    Raises:
        ExportError: A tuned value is for no argument, or cannot be written down.
    """
    names = [argument.name for argument in code.arguments]
    unknown = sorted(set(tuned) - set(names))
    if unknown:
        raise ExportError(
            f"The strategy takes no hyperparameter {unknown[0]!r}; it takes: {', '.join(names) or 'none'}."
        )
    return {
        argument.name: literal(tuned[argument.name])
        if argument.name in tuned
        else edits.text(edits.start(argument.default), edits.end(argument.default))
        for argument in code.arguments
    }


def replace_defaults(code: StrategyCode, texts: Mapping[str, str], edits: SourceEdits) -> None:
    """Put the defaults into the signature; where its line breaks could change, give each argument its own line."""
    changed = [
        argument
        for argument in code.arguments
        if edits.text(edits.start(argument.default), edits.end(argument.default)) != texts[argument.name]
    ]
    if not changed:
        return
    assert code.init is not None
    opening, closing, fixed = _parentheses(code.source, code.init, edits)
    if fixed:
        for argument in changed:
            edits.replace(edits.start(argument.default), edits.end(argument.default), texts[argument.name])
        return
    indent = " " * code.init.col_offset
    rows = "".join(f"{indent}    {row},\n" for row in _rows(code.init.args, texts, edits))
    edits.replace(opening, closing, f"\n{rows}{indent}")


def _parentheses(source: str, init: ast.FunctionDef, edits: SourceEdits) -> tuple[int, int, bool]:
    """Offsets of what lies within a signature's parentheses, and whether its lines must stay as they are."""
    depth = 0
    opening = 0
    commented = False
    previous = ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.start < (init.lineno, 0) or token.type in (tokenize.NL, tokenize.INDENT):
            continue
        if token.type == tokenize.COMMENT:
            commented = True
            continue
        if token.string in _OPENING:
            depth += 1
            opening = opening or edits.line_start(token.end[0]) + len(token.line[: token.end[1]].encode())
        elif token.string in _CLOSING:
            depth -= 1
            if depth == 0:
                closing = edits.line_start(token.start[0]) + len(token.line[: token.start[1]].encode())
                return opening, closing, commented or previous == ","
        previous = token.string
    raise ExportError(f"The signature of __init__ on line {init.lineno} cannot be read; export another candidate.")


def _rows(args: ast.arguments, texts: Mapping[str, str], edits: SourceEdits) -> list[str]:
    """Each part of a signature as one row."""

    def row(node: ast.arg) -> str:
        text = edits.text(edits.start(node), edits.end(node))
        if node.arg not in texts:
            return text
        return f"{text} = {texts[node.arg]}" if node.annotation else f"{text}={texts[node.arg]}"

    rows = [row(node) for node in args.args]
    if args.vararg or args.kwonlyargs:
        rows.append(f"*{row(args.vararg)}" if args.vararg else "*")
    rows += [row(node) for node in args.kwonlyargs]
    if args.kwarg:
        rows.append(f"**{row(args.kwarg)}")
    return rows
