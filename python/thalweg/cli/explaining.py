"""`explain RUN`: why a run stands still, which flows were late, and why one took so long."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.cli import OK, say
from thalweg.cli.running import load_plugins
from thalweg.errors import ScenarioError, refuse

if TYPE_CHECKING:
    from thalweg.explaining import Evidence, Explanation
    from thalweg.results import Results
    from thalweg.rundata import RunData


def explain_run(args: Namespace) -> int:
    """Why a run stands still, if it does; or which of its flows took longest, or why some did."""
    from thalweg import deadlocks
    from thalweg.results import Results

    load_plugins(args)
    results = Results.load(args.key)
    wanted = [*args.flow_given, *args.flow]
    if args.slowest is not None or args.by:
        return _slowest_flows(results, wanted, args)
    if wanted:
        return _explain_flows(results, wanted, args)
    if args.every or args.csv or args.json:
        raise refuse("thalweg explain: of which flow?", hint="name it with --flow")
    found = deadlocks.lines(results)
    print("\n".join(found) if found else "no port of this run has ever waited for itself: nothing stood still")
    if not found and "flows" in results.tables and len(results.flows):
        print(f"`thalweg explain {args.key} --slowest` lists the flows that took longest")
        print(f"`thalweg explain {args.key} --flow N` says why a flow took so long, 0 to {len(results.flows) - 1}")
    return OK


def _slowest_flows(results: Results, wanted: list[str], args: Namespace) -> int:
    """The flows that were late, and how one is explained."""
    from thalweg.explaining import slowest

    if args.slowest is None:
        raise refuse("thalweg explain: --by ranks what --slowest lists", hint="add --slowest")
    if wanted or args.every or args.csv:
        what = "--csv" if args.csv else "--every" if args.every else f"flow {wanted[0]}"
        raise refuse(f"thalweg explain: --slowest lists flows, {what} is of one", hint="first one, then the other")
    found = slowest(results, args.slowest, by=args.by or "slowdown")
    if args.json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
        return OK
    print("\n".join(found.lines()))
    if (flow := next(iter([*found.completed["flow"], *found.unfinished["flow"]]), None)) is not None:
        print(f"\n`thalweg explain {args.key} --flow {flow}` says why that one took so long")
    return OK


def _explain_flows(results: Results, wanted: list[str], args: Namespace) -> int:
    flows = len(results.flows) if "flows" in results.tables else 0
    for flow in wanted:
        if not flow.isdecimal() or int(flow) >= flows:
            hint = f"flows are 0 to {flows - 1}" if flows else "it has no flows"
            raise refuse(f"thalweg explain: `{flow}` is not a flow of this run", hint=hint)
    numbers = [int(flow) for flow in wanted]
    complete = [n for n in numbers if results.flows["fct_ps"][n] is not None]
    evidence = _evidence(results, args) if complete else None
    try:
        found = {n: results.explain(n, evidence=evidence) for n in complete}
        for place, n in enumerate(numbers if not args.json else ()):
            print(("\n" if place else "") + "\n".join(_known(results, n)))
            if n in found:
                print("\n" + "\n".join(found[n].sum_lines()))
                if args.every:
                    print("\n" + "\n".join(found[n].chain()))
        if args.json:
            print(json.dumps([found[n].to_dict() for n in complete], ensure_ascii=False))
        if args.csv:
            _write_csv(Path(args.csv), found)
    finally:
        if evidence is not None:
            evidence.close()
    return OK


def _evidence(results: Results, args: Namespace) -> Evidence:
    """The run's record, or that of the same run made again, which is announced."""
    from thalweg.explaining import Evidence

    if not Evidence.is_there(results) and not args.json:
        say("the run has no record of its packets' hops (`--record-hops`): running it again, recorded")
    try:
        return Evidence.of(results, None if sys.stderr.isatty() and not args.json else False)
    except ScenarioError as e:
        if not args.imports and "not registered" in str(e):
            raise refuse(str(e), hint="name the file that registers it with --import") from None
        raise


def _write_csv(path: Path, found: dict[int, Explanation]) -> None:
    """The intervals of all flows that were explained."""
    from thalweg import texttables
    from thalweg.explaining.explanation import COLUMNS

    if not found:
        raise refuse("thalweg explain: none of these flows is complete: there is nothing to write", file=path)
    rows = ((n, *interval) for n, e in found.items() for interval in e.intervals)
    texttables.write_csv(path, ("explained", *COLUMNS), rows)


def _known(results: RunData, flow: int) -> list[str]:
    """What the tables know of one flow."""
    from thalweg import _format, _units

    row = results.named("flows").row(flow, named=True)
    time = lambda key: None if row.get(key) is None else _format.simulated(row[key])  # noqa: E731
    endless = row["size"] is None
    size = "without end" if endless else _units.quantity(row["size"], "B")
    status = "still sending at the end" if endless and row["status"] == "censored" else row["status"]
    out = [f"flow {flow}: {row['src']} → {row['dst']}, {size}, {status}"]
    if row.get("section") and row.get("controller"):
        out.append(f"section {row['section']}, controller {row['controller']}")
    for what, key in (
        ("started at", "start_ps"),
        ("its first packet left at", "begun_ps"),
        ("all had arrived at", "received_ps"),
    ):
        # A first packet that leaves at once says nothing that the start does not.
        if (when := time(key)) is not None and (key != "begun_ps" or row[key] != row["start_ps"]):
            out.append(f"{what} {when}")
    if (took := time("fct_ps")) is not None and row["status"] == "completed":
        alone = f", alone on its path {time('ideal_ps')}" if time("ideal_ps") else ""
        out.append(f"took {took}{alone}: slowdown {_units.digits(row['slowdown'])}")
    if (got := row["delivered"]) and endless and row["start_ps"] is not None:
        end = round(results.summary.get("simulated_seconds", 0.0) * 1e12)
        life = (end if row.get("received_ps") is None else row["received_ps"]) - row["start_ps"]
        rate = f", {_units.quantity(8e3 * got / life, 'gbps')}" if life > 0 else ""
        out.append(f"delivered {_units.quantity(got, 'B')} in order{rate}")
    if (trip := time("rtt_ps")) is not None:
        out.append(f"mean round trip {trip}")
    counts = {
        "packets": ("data packet sent", "data packets sent"),
        "retransmissions": ("of them again", "of them again"),
        "timeouts": ("timeout", "timeouts"),
        "data_drops": ("data packet lost", "data packets lost"),
    } | ({"trims": ("trimmed", "trimmed")} if row.get("trims") else {})
    out.append(", ".join(_format.counted(row[k], *words) for k, words in counts.items() if row.get(k) is not None))
    return out
