"""How notebooks show scenarios, results, sweeps and comparisons: short tables, details folded."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from thalweg import _format, headline
from thalweg.errors import ScenarioError
from thalweg.report import table
from thalweg.settings import SEED, columns, text

if TYPE_CHECKING:
    from thalweg.comparison import Comparison
    from thalweg.results import Results
    from thalweg.scenario import Scenario
    from thalweg.sweeps import Runs

MOST_ROWS = 24


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def _titled(title: str, *parts: str) -> str:
    return f"<div><p><b>{escape(title)}</b></p>{''.join(parts)}</div>"


def scenario(s: Scenario) -> str:
    """Its kinds and what a run will cost; the resolved text folded."""
    found = s.to_dict()

    def kind(part) -> str:
        return str(part.get("kind", "")) if isinstance(part, dict) else str(part)

    traffic = ", ".join(kind(t) for t in found.get("traffic") or [])
    rows = [("topology", kind(found.get("topology", {}))), ("traffic", traffic)]
    transport, switch = found.get("transport") or {}, found.get("switch") or {}
    words = [kind(transport), kind(transport.get("congestion", ""))]
    rows.append(("transport", ", ".join(filter(None, words))))
    rows.append(("switch scheduler", kind(switch.get("scheduler", ""))))
    try:
        e = s.estimate()
        cost = (
            f"{_format.si(e['flows'])} flows, {_format.si(e['packet_hops'])} packet-hops, {_format.wall(e['seconds'])}"
        )
        rows.append(("about", f"{cost}, {_format.memory(e['memory_bytes'])}"))
    except ScenarioError as e:
        rows.append(("about", str(e)))
    resolved = _folded("resolved: every default written out", f"<pre>{escape(s.to_toml())}</pre>")
    return _titled(f"Scenario {s.name}, seed {s.seed}", table(("", ""), rows), resolved)


def results(r: Results) -> str:
    """The summary that the terminal shows."""
    from thalweg.sweeps import scalars

    classes = headline.classes(r.summary)
    parts = [table(("", ""), headline.rows(r.summary))]
    if classes:
        parts.append(table(headline.CLASS_HEAD, classes))
    parts.append(_folded("every number of the summary", table(("key", "value"), scalars(r.summary).items())))
    parts.append(f"<p>tables: {escape(', '.join(r.tables))}</p>")
    return _titled(f"Results of {r.name}" + (" (partial)" if r.partial else ""), *parts)


def runs(r: Runs) -> str:
    """One row per setting, with its mean over the seeds."""
    from thalweg.sweepfigure import axis_label

    if not len(r):
        return escape(repr(r))
    metric = r.metric
    rows = r.over_seeds(metric)
    keys = list(rows[0][0])
    shown = [
        (*(text(labels[k]) for k in keys), s[metric].runs, s[metric].mean, s[metric].half)
        for labels, s in rows[:MOST_ROWS]
    ]
    more = f"<p>and {len(rows) - MOST_ROWS} more: see <code>.means()</code></p>" if len(rows) > MOST_ROWS else ""
    seeds = len({str(v) for v in columns(r.params).get(SEED, [])})
    of = f" with {seeds} seeds" if seeds > 1 else ""
    body = table((*keys, "runs", axis_label(metric), "± 95 %"), shown)
    return _titled(f"{len(r)} runs{of}", body, more, "<p>every number: <code>.frame</code></p>")


def comparison(c: Comparison) -> str:
    """Completion times per size class, in us."""
    from thalweg.comparison import STATISTICS, label

    head = ["flow size", "flows A", "flows B"]
    for s in STATISTICS:
        head += [f"{s} A (us)", f"{s} B (us)", "B against A"]
    rows = []
    for row in c.rows:
        cells = [row["class"], row["flows_a"], row["flows_b"]]
        for s in STATISTICS:
            times = [None if row[k] is None else row[k] * 1e6 for k in (f"{s}_a", f"{s}_b")]
            change = row[f"{s}_percent"]
            cells += [*times, None if change is None else f"{change:+.1f} %"]
        rows.append((*cells, row["ks"]))
    return _titled(f"{label(c.a, 'A')}, {label(c.b, 'B')}", table((*head, "KS"), rows))
