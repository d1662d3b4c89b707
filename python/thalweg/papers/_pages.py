"""A study's figures and its report."""

from __future__ import annotations

from html import escape
from pathlib import Path

from thalweg import recording
from thalweg.papers._answer import Study
from thalweg.papers._judging import Lazy, one_line
from thalweg.papers._paper import Paper
from thalweg.results import Results


def draw_figures(figures, specs, answers, folders, folder: Path, study: Study):
    from thalweg import plots

    for name, drawn in figures.items():
        try:
            fig = drawn.call(Lazy(drawn.keys(specs, "figures.py"), answers, folders, study.scale))
            study.figures[name] = plots.save(fig, folder / "figures", name)
            yield drawn.title, fig
        except Exception as e:
            yield f"{drawn.title}: not drawn: {type(e).__name__}: {one_line(e)}", None


def report(paper: Paper, study: Study, drawings, folders, answers) -> Path:
    from thalweg import _html
    from thalweg import report as pages

    about = paper.about
    head = ("id", "statement", "§", "published", "measured", "bound", "status", "full scale", "reason")
    rows = [
        (
            c.id,
            c.statement,
            c.section,
            c.published,
            c.measured_text(),
            c.bound,
            (c.status, c.status),
            (c.full, c.full) if c.full else "",
            c.reason,
        )
        for c in study.claims
    ]
    counts = ", ".join(f"{study.count(s)} {s}" for s in ("pass", "fail", "not-checkable", "error"))
    runs, deleted = [], False
    for key, path in folders.items():
        if isinstance(answers.get(key), Exception):
            runs.append((key, ("error", "error"), "", "", one_line(answers[key])))
            continue
        found = Results.load(path)
        deleted |= found.recorded and not recording.present(path)
        runs.append(
            (
                key,
                found.digest,
                found.meta.get("packet_hops"),
                f"{found.meta.get('seconds', 0):.2f} s",
                str(path.relative_to(study.folder)),
            )
        )
    note = "<p class=soft>Recordings of packets were deleted after their replays, to save disk.</p>" if deleted else ""
    missing = "".join(f"<p class=error>{escape(title)}</p>" for title, fig in drawings if fig is None)
    sections = [
        (
            "What was scaled",
            f"<p class=banner>Scale <b>{study.scale}</b>: {escape(study.scaled)}</p>" if study.scaled else "",
        ),
        ("Claims", f"<p>{counts}</p>" + _html.table(head, rows)),
        ("Figures", pages.pictures((title, fig) for title, fig in drawings if fig is not None) + missing),
        ("Runs", _html.table(("run", "digest", "packet-hops", "time", "folder or reason"), runs) + note),
        ("Made by", pages.provenance_table()),
    ]
    lead = " · ".join(str(about[k]) for k in ("authors", "venue") if k in about)
    return pages.write(study.folder / "report.html", pages.page(about.get("title", paper.name), lead, sections))
