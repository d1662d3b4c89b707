"""Estimates against full runs, on the scenarios next to this file: `python examples/estimates/compare.py`.

Prints the tables of docs/estimates.md; with `--write` puts them there. One job at a time, so that the seconds of both
are processor time of one core. `compare.py hadoop-50` measures one scenario alone.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import thalweg

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "estimates.md"
NAMES = (
    "hadoop-30", "hadoop-50", "hadoop-80", "web-search-50", "oversubscribed-40", "bursty-50", "fat-tree-50",
    "fat-tree-hpcc-50", "tcp-dctcp-50", "tcp-dctcp-nic-50", "tcp-newreno-50", "tcp-newreno-nic-50",
)  # fmt: skip
BEGIN, END = "<!-- measured by examples/estimates/compare.py -->", "<!-- /measured -->"


def timed(function: Callable[..., Any], *given, **how) -> tuple[Any, float]:
    """What a function returns, and the seconds of processor time that it took."""
    begun = time.process_time()
    return function(*given, **how), time.process_time() - begun


def measure(name: str) -> tuple[list[dict], dict]:
    """One scenario: its rows by size class, and its line in the table of times."""
    scenario = thalweg.Scenario.load(HERE / f"{name}.toml")
    run, full = timed(thalweg.run, scenario, progress=False, threads=1)
    found, seconds = timed(scenario.estimate_fct, jobs=1, progress=False)
    near, clustered = timed(scenario.estimate_fct, jobs=1, progress=False, cluster=0.3)
    rows = [row | {"scenario": name} for row in found.against(run).iter_rows(named=True)]
    error = near.against(run).row(-1, named=True)["p99_error_percent"]
    times = {
        "scenario": name,
        "full": full,
        "estimate": seconds,
        "links": found.links.height,
        "clustered": clustered,
        "simulated": near.links["leader"].n_unique(),
        "error": error,
    }
    return rows, times


def tables(measured: list[tuple[list[dict], dict]]) -> Iterator[str]:
    """Both tables, line by line."""
    yield "| scenario | flow size | flows | median: run | estimate | error | 99th: run | estimate | error |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for rows, _ in measured:
        for row in rows:
            cells = [f"`{row['scenario']}`", row["class"], str(row["flows"])]
            for at in ("p50", "p99"):
                cells += [shown(row[f"{at}_{what}"], "{:.2f}") for what in ("run", "estimate")]
                cells.append(shown(row[f"{at}_error_percent"], "{:+.0f} %"))
            if row["flows"]:
                yield f"| {' | '.join(cells)} |"
    yield ""
    yield "| scenario | full run | estimate | links simulated | with `--cluster 0.3` | links simulated | error of the 99th |"
    yield "|---|---|---|---|---|---|---|"
    for _, t in measured:
        cells = [f"`{t['scenario']}`", *(f"{t[k]:.1f} s" for k in ("full", "estimate")), str(t["links"])]
        cells += [f"{t['clustered']:.1f} s", str(t["simulated"]), f"{t['error']:+.0f} %"]
        yield f"| {' | '.join(cells)} |"


def shown(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def main(words: list[str]) -> None:
    write = "--write" in words
    names = [word for word in words if not word.startswith("-")] or list(NAMES)
    measured = []
    for name in names:
        measured.append(measure(name))
        print(name, "measured", file=sys.stderr)
    text = "\n".join(tables(measured))
    print(text)
    if write:
        page = PAGE.read_text(encoding="utf-8")
        part = f"{BEGIN}\n\n{text}\n\n{END}"
        PAGE.write_text(
            re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: part, page, flags=re.DOTALL), encoding="utf-8"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
