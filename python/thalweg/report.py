"""One self-contained HTML page per run and per study: no fonts, no links to anywhere; a script only where a run was
sampled over time, for the animation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _places, _rundir, animation, deadlocks, headline, pauses, plots
from thalweg._format import memory, wall
from thalweg._html import folded, framed, table
from thalweg.explaining.slowest import slowest
from thalweg.rundata import RunData
from thalweg.runplots import Plots

if TYPE_CHECKING:
    import polars

_CSS = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5c6570; --paper: #fff; --line: #d9dee4; --shade: #f4f6f8;
  --good: #1a7f37; --bad: #c62828; --dim: #8a6d00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #9aa4af; --paper: #14171a; --line: #31373e;
  --shade: #1d2126; --good: #56d364; --bad: #ff7b72; --dim: #e3b341; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 70rem; margin: 2rem auto;
  padding: 0 1.2rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.lead, figcaption, .soft { color: var(--soft); }
table { border-collapse: collapse; font-size: .87rem; } .scroll { overflow-x: auto; }
th, td { text-align: left; padding: .28rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; } td.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; flex: 1 1 min(28rem, 100%); max-width: 34rem; }
figure.wide { flex-basis: 100%; max-width: 60rem; }
figure img { width: 100%; background: #fff; border: 1px solid var(--line); border-radius: 6px; }
figcaption { font-size: .85rem; }
pre { background: var(--shade); padding: .8rem; border-radius: 6px; overflow-x: auto; font-size: .8rem; }
.pass { color: var(--good); font-weight: 600; } .fail, .error { color: var(--bad); font-weight: 600; }
.not-checkable, .not-decided { color: var(--dim); font-weight: 600; }
table.verdicts { width: 100%; table-layout: fixed; } table.verdicts td { overflow-wrap: anywhere; white-space: pre-line; }
table.verdicts { margin-top: 1rem; } table.verdicts th, table.verdicts td { box-sizing: border-box; padding-right: .3rem; }
table.verdicts th:nth-child(1) { width: 26%; } table.verdicts th:nth-child(2) { width: 12%; }
table.verdicts th:nth-child(3) { width: 21%; } table.verdicts th:nth-child(4) { width: 20%; }
table.failing th:nth-child(1) { width: 20%; } table.failing th:nth-child(2) { width: 11%; }
table.failing th:nth-child(3) { width: 19%; } table.failing th:nth-child(4) { width: 13%; }
table.published { font-size: .78rem; margin-top: .4rem; } table.published td { overflow-wrap: anywhere; }
table.published td:nth-child(1), table.published td:nth-child(4) { white-space: nowrap; }
@media (max-width: 46rem) { table.verdicts thead { display: none; } table.verdicts tr { display: block; padding: .6rem 0;
  border-bottom: 1px solid var(--line); } table.verdicts td { display: block; border: 0; padding: .1rem 0; }
  table.verdicts td:nth-child(n+2)::before { content: attr(data-head) ": "; color: var(--soft); } }
.banner { border-left: 4px solid var(--dim); padding: .3rem .8rem; background: var(--shade); }
code { font-size: .9em; } details { margin-top: .6rem; } details summary { color: var(--soft); cursor: pointer; }
"""


def picture(fig: plots.Figure, caption: str) -> str:
    """A figure inside the page. As an image, not inline SVG: identifiers of several figures would collide."""
    return framed(plots.svg(fig), caption)


def pictures(figures: Iterable[tuple[str, plots.Figure]]) -> str:
    shown = [picture(fig, caption) for caption, fig in figures]
    return f"<div class=figures>{''.join(shown)}</div>" if shown else ""


def page(title: str, lead: str, sections: Iterable[tuple[str, str]]) -> str:
    """The whole page: sections are (heading, HTML); empty ones are left out."""
    body = "".join((f"<h2>{escape(h)}</h2>" if h else "") + content for h, content in sections if content)
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<meta name=generator content='{_places.MARK}'>"
        f"<title>{escape(title)}</title><style>{_CSS}</style></head><body><h1>{escape(title)}</h1>"
        f"<p class=lead>{escape(lead)}</p>{body}</body></html>\n"
    )


def write(path: Path, html: str) -> Path:
    return _places.write_file(path, html)


def machine_table(meta: Mapping[str, Any]) -> str:
    """Where and with what a result was made."""
    here = meta.get("machine") or {}
    rows = [
        (
            "thalweg",
            f"{meta.get('thalweg')} (engine {meta.get('core')}{', debug build' if meta.get('debug_build') else ''})",
        ),
        ("processor", f"{here.get('cpu')} × {here.get('cores')}"),
        ("memory", memory(here["memory_bytes"]) if here.get("memory_bytes") else None),
        ("system", here.get("system")),
        ("Python", here.get("python")),
    ]
    if meta.get("seconds") is not None:
        rows.append(("time taken", wall(meta["seconds"])))
    for name, key in (
        ("events", "events"),
        ("packet-hops", "packet_hops"),
        ("packet-hops/s", "packet_hops_per_second"),
    ):
        if meta.get(key) is not None:
            rows.append((name, meta[key]))
    for name, cost in (meta.get("python_controllers") or {}).items():
        rows.append((f"Python controller {name}", f"{cost['ns_per_ack']} ns per ACK ({cost['acks']} ACKs)"))
    return table(("", ""), rows)


