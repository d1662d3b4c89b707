"""Arguments of `thalweg sweep` and `thalweg tune`, and of all that makes many runs: where these are made."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from thalweg.cli.values import count, listing, part, positive_int, setting, whole_number

TYPE_CHECKING = False  # importing `typing` for it would slow every command down
if TYPE_CHECKING:
    from typing import Any


def jobs(p: argparse.ArgumentParser) -> None:
    """How many runs are made at a time."""
    p.add_argument("--jobs", type=positive_int, metavar="N", help="number of runs at a time (default: one per core)")


def places(p: argparse.ArgumentParser) -> None:
    """How many runs are made at a time, and where."""
    jobs(p)
    p.add_argument(
        "--on",
        default="local",
        metavar="WHERE",
        help="where runs are made: local (threads), dask (processes of this machine), tcp://HOST:PORT (a Dask "
        "scheduler), slurm or slurm:PARTITION (default: local)",
    )
    p.add_argument(
        "--slurm",
        action="append",
        type=setting,
        default=[],
        metavar="KEY=VALUE",
        help="with --on slurm: account=NAME, qos=NAME, timeout_min=MINUTES and what else submitit takes (repeatable)",
    )


def sweeps(
    command: Callable[..., Any], sets: Callable[..., Any], voice: Callable[..., Any], forced: Callable[..., Any]
) -> None:
    """The commands."""
    p = command("sweep", "sweeping:sweep", "run variants of a scenario, and make a table and a figure")
    p.add_argument("scenario", metavar="FILE", help="scenario file (TOML)")
    p.add_argument(
        "--vary",
        action="append",
        type=listing,
        default=[],
        metavar="KEY=VALUE,VALUE,…",
        help="a key and its values; with several --vary, all combinations are run",
    )
    p.add_argument(
        "--variant",
        action="append",
        nargs="+",
        default=[],
        metavar=("NAME", "KEY=VALUE"),
        help="a variant by a name of your own, and the keys it sets (repeatable)",
    )
    p.add_argument(
        "--seeds",
        type=count,
        metavar="N",
        help="run every setting with N seeds: the scenario's own and the following ones",
    )
    sets(p)
    places(p)
    p.add_argument(
        "--shard",
        type=part,
        metavar="K/N",
        help="run only the K-th of N parts of the sweep, without a table; the same command without --shard makes it from all parts",
    )
    p.add_argument("--dry-run", action="store_true", help="list the runs, their settings and folders; run nothing")
    p.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="COLUMN",
        help="number to tabulate and to draw (default: mean slowdown, else goodput; repeatable)",
    )
    p.add_argument(
        "--out",
        metavar="DIR",
        help="folder for the table, the figure and all runs; complete runs in it are reused (default: runs/NAME-sweep)",
    )
    p.add_argument(
        "--latex", action="store_true", help="write the printed table as sweep.tex, those of sections as sections.tex"
    )
    p.add_argument(
        "--csv",
        action="store_true",
        help="write means and 95 %% intervals as means.csv, those of sections as sections.csv",
    )
    voice(p, "print runs and means over the seeds as one JSON object")
    p.add_argument("--check", action="store_true", help="check the engine's invariants during the run (slower)")
    forced(p)

    p = command("tune", "tuning:tune", "search for the settings that minimise or maximise a metric (Optuna)")
    p.add_argument("scenario", metavar="FILE", help="scenario file (TOML)")
    p.add_argument(
        "--vary",
        action="append",
        type=listing,
        default=[],
        metavar="KEY=RANGE",
        help="a key and the range to search: LOW..HIGH, such as 5KB..500KB, LOW..HIGH:log, or VALUE,VALUE (repeatable)",
    )
    p.add_argument(
        "--objective", required=True, metavar="METRIC", help="the number of the summary to minimise, such as drops"
    )
    p.add_argument("--maximize", action="store_true", help="maximise it instead")
    p.add_argument("--trials", type=count, default=40, metavar="N", help="number of settings to try (default: 40)")
    p.add_argument(
        "--seeds", type=count, default=1, metavar="N", help="seeds per setting; their mean counts (default: 1)"
    )
    p.add_argument("--seed", type=whole_number, default=0, metavar="S", help="seed of the search (default: 0)")
    p.add_argument(
        "--batch",
        type=count,
        default=4,
        metavar="N",
        help="settings to choose at a time, before any of them has run; the search depends on it (default: 4)",
    )
    sets(p)
    places(p)
    p.add_argument(
        "--out",
        metavar="DIR",
        help="folder for the table, the figure, Optuna's journal and all runs; continues a search that it holds "
        "(default: runs/NAME-tune)",
    )
    voice(p, "print the best setting and all trials as one JSON object")
    forced(p)
