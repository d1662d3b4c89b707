"""`sweep`."""

from __future__ import annotations

import json
import re
import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg._format import plural
from thalweg.cli import INTERNAL, OK, say
from thalweg.cli.running import load_plugins
from thalweg.errors import refuse

if TYPE_CHECKING:
    import polars

    from thalweg.executors import Named
    from thalweg.scenario import Scenario
    from thalweg.sweeps import Runs

TABLE, FIGURE = "sweep.csv", "sweep"


def axes(args: Namespace, seed: int) -> dict[str, Any]:
    """What is varied, as `thalweg.sweep` takes it: variants, keys in the order written, seeds last."""
    from thalweg.cli.values import setting
    from thalweg.settings import SEED, split, typed

    over: dict[str, Any] = {}
    if args.variant:
        over["variant"] = {}
        for name, *sets in args.variant:
            if "=" in name:
                reason = f"thalweg sweep: --variant {name}: a variant has a name before the keys it sets"
                raise refuse(reason, hint="write --variant NAME KEY=VALUE")
            if name in over["variant"]:
                raise refuse(f"thalweg sweep: two variants are called `{name}`")
            try:
                over["variant"][name] = dict(map(setting, sets))
            except Exception as e:
                raise refuse(f"thalweg sweep: --variant {name}: {e}") from None
    for key, listed in args.vary:
        if key in over:
            raise refuse(f"thalweg sweep: `{key}` is varied twice", hint="list all of its values in one --vary")
        if key in dict(args.set):
            raise refuse(f"thalweg sweep: `{key}` is varied: --set of it cannot take effect", hint="remove one")
        over[key] = typed(split(listed))
    if args.seeds:
        if SEED in over:
            raise refuse("thalweg sweep: `seed` is varied twice", hint="either --seeds or --vary seed=…")
        over[SEED] = range(seed, seed + args.seeds)
    if not over:
        raise refuse("thalweg sweep: nothing is varied: give --vary, --variant or --seeds")
    return over


def sweep(args: Namespace) -> int:
    load_plugins(args)
    from thalweg.scenario import as_scenario
    from thalweg.sweeps import sweep as run_sweep

    base = as_scenario(args.scenario, dict(args.set))
    folder = Path(args.out) if args.out else Path("runs") / f"{base.name or Path(args.scenario).stem}-sweep"
    show = not (args.quiet or (args.json and not sys.stderr.isatty()))
    varied = axes(args, base.seed)
    executor = executor_of(args)
    for flag, wanted in (("--latex", args.latex), ("--csv", args.csv)):
        if args.shard and wanted:
            raise refuse(f"thalweg sweep: --shard makes no table: {flag} cannot take effect")
    if args.dry_run:
        return list_runs(base, varied, folder, args)
    if args.metric[1:]:
        from thalweg.planning import plan

        _foresee(args.metric, plan(base, varied, folder))
    runs = run_sweep(
        base,
        varied,
        jobs=args.jobs,
        progress=show,
        out=folder,
        check=args.check,
        force=args.force,
        metric=args.metric[0] if args.metric else None,
        executor=executor,
        shard=args.shard,
    )
    if args.shard:
        _say_shard(args, runs, folder)
        return _check(runs)
    metrics = [runs.check_metric(metric) for metric in dict.fromkeys(args.metric or [runs.metric])]
    files = write(runs, metrics, folder, args.latex, args.csv)
    if args.json:
        means = runs.means(*metrics).to_dicts()
        said = {"metric": metrics[0], "metrics": metrics, "runs": runs.frame.to_dicts(), "means": means}
        print(json.dumps(said, ensure_ascii=False))
    elif not args.quiet:
        for metric in metrics if args.metric else [*metrics, *runs.of_sections()]:
            print_means(runs, metric)
        from thalweg import plots

        figures = [file for file in files if file.suffix.removeprefix(".") in plots.FORMATS]
        tables = [file for file in files if file not in figures]
        print("table: " + " ".join(map(str, tables)) + "\nfigure: " + " ".join(map(str, figures)))
    return _check(runs)


def _foresee(metrics: list[str], planned: list[Any]) -> None:
    """Refuses what these runs will not have, before any is made."""
    from thalweg.foresight import foresee

    for metric in metrics:
        foresee(metric, [one.job.scenario for one in planned])


def _check(runs: Runs) -> int:
    """The exit code: invariants must hold in all runs."""
    broken = [r for r in runs if r.summary.get("violation")]
    if not broken:
        return OK
    violation = broken[0].summary["violation"]
    say(f"thalweg: internal error: an invariant does not hold: {violation}; please report this, with the scenario")
    return INTERNAL


