"""CONFINE: static check, the trusted host, and the guest: the only place that executes candidate code."""

from llamea_tune.sandbox.host import Sandbox, layers
from llamea_tune.sandbox.layers import Layer, LayerStatus
from llamea_tune.sandbox.program import Limits, Program
from llamea_tune.sandbox.static_check import DEFAULT_IMPORTS, CheckedCode, RejectedCode, check

__all__ = [
    "CheckedCode",
    "DEFAULT_IMPORTS",
    "Layer",
    "LayerStatus",
    "Limits",
    "Program",
    "RejectedCode",
    "Sandbox",
    "check",
    "layers",
]
