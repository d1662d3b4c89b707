"""Arguments of `thalweg sweep` and `thalweg tune`, and of all that makes many runs: where these are made."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from thalweg.cli.values import count, listing, part, positive_int, setting, whole_number


def jobs(p: argparse.ArgumentParser) -> None:
    """How many runs are made at a time."""
    p.add_argument("--jobs", type=positive_int, metavar="N", help="runs at a time (default: one per core)")


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


def sweeps(command: Callable, sets: Callable, voice: Callable, forced: Callable) -> None:
    """The commands."""
    p = command("sweep", "sweeping:sweep", "run variants of a scenario: one table and one figure")
    p.add_argument("scenario", metavar="FILE", help="scenario file (TOML)")
    p.add_argument(
        "--vary",
        action="append",
        type=listing,
        default=[],
        metavar="KEY=VALUE,VALUE,…",
        help="a dotted key and its values; several: all combinations",
    )
    p.add_argument(
        "--variant",
        action="append",
        nargs="+",
        default=[],
        metavar=("NAME", "KEY=VALUE"),
        help="a named variant and what it sets, if anything (repeatable)",
    )
    p.add_argument(
        "--seeds",
        type=count,
        metavar="N",
        help="every setting with so many seeds: the scenario's own and those after it",
    )
    sets(p)
    places(p)
    p.add_argument(
        "--shard",
        type=part,
        metavar="K/N",
        help="make only the K-th of N parts of the runs, and no table; without it, all parts together have one",
    )
    p.add_argument("--dry-run", action="store_true", help="list the runs, their settings and folders; run nothing")
    p.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="COLUMN",
        help="what a printed table and a figure show (default: mean slowdown, else goodput; repeatable)",
    )
    p.add_argument(
        "--out",
        metavar="DIR",
        help="folder of the table, the figure and all runs, which are not run twice (default: runs/NAME-sweep)",
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
    p.add_argument("--check", action="store_true", help="check the engine's invariants all along (slower)")
    forced(p)

    p = command("tune", "tuning:tune", "search settings of a scenario for the best value of a metric (Optuna)")
    p.add_argument("scenario", metavar="FILE", help="scenario file (TOML)")
    p.add_argument(
        "--vary",
        action="append",
        type=listing,
        default=[],
        metavar="KEY=RANGE",
        help="a dotted key and where its value is sought: LOW..HIGH, such as 5KB..500KB, LOW..HIGH:log, or VALUE,VALUE "
        "(repeatable)",
    )
    p.add_argument("--objective", required=True, metavar="METRIC", help="a number of the summary, such as drops")
    p.add_argument("--maximize", action="store_true", help="the largest is the best (default: the smallest)")
    p.add_argument("--trials", type=count, default=40, metavar="N", help="settings to try in all (default: 40)")
    p.add_argument(
        "--seeds", type=count, default=1, metavar="N", help="runs per setting, whose mean counts (default: 1)"
    )
    p.add_argument("--seed", type=whole_number, default=0, metavar="S", help="of the search (default: 0)")
    p.add_argument(
        "--at-once",
        type=count,
        default=4,
        metavar="N",
        help="settings that are chosen before any of them is run; changes which are tried (default: 4)",
    )
    sets(p)
    places(p)
    p.add_argument(
        "--out",
        metavar="DIR",
        help="folder of the table, the figure, Optuna's journal and all runs: a search that is there goes on "
        "(default: runs/NAME-tune)",
    )
    voice(p, "print the best setting and all trials as one JSON object")
    forced(p)