def executor_of(args: Namespace) -> Named | None:
    """What `--on` stands for."""
    from thalweg.executors import named

    return named(args.on, dict(args.slurm))


def _say_shard(args: Namespace, runs: Runs, folder: Path) -> None:
    names = [r.path.name for r in runs if r.path is not None]
    if args.json:
        print(json.dumps({"shard": args.shard, "out": str(folder), "runs": names}, ensure_ascii=False))
    elif not args.quiet:
        print(f"part {args.shard}: {plural(len(names), 'run')} in {folder}; the same without --shard makes the table")


def list_runs(base: Scenario, varied: dict[str, Any], folder: Path, args: Namespace) -> int:
    """`--dry-run`: what would be run, and what is there."""
    from thalweg.planning import Shard, plan

    planned = plan(base, varied, folder)
    _foresee(args.metric, planned)
    chosen = Shard.of_text(args.shard).chosen(len(planned)) if args.shard else range(len(planned))
    runs = [planned[n] for n in chosen]
    if args.json:
        rows = [{"folder": str(r.job.out), "state": r.state, "set": r.row["set"]} for r in runs]
        print(json.dumps(rows, ensure_ascii=False))
        return OK
    for r in runs:
        print(f"{r.state:8}  {r.job.out}  " + " ".join(shlex.quote(f"{k}={v}") for k, v in r.row["set"].items()))
    missing = sum(r.state != "complete" for r in runs)
    if not args.quiet:
        say(f"thalweg: {plural(len(runs), 'run')}, {missing} to be made; nothing was run")
    return OK


def write(runs: Runs, metrics: list[str], folder: Path, latex: bool = False, csv: bool = False) -> list[Path]:
    """The table and a figure for each metric: all are made before one is written."""
    from thalweg import _places, plots

    frame = runs.frame
    # Lists have no form in CSV; they are in each run's summary.json.
    files: dict[str, str | bytes] = {
        TABLE: frame.select(c for c in frame.columns if not frame[c].dtype.is_nested()).write_csv()
    }
    first, *more = metrics
    named = {FIGURE: runs.plot(first)}
    named |= {f"{FIGURE}-{re.sub('[^A-Za-z0-9_.]+', '-', metric)}": runs.plot(metric) for metric in more}
    if latex:
        files["sweep.tex"] = runs.to_latex(*metrics)
    sections = runs.sections() if latex or csv else None
    if csv:
        files["means.csv"] = runs.means(*metrics).write_csv()
    if sections is not None and sections.height and sections["section"].n_unique() > 1:
        files |= {"sections.tex": latex_of(sections)} if latex else {}
        files |= {"sections.csv": sections.write_csv()} if csv else {}
    for name, fig in named.items():
        files |= {f"{name}.{form}": plots.drawn(fig, form) for form in plots.FORMATS}
    return [_places.write_file(folder / name, data, mark="") for name, data in files.items()]


def latex_of(sections: polars.DataFrame) -> str:
    """The table of sections: means with the half-widths of their intervals, a column in a unit that fits it."""
    from thalweg import _units
    from thalweg.sweepfigure import axis_label
    from thalweg.texttables import framed, latex_cell, latex_mean

    means = [c.removesuffix(" ±") for c in sections.columns if c.endswith(" ±")]
    words = [c for c in sections.columns if c not in means and not c.endswith((" ±", " runs"))]
    fits = {c: _units.fitting(sections[c].to_list(), _units.of_name(c)) for c in means}
    lines = []
    for row in sections.iter_rows(named=True):
        cells = [latex_cell(row[c]) for c in words]
        for c, (scale, _) in fits.items():
            both = [row[name] / scale for name in (c, f"{c} ±") if row[name] is not None]
            count = row.get(f"{c} runs")
            cells.append(latex_mean([*both, None if count in (None, row["runs"]) else f"{count} of {row['runs']}"]))
        lines.append(" & ".join(cells))
    head = [*words, *(axis_label(c, unit) for c, (_, unit) in fits.items())]
    return framed(head, lines, [n < len(words) for n in range(len(head))])


def print_means(runs: Runs, metric: str) -> None:
    from rich.table import Table

    from thalweg._console import console
    from thalweg._lines import cell

    head, rows = runs.table_of(metric)
    table = Table(
        title=runs.title(metric),
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="none",
        title_style="none",
    )
    numbers = len(head) - len(runs.over_seeds(metric)[0][0])
    for n, name in enumerate(head):
        table.add_column(name, overflow="fold", justify="right" if n >= len(head) - numbers else "left")
    for row in rows:
        table.add_row(*map(cell, row))
    console().print(table)
    if said := runs.unfinished(metric):
        console().print(said, highlight=False, markup=False)
