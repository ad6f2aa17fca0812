"""Programs that a run starts from: exported strategies and classes in files, judged as candidates of the first generation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from llamea_tune.candidate_code import CandidateCode
from llamea_tune.exceptions import SettingsError
from llamea_tune.exporting.reopen import reopen_strategy
from llamea_tune.proposals.proposal import Proposal
from llamea_tune.strategies.catalog import Origin, catalog, resolve
from llamea_tune.strategies.written import NamedStrategy, parse_strategy

START = "start"


def starting_proposals(names: Sequence[str]) -> list[Proposal]:
    """The programs of these strategies, as if somebody had proposed them.

    Args:
        names: Names of exported strategies, the bundled ones and the user's; or `file.py:Class`.

    Raises:
        StrategyError: There is no such strategy, or its class cannot be run.
        SettingsError: It is none whose code is a class deriving from `OptAlg`, as Kernel Tuner's own and pyATF's are.
    """
    return [_proposal(name) for name in names]


def _proposal(name: str) -> Proposal:
    written = parse_strategy(name)
    if isinstance(written, NamedStrategy):
        return _exported(written)
    source = written.path.read_text(encoding="utf-8")
    code = CandidateCode.read(source, written.class_name)
    code = code.with_defaults(written.options) if written.options else code
    return Proposal(written.class_name, code.source, _first_line(code.doc) or written.class_name, f"start:{name}")


def _exported(strategy: NamedStrategy) -> Proposal:
    info = resolve(strategy.name)
    if info.path is None or info.origin not in (Origin.GENERATED, Origin.USER):
        exported = ", ".join(entry.name for entry in catalog() if entry.path is not None)
        raise SettingsError(
            f"start_from names {strategy.name!r}, whose code is no class deriving from OptAlg; name an exported strategy "
            f"({exported}) or a class in a file (FILE.py:CLASS)",
            fields=("start_from",),
        )
    request = reopen_strategy(Path(info.path))
    values = {**request.hyperparameters, **strategy.options}
    candidate = request.candidate.with_hyperparameters(values).with_tuned_defaults()
    return Proposal(candidate.class_name, candidate.code, candidate.description, f"start:{strategy.label}")


def _first_line(doc: str) -> str:
    return next((line.strip() for line in doc.split("\n") if line.strip()), "")
