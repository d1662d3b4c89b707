"""Replays the flow lists of independent simulators and prints how far the results differ.

    python tests/reference/compare.py [SET ...] [--json]

SET is the beginning of a name (`pfabric`, `htsim/k4_10g`); without one, all of them: some seven minutes. The
data are found in `../shared/reference` next to the repository, or where THALWEG_REFERENCE says. An exclamation
mark stands at differences above the bounds: 2 % for means and medians, 10 % for 99th percentiles.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from replay import DATA, EDGES, Outcome
from sets import all_sets

BOUNDS = {"mean": 0.02, "p50": 0.02, "p99": 0.10}
STATISTICS = {"mean": np.mean, "p50": np.median, "p99": lambda x: np.percentile(x, 99)}


def difference(peer: float, ours: float) -> float:
    return ours / peer - 1 if peer else float(ours != peer)


def classes(outcome: Outcome) -> list[dict]:
    """All flows, then each size class: statistics in ns, differences, and how many flows are equal."""
    table = np.array(outcome.flows)
    rows = []
    for low, high in [(0, np.inf), *zip([0, *EDGES], EDGES, strict=False)]:
        chosen = table[(table[:, 0] > low) & (table[:, 0] <= high)]
        if not len(chosen) or ((low, high) != (0, np.inf) and len(chosen) == len(table)):
            continue
        peer, ours = chosen[:, 1], chosen[:, 2]
        row = {
            "sizes": "all" if (low, high) == (0, np.inf) else f"{low:g}..{high:g}",
            "n": len(chosen),
            "equal_1ns": float(np.mean(np.abs(ours - peer) <= 1.0)),
            "within_1pct": float(np.mean(np.abs(ours / peer - 1) <= 0.01)),
            "largest": float(np.max(np.abs(ours / peer - 1))),
        }
        for name, statistic in STATISTICS.items():
            p, o = float(statistic(peer)), float(statistic(ours))
            row[name] = {"peer": p, "ours": o, "difference": difference(p, o)}
        row["over"] = [s for s, bound in BOUNDS.items() if abs(row[s]["difference"]) > bound]
        rows.append(row)
    return rows


def compare(name: str, outcome: Outcome) -> dict:
    return {
        "set": name,
        "seconds": round(outcome.seconds, 2),
        "classes": classes(outcome) if outcome.flows else [],
        "metrics": [
            {"name": n, "peer": float(p), "ours": float(o), "difference": difference(p, o)}
            for n, p, o in outcome.metrics
        ],
    }


def show(result: dict) -> None:
    print(f"\n{result['set']}  ({result['seconds']} s)")
    if result["classes"]:
        print(
            f"  {'bytes':>12} {'n':>6}  {'mean us':>10} {'diff':>8}  {'p50 us':>10} {'diff':>8}"
            f"  {'p99 us':>10} {'diff':>8}  {'= 1 ns':>6} {'1 %':>6}"
        )
    for row in result["classes"]:
        cells = []
        for s in STATISTICS:
            mark = "!" if s in row["over"] else " "
            cells.append(f"{row[s]['peer'] / 1e3:10.2f} {100 * row[s]['difference']:+7.2f}%{mark}")
        print(
            f"  {row['sizes']:>12} {row['n']:6d}  {' '.join(cells)}"
            f" {100 * row['equal_1ns']:5.1f}% {100 * row['within_1pct']:5.1f}%"
        )
    for m in result["metrics"]:
        print(f"  {m['name']:>16}  peer {m['peer']:10.2f}  ours {m['ours']:10.2f}  {100 * m['difference']:+7.2f}%")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help="the beginning of a set's name")
    parser.add_argument("--json", action="store_true", help="one JSON array instead of tables")
    parser.add_argument("--list", action="store_true", help="only the names")
    args = parser.parse_args()
    known = all_sets()
    for asked in args.sets:
        if not any(name.startswith(asked) for name in known):
            print(f"no set begins with `{asked}`; there are: {', '.join(known)}", file=sys.stderr)
            return 2
    chosen = [n for n in known if not args.sets or any(n.startswith(a) for a in args.sets)]
    if args.list:
        print("\n".join(chosen))
        return 0
    if not DATA.is_dir():
        print(f"no reference data in {DATA}: set THALWEG_REFERENCE", file=sys.stderr)
        return 2
    results = []
    for name in chosen:
        results.append(compare(name, known[name]()))
        if not args.json:
            show(results[-1])
            sys.stdout.flush()
    if args.json:
        print(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
