"""Plain values in source: what a default is worth, and how a value is written down."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from llamea_tune.exceptions import CandidateCodeError

PlainValue = bool | int | float | str

_OPERATIONS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_MOST_BITS = 1024  # of an integer on the way, so that no power takes forever


def plain_value(node: ast.expr) -> PlainValue | None:
    """The number, boolean or string that an expression stands for, such as `2 * 3` or `-1e-3`; None for anything else."""
    try:
        value = _evaluate(node)
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        return None
    return value if isinstance(value, PlainValue) else None


def _evaluate(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=op, operand=operand):
            operands = [_evaluate(operand)]
        case ast.BinOp(op=op, left=left, right=right):
            operands = [_evaluate(left), _evaluate(right)]
        case _:
            raise ValueError("no constant expression")
    if not all(isinstance(value, int | float) for value in operands) or type(op) not in _OPERATIONS:
        raise ValueError("no arithmetic on numbers")
    if isinstance(op, ast.Pow) and abs(operands[1]) > _MOST_BITS:
        raise ValueError("too large a power")
    result = _OPERATIONS[type(op)](*operands)
    if isinstance(result, int) and result.bit_length() > _MOST_BITS:
        raise ValueError("too large an integer")
    return result


def literal(value: object) -> str:
    """Source text of a value, strings in double quotes where that needs no escapes.

    Raises:
        CandidateCodeError: It is no finite number, boolean or string.
    """
    if isinstance(value, str):
        text = repr(str(value))
        return text if '"' in text else f'"{text[1:-1]}"'
    for kind in (bool, int, float):
        if isinstance(value, kind) and math.isfinite(value):
            return repr(kind(value))
    raise CandidateCodeError(
        f"{value!r} is no default that can be written; give a finite number, a boolean or a string"
    )
