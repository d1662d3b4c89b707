"""Two runs, or two sweeps, side by side: which keys differ, and what became of jobs, throughput, delay, losses, pauses
and completion times."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _units, headline
from thalweg.errors import refuse
from thalweg.results import Results
from thalweg.settings import text

if TYPE_CHECKING:
    import numpy as np
    import polars
    from numpy.typing import ArrayLike

    from thalweg.plots import Figure
    from thalweg.spread import Spread
    from thalweg.sweeps import Runs

STATISTICS = ("mean", "p50", "p95", "p99")
# (what it is called, where it is in the summary, its unit), in the order of a headline.
NUMBERS = (
    ("goodput of all flows", "goodput_gbps", "gbps"),
    ("flows without end, sum", "endless.sum_gbps", "gbps"),
    ("smallest of these", "endless.smallest_gbps", "gbps"),
    ("largest of these", "endless.throughput_gbps.max", "gbps"),
    ("Jain's index", "endless.jain", ""),
    ("queueing delay, mean", "packet_queueing_us.mean", "us"),
    ("queueing delay, p50", "packet_queueing_us.p50", "us"),
    ("queueing delay, p95", "packet_queueing_us.p95", "us"),
    ("queueing delay, p99", "packet_queueing_us.p99", "us"),
    ("flows completed", "measured.completed", ""),
    ("flows censored", "measured.censored", ""),
    ("FCT, mean", "measured.fct_us.mean", "us"),
    ("FCT, p99", "measured.fct_us.p99", "us"),
    ("slowdown, mean", "measured.slowdown.mean", ""),
    ("slowdown, p99", "measured.slowdown.p99", ""),
    ("drops", "drops", ""),
    ("trims", "trims", ""),
    ("marks", "marks", ""),
    ("retransmissions", "retransmissions", ""),
    ("timeouts", "timeouts", ""),
    ("pauses", "pauses.frames", ""),
    ("paused, all ports", "pauses.paused_s", "s"),
    ("deadlocks", "deadlocks", ""),
    ("lost on links", "links.packets_lost", ""),
    ("busiest link used", "bottleneck.utilisation", ""),
    ("fullest input", "memory.most_bytes", "bytes"),
    ("simulated", "simulated_seconds", "s"),
)


# Of a job: what it is called, where it is in `groups`, whether it takes computing to mean anything.
JOB_TIMES = (
    ("completion", "completion_us", False),
    ("computing", "compute_us", True),
    ("exposed", "exposed_us", True),
    ("spread of hosts", "spread_us", False),
)


@dataclass(frozen=True)
class Number:
    """One number of both runs; `None`: this run does not have it."""

    what: str
    column: str
    unit: str
    a: float | None
    b: float | None

    @property
    def percent(self) -> float | None:
        """How much larger it is in B."""
        return None if self.a in (None, 0) or self.b is None else 100 * (self.b / self.a - 1)

    @property
    def texts(self) -> tuple[str, str, str]:
        """A, B and the difference, for people."""
        both = [v for v in (self.a, self.b) if v is not None]
        scale, unit = _units.fitting(both, self.unit) if self.unit else (1.0, "")
        cells = ["–" if v is None else f"{_number(v / scale)} {unit}".rstrip() for v in (self.a, self.b)]
        return (cells[0], cells[1], change(self.percent, self.a, self.b))


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e7 else _units.digits(value)


def change(percent: float | None, a: float | None = None, b: float | None = None) -> str:
    """`+3.2 %`, `=`, `–`, or `new` for what grew from nothing."""
    if a is not None and a == b:
        return "="
    if percent is None:
        return "from 0" if a == 0 and b else "–"
    return f"{percent:+.1f} %"


@dataclass(frozen=True)
class Comparison:
    """`keys`: the keys in which the resolved scenarios differ, with both values; `numbers`: jobs,
    throughput, delay, losses, pauses; `rows`: one per size class, with both runs' FCT statistics (seconds),
    differences in %, and the KS distance."""

    a: Results
    b: Results
    rows: list[dict[str, Any]]
    keys: list[tuple[str, Any, Any]] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)

    @property
    def frame(self) -> polars.DataFrame:
        """The size classes."""
        import polars

        return polars.DataFrame(self.rows, infer_schema_length=None)

    @property
    def same(self) -> bool:
        """Whether both runs did the same: their digests are equal."""
        return self.a.digest == self.b.digest

    def figure(self) -> Figure:
        """Both distributions in one picture: of completion times, or, without any, of the throughput of flows without
        end."""
        from thalweg import plots
        from thalweg.runplots import throughputs

        both = {label(self.a, "A"): self.a, label(self.b, "B"): self.b}
        kinds: tuple[tuple[dict[str, np.ndarray] | dict[str, list[float]], str, bool], ...] = (
            ({name: fct(r)[1] for name, r in both.items()}, "flow completion time (s)", True),
            ({name: throughputs(r) for name, r in both.items()}, "throughput of flows without end (Gb/s)", False),
        )
        for values, axis, log in kinds:
            if all(len(v) for v in values.values()):
                return plots.cdf(values, axis, log=log)
        raise refuse("nothing to draw: the runs have neither completed flows nor flows without end in common")

    def lines(self) -> Iterator[str]:
        """What differs, as text of at most 80 columns."""
        from thalweg._lines import width, wrapped

        wide = width()
        yield from (f"{label(r, letter)} (digest {r.digest})" for r, letter in ((self.a, "A"), (self.b, "B")))
        if self.same:
            yield "same digest: the same events in the same order"
        yield ""
        if not self.keys:
            yield "no key differs"
        for key, a, b in self.keys[:MOST_KEYS]:
            line = f"{key}: {_value(a)} → {_value(b)}"
            if wide is None or len(line) <= wide:
                yield line
            else:
                yield from (f"{key}:", wrapped(f"{_value(a)} → {_value(b)}", 4, "    "))
        if len(self.keys) > MOST_KEYS:
            yield f"and {len(self.keys) - MOST_KEYS} more keys (--json has all)"
        yield ""
        cells: list[tuple[str, ...]] = [("", "A", "B", "B against A"), *((n.what, *n.texts) for n in self.numbers)]
        yield from _aligned(cells)
        classes = [row for row in self.rows if row["flows_a"] or row["flows_b"]]
        if classes:
            yield ""
            yield "FCT, A → B (KS: largest distance between the distributions)"
            head = ("flow size", "flows", "mean", "p99", "KS")
            yield from _aligned([head, *map(_class, classes)])

    def tables(self) -> list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]]:
        """What `lines` prints, as tables: what each is, heads, rows."""
        classes = [_class(row) for row in self.rows if row["flows_a"] or row["flows_b"]]
        found: list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]] = [
            ("keys", ("key", "A", "B"), [(k, _value(a), _value(b)) for k, a, b in self.keys]),
            ("numbers", ("", "A", "B", "B against A"), [(n.what, *n.texts) for n in self.numbers]),
            ("completion times, A to B", ("flow size", "flows", "mean", "p99", "KS"), [*classes]),
        ]
        return [part for part in found if part[2]]

    def plain(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Every number with all digits, as one table: heads, and rows of keys, numbers, and completion times (s)."""
        rows: list[tuple[Any, ...]] = [("key", k, "", _value(a), _value(b), None) for k, a, b in self.keys]
        rows += [("number", n.column, n.unit, n.a, n.b, n.percent) for n in self.numbers]
        for row in self.rows:
            for of in ("flows", *STATISTICS):
                pair = (row[f"{of}_a"], row[f"{of}_b"])
                unit = "" if of == "flows" else "s"
                rows.append(("class", f"{row['class']}: {of}", unit, *pair, row.get(f"{of}_percent")))
        return ("kind", "name", "unit", "a", "b", "percent"), rows

    def _repr_html_(self) -> str:
        from thalweg._html import table, titled

        keys = table(("key", "A", "B"), [(k, _value(a), _value(b)) for k, a, b in self.keys])
        numbers = table(("", "A", "B", "B against A"), [(n.what, *n.texts) for n in self.numbers])
        times = [row[f"{s}_{x}"] for row in self.rows for s in STATISTICS for x in "ab"]
        scale, unit = _units.fitting(times, "s")
        head = ["flow size", "flows A", "flows B"]
        for s in STATISTICS:
            head += [f"{s} A ({unit})", f"{s} B ({unit})", "B against A"]
        rows = []
        for row in self.rows:
            cells = [row["class"], row["flows_a"], row["flows_b"]]
            for s in STATISTICS:
                scaled = [None if row[k] is None else row[k] / scale for k in (f"{s}_a", f"{s}_b")]
                percent = row[f"{s}_percent"]
                cells += [*scaled, None if percent is None else f"{percent:+.1f} %"]
            rows.append((*cells, row["ks"]))
        classes = table((*head, "KS"), rows) if any(row["flows_a"] or row["flows_b"] for row in self.rows) else ""
        return titled(
            f"{label(self.a, 'A')}, {label(self.b, 'B')}",
            keys if self.keys else "<p>no key differs</p>",
            numbers,
            classes,
        )

    def __repr__(self) -> str:
        return f"<thalweg.Comparison of {label(self.a, 'A')} and {label(self.b, 'B')}: {len(self.keys)} keys differ>"

    def to_dict(self) -> dict[str, Any]:
        return {
            "a": str(self.a.path or "a"),
            "b": str(self.b.path or "b"),
            "same_digest": self.same,
            "keys": [{"key": k, "a": a, "b": b} for k, a, b in self.keys],
            "numbers": [
                {"what": n.what, "column": n.column, "a": n.a, "b": n.b, "percent": n.percent} for n in self.numbers
            ],
            "classes": self.rows,
        }


