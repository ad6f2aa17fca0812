"""Which source an answer's blocks of Python give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from llamea_tune.candidate_code import parse_source
from llamea_tune.proposals.blocks import PYTHON, Answer

_DERIVES = re.compile(r"^class\s+\w+\s*\([^)]*\bOptAlg\b", re.MULTILINE)
_CLASS = re.compile(r"^class\s", re.MULTILINE)
_MOST_BLOCKS = 50
_CODE_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'"})

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Import = ast.Import | ast.ImportFrom
_Assignment = ast.Assign | ast.AnnAssign


def holds_optimizer(text: str) -> bool:
    """Whether a class in some text derives from `OptAlg`."""
    return _DERIVES.search(text) is not None


def is_python(text: str) -> bool:
    """Whether some text parses."""
    return _parsed(text) is not None


def sources(answer: Answer) -> Iterator[str]:
    """What may be the source, the likeliest first: the last block with the class, then other blocks.

    A block comes with what it uses from the blocks before it and does not define itself.
    """
    python = [content.strip("\n") for language, content in answer.blocks if language in PYTHON and content.strip()]
    blocks = [_straight(content) for content in python[-_MOST_BLOCKS:]]
    wholes = [_with_definitions(block, blocks[:number]) for number, block in enumerate(blocks)]
    pairs = list(zip(blocks, wholes, strict=True))
    pairs.sort(key=lambda pair: _CLASS.search(pair[0]) is not None and holds_optimizer(pair[1]))
    for _, whole in reversed(pairs):
        yield whole + "\n"


def _straight(block: str) -> str:
    """A block with straight quotes, where it is Python only then."""
    straight = block.translate(_CODE_QUOTES)
    return straight if straight != block and _parsed(block) is None and _parsed(straight) is not None else block


def _parsed(block: str) -> ast.Module | None:
    try:
        return parse_source(block)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _with_definitions(block: str, earlier: Sequence[str]) -> str:
    """A block with the statements of earlier ones that define what it uses, behind its own imports."""
    tree = _parsed(block)
    if tree is None:
        return block
    statements = [(node, other) for other in earlier if (known := _parsed(other)) for node in known.body]
    where = {name: number for number, (node, _) in enumerate(statements) for name in _names(node)}
    for node in tree.body:
        for name in _names(node):
            where.pop(name, None)
    taken: set[int] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        user = waiting.pop()
        used, own = _used(user)
        for name in used & where.keys():
            node, _ = statements[where[name]]
            # A function of the same name as a variable elsewhere does no harm, an example's result does.
            if where[name] not in taken and not (isinstance(node, _Assignment) and name in own):
                taken.add(where[name])
                waiting.append(node)
    if not taken:
        return block
    lines = block.split("\n")
    leading = takewhile(lambda node: isinstance(node, _Import) or _is_text(node), tree.body)
    n_head = max((node.end_lineno or 0 for node in leading), default=0)
    parts = [
        "\n".join(lines[:n_head]),
        *(_text(*statements[number]) for number in sorted(taken)),
        "\n".join(lines[n_head:]),
    ]
    return "\n\n\n".join(part.strip("\n") for part in parts if part.strip())


def _names(node: ast.stmt) -> set[str]:
    """What a statement at the top level defines: functions, classes, imports, constants."""
    if isinstance(node, _Definition):
        return {node.name}
    if isinstance(node, _Import):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, _Assignment):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {name for target in targets for name in _used(target)[1]}
    if isinstance(node, ast.Try):
        return {name for inner in (*node.body, *(s for h in node.handlers for s in h.body)) for name in _names(inner)}
    return set()


def _used(node: ast.AST) -> tuple[set[str], set[str]]:
    """The names that some code reads, and those that it binds anywhere."""
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    read = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    arguments = {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
    return read, {name.id for name in names if not isinstance(name.ctx, ast.Load)} | arguments


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _text(node: ast.stmt, block: str) -> str:
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return "\n".join(block.split("\n")[first - 1 : node.end_lineno])
