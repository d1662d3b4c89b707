"""What figures are printed on: their size, colours and letters, and the files they become."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import matplotlib
from matplotlib import figure as mpl
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.rcsetup import cycler

from thalweg import _input, _places
from thalweg._layout import ASKED, fit
from thalweg.errors import nearest, refuse

if TYPE_CHECKING:
    from matplotlib.typing import LineStyleType, RcKeyType

# Okabe & Ito's palette: distinct for colour-blind readers and in grey print.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
MARKERS = "os^vDPX*"
LINES: tuple[LineStyleType, ...] = ("-", "--", ":", "-.")
HATCHES = ["", "//", "..", "\\\\", "xx", "--", "++", "oo"]
STYLE: dict[RcKeyType, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "axes.prop_cycle": cycler(color=COLOURS),
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.03,
    "svg.hashsalt": "thalweg",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
}
# What a paper published, on bars of any colour and hatch.
PUBLISHED: dict[str, Any] = {
    "linestyle": "none",
    "marker": "D",
    "color": "black",
    "markersize": 4,
    "markerfacecolor": "white",
}
FORMATS = ("png", "svg", "pdf")
COLUMN = 3.5  # inches: one column of a two-column paper


def look(n: int) -> dict[str, Any]:
    """Colour, marker and line of the n-th of several curves: after the eight colours other markers and lines come
    with them, so that no two of the first 32 look alike."""
    turn, place = divmod(n, len(COLOURS))
    return {
        "color": COLOURS[place],
        "marker": MARKERS[(place + turn) % len(MARKERS)],
        "linestyle": LINES[turn % len(LINES)],
    }


class Figure(mpl.Figure):
    """A matplotlib figure that notebooks show without pyplot, and that keeps its legends inside the page."""

    def legend(self, *args: Any, **kw: Any) -> Legend:
        made = super().legend(*args, **kw)
        setattr(made, ASKED, (args, kw))
        return made

    def savefig(self, *args: Any, **kw: Any) -> None:
        fit(self)
        super().savefig(*args, **kw)

    def _repr_svg_(self) -> str:
        return svg(self).decode()


def style() -> AbstractContextManager[None]:
    """The settings of all figures, as a context: `with thalweg.plots.style(): …`."""
    return matplotlib.rc_context(STYLE)


@overload
def figure(
    width: float = COLUMN, height: float | None = None, columns: Literal[1] = 1, rows: Literal[1] = 1
) -> tuple[Figure, Axes]: ...
@overload
def figure(
    width: float = COLUMN, height: float | None = None, columns: int = 1, rows: int = 1, **kw: Any
) -> tuple[Figure, Any]: ...
def figure(
    width: float = COLUMN, height: float | None = None, columns: int = 1, rows: int = 1, **kw: Any
) -> tuple[Figure, Any]:
    """A figure and its axes, an array of them if there are several. Call it inside `style()`."""
    made = Figure(figsize=(width, height or width * 0.68))
    return made, made.subplots(rows, columns, **kw)


def save(
    fig: mpl.Figure, folder: str | Path, name: str | None = None, formats: Sequence[str] | str = FORMATS
) -> list[Path]:
    """Writes a figure in each format, the same bytes every time, and answers with the files.

    `save(fig, "paper/delay.pdf")` writes that file, `save(fig, "paper/delay")` one of each format, `save(fig,
    "paper", "delay")` the same.
    """
    place = _input.path(folder, "a figure, or a folder")
    if name is None:
        if place.suffix[1:] in FORMATS:
            place, formats = place.with_suffix(""), [place.suffix[1:]]
        if not place.name:
            raise refuse("a figure needs a name", hint='`save(fig, "delay")`')
        place, name = place.parent, place.name
    wanted = [formats] if isinstance(formats, str) else list(formats)
    for form in wanted:
        if form not in FORMATS:
            raise refuse(f"no format is called `{form}`", hint=nearest(form, FORMATS))
    return [_places.write_file(place / f"{name}.{form}", drawn(fig, form)) for form in wanted]


def drawn(fig: mpl.Figure, form: str) -> bytes:
    """A figure as the bytes of a file. They carry our mark: such a file may be replaced."""
    mark = _places.MARK
    about = {
        "svg": {"Date": None, "Creator": mark},
        "pdf": {"CreationDate": None, "Creator": mark},
        "png": {"Software": mark},
    }
    target = io.BytesIO()
    with style():
        fit(fig)  # here for figures that others made, too
        fig.savefig(target, format=form, metadata=about[form])
    return target.getvalue()


def svg(fig: mpl.Figure) -> bytes:
    """A figure as SVG."""
    return drawn(fig, "svg")
