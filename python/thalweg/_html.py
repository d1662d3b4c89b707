"""HTML of tables and of what notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from thalweg._format import number


def table(head: Sequence[str], rows: Iterable[Sequence]) -> str:
    """A table; cells that are `(text, class)` get the class; numbers are aligned right."""
    out = [
        "<div class=scroll><table><thead><tr>",
        *(f"<th>{escape(h)}</th>" for h in head),
        "</tr></thead><tbody>",
    ]
    for row in rows:
        out.append("<tr>")
        for cell in row:
            if isinstance(cell, tuple):
                out.append(f"<td class='{escape(cell[1])}'>{escape(str(cell[0]))}</td>")
            elif isinstance(cell, int | float) and not isinstance(cell, bool):
                out.append(f"<td class=num>{escape(number(cell))}</td>")
            else:
                out.append(f"<td>{escape(number(cell))}</td>")
        out.append("</tr>")
    return "".join([*out, "</tbody></table></div>"])


def folded(title: str, body: str) -> str:
    """What opens when its title is clicked."""
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def titled(title: str, *parts: str) -> str:
    """What a notebook shows of an object."""
    return f"<div><p><b>{escape(title)}</b></p>{''.join(parts)}</div>"
