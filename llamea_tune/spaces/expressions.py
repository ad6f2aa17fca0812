"""Python expressions found in files: values evaluated safely, restrictions checked before Kernel Tuner evaluates them."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

_MOST_STEPS = 200_000
_LARGEST_EXPONENT = 1024
_LARGEST_NUMBER = 2**1100

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name.__name__: name
    for name in (abs, bool, float, int, len, list, max, min, range, round, set, sorted, str, sum, tuple)
}
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
}

_RESTRICTION_FUNCTIONS = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "round", "sum"})
_RESTRICTION_NODES = (
    *_OPERATORS,
    *(ast.And, ast.Or, ast.Load),
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Call),
)
_HARMLESS_STRING = re.compile(r"[\w .-]*", re.ASCII)


def evaluate_values(expression: str, names: Mapping[str, Any] | None = None) -> Any:
    """Evaluate an expression of literals, arithmetic, comprehensions and a few functions, such as `range`.

    Args:
        expression: Such as `"[1] + [2 * i for i in range(1, 11)]"`.
        names: Numbers, texts, and sequences of them that it may name.

    Raises:
        ValueError: It holds anything else, fails, or takes too long.
    """
    try:
        return _Evaluator().evaluate(_parsed(expression).body, names or {})
    except SyntaxError as err:
        raise ValueError(f"{expression!r} is no Python expression") from err
    except (ArithmeticError, LookupError, TypeError, RecursionError, MemoryError) as err:
        raise ValueError(f"{expression!r} cannot be evaluated: {err}") from err


def names_in(expression: str) -> set[str]:
    """The names that an expression uses, those of functions included.

    Raises:
        SyntaxError: It is no Python expression.
    """
    return {node.id for node in ast.walk(_parsed(expression)) if isinstance(node, ast.Name)}


@lru_cache
def _parsed(expression: str) -> ast.Expression:
    """Kept, as one expression is evaluated for config after config."""
    return ast.parse(expression.strip(), mode="eval")


def check_restriction(expression: str, param_names: Collection[str]) -> None:
    """Refuse a restriction that is more than arithmetic, comparisons and logic on parameters.

    Kernel Tuner cuts restrictions up as text before it evaluates the parts, so nothing may hide in the text either.

    Raises:
        ValueError: It is no Python expression, or holds anything else.
    """
    if "#" in expression or "\\" in expression:
        raise ValueError(f"{expression!r} holds a comment or a backslash")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, RecursionError, MemoryError, ValueError) as err:
        raise ValueError(f"{expression!r} is no Python expression") from err
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        reason = _objection(node, param_names, is_called=id(node) in called)
        if reason:
            raise ValueError(f"{expression!r} {reason}")


def _objection(node: ast.AST, param_names: Collection[str], is_called: bool) -> str:
    """Why a node of a restriction is refused; empty if it is not."""
    if isinstance(node, ast.Name):
        known = _RESTRICTION_FUNCTIONS if is_called else param_names
        return (
            "" if node.id in known else f"uses {node.id!r}, which is {'a function' if is_called else 'a name'} unknown"
        )
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return "" if _HARMLESS_STRING.fullmatch(node.value) else "holds a string with special characters"
        return "" if isinstance(node.value, (int, float)) else f"holds {node.value!r}"
    if isinstance(node, ast.Call):
        return "" if isinstance(node.func, ast.Name) and not node.keywords else "calls something other than a function"
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Pow, ast.LShift)):
        nested = any(isinstance(part, (ast.Pow, ast.LShift)) for part in ast.walk(node.right))
        return "has a power in an exponent" if nested else ""
    return "" if isinstance(node, _RESTRICTION_NODES) else f"holds a {type(node).__name__.lower()}"


class _Evaluator:
    """Walks an expression; counts its steps so that none takes long."""

    def __init__(self) -> None:
        self._steps = 0

    def evaluate(self, node: ast.AST, names: Mapping[str, Any]) -> Any:
        self._count(1)
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise ValueError(f"a {type(node).__name__.lower()} is not allowed")
        return method(node, names)

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise ValueError("the expression takes too long to evaluate")

    def _constant(self, node: ast.Constant, _names: Mapping[str, Any]) -> Any:
        if not isinstance(node.value, (int, float, str)):
            raise ValueError(f"{node.value!r} is not allowed")
        return node.value

    def _name(self, node: ast.Name, names: Mapping[str, Any]) -> Any:
        if node.id not in names:
            raise ValueError(f"the name {node.id!r} is not known")
        return names[node.id]

    def _list(self, node: ast.List | ast.Tuple | ast.Set, names: Mapping[str, Any]) -> list[Any]:
        items: list[Any] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                items.extend(self._sized(self.evaluate(element.value, names)))
            else:
                items.append(self.evaluate(element, names))
        return items

    def _tuple(self, node: ast.Tuple, names: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(self._list(node, names))

    def _set(self, node: ast.Set, names: Mapping[str, Any]) -> set[Any]:
        return set(self._list(node, names))

    def _subscript(self, node: ast.Subscript, names: Mapping[str, Any]) -> Any:
        return self.evaluate(node.value, names)[self.evaluate(node.slice, names)]

    def _unaryop(self, node: ast.UnaryOp, names: Mapping[str, Any]) -> Any:
        return _OPERATORS[type(node.op)](self.evaluate(node.operand, names))

    def _binop(self, node: ast.BinOp, names: Mapping[str, Any]) -> Any:
        left, right = self.evaluate(node.left, names), self.evaluate(node.right, names)
        if type(node.op) not in _OPERATORS:
            raise ValueError("this operator is not allowed")
        if isinstance(node.op, (ast.Pow, ast.LShift)) and abs(right) > _LARGEST_EXPONENT:
            raise ValueError(f"the exponent {right} is too large")
        if isinstance(node.op, ast.Mult):
            self._refuse_long_repetition(left, right)
        result = _OPERATORS[type(node.op)](left, right)
        if isinstance(result, int) and abs(result) > _LARGEST_NUMBER:
            raise ValueError("a number is too large")
        return self._sized(result)

    def _refuse_long_repetition(self, left: Any, right: Any) -> None:
        for sequence, times in ((left, right), (right, left)):
            if isinstance(sequence, (list, tuple, str)) and isinstance(times, int):
                self._count(len(sequence) * max(0, times))

    def _boolop(self, node: ast.BoolOp, names: Mapping[str, Any]) -> Any:
        stop_at = isinstance(node.op, ast.Or)
        result: Any = not stop_at
        for value in node.values:
            result = self.evaluate(value, names)
            if bool(result) == stop_at:
                break
        return result

    def _compare(self, node: ast.Compare, names: Mapping[str, Any]) -> bool:
        left = self.evaluate(node.left, names)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(comparator, names)
            if type(op) not in _OPERATORS:
                raise ValueError("this comparison is not allowed")
            if not _OPERATORS[type(op)](left, right):
                return False
            left = right
        return True

    def _ifexp(self, node: ast.IfExp, names: Mapping[str, Any]) -> Any:
        return self.evaluate(node.body if self.evaluate(node.test, names) else node.orelse, names)

    def _listcomp(self, node: ast.ListComp, names: Mapping[str, Any]) -> list[Any]:
        return [self.evaluate(node.elt, scope) for scope in self._scopes(node.generators, names)]

    def _generatorexp(self, node: ast.ListComp, names: Mapping[str, Any]) -> list[Any]:
        return self._listcomp(node, names)

    def _scopes(self, generators: list[ast.comprehension], names: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        if not generators:
            yield names
            return
        first, *rest = generators
        if not isinstance(first.target, ast.Name):
            raise ValueError("a comprehension may name only one variable at a time")
        for item in self._sized(self.evaluate(first.iter, names)):
            scope = {**names, first.target.id: item}
            if all(self.evaluate(condition, scope) for condition in first.ifs):
                yield from self._scopes(rest, scope)

    def _call(self, node: ast.Call, names: Mapping[str, Any]) -> Any:
        if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS or node.keywords:
            raise ValueError(f"{ast.unparse(node)!r} is no call that is allowed")
        arguments = [self._sized(self.evaluate(argument, names)) for argument in node.args]
        return _FUNCTIONS[node.func.id](*arguments)

    def _sized(self, value: Any) -> Any:
        if isinstance(value, (list, tuple, range, set, str)):
            self._count(len(value))
        return value
