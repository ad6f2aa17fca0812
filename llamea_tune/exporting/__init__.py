"""EXPORT: a standalone strategy file and its provenance record."""

from llamea_tune.exporting.exporter import ExportedStrategy, export_strategy
from llamea_tune.exporting.record import (
    RecordedHyperparameter,
    RecordedScore,
    SpaceReference,
    StrategyRecord,
    read_record,
)
from llamea_tune.exporting.request import ExportRequest

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
