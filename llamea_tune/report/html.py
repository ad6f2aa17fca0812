"""HTML, written by hand: a static page without scripts, safe whatever the texts hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number, th.number { text-align: right; }
tr.best { font-weight: 600; }
pre { background: #f6f6f4; padding: 1rem; overflow-x: auto; font-size: 13px; line-height: 1.4; }
svg { max-width: 100%; height: auto; }
.note { color: #666; }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page.

    Args:
        title: Its title, as text.
        parts: What is on it, as HTML.
    """
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    """A heading."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, *, note: bool = False) -> str:
    """A paragraph, small print if it is a note."""
    return f'<p class="note">{escape(text)}</p>' if note else f"<p>{escape(text)}</p>"


def code(text: str) -> str:
    """A listing."""
    return f"<pre><code>{escape(text)}</code></pre>"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0, best: int | None = None) -> str:
    """A table.

    Args:
        headings: Its headings.
        rows: Its cells, as text.
        numbers: Number of the column from which on cells are numbers, aligned to the right; 0 for none.
        best: Number of the row that stands out.
    """

    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="number">{escape(text)}</{tag}>'
            if numbers and column >= numbers
            else f"<{tag}>{escape(text)}</{tag}>"
            for column, text in enumerate(texts)
        )

    body = "\n".join(
        f'<tr class="best">{cells("td", row)}</tr>' if number == best else f"<tr>{cells('td', row)}</tr>"
        for number, row in enumerate(rows)
    )
    return f"<table>\n<tr>{cells('th', headings)}</tr>\n{body}\n</table>"


def drawing(svg: bytes) -> str:
    """An SVG file as part of the page."""
    text = svg.decode()
    return f"<figure>{text[text.index('<svg') :]}</figure>"
