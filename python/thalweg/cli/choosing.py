"""`reproduce --choices` and `reproduce --choice NAME`: what a paper leaves open, listed and swept."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from thalweg.cli import FOUND, OK
from thalweg.cli.studying import NARROWEST, Line, options, wrapped
from thalweg.errors import refuse

if TYPE_CHECKING:
    from thalweg.papers._sweeping import Sweep

ALONE = ("handful", "kept_rows", "strict")


def choosing(args: Namespace) -> int:
    """Exit code 1 if a claim could not be evaluated under some value."""
    from thalweg import papers

    for option in ALONE:
        if getattr(args, option):
            reason = "judges the study under its own choices"
            raise refuse(reason, key=f"--{option.replace('_', '-')}", hint="leave it out, or --choice")
    if args.choices:
        return _list(args)
    found = papers.sweep(args.paper, args.choice, **options(args))
    if args.json:
        print(json.dumps([s.to_dict() for s in found], ensure_ascii=False))
    elif not args.quiet:
        _print(_swept(swept, args.scale) for swept in found)
    broken = any(row.status == "error" for s in found for rows in s.rows.values() for row in rows)
    return FOUND if broken else OK


def _list(args: Namespace) -> int:
    from thalweg.papers import _choosing, find

    paper = find(args.paper)
    found = _choosing.listed(paper, args.scale)
    if args.json:
        print(json.dumps(found, ensure_ascii=False))
    elif not found:
        print(f"{paper.name} declares no choices")
    elif not args.quiet:
        _print(_choice(one) for one in found)
    return OK


def _print(blocks: Iterable[Callable[[int], Iterator[Line]]]) -> None:
    """Each a function of the width that has lines."""
    from rich.text import Text

    from thalweg._console import console

    out = console()
    for lines in blocks:
        for parts in lines(max(out.width, NARROWEST)):
            out.print(Text.assemble(*parts), soft_wrap=True)


def _choice(one: dict[str, Any]) -> Callable[[int], Iterator[Line]]:
    """What is declared of a choice, and what the study keeps of its sweep."""
    from thalweg.papers._choices import text

    def lines(width: int) -> Iterator[Line]:
        yield [(one["name"], "bold"), (f" = {text(one['value'])}", "")]
        tried = ", ".join(map(text, one["alternatives"]))
        kept = "; ".join(f"{v}: {m['within']} of {m['of']}" for v, m in one["measured"].items())
        parts = {
            "left open": f"{one['what']} ({one['section']})",
            "why": one["why"],
            "instead": tried,
            "claims": ", ".join(one["rows"]),
            "within": kept or "not swept",
            "decides": ", ".join(one["decided"]) or ("none of them" if kept else "not known"),
        }
        for name, said in parts.items():
            yield from wrapped(said, width, f"  {name:9}  ", " " * 13)
        yield []

    return lines


def _swept(swept: Sweep, scale: str) -> Callable[[int], Iterator[Line]]:
    """A choice's sweep: a line per value, then its claims by what follows."""
    from thalweg.papers._choices import text
    from thalweg.papers._swept import STANDINGS

    def lines(width: int) -> Iterator[Line]:
        choice, standing = swept.choice, swept.standing()
        yield [(f"{choice.name} · scale {scale}", "bold")]
        yield from wrapped(f"{choice.what} ({choice.section})", width, "  ", "  ")
        longest = max(len(v) for v in swept.rows)
        for value, rows in swept.rows.items():
            held, judged = sum(r.within_bounds is True for r in rows), sum(r.within_bounds is not None for r in rows)
            own = " (the study's)" if value == text(choice.value) else ""
            yield [(f"  {value.ljust(longest)}  {held} of {judged} within their bounds{own}", "")]
        under = swept.verdicts()
        for said in STANDINGS:
            mine = [i for i, found in standing.items() if found == said]
            named = [f"{i} ({_flip(under[i])})" if said == "decided by a choice" else i for i in mine]
            if mine:
                yield from wrapped(", ".join(named), width, f"  {said}: ", "    ")
        for value, rows in swept.rows.items():
            for row in (r for r in rows if r.within_bounds is None):
                yield from wrapped(f"{value}, {row.id}: {row.reason}", width, "  ", "    ")
        yield []

    return lines


def _flip(under: dict[str, Any]) -> str:
    holds = ", ".join(v for v, within in under.items() if within)
    return f"holds under {holds} only"
