"""What keeps a figure readable: legends inside the page, plain numbers on its axes, times in the unit of
their range."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from matplotlib import figure as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.legend import Legend
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from thalweg import _units

# A legend higher than this part of the page makes the page higher instead of the axes smaller.
LEGEND_SHARE = 0.16
SMALLEST_FONT = 5.0
MARGIN = 0.04  # inches
# What figures and legends remember of us, as attributes: with what a legend was made, and that a figure was laid out.
ASKED, _FITTED = "_asked", "_fitted"
_NCOLS = "_ncols"


def fit(fig: mpl.Figure) -> None:
    """Lays the legends out so that none is cut off by the page: fewer columns, then broken lines, then
    smaller letters. Measures only, draws nothing: how large a legend is does not depend on where it goes."""
    if getattr(fig, _FITTED, False):
        return
    setattr(fig, _FITTED, True)
    canvas = fig.canvas
    if not hasattr(canvas, "get_renderer"):
        canvas = FigureCanvasAgg(fig)
    renderer = canvas.get_renderer()
    for legend in list(fig.legends):
        _fit_page(fig, legend, renderer)
    for ax in fig.axes:
        if (inside := ax.get_legend()) is not None:
            _narrow(inside, renderer, ax.bbox.width, ax.bbox.height)


def _fit_page(fig: mpl.Figure, legend: Legend, renderer: RendererBase) -> None:
    limit = fig.bbox.width - 2 * MARGIN * fig.dpi
    while legend.get_window_extent(renderer).width > limit and hasattr(legend, ASKED) and _columns(legend) > 1:
        legend = _in_columns(fig, legend, _columns(legend) - 1)
    # Six entries in five columns leave one alone in the second line: three and three.
    entries = len(legend.get_texts())
    level = math.ceil(entries / math.ceil(entries / _columns(legend))) if entries else _columns(legend)
    if level < _columns(legend) and hasattr(legend, ASKED):
        legend = _in_columns(fig, legend, level)
    _narrow(legend, renderer, limit)
    more = legend.get_window_extent(renderer).height - LEGEND_SHARE * fig.bbox.height
    if more > 0:
        fig.set_figheight(fig.get_figheight() + more / fig.dpi)


def _columns(legend: Legend) -> int:
    """How many columns it has: matplotlib has no public name for it."""
    return getattr(legend, _NCOLS)


def _in_columns(fig: mpl.Figure, legend: Legend, columns: int) -> Legend:
    """The same legend again, in so many columns."""
    args, kw = getattr(legend, ASKED)
    legend.remove()
    return fig.legend(*args, **(kw | {"ncols": columns}))


def _narrow(legend: Legend, renderer: RendererBase, width: float, height: float = float("inf")) -> None:
    """Breaks the lines of a legend that is too wide, then makes its letters smaller."""

    def too_large() -> bool:
        box = legend.get_window_extent(renderer)
        return box.width > width or box.height > height

    texts = legend.get_texts()
    if too_large():
        widths = [t.get_window_extent(renderer).width for t in texts]
        around = legend.get_window_extent(renderer).width - max(widths) * _columns(legend)
        letter = max(w / max(len(t.get_text()), 1) for w, t in zip(widths, texts, strict=True))
        room = max(int((width - around) / _columns(legend) / letter), 8)
        for text in texts:
            text.set_text("\n".join(textwrap.wrap(text.get_text(), room)) or text.get_text())
    while too_large() and float(texts[0].get_fontsize()) > SMALLEST_FONT:
        for text in texts:
            text.set_fontsize(float(text.get_fontsize()) - 0.5)


def time_unit(longest: float) -> tuple[float, str]:
    """Of a time axis up to so many seconds: what to multiply seconds with, and the unit."""
    for least, factor, unit in ((1.0, 1.0, "s"), (1e-3, 1e3, "ms"), (1e-6, 1e6, "us")):
        if longest >= least:
            return factor, unit
    return 1e9, "ns"


def broken(label: str, longest: int = 34) -> str:
    """An axis label that fits next to a small figure: in two lines if it is long."""
    return "\n".join(textwrap.wrap(label, longest, break_long_words=False))


def note(ax: Axes, text: str) -> None:
    """A small line above the axes: what is shown, and what is not."""
    ax.set_title(text, loc="right", fontsize=7, color="0.35")


def legend_above(fig: mpl.Figure, ax: Axes, columns: int, entries: tuple[list[Any], list[str]] | None = None) -> None:
    """A legend that hides no data: of the axes' labels, or of given handles and labels."""
    handles, labels = entries or ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda n: labels[n] == "published")
    fig.legend(
        [handles[n] for n in order], [labels[n] for n in order], loc="outside upper center", ncols=min(columns, 5)
    )


def _plain(axis: Axis, low: float, high: float) -> None:
    """Ticks of an axis that spans less than two decades, so that at least two have labels and none lies on another."""
    ratio = high / low
    if ratio < 3:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    else:
        axis.set_major_locator(
            LogLocator(
                subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if ratio <= 5 else (1.0, 2.0, 5.0) if ratio <= 20 else (1.0, 3.0)
            )
        )
    axis.set_minor_formatter(NullFormatter())


def plain_log(ax: Axes) -> None:
    """1, 2, 5, 10 instead of powers on a logarithmic y axis."""
    low, high = ax.get_ylim()
    if low > 0 and high <= 100 * low:
        _plain(ax.yaxis, low, high)
    else:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def plain_log_x(ax: Axes, unit: str = "") -> None:
    """The same on an x axis that spans less than two decades; powers of ten are read more easily on longer ones.
    `unit`: ticks are quantities (`10 KB`), on axes of any length."""
    low, high = ax.get_xlim()
    if low > 0 and high < 100 * low:
        _plain(ax.xaxis, low, high)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _units.quantity(x, unit) if unit else f"{x:g}"))
    elif unit and low > 0:
        # At most five labels.
        ax.xaxis.set_major_locator(LogLocator(numticks=6))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _units.quantity(x, unit)))
        ax.xaxis.set_minor_formatter(NullFormatter())