# So many differing keys are printed.
MOST_KEYS = 20


def _value(value: Any) -> str:
    return "–" if value is None else text(value)


def _class(row: Mapping[str, Any]) -> tuple[str, ...]:
    """One size class in a line."""
    out = [row["class"], "→".join(dict.fromkeys(str(row[k]) for k in ("flows_a", "flows_b")))]
    for s in ("mean", "p99"):
        values = (row[f"{s}_a"], row[f"{s}_b"])
        scale, unit = _units.fitting(values, "s")
        both = "→".join("–" if v is None else _units.digits(v / scale) for v in values)
        out.append(f"{both} {unit} {change(row[f'{s}_percent'], *values)}")
    return (*out, "–" if row["ks"] is None else f"{row['ks']:.3f}")


def _aligned(rows: list[tuple[str, ...]]) -> Iterator[str]:
    wide = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    for row in rows:
        cells = (f"{c:<{w}}" if n == 0 else f"{c:>{w}}" for n, (c, w) in enumerate(zip(row, wide, strict=True)))
        yield "  ".join(cells).rstrip()


def size_classes(results: Results) -> list[tuple[float, float, str]]:
    """`(above, up to, name)` in bytes of payload: the classes of the run's summary, `measure.size_classes` of
    its scenario."""
    texts = results.document.get("measure", {}).get("size_classes", [])
    edges = [_units.in_bytes(text) for text in texts]
    pairs = zip([0.0, *edges], [*edges, math.inf], strict=True)
    return [
        (a, b, f"up to {texts[n]}" if n < len(texts) else f"above {texts[-1]}")
        for n, (a, b) in enumerate(pairs)
        if texts
    ]