def run_report(results: RunData, path: Path) -> Path:
    """The page of one run."""
    sections = []
    if results.partial:
        why = results.meta.get("stopped") or "stopped"
        sections.append(
            (
                "Partial",
                f"<p class=banner>This run ended early ({escape(why)}): flows still under way are missing.</p>",
            )
        )
    if animation.moves(results):
        sections.append(("Over time", animation.page_section(results)))
    sections.append(("Figures", pictures(Plots(results).all().values())))
    every = table(("key", "value"), headline.scalars(results.summary).items())
    all_numbers = folded("all of summary.json but its lists", every)
    sections.append(("Summary", table(("", ""), headline.rows_of(results)) + all_numbers))
    head, rows = headline.section_table(results.summary)
    if rows:
        sections.append(("Sections of traffic", table(head, rows)))
    unit, head, classes = headline.class_table(results.summary)
    if classes:
        sections.append((f"Completion times ({unit}) and slowdown (×)", table(head, classes)))
    if slow := _slowest(results):
        sections.append(("Slowest flows", slow))
    if "pauses" in results.tables and results.tables.arrow("pauses").num_rows:
        sections.append(("Pause storms", _storms(results.named("pauses"))))
    if found := (results.summary.get("pauses") or {}).get("deadlocks"):
        sections.append(("Deadlocks", _deadlocks(results, found)))
    if "memory" in results.tables:
        sections.append(("Fullest memories", _fullest(results.named("memory"))))
    described = []
    for name in results.tables:
        arrow = results.tables.arrow(name)
        described += [(f"{name}.{c}", unit, doc) for c, unit, doc in results.columns(name)]
        described.append((f"{name}: {arrow.num_rows} rows", "", ""))
    meanings = table(("column", "unit", "meaning"), described)
    sections.append(("Columns", folded("what each column of each table means", meanings)))
    sections.append(("Resolved scenario", f"<pre>{escape(results.scenario_toml)}</pre>"))
    sections.append(("Made by", machine_table(results.meta)))
    return write(path, page(f"{results.name or 'thalweg run'}", _lead(results), sections))


def _lead(results: RunData) -> str:
    """The first line: what the run is called by, and its bottleneck."""
    busiest = dict(headline.rows_of(results)).get("busiest link")
    return f"digest {results.digest}" + (f"; busiest link {busiest}" if busiest else "")


def _slowest(results: RunData, most: int = 10) -> str:
    """The flows that were late, and how to ask why; empty: none has an end."""
    if "flows" not in results.tables:
        return ""
    found = slowest(results, most)
    parts = [
        f"<p class=soft>{escape(what)}</p>" + table(head, [[_number(cell) for cell in row] for row in rows])
        for what, head, rows in found.tables()
    ]
    run = results.path or "RUN"
    way = f"<p class=soft>Why one was late: <code>{escape(f'thalweg explain {run} --flow N')}</code></p>"
    return "".join(parts) + way if parts else ""


def _number(text: str) -> str | tuple[str, str]:
    """A text that is a number stands to the right."""
    return (text, "num") if text[-1:].isdecimal() and not text[:1].isalpha() else text


def _storms(kept: polars.DataFrame, most: int = 10) -> str:
    """The largest storms and the ports that were paused longest."""
    head = ("root", "began (ms)", "pauses", "ports", "depth", "paused in all (ms)")
    rows = [
        (
            f"{r['from_node']} → {r['to_node']}",
            r["at_ps"] * 1e-9,
            r["pauses"],
            r["ports"],
            r["depth"],
            r["paused_ps"] * 1e-9,
        )
        for r in pauses.storms(kept).head(most).iter_rows(named=True)
    ]
    ports = [
        (f"{r['from_node']} → {r['to_node']}", r["pauses"], r["paused_ps"] * 1e-9, r["depth"])
        for r in pauses.by_port(kept).head(most).iter_rows(named=True)
    ]
    return (
        f"<p class=soft>The largest of {len(pauses.storms(kept))} storms: a root and the pauses that it caused.</p>"
        + table(head, rows)
        + "<p class=soft>The ports that were paused longest.</p>"
        + table(("port", "pauses", "paused (ms)", "deepest"), ports)
    )


def _deadlocks(results: RunData, found: Sequence[Mapping[str, Any]], most: int = 4) -> str:
    """Ports that wait for each other: those that still do first, the first of them drawn."""
    names = results.tables["nodes"]["name"].to_list()
    text = "".join(f"<p>{escape(line)}</p>" for line in deadlocks.lines(results)[:most])
    more = f"<p class=soft>{len(found) - most} more.</p>" if len(found) > most else ""
    first = next((d for d in found if d.get("ended_us") is None), found[0])
    return (
        text
        + more
        + (pictures([("which nodes wait for which", deadlocks.drawn(first, names))]) if deadlocks.cycle(first) else "")
    )


def _fullest(kept: polars.DataFrame, most: int = 10) -> str:
    """The inputs and shared memories that held most."""

    def share(part: float | None, whole: float | None) -> str:
        return f"{(part or 0) / whole:.0%}" if whole else ""

    rows = [
        (
            f"{r['from_node']} → {r['node']}" if r["port"] is not None else f"{r['node']}, shared",
            r["most_bytes"],
            share(r["most_bytes"], r["limit_bytes"]),
            share(r["most_headroom"], r["headroom_bytes"]),
        )
        for r in kept.sort("most_bytes", descending=True).head(most).iter_rows(named=True)
    ]
    return "<p class=soft>The most that inputs, and memories that they share, have held.</p>" + table(
        ("memory", "bytes", "of its limit", "of its headroom"), rows
    )


def provenance_table() -> str:
    return machine_table(_rundir.provenance())
