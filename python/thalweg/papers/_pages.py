"""A study's figures and its report: how it came out in a line, the figures, published next to measured, what does not
hold and why, then every verdict, and what they rest on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from thalweg import _html, _places, recording
from thalweg.papers import _choosing, _outcome, _reporting, _verdicts
from thalweg.papers._answer import ClaimResult, Study, counts
from thalweg.papers._judging import Lazy, one_line
from thalweg.papers._paper import Measure, Paper, RunSpec, belongs
from thalweg.papers._swept import Standing, standing
from thalweg.results import Results

WIDEST = 5.2 * 72  # points: a figure that is wider stands alone in its row


@dataclass
class Drawing:
    """A figure of the study: drawn now (its SVG), or why not."""

    svg: bytes | None
    note: str = ""


def draw_figures(
    figures: Mapping[str, Measure],
    specs: Sequence[RunSpec],
    answers: Mapping[str, Any],
    folders: Mapping[str, Path],
    folder: Path,
    study: Study,
) -> dict[str, Drawing]:
    """Draws figures into the folder; their files are noted in the study."""
    from thalweg import plots

    found = {}
    for name, drawn in figures.items():
        try:
            fig = drawn.call(Lazy(drawn.keys(specs, "figures.py"), answers, folders, study.folder, study.scale))
            study.figures[name] = plots.save(fig, folder / "figures", name)
            found[name] = Drawing(plots.svg(fig))
        except Exception as e:
            found[name] = Drawing(None, f"not drawn: {type(e).__name__}: {one_line(e)}")
    return found


def report(
    paper: Paper,
    study: Study,
    claims: Sequence[ClaimResult],
    figures: Mapping[str, Measure],
    drawn: Mapping[str, Drawing],
    there: Mapping[str, Path],
    answers: Mapping[str, Any],
) -> Path:
    """The page of all that the folder knows: what was drawn and judged now, and what was before.

    `figures`: all that the study has; `there`: where each of its runs is, if it is there."""
    from thalweg import report as pages

    about = paper.about
    scaled = f"<p class=banner>Scale <b>{study.scale}</b>: {escape(study.scaled)}</p>" if study.scaled else ""
    standings = _standings(paper, study, claims)
    sections = [
        ("", _first(study, claims, standings)),
        ("Figures", _figures(paper, study, claims, figures, drawn)),
        ("What does not hold", _reporting.failing(paper, claims, standings)),
        ("Claims", _reporting.table(paper, study.scale, claims)),
        ("Choices", _choosing.section(paper, study.scale, study.folder)),
        ("What was scaled", scaled),
        ("Details", _details(claims, study, there, answers)),
    ]
    lead = " · ".join(str(about[k]) for k in ("authors", "venue") if k in about)
    return pages.write(study.folder / "report.html", pages.page(about.get("title", paper.name), lead, sections))


def _standings(paper: Paper, study: Study, claims: Sequence[ClaimResult]) -> dict[str, Standing]:
    """How the claims that the folder has stand: by their verdicts, and the sweeps that the study or the folder has."""
    defined, table = {c.id: c for c in paper.claims}, _choosing.swept(paper, study.scale, study.folder)
    return {c.id: standing(defined[c.id], c, paper.choices, table) for c in claims}


def _first(study: Study, claims: Sequence[ClaimResult], found: Mapping[str, Standing]) -> str:
    """The line that the page begins with."""
    errors = sum(c.status == "error" for c in claims)
    broken = f" <span class=error>{errors} could not be evaluated.</span>" if errors else ""
    judged = {c.id: found[c.id] for c in claims if c.status != "error"}
    said = (
        f"<b>{_outcome.word(judged.values())}</b> at scale {study.scale}. {escape(_outcome.sentence(judged))}{broken}"
    )
    return f"<p>{said}</p><p class=soft>Verdicts: {escape(counted(claims))}.</p>"


def counted(claims: Sequence[ClaimResult]) -> str:
    """How many claims have which verdict, in words; those that none has are left out."""
    found = counts(claims)
    return ", ".join(f"{n} {_verdicts.words(status)}" for status, n in found.items() if n) or "no claims"


def _figures(
    paper: Paper,
    study: Study,
    claims: Sequence[ClaimResult],
    figures: Mapping[str, Measure],
    drawn: Mapping[str, Drawing],
) -> str:
    """Each figure with the published values of its claims under it."""
    shown, missing = [], []
    defined = {c.id: c for c in paper.claims}
    for name, figure in figures.items():
        found = drawn.get(name) or _before(study.folder / "figures" / f"{name}.svg")
        if found is None:
            continue
        if found.svg is None:
            missing.append(f"<p class=error>{escape(figure.title)}: {escape(found.note)}</p>")
            continue
        mine = [c for c in claims if belongs(figure, defined[c.id])]
        title = f"{figure.title} ({found.note})" if found.note else figure.title
        shown.append(_html.framed(found.svg, title, _published(mine), _wide(found.svg)))
    return (f"<div class=figures>{''.join(shown)}</div>" if shown else "") + "".join(missing)


def _wide(svg: bytes) -> bool:
    """Whether a figure has panels next to each other, unreadable at half of the page's width."""
    size = re.search(rb'<svg[^>]* width="([\d.]+)pt"', svg)
    return size is not None and float(size[1]) > WIDEST


def _before(file: Path) -> Drawing | None:
    """A figure that an earlier call drew."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    return Drawing(data, "drawn before") if _places.MARK.encode() in data else None


def _published(claims: Sequence[ClaimResult]) -> str:
    """What a figure's claims say, in a table small enough to stand under it."""
    if not claims:
        return ""
    rows = []
    for c in claims:
        verdict = (_verdicts.SHORTEST.get(c.status, c.status), c.status)
        published = c.statement if c.published == "see the statement" else c.published
        rows.append((c.id, published, _html.Raw(_reporting.measured(c, bound_only=True)), verdict))
    made = _html.table(("claim", "published", "measured", "verdict"), rows, kind="published")
    return made if len(rows) <= 6 else _html.folded(f"published and measured: {len(rows)} claims", made)


def _details(claims: Sequence[ClaimResult], study: Study, there: Mapping[str, Path], answers: Mapping[str, Any]) -> str:
    """The runs, and what they were made with."""
    from thalweg.report import provenance_table

    runs: list[tuple[object, ...]] = []
    deleted = False
    for key, path in there.items():
        if isinstance(answers.get(key), Exception):
            runs.append((key, ("error", "error"), "", "", one_line(answers[key])))
            continue
        if not (path / _places.META).is_file():
            continue
        found = Results.load(path)
        deleted |= found.recorded and not recording.present(path)
        hops, seconds = found.meta.get("packet_hops"), f"{found.meta.get('seconds', 0):.2f} s"
        runs.append((key, found.digest, hops, seconds, str(path.relative_to(study.folder))))
    note = "<p class=soft>Recordings of packets were deleted after their replays, to save disk.</p>" if deleted else ""
    head = ("run", "digest", "packet-hops", "time", "folder or reason")
    return _html.folded(f"the {len(runs)} runs", _html.table(head, runs) + note) + _html.folded(
        "made by", provenance_table()
    )