def label(results: Results, letter: str) -> str:
    return f"{letter}: {results.path.name if results.path else results.name}"


def fct(results: Results) -> tuple[np.ndarray, np.ndarray]:
    """`(sizes in bytes, FCT in seconds)` of the measured flows that ended."""
    flows = results.measured()
    return flows["size"].to_numpy(), flows["fct_ps"].to_numpy() * 1e-12


def ks_distance(a: ArrayLike, b: ArrayLike) -> float:
    """Kolmogorov–Smirnov: the largest distance between two empirical distribution functions."""
    import numpy as np

    a, b = np.sort(a), np.sort(b)
    both = np.concatenate([a, b])
    below_a = np.searchsorted(a, both, side="right") / len(a)
    below_b = np.searchsorted(b, both, side="right") / len(b)
    return float(np.max(np.abs(below_a - below_b)))


def statistics(values: np.ndarray) -> dict[str, float]:
    """Mean and percentiles; nearest rank, as in the summary."""
    import numpy as np

    return {"mean": float(values.mean())} | {
        f"p{q}": float(np.percentile(values, q, method="inverted_cdf")) for q in (50, 95, 99)
    }


def compare(
    a: Results | Runs | str | Path, b: Results | Runs | str | Path, *metrics: str
) -> Comparison | SweepComparison:
    """Compares two runs (results or run directories), or two sweeps (`thalweg.Runs` or their folders).

    Of runs: keys that differ, times of jobs, throughput, delay, losses, pauses; completion times of all flows together
    and by the size classes of the first one's scenario. Of sweeps: the means over the seeds of `metrics` (the default
    one of the first sweep), setting by setting.
    """
    from thalweg.sweeps import Runs, is_sweep

    one, other = (
        x if isinstance(x, Results | Runs) else (Runs.load(x) if is_sweep(x) else Results.load(x)) for x in (a, b)
    )
    if isinstance(one, Runs) and isinstance(other, Runs):
        return _sweeps(one, other, metrics)
    if isinstance(one, Runs) or isinstance(other, Runs):
        raise refuse(
            "a run and a sweep cannot be compared", hint="name one of the sweep's runs: `runs[0]`, or its folder"
        )
    if metrics:
        raise refuse("two runs are compared in all of their numbers: metrics are for sweeps")
    return _runs(one, other)


