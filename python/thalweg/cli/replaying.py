"""`replay`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from thalweg.cli import OK
from thalweg.cli.running import kept, refuse_kept


def replay(args: Namespace) -> int:
    from thalweg import _format
    from thalweg.replaying import replay as again

    run = Path(args.run)
    name = f"{run.resolve().name}-{args.scheduler}" + ("-preemptive" if args.preemptive else "")
    name += f"-{args.bucket}" if args.bucket else ""
    place: Path | None = Path(args.out) if args.out else run.parent / name
    if args.no_out:
        refuse_kept(args, "--out", args.out)
        refuse_kept(args, "--report", args.report)
        place = None
    show = not (args.quiet or (args.json and not sys.stderr.isatty()))
    results = again(
        run,
        scheduler=args.scheduler,
        preemptive=args.preemptive,
        out=place,
        threshold=args.threshold,
        bucket=args.bucket,
        progress=show,
    )
    page = results.report(results.path / "report.html") if args.report and results.path else None
    if args.json:
        print(json.dumps(results.summary, ensure_ascii=False))
    if args.quiet or args.json:
        return OK
    from thalweg import headline
    from thalweg._lines import print_rows

    print_rows(headline.rows(results.summary))
    speed = _format.si(results.meta["packets_per_second"], "packets/s")
    took = _format.wall(results.meta["seconds"])
    print(f"{took}, {speed} · {kept(results)}" + (f" · report {page}" if page else ""))
    return OK
