"""A candidate with tuned values written into its code, for those who build on that."""

from __future__ import annotations

from dataclasses import replace

from llamea_tune.candidate import Candidate
from llamea_tune.exceptions import ExportError
from llamea_tune.export.code import parse_strategy_code
from llamea_tune.export.edits import SourceEdits
from llamea_tune.export.signature import default_texts, replace_defaults


def with_tuned_defaults(candidate: Candidate) -> Candidate:
    """The candidate with its tuned hyperparameters as the defaults in its code.

    As it is, where it has none, or where the code is too unusual to be edited.
    """
    if not candidate.hyperparameters:
        return candidate
    try:
        code = parse_strategy_code(candidate)
        edits = SourceEdits(code.source)
        replace_defaults(code, default_texts(code, candidate.hyperparameters, edits), edits)
    except ExportError:
        return candidate
    return replace(candidate, code=edits.apply(), hyperparameters={})