def _runs(a: Results, b: Results) -> Comparison:
    (size_a, fct_a), (size_b, fct_b) = fct(a), fct(b)
    rows = []
    for low, high, name in ((0.0, math.inf, "all"), *size_classes(a)):
        one, other = fct_a[(size_a > low) & (size_a <= high)], fct_b[(size_b > low) & (size_b <= high)]
        if name != "all" and not len(one) and not len(other):
            continue
        row: dict[str, Any] = {"class": name, "flows_a": len(one), "flows_b": len(other)}
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
    return Comparison(a, b, rows, differing_keys(a, b), numbers(a, b))


def differing_keys(a: Results, b: Results) -> list[tuple[str, Any, Any]]:
    """The keys in which two resolved scenarios differ, in the order of the first; `None`: it does not have the key."""
    return list(_differences(a.document, b.document))


def _differences(a: Any, b: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Tables of the same kind key by key, lists of as many tables one by one; all else as a whole."""
    if a == b:
        return
    tables = isinstance(a, Mapping) and isinstance(b, Mapping) and a.get("kind") == b.get("kind")
    lists = isinstance(a, list) and isinstance(b, list) and len(a) == len(b)
    if tables:
        for name in a | b:
            yield from _differences(a.get(name), b.get(name), f"{key}.{name}" if key else name)
    elif lists and all(isinstance(v, Mapping) for v in (*a, *b)):
        for n, (one, other) in enumerate(zip(a, b, strict=True)):
            yield from _differences(one, other, f"{key}.{n}")
    else:
        yield key, a, b


def numbers(a: Results, b: Results) -> list[Number]:
    """The numbers that at least one of two runs has and that say something: not those that are 0 in both."""
    one, other = ({**headline.scalars(r.summary), "deadlocks": _deadlocks(r)} for r in (a, b))
    found = [Number(what, column, unit, one.get(column), other.get(column)) for what, column, unit in NUMBERS]
    return _jobs(a, b) + [n for n in found if n.a or n.b] + _sections(a, b)


def _jobs(a: Results, b: Results) -> list[Number]:
    """Of sections whose flows and computations wait for each other, how long each job took. One in each run is the
    same job whatever its section is called; of several those with the same name are."""
    found = [
        {g["name"]: g["job"] for g in r.summary.get("groups") or () if "name" in g and g.get("job")} for r in (a, b)
    ]
    if not any(found):
        return []
    single = max(map(len, found)) == 1
    if single and len({*found[0], *found[1]}) > 1:
        found = [{"": next(iter(jobs.values()))} if jobs else {} for jobs in found]
    out = []
    for name in {**found[0], **found[1]}:
        pair = [jobs.get(name) for jobs in found]
        computes = any(job.get("compute_us") for job in pair if job)
        for what, key, of_computing in JOB_TIMES:
            values = [job.get(key) if job else None for job in pair]
            if (computes or not of_computing) and values != [None, None]:
                column = f"groups.{name}.job.{key}" if name else f"job.{key}"
                called = f"job, {what}" if single else f"{name}: {what}"
                out.append(Number(called, column, "us", *values))
    return out


def _deadlocks(r: Results) -> int | None:
    pauses = r.summary.get("pauses")
    return len(pauses["deadlocks"]) if pauses else None


def _sections(a: Results, b: Results) -> list[Number]:
    """Of runs with several traffic sections the goodput of each."""
    found = [_goodputs(r) for r in (a, b)]
    if max(map(len, found)) < 2:
        return []
    names = dict.fromkeys([*found[0], *found[1]])
    return [Number(f"goodput of {name}", f"goodput.{name}", "gbps", *(f.get(name) for f in found)) for name in names]


def _goodputs(r: Results) -> dict[str, float]:
    """Gb/s by traffic section, over the whole run."""
    import polars as pl

    seconds = r.summary.get("simulated_seconds") or 0.0
    if not seconds or not {"group", "delivered"} <= set(r.flows.columns):
        return {}
    sums = dict(r.flows.group_by("group").agg(pl.col("delivered").sum()).sort("group").rows())
    described = r.summary.get("groups") or []
    return {section_name(described, n): delivered * 8e-9 / seconds for n, delivered in sums.items()}


def section_name(groups: list[Mapping[str, Any]], n: Any) -> str:
    """What a traffic section is called: by its name, if it has one, else by its number and kind."""
    if not isinstance(n, int):
        return str(n)
    about = groups[n] if n < len(groups) else {}
    return str(about.get("name") or f"traffic.{n}" + (f" ({about['kind']})" if about.get("kind") else ""))


@dataclass(frozen=True)
class SweepComparison:
    """Two sweeps: `rows`, one per setting that both have and metric, with the means over the seeds and their 95 %
    intervals; `notes`: what these means are not of, flows that had not ended or runs without a value."""

    a: Runs
    b: Runs
    rows: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)

    @property
    def frame(self) -> polars.DataFrame:
        import polars

        return polars.DataFrame(self.rows, infer_schema_length=None)

    def _table(self) -> list[tuple[str, ...]]:
        head = ("setting", "metric", "A", "B", "B against A")
        rows = []
        for row in self.rows:
            n = Number("", row["metric"], _units.of_name(row["metric"]), row["a"], row["b"])
            sure = "" if row["differs"] is None else " *" if row["differs"] else ""
            rows.append((row["setting"], _units.without_unit(row["metric"]), *n.texts[:2], n.texts[2] + sure))
        return [head, *rows]

    def tables(self) -> list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]]:
        """What `lines` prints, as a table: what it is, heads, rows."""
        head, *rows = self._table()
        what = "means; * where the 95 % confidence intervals do not overlap"
        return [("; ".join([what, *self.notes]), head, rows)]

    def plain(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The means with their intervals and all digits: heads, rows."""
        names = ("setting", "metric", "a", "half_a", "runs_a", "b", "half_b", "runs_b", "percent", "differs")
        return names, [tuple(row.get(name) for name in names) for row in self.rows]

    def lines(self) -> Iterator[str]:
        """What differs, as text that fits the terminal, or 80 columns: a line per setting and metric; where settings
        of several keys are too long for that, the setting above the lines of its metrics."""
        from thalweg._lines import width

        wide = width() or 80
        lines = list(_aligned(self._table()))
        yield from lines if max(map(len, lines)) <= wide else self._blocks(wide)
        if any(row["differs"] for row in self.rows):
            yield "* the 95 % confidence intervals over the seeds do not overlap"
        for note in self.notes:
            yield from textwrap.wrap(
                note, wide, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False
            )

    def _blocks(self, wide: int) -> Iterator[str]:
        head, *rows = self._table()
        first, *lines = _aligned([("  metric", *head[2:]), *((f"  {row[1]}", *row[2:]) for row in rows)])
        yield first
        above = None
        for row, line in zip(rows, lines, strict=True):
            if row[0] != above:
                yield from textwrap.wrap(row[0], wide, subsequent_indent="    ")
            above = row[0]
            yield line

    def _repr_html_(self) -> str:
        from thalweg._html import table, titled

        head, *rows = self._table()
        notes = (f"<p>{escape(note)}</p>" for note in self.notes)
        return titled(f"A: {len(self.a)} runs, B: {len(self.b)} runs", table(head, rows), *notes)

    def to_dict(self) -> dict[str, Any]:
        return {"settings": self.rows, "notes": self.notes}


def _sweeps(a: Runs, b: Runs, metrics: tuple[str, ...]) -> SweepComparison:
    from thalweg.sweepfigure import short_names

    metrics = metrics or (a.metric,)
    found: list[dict[str, dict[str, Spread]]] = []
    places: list[dict[str, list[int]]] = []
    for runs in (a, b):
        means, of = runs.over_seeds(*metrics), runs.places()
        short = short_names(means[0][0]) if means else {}
        names = [", ".join(f"{short[k]} {text(v)}" for k, v in labels.items()) for labels, _ in means]
        found.append({name: s for name, (_, s) in zip(names, means, strict=True)})
        places.append({name: at for name, (_, at) in zip(names, of, strict=True)})
    shared = [name for name in found[0] if name in found[1]]
    if not shared:
        raise refuse(
            "the sweeps have no setting in common", hint="compare sweeps that vary the same keys over the same values"
        )
    rows = []
    for name in shared:
        for metric in metrics:
            x, y = found[0][name][metric], found[1][name][metric]
            known = not (math.isnan(x.half) or math.isnan(y.half))
            of_a, of_b = (None if s.runs == 0 else s.mean for s in (x, y))
            rows.append(
                {
                    "setting": name or "all",
                    "metric": metric,
                    "a": of_a,
                    "b": of_b,
                    "percent": Number("", "", "", of_a, of_b).percent,
                    "half_a": None if math.isnan(x.half) else x.half,
                    "half_b": None if math.isnan(y.half) else y.half,
                    "runs_a": x.runs,
                    "runs_b": y.runs,
                    "differs": abs(x.mean - y.mean) > x.half + y.half if known else None,
                }
            )
    notes = []
    for letter, runs, at in (("A", a, places[0]), ("B", b, places[1])):
        compared = runs.chosen(n for name in shared for n in at[name])
        notes += [f"{letter}: {said}" for metric in metrics if (said := compared.unfinished(metric))]
    return SweepComparison(a, b, rows, notes)
