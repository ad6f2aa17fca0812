"""CONFINE: the trusted host, and the guest: the only place that executes candidate code."""

from llamea_tune.sandbox.host import Sandbox, layers
from llamea_tune.sandbox.layers import Layer, LayerStatus
from llamea_tune.sandbox.sandboxed import Limits, SandboxedCandidate

__all__ = [
    "Layer",
    "LayerStatus",
    "Limits",
    "SandboxedCandidate",
    "Sandbox",
    "layers",
]
