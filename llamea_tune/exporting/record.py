"""The provenance record of an exported strategy: `<name>.json` beside `<name>.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import StrategyError

RECORD_FORMAT = "llamea-tune strategy record"
RECORD_VERSION = 1


@dataclass(frozen=True)
class SpaceReference:
    """A search space that a strategy was trained or validated on.

    Attributes:
        name: Its name in the run, such as `"convolution/A100"`.
        content_hash: SHA-256 of what it was compiled from; see `Space.content_hash`.
    """

    name: str
    content_hash: str


@dataclass(frozen=True)
class RecordedScore:
    """A score with what is needed to judge it.

    Attributes:
        score: 0 is random search, 1 the optimum from the start.
        interval: 95 % bootstrap interval, None where unknown.
        repeats: Runs per search space behind it.
    """

    score: float
    interval: tuple[float, float] | None
    repeats: int


@dataclass(frozen=True)
class RecordedHyperparameter:
    """A hyperparameter of the strategy: an argument of its class, and a `strategy_options` key.

    Attributes:
        description: One line.
        default: Its default; the source text of the expression where that is no plain value.
        tuned: Whether the default was replaced by a tuned value on export.
    """

    description: str
    default: Any
    tuned: bool = False


@dataclass(frozen=True)
class StrategyRecord:
    """Who wrote a strategy, on what it was trained, and how good it was there.

    Attributes:
        name: Name of the strategy.
        class_name: Its class.
        description: What the algorithm does.
        proposer: Who wrote it, such as `"offline"` or `"openai:gpt-4o"`.
        date: Date of the export, ISO 8601.
        code_sha256: SHA-256 of the strategy file, to tell whether it was edited since.
        candidate: Identity of the candidate: id, operator, generation, parents.
        hyperparameters: By name.
        training: The spaces it was evolved on.
        validation: Spaces or seeds it was judged on afterwards.
        scores: By name of the space.
        training_score: Mean over the training spaces.
        validation_score: Mean over the validation spaces.
        seeds: Seeds by what they were used for, such as `"run"` and `"validation"`.
        prompts_hash: SHA-256 of the prompt templates; None if no prompt was involved.
        versions: Versions of the packages involved, by name.
        run: Name of the run directory it came from.
        note: Anything else worth knowing, such as how it was chosen.
    """

    name: str
    class_name: str
    description: str
    proposer: str
    date: str
    code_sha256: str
    candidate: Mapping[str, Any] = field(default_factory=dict)
    hyperparameters: Mapping[str, RecordedHyperparameter] = field(default_factory=dict)
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


def record_to_json(record: StrategyRecord) -> str:
    """The text of a record file."""
    content = {"format": RECORD_FORMAT, "format_version": RECORD_VERSION, **asdict(record)}
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_record(path: Path) -> StrategyRecord:
    """Read the record of an exported strategy.

    Args:
        path: The record, or the strategy file that it lies beside. Unknown fields are ignored.

    Raises:
        StrategyError: It is missing, unreadable, or no record.
    """
    path = path.with_suffix(".json")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as err:
        raise StrategyError(f"There is no record {path}; export the strategy again to get one.") from err
    except (OSError, ValueError) as err:
        raise StrategyError(f"The record {path} cannot be read ({err}); export the strategy again.") from err
    if not isinstance(content, dict) or content.get("format") != RECORD_FORMAT:
        raise StrategyError(f"{path} is not a strategy record of llamea-tune; give the .json file beside a strategy.")
    if content.get("format_version") != RECORD_VERSION:
        version = content.get("format_version")
        raise StrategyError(f"The record {path} has format version {version}; this release reads {RECORD_VERSION}.")
    try:
        return _record_from(content)
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        message = f"The record {path} lacks a field or holds a wrong one ({err}); export the strategy again."
        raise StrategyError(message) from err


def _record_from(content: Mapping[str, Any]) -> StrategyRecord:
    known = {name: content[name] for name in StrategyRecord.__dataclass_fields__ if name in content}
    known["hyperparameters"] = {
        name: RecordedHyperparameter(value["description"], value["default"], value["tuned"])
        for name, value in content["hyperparameters"].items()
    }
    for spaces in ("training", "validation"):
        known[spaces] = tuple(SpaceReference(value["name"], value["content_hash"]) for value in content[spaces])
    known["scores"] = {name: _score_from(value) for name, value in content["scores"].items()}
    for score in ("training_score", "validation_score"):
        known[score] = None if content[score] is None else _score_from(content[score])
    return StrategyRecord(**known)


def _score_from(value: Mapping[str, Any]) -> RecordedScore:
    interval = value["interval"]
    if interval is not None:
        low, high = interval
        interval = (float(low), float(high))
    return RecordedScore(float(value["score"]), interval, int(value["repeats"]))
