"""What to export."""

from __future__ import annotations

import keyword
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field

import kernel_tuner.strategies

from llamea_tune.candidate import Candidate, HyperparameterValue
from llamea_tune.exceptions import ExportError
from llamea_tune.exporting.record import RecordedScore, SpaceReference
from llamea_tune.kernel_tuner_internals import strategy_map


@dataclass(frozen=True)
class ExportRequest:
    """A candidate to export, with everything its record should tell.

    Attributes:
        name: Name of the strategy, a Python identifier.
        candidate: The candidate.
        date: Date of the export, ISO 8601, such as `"2026-01-31"`.
        hyperparameters: Tuned values that replace defaults of its `__init__`.
        training: The spaces it was evolved on.
        validation: The spaces it was judged on afterwards.
        scores: By name of the space.
        training_score: Mean over the training spaces.
        validation_score: Mean over the validation spaces.
        seeds: Seeds by what they were used for.
        prompts_hash: SHA-256 of the prompt templates; None if no prompt was involved.
        versions: Versions of the packages involved, by name.
        run: Name of the run directory.
        note: Anything else worth knowing, such as how it was chosen.
    """

    name: str
    candidate: Candidate
    date: str
    hyperparameters: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    training: tuple[SpaceReference, ...] = ()
    validation: tuple[SpaceReference, ...] = ()
    scores: Mapping[str, RecordedScore] = field(default_factory=dict)
    training_score: RecordedScore | None = None
    validation_score: RecordedScore | None = None
    seeds: Mapping[str, int] = field(default_factory=dict)
    prompts_hash: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    note: str = ""


def reserved_names() -> frozenset[str]:
    """Names that Kernel Tuner uses itself: its strategies and the modules they live in."""
    own = {name for name, strategy in strategy_map.items() if not type(strategy).__module__.startswith("llamea_tune.")}
    modules = {module.name for module in pkgutil.iter_modules(kernel_tuner.strategies.__path__)}
    return frozenset(own | modules)


def check_name(name: str) -> None:
    """Check the name of a strategy to be.

    Raises:
        ExportError: It is no identifier, or Kernel Tuner uses it itself.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii() or name.startswith("_"):
        raise ExportError(f"{name!r} cannot name a strategy; use ASCII letters, digits and _, a letter first.")
    if name in reserved_names():
        raise ExportError(f"Kernel Tuner uses the name {name!r} itself; choose another one, such as 'my_{name}'.")
