"""`llamea-tune spaces fetch`: bring the public benchmark hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from llamea_tune.cli import options
from llamea_tune.cli.console import Lines, err, escape, out, print_json
from llamea_tune.wording import counted

HELP = """
Fetch the public hub of brute-forced search spaces, or another record of Zenodo.

What is there already is not fetched again; what broke off is resumed. Every file is checked against the record's
checksums, and archives are unpacked. The license is shown, and holds for what you fetch.

[bold]Examples[/]

  llamea-tune spaces fetch

  llamea-tune spaces fetch --to hub && llamea-tune spaces list hub
"""


def fetch_spaces(
    to: Annotated[Path, typer.Option(help="Folder to fetch to.")] = Path("hub"),
    url: Annotated[
        str | None, typer.Option(help="Address of the record's API; by default the hub's.", show_default=False)
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Read the record, fetch its files, show license and places."""
    from llamea_tune.spaces.fetch import HUB_URL, fetch, read_record

    record = read_record(url or HUB_URL)
    size_mb = sum(file.size for file in record.files) / 1e6
    doi = f", DOI {record.doi}" if record.doi else ""
    if not quiet:
        err.print(
            f"{escape(record.title)}{escape(doi)}: {counted(len(record.files), 'file')}, {size_mb:,.0f} MB",
            soft_wrap=True,
        )
        err.print(f"license: [bold]{escape(record.license)}[/]", soft_wrap=True)
    line = Lines()
    places = fetch(
        record,
        to,
        None if quiet else lambda name, done, all_: line(f"{escape(name)}: {done / 1e6:,.0f} of {all_ / 1e6:,.0f} MB"),
    )
    if as_json:
        facts = {"title": record.title, "license": record.license, "doi": record.doi}
        print_json({**facts, "places": [str(place) for place in places]})
        return
    for place in places:
        out.print(escape(str(place)), soft_wrap=True)
    out.print(f"license: {escape(record.license)}{escape(doi)}", soft_wrap=True)
