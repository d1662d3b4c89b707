"""`tune`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.cli import OK
from thalweg.cli.running import load_plugins
from thalweg.cli.sweeping import executor_of
from thalweg.errors import refuse

if TYPE_CHECKING:
    from thalweg.tuning import Tuning

TABLE, FIGURE = "tune.csv", "tune"


def tune(args: Namespace) -> int:
    load_plugins(args)
    from thalweg.scenario import as_scenario
    from thalweg.tuning import tune as search

    vary: dict[str, str] = {}
    for key, what in args.vary:
        if key in vary:
            raise refuse(f"thalweg tune: `{key}` is varied twice", hint="give one range")
        if key in dict(args.set):
            raise refuse(f"thalweg tune: `{key}` is varied: --set of it cannot take effect", hint="remove one")
        vary[key] = what
    if not vary:
        raise refuse("thalweg tune: nothing is varied: give --vary KEY=LOW..HIGH")
    base = as_scenario(args.scenario, dict(args.set))
    folder = Path(args.out) if args.out else Path("runs") / f"{base.name or Path(args.scenario).stem}-tune"
    found = search(
        base,
        vary,
        args.objective,
        out=folder,
        maximize=args.maximize,
        trials=args.trials,
        seeds=args.seeds,
        seed=args.seed,
        batch=args.batch,
        jobs=args.jobs,
        progress=not (args.quiet or (args.json and not sys.stderr.isatty())),
        executor=executor_of(args),
        force=args.force,
    )
    best = found.best
    files = write(found, folder)
    if args.json:
        about = {"objective": args.objective, "best": best.set, "value": best.value, "before": found.before.value}
        print(json.dumps(about | {"trials": found.frame.to_dicts()}, ensure_ascii=False))
    elif not args.quiet:
        print_best(found)
        print(f"table: {files[0]}\nfigure: " + " ".join(map(str, files[1:])))
    return OK


def write(found: Tuning, folder: Path) -> list[Path]:
    """The table and the figure: both are made before either is written."""
    from thalweg import _places, plots

    files: dict[str, str | bytes] = {TABLE: found.frame.write_csv()}
    fig = found.plot()
    files |= {f"{FIGURE}.{form}": plots.drawn(fig, form) for form in plots.FORMATS}
    return [_places.write_file(folder / name, data, mark="") for name, data in files.items()]


def print_best(found: Tuning) -> None:
    """The best setting, as the options that make it; its value, and that of the scenario as it is."""
    import shlex

    from thalweg import _units
    from thalweg.settings import text

    best = found.best
    unit = _units.of_name(found.metric)
    shown = lambda v: "no value" if v is None else f"{_units.digits(v)} {unit}".strip()  # noqa: E731
    print(f"{found.metric}: {shown(best.value)} (as it is: {shown(found.before.value)})")
    print("  " + " ".join("--set " + shlex.quote(f"{k}={text(v)}") for k, v in best.set.items()))
    bad = [t for t in found.trials if t.value is None]
    if bad:
        print(f"{len(bad)} of {len(found.trials)} trials have no value; the first: {bad[0].why}")
