"""`estimate`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.cli import OK
from thalweg.cli.running import estimate_line, load_plugins
from thalweg.errors import refuse

if TYPE_CHECKING:
    import polars

    from thalweg.estimating import Estimate
    from thalweg.scenario import Scenario

# Options that are about completion times.
_OF_FCT = ("against", "seed", "draws", "buckets", "cluster", "out", "jobs", "latex", "csv")


def estimate(args: Namespace) -> int:
    from thalweg.scenario import as_scenario

    load_plugins(args)
    scenario = as_scenario(args.scenario, dict(args.set))
    if args.fct:
        return _fct(args, scenario)
    for name in _OF_FCT:
        if getattr(args, name) is not None:
            raise refuse(f"thalweg estimate: --{name} has no effect without --fct", hint="add --fct")
    if args.json:
        print(json.dumps(scenario.estimate()))
        return OK
    print(estimate_line(scenario))
    return OK


def _fct(args: Namespace, scenario: Scenario) -> int:
    from thalweg.cli.sweeping import executor_of
    from thalweg.cli.tabling import Tabled
    from thalweg.estimating import Buckets, estimate_fct
    from thalweg.results import Results

    out = Path(args.out) if args.out else None
    run = Results.load(args.against) if args.against else None
    found = estimate_fct(
        scenario,
        jobs=args.jobs,
        seed=args.seed,
        draws=args.draws or 32,
        buckets=Buckets(*args.buckets) if args.buckets else None,
        cluster=args.cluster,
        progress=not (args.quiet or (args.json and not sys.stderr.isatty())),
        executor=executor_of(args),
        out=out,
        force=args.force,
    )
    table = found.classes if run is None else found.against(run)
    what = "slowdown by flow size, estimated link by link"
    head, rows = _shown(table)
    tabled = Tabled(args, [(what, head, rows)], (table.columns, table.rows()))
    if args.json:
        about = {"seconds": found.seconds, "links": found.links.to_dicts()}
        print(json.dumps({"classes": table.to_dicts()} | about, ensure_ascii=False))
    elif not args.quiet:
        _print(found, head, rows, what)
        _note(found)
        if out is not None:
            print(f"tables: {out}")
    tabled.write(quiet=args.json or args.quiet)
    return OK


def _print(found: Estimate, head: Sequence[str], rows: Sequence[Sequence[Any]], what: str) -> None:
    from thalweg._format import plural, wall
    from thalweg._lines import print_table

    print(what)
    print_table(head, rows)
    leaders = found.links["leader"].n_unique()
    busiest = found.links.sort("load", descending=True).row(0, named=True)
    print(
        f"{plural(leaders, 'link')} simulated of {found.links.height} that flows cross, "
        f"in {wall(sum(found.seconds.values()))}; the busiest, {busiest['name']}, at {100 * busiest['load']:.0f} %"
    )


def _note(found: Estimate) -> None:
    """Says so where flows of all sizes are taken together."""
    from thalweg._format import plural
    from thalweg.cli import say

    few = found.links.filter(found.links["buckets"] < 2).height
    if few:
        say(
            f"thalweg estimate: {plural(few, 'link')} of {found.links.height} have too few flows to tell sizes apart: "
            "large flows draw delays of small ones; let more flows start, or take fewer together (--buckets 20,2)"
        )


def _shown(table: polars.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Heads and rows for people: errors in percent, with a sign."""
    from thalweg import _units

    heads = {"class": "flow size", "p50": "median", "p99": "99th percentile"}
    for at, name in (("p50", "median"), ("p99", "99th")):
        heads |= {f"{at}_run": f"{name}: run", f"{at}_estimate": "estimate", f"{at}_error_percent": "error"}
    rows = []
    for row in table.iter_rows(named=True):
        cells = []
        for name, value in row.items():
            if value is None:
                cells.append("–")
            elif name.endswith("percent"):
                cells.append(f"{value:+.0f} %")
            else:
                cells.append(_units.digits(value) if isinstance(value, float) else str(value))
        rows.append(cells)
    return [heads.get(name, name) for name in table.columns], rows
