"""Python's parser for code that others wrote: in one thread at a time, and without warnings."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What Python's parser raises; the latter two where code is nested too deep."""

# CPython 3.11 counts the depth of the syntax tree under construction in one place for all threads. A thread that gets
# its turn within the construction of another, as soon as a finalizer runs there, makes one of them raise a SystemError.
_PARSER = threading.RLock()


@contextmanager
def _alone() -> Iterator[None]:
    with _PARSER, warnings.catch_warnings(action="ignore"):  # such as those on invalid escape sequences
        yield


def parse_source(code: str) -> ast.Module:
    """Parse source, as `ast.parse` does, safely in any thread; raises one of `UNPARSABLE`."""
    with _alone():
        return ast.parse(code)


def parse_literal(text: str) -> Any:
    """Evaluate a literal, as `ast.literal_eval` does, safely in any thread; raises what that raises."""
    with _alone():
        return ast.literal_eval(text)


def check_compiles(tree: ast.Module) -> None:
    """Compile what was parsed, which finds more errors, such as a `return` outside a function; see `UNPARSABLE`."""
    with _alone():
        compile(tree, "<candidate>", "exec", dont_inherit=True)
