"""`report`, `plot`: of a run that is there."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from thalweg.cli import OK
from thalweg.errors import nearest, refuse


def report(args: Namespace) -> int:
    """The page that `thalweg run --report` writes, of an older run or of one of a sweep."""
    from thalweg import headline
    from thalweg.cli.tabling import Tabled
    from thalweg.results import Results

    results = Results.load(args.run)
    every = headline.scalars(results.summary)
    tabled = Tabled(args, headline.tables(results.summary), (("key", "value"), every.items()))
    print(results.report(Path(args.out) if args.out else Path(args.run) / "report.html"))
    tabled.write()
    return OK


def plot(args: Namespace) -> int:
    """The figures of that page as files."""
    from thalweg import _places, plots
    from thalweg.results import Results
    from thalweg.runplots import Plots

    found = Plots(Results.load(args.run)).all()
    if args.list:
        for name, (caption, _) in found.items():
            print(f"{name:14} {caption}")
        return OK
    for name in args.figures:
        if name not in found:
            hint = nearest(name, found) or f"it has data for {', '.join(found) or 'none'}"
            raise refuse(f"the run has no figure `{name}`", file=args.run, hint=hint)
    run = Path(args.run)
    folder = Path(args.out) if args.out else run.with_name(f"{run.absolute().name}-figures")
    _places.claim(folder, "figures")
    for name in args.figures or found:
        for file in plots.save(found[name][1], folder, name, args.format or plots.FORMATS):
            print(file)
    return OK
