"""The command line, one file per command."""

from llamea_tune.cli.app import main

__all__ = ["main"]
