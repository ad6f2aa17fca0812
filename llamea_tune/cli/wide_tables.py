"""Tables that are not cut to 80 columns where nobody watches."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from llamea_tune.cli.console import out

_WIDEST = 1000


def print_table(table: Table) -> None:
    """Print a table: fitted into a terminal, but into a file or pipe as wide as it wants to be."""
    if out.is_terminal:
        out.print(table)
        return
    texts = max(len(str(text or "")) for text in (table.title, table.caption))
    Console(file=sys.stdout, highlight=False, width=max(natural_width(table), texts, 1)).print(table)


def natural_width(table: Table) -> int:
    """How many characters a table's lines would like to have."""
    return Measurement.get(out, out.options.update(max_width=_WIDEST), table).maximum
