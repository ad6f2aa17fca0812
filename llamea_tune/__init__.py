"""llamea-tune: better optimization strategies for Kernel Tuner, found by evolution."""

__version__ = "0.1.0"
