"""`exam`."""

from __future__ import annotations

import csv
import json
import math
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.cli import FOUND, OK, say
from thalweg.cli.running import load_plugins
from thalweg.cli.sweeping import executor_of
from thalweg.errors import refuse

if TYPE_CHECKING:
    from thalweg.exams import Exam
    from thalweg.exams.situations import Situation

BARS = "▁▂▃▄▅▆▇█"


def exam(args: Namespace) -> int:
    from thalweg.exams.situations import chosen

    if args.list:
        return _list(chosen(args.only), args.json)
    if args.controller is None:
        raise refuse(
            "thalweg exam: give a controller, or --list", hint="`thalweg list controllers` lists the built-in ones"
        )
    load_plugins(args)
    from thalweg import exams

    folder = Path(args.out) if args.out else Path("runs") / "exam"
    show = not (args.quiet or (args.json and not sys.stderr.isatty()))
    against = exams.AGAINST if args.against is None else [name for name in args.against.split(",") if name]
    done = exams.exam(
        args.controller,
        only=args.only,
        against=against,
        set=dict(args.set),
        jobs=args.jobs,
        progress=show,
        out=folder,
        executor=executor_of(args),
    )
    files = [] if args.no_report else write(done, folder)
    if args.json:
        rows = done.frame.to_dicts()
        print(json.dumps([{k: _plain(v) for k, v in row.items()} for row in rows], ensure_ascii=False))
    elif not args.quiet:
        print_marks(done)
        print("\n".join(f"{what}: {file}" for what, file in zip(("report", "table", "figure"), files, strict=False)))
    for line in done.failures:
        say(f"thalweg exam: {line}")
    return FOUND if done.failures else OK


def _plain(value: object) -> object:
    """JSON has no infinity."""
    return "never" if isinstance(value, float) and math.isinf(value) else value


def _list(situations: Sequence[Situation], as_json: bool) -> int:
    if as_json:
        print(json.dumps([{"name": s.name, "about": s.about} for s in situations], ensure_ascii=False))
        return OK
    wide = max(len(s.name) for s in situations)
    for s in situations:
        print(f"{s.name:{wide}}  {s.about}")
    return OK


def write(done: Exam, folder: Path) -> list[Path]:
    """The page, the table and the picture of all situations. Of fewer than an earlier exam's they have names
    of their own."""
    from thalweg import _places, exams, plots

    name, now = exams.file_name(done.names[0]), [s.name for s in done.situations]
    if _kept(folder / f"{name}.csv") - set(now):
        name += "-" + exams.file_name("+".join(now))
    page = done.report(folder / f"{name}.html")
    table = _places.write_file(folder / f"{name}.csv", done.frame.write_csv(), mark="")
    return [page, table, _places.write_file(folder / f"{name}.png", plots.drawn(done.plot(), "png"))]


def _kept(table: Path) -> set[str]:
    """The situations of a table that is there."""
    try:
        with table.open(encoding="utf-8", newline="") as rows:
            return {row.get("situation") or "" for row in csv.DictReader(rows)}
    except (OSError, ValueError, csv.Error):
        return set()


def bars(values: list[float]) -> str:
    """Small bars side by side, in parts of the largest; a dot where there is none."""
    top = max((v for v in values if math.isfinite(v)), default=0.0)

    def one(v: float) -> str:
        if math.isnan(v):
            return "·"
        if math.isinf(v):
            return "∞"
        return BARS[min(int(8 * v / top), 7)] if top > 0 else BARS[0]

    return "".join(map(one, values))


def print_marks(done: Exam) -> None:
    """As wide as it need be where the output is not a terminal; a terminal that is too narrow gets no bars."""
    from rich.table import Table

    from thalweg._console import console
    from thalweg.exams.pictures import MARKS, cell

    wide = max(map(len, (s.name for s in done.situations))) + 6 * (9 + len(done.names)) + 1
    out = console() if sys.stdout.isatty() else console(width=wide)
    drawn = out.width >= wide and len(done.names) > 1
    title = done.names[0] + (f"; bars: {', '.join(done.names)}" if drawn else "")
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("situation", no_wrap=True)
    for head in ("used", "p95 ms", "loss %", "fair", "share", "settles s"):
        table.add_column(head, justify="right", no_wrap=True)
    for s in done.situations:
        row = []
        for attribute, _, factor in MARKS:
            values = [getattr(m, attribute) * factor for m in done.of(s)]
            failed = done.of(s)[0].failed
            there = not all(map(math.isnan, values))
            text = cell(values[0]) + (f" {bars(values)}" if drawn else "")
            row.append("failed" if failed else text if there else "")
        table.add_row(s.name, *row)
    out.print(table)
