"""KEEP: files that are there whole or not at all, and logs that survive a crash at any moment."""

from llamea_tune.storage.atomic import atomic_file, write_bytes, write_text, write_together
from llamea_tune.storage.journal import Journal, append, repair, whole_lines

__all__ = [
    "Journal",
    "append",
    "atomic_file",
    "repair",
    "whole_lines",
    "write_bytes",
    "write_text",
    "write_together",
]
