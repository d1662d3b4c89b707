"""Two runs side by side: completion times per size class, and how far the distributions are apart."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

from thalweg.results import Results

STATISTICS = ("mean", "p50", "p95", "p99")


@dataclass(frozen=True)
class Comparison:
    """`rows`: one per size class, with both runs' FCT statistics (seconds), differences in %, and the KS distance."""

    a: Results
    b: Results
    rows: list[dict]

    @property
    def frame(self):
        import polars

        return polars.DataFrame(self.rows, infer_schema_length=None)

    def figure(self):
        """Both FCT distributions in one picture."""
        from thalweg import plots

        return plots.cdf(
            {label(self.a, "A"): fct(self.a)[1], label(self.b, "B"): fct(self.b)[1]},
            "flow completion time (s)",
        )

    def _repr_html_(self) -> str:
        from thalweg._html import table, titled

        head = ["flow size", "flows A", "flows B"]
        for s in STATISTICS:
            head += [f"{s} A (us)", f"{s} B (us)", "B against A"]
        rows = []
        for row in self.rows:
            cells = [row["class"], row["flows_a"], row["flows_b"]]
            for s in STATISTICS:
                times = [None if row[k] is None else row[k] * 1e6 for k in (f"{s}_a", f"{s}_b")]
                change = row[f"{s}_percent"]
                cells += [*times, None if change is None else f"{change:+.1f} %"]
            rows.append((*cells, row["ks"]))
        return titled(f"{label(self.a, 'A')}, {label(self.b, 'B')}", table((*head, "KS"), rows))

    def to_dict(self) -> dict:
        return {"a": str(self.a.path or "a"), "b": str(self.b.path or "b"), "classes": self.rows}


_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def size_classes(results: Results) -> list[tuple[float, float, str]]:
    """`(above, up to, name)` in bytes of payload: the classes of the run's summary, `measure.size_classes` of its scenario."""
    texts = tomllib.loads(results.scenario_toml).get("measure", {}).get("size_classes", [])
    edges = [_bytes(text) for text in texts]
    pairs = zip([0.0, *edges], [*edges, math.inf], strict=True)
    return [
        (a, b, f"up to {texts[n]}" if n < len(texts) else f"above {texts[-1]}")
        for n, (a, b) in enumerate(pairs)
        if texts
    ]


def _bytes(text: str) -> float:
    number = text.rstrip("BKMGTi")
    return float(number) * _BYTES[text[len(number) :].strip()]


def label(results: Results, letter: str) -> str:
    return f"{letter}: {results.path.name if results.path else results.name}"


def fct(results: Results):
    """`(sizes in bytes, FCT in seconds)` of the measured flows that ended."""
    flows = results.measured()
    return flows["size"].to_numpy(), flows["fct_ps"].to_numpy() * 1e-12


def ks_distance(a, b) -> float:
    """Kolmogorov–Smirnov: the largest distance between two empirical distribution functions."""
    import numpy as np

    a, b = np.sort(a), np.sort(b)
    both = np.concatenate([a, b])
    below_a = np.searchsorted(a, both, side="right") / len(a)
    below_b = np.searchsorted(b, both, side="right") / len(b)
    return float(np.max(np.abs(below_a - below_b)))


def statistics(values) -> dict[str, float]:
    """Mean and percentiles; nearest rank, as in the summary."""
    import numpy as np

    return {"mean": float(values.mean())} | {
        f"p{q}": float(np.percentile(values, q, method="inverted_cdf")) for q in (50, 95, 99)
    }


def compare(a: Results | str | Path, b: Results | str | Path) -> Comparison:
    """Compares two runs (results or run directories), all flows together and by the size classes of the first one's scenario."""
    a, b = (r if isinstance(r, Results) else Results.load(r) for r in (a, b))
    (size_a, fct_a), (size_b, fct_b) = fct(a), fct(b)
    rows = []
    for low, high, name in ((0.0, math.inf, "all"), *size_classes(a)):
        one, other = fct_a[(size_a > low) & (size_a <= high)], fct_b[(size_b > low) & (size_b <= high)]
        if name != "all" and not len(one) and not len(other):
            continue
        row: dict = {"class": name, "flows_a": len(one), "flows_b": len(other)}
        first = statistics(one) if len(one) else dict.fromkeys(STATISTICS)
        second = statistics(other) if len(other) else dict.fromkeys(STATISTICS)
        for s in STATISTICS:
            x, y = first[s], second[s]
            row |= {
                f"{s}_a": x,
                f"{s}_b": y,
                f"{s}_percent": None if x in (None, 0.0) or y is None else 100 * (y / x - 1),
            }
        row["ks"] = ks_distance(one, other) if len(one) and len(other) else None
        rows.append(row)
    return Comparison(a, b, rows)
