"""An exam as figures, and as a page."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _html, plots, report
from thalweg._format import number

if TYPE_CHECKING:
    from thalweg.exams import Exam
    from thalweg.exams.situations import Situation

# Marks as tables and figures have them: attribute, heading, factor.
MARKS = (
    ("utilisation", "utilisation", 1.0),
    ("delay_ms", "p95 queueing delay (ms)", 1.0),
    ("loss", "loss (%)", 100.0),
    ("fairness", "fairness", 1.0),
    ("share", "of its share", 1.0),
    ("settled_s", "time to converge (s)", 1.0),
)
LOGARITHMIC = ("delay_ms", "loss", "settled_s")


def cell(value: float) -> str:
    """A mark for a table."""
    if math.isnan(value):
        return "–"
    return "never" if math.isinf(value) else number(float(f"{value:.3g}"))


def overview(exam: Exam) -> plots.Figure:
    """A row per situation, a column per mark, a dot per controller; times that never came stand at the right edge."""
    rows = len(exam.situations)
    with plots.style():
        fig, axes = plots.figure(10.5, 1.1 + 0.24 * rows, columns=len(MARKS), sharey=True)
        for ax, (attribute, heading, factor) in zip(axes, MARKS, strict=True):
            finite = [
                v * factor for s in exam.situations for m in exam.of(s) if math.isfinite(v := getattr(m, attribute))
            ]
            end = max(finite, default=1.0) * 1.6
            floor = min((v for v in finite if v > 0), default=1.0) / 2
            log = attribute in LOGARITHMIC
            for n, name in reversed(list(enumerate(exam.names))):
                values = [getattr(exam.marks[s.name, name], attribute) * factor for s in exam.situations]
                places = [end if v == math.inf else max(v, floor) if log else v for v in values]
                first = n == 0
                ax.plot(
                    places, range(rows), plots.MARKERS[n % 8], color=plots.COLOURS[n % 8], label=name, clip_on=False,
                    markersize=6 if first else 4, alpha=1.0 if first else 0.75, linestyle="none",
                )  # fmt: skip
            if log:
                ax.set_xscale("log")
            elif attribute != "share":
                ax.set_xlim(0, 1.02)
            else:
                ax.set_xlim(left=0)
                ax.axvline(1.0, color="0.6", lw=0.8)
            ax.set_title(heading)
            ax.tick_params(axis="y", length=0)
        axes[0].set_yticks(range(rows), [s.name for s in exam.situations])
        axes[0].set_ylim(rows - 0.5, -0.5)
        handles, labels = axes[0].get_legend_handles_labels()
        fig.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=len(labels))
        return fig


def over_time(exam: Exam, situation: Situation) -> plots.Figure:
    """What the flows examined got, next to what the link could carry; below, their queueing delays."""
    with plots.style():
        fig, (rates, delays) = plots.figure(plots.COLUMN * 1.35, plots.COLUMN * 1.05, rows=2, sharex=True)
        drawn = False
        for n, name in reversed(list(enumerate(exam.names))):
            curves = exam.marks[situation.name, name].curves
            if not curves:
                continue
            if not drawn:
                rates.fill_between(
                    curves["seconds"], curves["capacity"], color="0.88", step="pre", lw=0, label="capacity"
                )
                drawn = True
            look = {"color": plots.COLOURS[n % 8], "lw": 1.6 if n == 0 else 0.8, "zorder": 3 if n == 0 else 2}
            rates.plot(curves["seconds"], curves["got"], label=name, **look)
            delays.plot(curves["seconds"], curves["delay"], **look)
        rates.set(ylabel="rate (Mb/s)", ylim=(0, None), title=situation.name)
        delays.set(ylabel="queueing (ms)", ylim=(0, None), xlabel="time (s)")
        handles, labels = rates.get_legend_handles_labels()
        fig.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=len(labels))
        return fig


def rows(exam: Exam, situation: Situation) -> list[tuple[Any, ...]]:
    """A row per controller, as the page has it."""
    out = []
    for name, marks in zip(exam.names, exam.of(situation), strict=True):
        cells = [cell(getattr(marks, a) * factor) for a, _, factor in MARKS]
        out.append(
            (name, *((c, "num") for c in cells)) if not marks.failed else (name, _html.Wide(marks.failed, "fail"))
        )
    return out


def page(exam: Exam, path: Path) -> Path:
    """One self-contained page: the overview, then every situation with its table and its picture."""
    head = ("controller", *(heading for _, heading, _ in MARKS))
    whole = report.picture(overview(exam), "every situation; times to converge that never came stand at the right edge")
    sections = [
        (
            "All situations",
            f"<div style='max-width:none'>{whole.replace('<figure>', '<figure style=max-width:none>', 1)}</div>",
        )
    ]
    for s in exam.situations:
        shown = report.picture(over_time(exam, s), f"{s.name}: {s.about}")
        sections.append(
            (
                s.name,
                f"<p class=soft>{escape(s.about)}</p>"
                + _html.table(head, rows(exam, s))
                + f"<div class=figures>{shown}</div>",
            )
        )
    sections.append(("What the marks are", _meanings()))
    sections.append(("Made by", report.provenance_table()))
    lead = f"{len(exam.situations)} situations, against {', '.join(exam.names[1:]) or 'none'}"
    return report.write(path, report.page(f"Exam: {exam.names[0]}", lead, sections))


def _meanings() -> str:
    meanings = (
        ("utilisation", "what the bottleneck carried over what it could have carried"),
        (
            "p95 queueing delay",
            "of every round trip of the flows examined, less that of the empty path: 95 % are below",
        ),
        ("loss", "data packets lost over data packets sent"),
        ("fairness", "Jain's index of all flows that share the link"),
        (
            "of its share",
            "what the flows examined got over an equal share; below 1 they are starved, above they starve others",
        ),
        (
            "time to converge",
            "from the event, or the start, until the link is 80 % used, the shares are fair (0.9), the delay is where it stays, or all flows are complete; it has to last for three windows, and to hold for nine tenths of the time that is left",
        ),
    )
    return _html.table(("mark", "meaning"), meanings)
