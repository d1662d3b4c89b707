"""`reproduce`."""

from __future__ import annotations

import json
import textwrap
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from thalweg.cli import FOUND, OK
from thalweg.cli.studying import NARROWEST, Line, filled, options, wrapped

if TYPE_CHECKING:
    from thalweg.papers._answer import ClaimResult, Study

# Of what is judged, the colour on a terminal.
COLOURS = {"pass": "green", "fail": "bold red", "error": "bold red", "not-decided": "yellow", "not-checkable": "dim"}


def reproduce(args: Namespace) -> int:
    """Exit code 1 if a claim could not be evaluated; with `--strict` also if one fails. What a scale does not decide
    is not a failure."""
    from thalweg import papers

    if args.choice or args.choices:
        from thalweg.cli.choosing import choosing

        return choosing(args)
    study = papers.reproduce(
        args.paper, draw=not args.no_figures, handful=args.handful, kept_rows=args.kept_rows, **options(args)
    )
    if args.json:
        print(json.dumps(study.to_dict(), ensure_ascii=False))
    elif not args.quiet:
        print_study(study)
    wanting = study.count("error") or (args.strict and study.count("fail"))
    return FOUND if wanting else OK


def print_study(study: Study) -> None:
    """Wrapped to the terminal's width (80 columns where there is none), coloured only on a terminal."""
    from rich.text import Text

    from thalweg._console import console

    out = console()
    for parts in lines(study, max(out.width, NARROWEST)):
        out.print(Text.assemble(*parts), soft_wrap=True)


def print_summary(study: Study, indent: str = "") -> None:
    """How many claims of each figure hold, and no more."""
    from rich.text import Text

    from thalweg._console import console

    out = console()
    for parts in _by_figure(study.claims, max(out.width - len(indent), NARROWEST)):
        out.print(Text.assemble(indent, *parts), soft_wrap=True)


def lines(study: Study, width: int) -> Iterator[Line]:
    """A study's verdicts: how many of each figure hold, then a block per claim, then where the rest is."""
    from thalweg import _format
    from thalweg.papers._pages import counted

    yield [(f"{study.paper} · scale {study.scale}: {counted(study.claims)}", "bold")]
    yield []
    yield from _by_figure(study.claims, width)
    if study.scaled:
        yield []
        yield from wrapped(study.scaled, width, "Scaled: ", " " * 8)
    for claim in study.claims:
        yield []
        yield from _block(claim, width)
    yield []
    yield from wrapped(f"{counted(study.claims)} · {_format.wall(study.seconds)}", width)
    if study.kept:
        yield from wrapped(
            f"judged before and kept: {counted(study.kept)} (claims.json and the report have all)", width
        )
    yield [(f"report: {study.report}", "")]
    if study.figures:
        yield from wrapped(", ".join(study.figures), width, f"figures: {study.folder / 'figures'}: ")


def _by_figure(claims: Sequence[ClaimResult], width: int) -> Iterator[Line]:
    """A row per figure or table of the paper, and their sum."""
    from thalweg.papers._answer import by_figure
    from thalweg.papers._verdicts import SHORTEST, STATUSES

    rows = by_figure(claims)
    total = sum(rows.values(), start=type(next(iter(rows.values())))())
    statuses = [s for s in STATUSES if total[s]]
    heads = [SHORTEST.get(s, s) for s in statuses]
    longest = max(width - sum(len(h) + 2 for h in heads) - len("claims") - 2, 12)
    first = min(max(len(place) for place in (*rows, "figure or table")), longest)
    yield [("  ".join(["figure or table".ljust(first), "claims", *heads]).rstrip(), "dim")]
    for place, found in (*rows.items(), ("all", total)):
        *before, place = textwrap.wrap(place, first) or [""]
        yield from ([(line, "")] for line in before)
        cells: Line = [(f"{place.ljust(first)}  {found.total():6}", "")]
        for status, head in zip(statuses, heads, strict=True):
            cells += [("  ", ""), (f"{found[status] or '–':>{len(head)}}", COLOURS[status] if found[status] else "dim")]
        yield cells


def _block(claim: ClaimResult, width: int) -> Iterator[Line]:
    """One claim: what it says, what was published, measured and requested of it, and what follows."""
    from thalweg.papers._answer import section
    from thalweg.papers._verdicts import words

    where = f" ({section(claim.section)})" if claim.section else ""
    named = f"{claim.id}{where}: "
    for n, line in enumerate(filled(claim.statement, width, named, "  ")):
        yield [(claim.id, "bold"), (line.removeprefix(claim.id), "")] if n == 0 else [(line, "")]
    for what, text in (("published", claim.published), ("measured", claim.measured_text()), ("bound", claim.bound)):
        if text:
            yield from wrapped(text, width, f"  {what:9}  ", " " * 13)
    full = f" (full scale: {claim.full})" if claim.full else ""
    yield [("  verdict    ", ""), (words(claim.status), COLOURS[claim.status]), (full, "")]
    if claim.reason:
        yield from wrapped(claim.reason, width, " " * 13, " " * 13)
