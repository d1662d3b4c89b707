"""What the commands about studies share: their options, and lines of a width."""

from __future__ import annotations

import re
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from thalweg.cli.sweeping import executor_of

NARROWEST = 40
Line = list[tuple[str, str]]  # (text, style) of one line


def options(args: Namespace) -> dict[str, Any]:
    """What `reproduce` and `reproduce --choice` have in common, as `papers.Options` takes it."""
    progress = not (args.quiet or (args.json and not sys.stderr.isatty()))
    same = {name: getattr(args, name) for name in ("scale", "claim", "jobs", "out", "check", "force", "keep_verdicts")}
    return same | {"progress": progress, "executor": executor_of(args)}


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> Iterator[Line]:
    """A text as lines, without a style."""
    return ([(line, "")] for line in filled(text, width, first, rest))


def filled(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of a text. A value stays with its sign of comparison."""
    joined = re.sub(r" ([=≤≥<>]) ", "\u00a0\\1\u00a0", text)
    made = textwrap.wrap(joined, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in made]
