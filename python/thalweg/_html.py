"""HTML of tables, of figures, and of what notebooks show."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from thalweg._format import number


class Raw(str):
    """A cell that is HTML already."""


class Wide(NamedTuple):
    """A row's last cell, across all columns that are left."""

    text: str
    kind: str


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], kind: str = "") -> str:
    """A table; cells that are `(text, class)` get the class; numbers are aligned right. `kind`: a class of the whole
    table, and then every cell says under which head it stands, for pages too narrow for columns."""
    named = f" class={kind}" if kind else ""
    out = [
        f"<div class=scroll><table{named}><thead><tr>",
        *(f"<th>{escape(h)}</th>" for h in head),
        "</tr></thead><tbody>",
    ]
    for row in rows:
        out.append("<tr>")
        for title, cell in zip(head, row, strict=not isinstance(row[-1], Wide)):
            label = f" data-head='{escape(title)}'" if kind else ""
            if isinstance(cell, Wide):
                span = len(head) - len(row) + 1
                out.append(f"<td colspan={span} class='{escape(cell.kind)}'>{escape(cell.text)}</td>")
            elif isinstance(cell, Raw):
                out.append(f"<td{label}>{cell}</td>")
            elif isinstance(cell, tuple):
                out.append(f"<td{label} class='{escape(cell[1])}'>{escape(str(cell[0]))}</td>")
            elif isinstance(cell, int | float) and not isinstance(cell, bool):
                out.append(f"<td{label} class=num>{escape(number(cell))}</td>")
            else:
                out.append(f"<td{label}>{escape(number(cell))}</td>")
        out.append("</tr>")
    return "".join([*out, "</tbody></table></div>"])


def folded(title: str, body: str) -> str:
    """What opens when its title is clicked."""
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def framed(svg: bytes, caption: str, below: str = "", wide: bool = False) -> str:
    """An SVG file as a figure of the page; `below`: HTML under its caption; `wide`: it takes the page's width."""
    data = base64.b64encode(svg).decode()
    image = f'<img alt="{escape(caption, quote=True)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure{' class=wide' * wide}>{image}<figcaption>{escape(caption)}</figcaption>{below}</figure>"


def titled(title: str, *parts: str) -> str:
    """What a notebook shows of an object."""
    return f"<div><p><b>{escape(title)}</b></p>{''.join(parts)}</div>"
