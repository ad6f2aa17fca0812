"""Python's parser for code that others wrote: in one thread at a time, and without warnings."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# CPython 3.11 counts the depth of the syntax tree under construction in one place for all threads. A thread that gets
# its turn within the construction of another, as soon as a finalizer runs there, makes one of them raise a SystemError.
_PARSER = threading.RLock()


@contextmanager
def _alone() -> Iterator[None]:
    with _PARSER, warnings.catch_warnings(action="ignore"):  # such as those on invalid escape sequences
        yield


def parse_source(code: str) -> ast.Module:
    """Parse source, as `ast.parse` does, safely in any thread.

    Raises:
        SyntaxError: It is no valid Python.
        ValueError: It cannot be parsed, as with the next two.
        RecursionError: It is nested too deep.
        MemoryError: It is nested too deep for the parser itself.
    """
    with _alone():
        return ast.parse(code)


def parse_literal(text: str) -> Any:
    """Evaluate a literal, as `ast.literal_eval` does, safely in any thread; raises what that raises."""
    with _alone():
        return ast.literal_eval(text)
