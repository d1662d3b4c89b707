"""`demo`: a first scenario, drawn, and a first look at a study."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.cli import FOUND, OK

if TYPE_CHECKING:
    from thalweg.papers import Study

STUDY = "ads"


def demo(args: Namespace) -> int:
    """The README's incast, drawn; then, unless `--no-study` is given, a handful of claims of a study."""
    from thalweg import _places

    folder = Path(args.out)
    _places.claim(folder, "demo")
    print("1. Sixteen hosts answer one at the same instant (the README's incast).", flush=True)
    _incast(folder)
    errors = 0
    if not args.no_study:
        print(f"\n2. A handful of claims of a published study (`thalweg reproduce {STUDY} --handful`).", flush=True)
        errors = _study(folder, args.jobs).count("error")
    print("\nWhere next:")
    print(f"  thalweg run {folder / 'incast.toml'} --set switch.scheduler=fq   the same incast, one key changed")
    print(f"  thalweg reproduce {STUDY}   the whole study at quick scale, minutes; others: `thalweg list papers`")
    print("  docs/getting-started.md   scenarios of your own (`make docs` builds the site)", flush=True)
    return FOUND if errors else OK


def _incast(folder: Path) -> None:
    from thalweg import _format, _places, plots
    from thalweg.examples import incast

    begun, found = time.monotonic(), {}
    for name, results in incast.runs(progress=None):
        found[name] = results
        last = max(results.seconds("fct")) * 1e3
        timeouts = int(results.flows["timeouts"].sum())
        print(f"   {name:25} last flow done after {last:.2f} ms, {timeouts} timeouts", flush=True)
    _places.write_file(folder / "incast.toml", incast.SCENARIO, mark="")
    (picture,) = plots.save(incast.draw(found), folder, "incast", ["png"])
    print(f"   picture: {picture} ({_format.wall(time.monotonic() - begun)})", flush=True)


def _study(folder: Path, jobs: int | None) -> Study:
    from thalweg import _format, papers
    from thalweg.cli.reproducing import print_summary

    study = papers.reproduce(STUDY, handful=True, jobs=jobs, out=folder / STUDY, progress=True)
    print_summary(study, indent="   ")
    pictures = [str(files[0]) for files in study.figures.values()]
    for what, where in (("report", study.report), *(("picture", one) for one in pictures)):
        print(f"   {what}: {where}")
    print(f"   {_format.wall(study.seconds)}", flush=True)
    return study
