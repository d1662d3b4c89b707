"""`run`, `bench`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.cli import INTERNAL, INTERRUPTED, OK, say
from thalweg.errors import nearest, refuse
from thalweg.results import Interrupted

if TYPE_CHECKING:
    from thalweg.results import Results
    from thalweg.rundata import RunData
    from thalweg.scenario import Scenario


def load_plugins(args: Namespace) -> None:
    """Imports what `--import` names, before any scenario is read."""
    if args.imports:
        from thalweg import _clashes
        from thalweg.controllers import import_plugins

        files = _clashes.Files()
        for where in args.imports:
            with files.one_more():
                import_plugins(where)


def check_exports(args: Namespace) -> None:
    """Refuses before the run what would fail after it."""
    from thalweg import _input, _places, captures

    if args.pcap:
        _places.check_file(_input.path(args.pcap, "a capture"), mark=captures.MARK)
    if args.qlog:
        _places.check_folder(_input.path(args.qlog, "a folder"))


def run(args: Namespace) -> int:
    load_plugins(args)
    if (args.scenario is None) == (args.resume is None):
        raise refuse("thalweg run: give a scenario file, or --resume DIR" + (", not both" if args.scenario else ""))
    record = "hops" if args.record_hops or args.pcap else args.record
    if args.resume is not None and (args.set or args.out or record or args.qlog):
        raise refuse(
            "thalweg run: --resume continues what was begun: --set, --out, --record, --pcap and --qlog cannot "
            "take effect"
        )
    if args.no_out:
        refuse_kept(args, "--out", args.out)
        for flag, wanted in (
            ("--resume", args.resume),
            ("--report", args.report),
            ("--pcap", args.pcap),
            ("--record", record),
            ("--qlog", args.qlog),
        ):
            refuse_kept(args, flag, wanted)
    quiet = args.quiet or (args.json and not sys.stderr.isatty())
    show = not quiet
    from thalweg import _format, engine

    check_exports(args)

    try:
        if args.resume is not None:
            results = engine.resume(
                args.resume, progress=show, check=args.check, max_seconds=args.max_seconds, threads=args.threads
            )
        else:
            from thalweg import _memory, _places
            from thalweg.scenario import as_scenario

            scenario = as_scenario(args.scenario, dict(args.set) | engine.record_setting(record, bool(args.qlog)))
            named = Path(args.out) if args.out else Path("runs") / (scenario.name or Path(args.scenario).stem)
            place = None if args.no_out else named
            if place is not None:
                _places.check_free(place)
            if not args.force:
                _memory.check(scenario, _memory.available())
            if not quiet:
                say(estimate_line(scenario))
            results = engine.run(
                scenario,
                out=place,
                progress=show,
                check=args.check,
                max_seconds=args.max_seconds,
                force=True,
                threads=args.threads,
            )
        code = OK
    except Interrupted as e:
        if e.results is None:
            raise
        results, code = e.results, INTERRUPTED
    violation = results.summary.get("violation")
    if violation:
        say(f"thalweg: internal error: an invariant does not hold: {violation}; please report this, with the scenario")
        code = INTERNAL
    exported = []
    if not results.partial and (args.pcap or args.qlog):
        from thalweg.cli import exporting

        exported += [exporting.write_pcap(results, args.pcap)] if args.pcap else []
        exported += [exporting.write_qlog(results.path, args.qlog)] if args.qlog and results.path else []
    page = results.report(results.path / "report.html") if args.report and results.path else None
    if args.json:
        print(json.dumps(results.summary, ensure_ascii=False))
    if args.quiet or args.json:
        return code
    print_summary(results)
    meta = results.meta
    speed = _format.si(meta.get("packet_hops_per_second") or 0, "hops/s")
    threads = f" on {meta['threads']} threads" if meta["threads"] > 1 else ""
    if why := meta.get("one_thread"):
        threads = f" on one thread (`run.threads` cannot take effect: {why})"
    print(
        f"{_format.wall(meta['seconds'])}{threads}, {speed} · {kept(results)}" + (f" · report {page}" if page else "")
    )
    for line in exported:
        print(line)
    if meta["stopped"]:
        way_on = (
            "a recorded run cannot be continued"
            if results.recorded
            else f"it cannot be continued: {meta['no_snapshot']}"
            if "no_snapshot" in meta
            else f"continue with `thalweg run --resume {results.path}`"
            if results.path
            else "nothing was kept to continue from"
        )
        say(f"partial ({meta['stopped']}): {way_on}")
    return code


def refuse_kept(args: Namespace, flag: str, wanted: object) -> None:
    """`--no-out` goes with nothing that needs a directory."""
    if wanted:
        raise refuse(f"thalweg {args.name}: --no-out keeps nothing: {flag} cannot take effect")


def kept(results: Results) -> str:
    """Where the results are, in words."""
    return f"results in {results.path}" if results.path else "results not kept"


def estimate_line(scenario: Scenario) -> str:
    """What a run will cost, before it starts."""
    from thalweg import _format

    e = scenario.estimate()
    return (
        f"{scenario.name}: about {_format.plural(e['flows'], 'flow')}, {_format.plural(e['packets'], 'packet')}, "
        f"{_format.plural(e['packet_hops'], 'packet-hop')}, {_format.plural(e['events'], 'event')}, "
        f"{_format.memory(e['memory_bytes'])}, {_format.wall(e['seconds'])}"
    )


def print_summary(results: RunData) -> None:
    from thalweg import headline
    from thalweg._lines import print_rows, print_table

    print_rows(headline.rows_of(results))
    head, rows = headline.section_table(results.summary)
    if rows:
        print("sections of traffic")
        print_table(head, rows, 2)
    unit, head, rows = headline.class_table(results.summary)
    if rows:
        print(f"FCT in {unit} and slowdown (×)")
        print_table(head, rows)


def _begins(workload: str, word: str) -> bool:
    """`W3` stands for every W3-…; `W1` is not W10."""
    return workload.startswith(word) and not workload[len(word) : len(word) + 1].isdigit()


def bench(args: Namespace) -> int:
    from thalweg import _core, _format

    known = _core.bench_workloads()
    for w in args.workloads:
        if not any(_begins(k, w) for k in known):
            raise refuse(f"no workload is called `{w}`", hint=nearest(w, known))
    wanted = [k for k in known if not args.workloads or any(_begins(k, w) for w in args.workloads)]
    if _core.DEBUG_BUILD:
        say("thalweg: this is a debug build: the speeds mean nothing (build with --release)")
    repeat = args.repeat or (1 if args.quick else 3)
    keys = (
        "workload",
        "hosts",
        "packet_hops",
        "setup_seconds",
        "seconds",
        "hops_per_second",
        "ratio_to_w0",
        "peak_bytes",
    )
    name = max(map(len, wanted))
    if not args.json:
        print(
            f"{'':{name}} {'hops':>6} {'set-up':>6} {'run s':>6} {'hops/s':>7} {'ns/hop':>6} {'events':>6} {'× W0':>5} "
            f"{'peak':>9}"
        )
    # The yardstick, measured in the same process even if it was not requested.
    threads = args.threads or 1
    w0 = _core.bench_run("W0", args.quick, repeat, None, threads)
    yardstick = 1e9 / w0["hops_per_second"]
    for w in wanted:
        row = w0 if w == "W0" else _core.bench_run(w, args.quick, repeat, yardstick, threads)
        if args.json:
            print(json.dumps({k: row[k] for k in keys}), flush=True)
            continue
        hops = max(row["packet_hops"], 1)
        print(
            f"{w:{name}} {_format.si(hops):>6} {row['setup_seconds']:6.2f} {row['seconds']:6.2f} "
            f"{_format.si(row['hops_per_second']):>7} {1e9 * row['seconds'] / hops:6.1f} {row['events'] / hops:6.2f} "
            f"{row['ratio_to_w0']:5.2f} {_format.memory(row['peak_bytes']):>9}",
            flush=True,
        )
    return OK
