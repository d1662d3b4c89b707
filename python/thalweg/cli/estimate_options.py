"""Arguments of `thalweg estimate`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

from thalweg.cli.sweep_options import places
from thalweg.cli.values import count, whole_number

TYPE_CHECKING = False  # importing `typing` for it would slow every command down
if TYPE_CHECKING:
    from typing import Any


def bucket_rule(text: str) -> tuple[int, float]:
    """`100,2`: so many flows at least, and sizes so many times apart."""
    found = re.fullmatch(r"(\d{1,9}),(\d{1,6}(?:\.\d{1,6})?)", text)
    if found is None or int(found[1]) < 1 or float(found[2]) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form FLOWS,SPAN, such as 100,2")
    return int(found[1]), float(found[2])


def fraction(text: str) -> float:
    """Between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a fraction between 0 and 1")
    return value


def estimates(
    command: Callable[..., Any],
    sets: Callable[..., Any],
    voice: Callable[..., Any],
    forced: Callable[..., Any],
    tables: Callable[..., Any],
) -> None:
    """The command."""
    p = command(
        "estimate",
        "estimating:estimate",
        "estimate what a run would cost; --fct: estimate completion times, link by link",
    )
    p.add_argument("scenario", metavar="FILE", help="scenario file (TOML), or run directory")
    p.add_argument("--fct", action="store_true", help="estimate slowdowns of flows from simulations of single links")
    p.add_argument("--against", metavar="RUN", help="with --fct: compare with this run directory of the same scenario")
    p.add_argument(
        "--seed", type=whole_number, metavar="S", help="with --fct: seed of the random draws (default: the scenario's)"
    )
    p.add_argument("--draws", type=count, metavar="N", help="with --fct: random draws per flow (default: 32)")
    p.add_argument(
        "--buckets",
        type=bucket_rule,
        metavar="FLOWS,SPAN",
        help="with --fct: bucket the flows of a link by size, at least FLOWS in a bucket, whose largest is at least SPAN times "
        "its smallest (default: 100,2)",
    )
    p.add_argument(
        "--cluster",
        type=fraction,
        metavar="FRACTION",
        help="with --fct: let one simulation stand for links whose load, flow sizes and gaps differ by at most this fraction",
    )
    p.add_argument(
        "-o", "--out", metavar="DIR", help="with --fct: write the tables of classes, flows and links to this folder"
    )
    sets(p)
    places(p)
    voice(p, "print what was found as one JSON object")
    tables(p, "the printed table of --fct")
    forced(p)
