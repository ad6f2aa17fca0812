"""EXPORT: a standalone strategy file and its provenance record."""

from llamea_tune.export.exporter import ExportedStrategy, export_strategy
from llamea_tune.export.record import (
    RecordedHyperparameter,
    RecordedScore,
    SpaceReference,
    StrategyRecord,
    read_record,
)
from llamea_tune.export.request import ExportRequest

__all__ = [
    "ExportRequest",
    "ExportedStrategy",
    "RecordedHyperparameter",
    "RecordedScore",
    "SpaceReference",
    "StrategyRecord",
    "export_strategy",
    "read_record",
]
