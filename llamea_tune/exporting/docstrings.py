"""Descriptions of arguments, from the docstrings of a candidate."""

from __future__ import annotations

import ast
import re

from llamea_tune.candidate_code import CandidateCode

_ENTRY = (
    re.compile(  # `name: text`, `name (type): text`, `- name: text`, `:param name: text`; deeper lines go on with it
        r"^(?P<indent>[ \t]*)(?::param[ \t]+|[-*][ \t]+)?`{0,2}(?P<name>\w+)`{0,2}[ \t]*(?:\([^)\n]*\))?[ \t]*:[ \t]+"
        r"(?P<text>\S.*(?:\n(?P=indent)[ \t]+\S.*)*)$",
        re.MULTILINE,
    )
)


def argument_descriptions(code: CandidateCode) -> dict[str, str]:
    """One line about each argument of `__init__`: what its docstring or the class's says, else its name in words."""
    found: dict[str, str] = {}
    for node in (code.method("__init__"), code.optimizer):
        for entry in _ENTRY.finditer((node and ast.get_docstring(node)) or ""):
            found.setdefault(entry["name"], " ".join(entry["text"].split()).rstrip("."))
    return {name: found.get(name, name.replace("_", " ").strip()) for name in code.defaults}
