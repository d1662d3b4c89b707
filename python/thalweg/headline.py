"""A summary for people: the terminal and the report show the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from thalweg import _format, _units

if TYPE_CHECKING:
    from thalweg.rundata import RunData

STATISTICS = ("mean", "p50", "p95", "p99")
# Flows that the completion times and slowdowns next to them are not about.
UNFINISHED = "not ended"
# What the names of completion times have in them.
TIMES = (".fct_us.", ".slowdown.")


# Schedulers that mark packets themselves, or let a marking of their own do it.
_MARKING = ("dualpi2", "fq-codel", "max-min", "policy", "zombie-list")


def rows_of(results: RunData) -> list[tuple[str, str]]:
    """`rows` of a run, of which it is known whether anything marks packets."""
    summary = results.summary
    return rows(summary, bool(summary.get("marks")) or "original" in summary or _may_mark(results.document))


def _may_mark(document: Mapping[str, Any]) -> bool:
    """Whether a queue of a resolved scenario marks packets."""
    places = [document.get(place) or {} for place in ("switch", "nic")]
    kind = lambda value: value.get("kind") if isinstance(value, Mapping) else value  # noqa: E731
    marks = any(kind(place.get("marking", "none")) != "none" for place in places)
    return marks or any(kind(place.get("scheduler")) in _MARKING for place in places)


def rows(summary: Mapping[str, Any], marks: bool = True) -> list[tuple[str, str]]:
    """(what, how much) in the order in which a reader wants it. `marks`: packets may be marked."""
    if "original" in summary:
        return _replay(summary)
    measured = summary.get("measured") or {}
    out = [("simulated", _format.simulated(summary.get("simulated_seconds", 0.0) * 1e12))]
    endless = (summary.get("endless") or {}).get("flows")
    if "flows" in measured and (measured["flows"] or not endless):
        text = (
            f"{_format.number(measured['completed'])} of {_format.number(measured['flows'])} measured flows completed"
        )
        if measured["censored"]:
            others = "means and percentiles are of the others" if measured["completed"] else "there are no others"
            text += f", {_format.number(measured['censored'])} censored: {others}"
        out.append(("flows", text))
    out += _jobs(summary)
    out += _endless(summary)
    out += _unfinished(summary)
    out += _waits(summary)
    out += _loads(summary)
    if summary.get("goodput_gbps"):
        out.append(("goodput of all flows", _units.quantity(summary["goodput_gbps"], "gbps")))
    # Few networks trim, and not all mark: of the others a zero would say nothing.
    says = {"trims": bool(summary.get("trims")), "marks": marks}
    events = [k for k in ("drops", "trims", "marks", "retransmissions", "timeouts") if says.get(k, True)]
    counts = [_format.counted(summary[k], k.removesuffix("s"), k) for k in events if k in summary]
    out.append(("packets", ", ".join(counts)))
    out += _links(summary)
    out += _lossless(summary)
    if summary.get("violation"):
        out.append(("violation", str(summary["violation"])))
    if isinstance(summary.get("packets"), Mapping):
        kept = summary["packets"]
        text = (
            f"{_format.number(kept['recorded'])} packets, {_format.number(kept['inside'])} of them still in the network"
        )
        out.append(("recorded", text))
    out.append(("seed, digest", f"{summary.get('seed')}, {summary.get('digest')}"))
    return out


def _jobs(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How long each section took whose flows and computations wait for each other; where hosts compute, also between
    the iterations of a collective, how much the longest chain of that took, and what communication added to it."""
    found = [g for g in summary.get("groups") or () if isinstance(g.get("job"), Mapping)]
    out = []
    for section in found:
        job, of = section["job"], "" if len(found) == 1 else f" {section.get('name')}"
        if job.get("completion_us") is None:
            out.append((f"job{of}", "not complete"))
            continue
        text = _units.quantity(job["completion_us"], "us")
        if job.get("compute_us"):
            compute, exposed = (_units.quantity(job[key], "us") for key in ("compute_us", "exposed_us"))
            text += f": {compute} of computing on the longest chain, {exposed} of exposed communication"
        out.append((f"job{of}", text))
    return out


def _endless(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Flows without end have no completion times: throughput, fairness and what their packets waited for."""
    found = summary.get("endless") or {}
    if not found.get("flows"):
        return []
    throughput = found["throughput_gbps"]
    together = _units.quantity(found["sum_gbps"], "gbps")
    out = [("flows without end", f"{_format.number(found['flows'])}, together {together}")]
    if found["flows"] > 1:
        parts = (("mean", throughput["mean"]), ("smallest", found["smallest_gbps"]), ("largest", throughput["max"]))
        fair = f"; Jain's index {found['jain']:.3f}" if found["jain"] is not None else ""
        out.append(("throughput of these", _units.several(parts, "gbps") + fair))
    return out + _sections(summary)


def _sections(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the flows without end of each section got together, if there are several sections of them."""
    found = [g for g in summary.get("groups") or () if (g.get("endless") or {}).get("flows")]
    if len(found) < 2:
        return []
    parts = []
    for section in found:
        flows = section["endless"]["flows"]
        some = f" ({_format.number(flows)} flows)" if flows > 1 else ""
        parts.append((section["name"] + some, section["endless"]["sum_gbps"]))
    return [("of each section", _units.several(parts, "gbps"))]


def _waits(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What packets waited on their way; of runs that did not measure that, what the mean round trips of flows without
    end say of it."""
    if (waits := summary.get("packet_queueing_us") or {}).get("count"):
        parts = [(name, waits[name]) for name in ("mean", "p50", "p95", "p99", "max")]
        return [("queueing delay", _units.several(parts, "us") + f" (of {_format.si(waits['count'])} data packets)")]
    waits = (summary.get("endless") or {}).get("queueing_us") or {}
    if not waits.get("count"):
        return []
    text = _units.several([("mean", waits["mean"]), ("flow with the longest", waits["max"])], "us")
    return [("queueing delay", f"{text} (mean round trip less that of the empty network)")]


def _loads(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was offered to links and carried by them, where flows have sizes that an offer can be computed from; and
    the bottleneck."""
    out = []
    for key, name in (("host_links", "load of host links"), ("core_links", "load of core links")):
        load = (summary.get("load") or {}).get(key) or {}
        if load.get("offered"):
            # On a dumbbell bytes of both directions count (crates/lab, `loads.rs`): more than all of it can be.
            both = " (of one direction's capacity)" if key == "core_links" else ""
            out.append((name, f"offered {_share(load['offered'])}, carried {_share(load['carried'])}{both}"))
    if most := summary.get("bottleneck"):
        ends, rate = f"{most['from']} → {most['to']}", _units.quantity(most["rate_gbps"], "gbps")
        of = " on average" if _varies(summary, most["port"]) else ""
        text = (
            f"{ends} ({rate}{of}): {_share(most['utilisation'])} used, the other way {_share(most['back_utilisation'])}"
        )
        out.append(("busiest link", text))
    return out


def _varies(summary: Mapping[str, Any], port: int) -> bool:
    """Whether a port's rate changes: then its mean rate is what is known of it."""
    most = (summary.get("links") or {}).get("most_used") or {}
    return most.get("port") == port and most.get("rate_varies", True)


def _share(part: float) -> str:
    """A part of a whole: no digits that say nothing, and not `0 %` for what is not zero."""
    return f"{_units.digits(100 * part)} %"


def _unfinished(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A hint where flows can never complete, however long the run."""
    flows = summary.get("flows") or {}
    if not flows.get("failed"):
        return []
    # "stalled: its sender waits .." begins with the word for it; other reasons have none.
    kinds = {k.split(":")[0]: n for k, n in (flows.get("unfinished") or {}).items() if ":" in k}
    text = ", ".join(f"{_format.number(n)} {kind}" for kind, n in kinds.items())
    return [("failed", f"{text}: these flows never end, see `reason` in the table flows")]


def _links(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What links lost by chance, and how much of a link whose rate changes was used."""
    found = summary.get("links") or {}
    parts = []
    most = found.get("most_used")
    if most and most.get("rate_varies", True):
        ends = f"{most['from']} → {most['to']}" if "from" in most else f"node {most['from_node']} → {most['to_node']}"
        parts.append(f"{ends}: {_share(most['utilisation'])} of what could have left used")
    if found.get("packets_lost"):
        parts.append(f"{_format.number(found['packets_lost'])} packets lost by chance")
    return [("links", ", ".join(parts))] if parts else []


def _lossless(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What flow control did, and what broke."""
    from thalweg import deadlocks

    out = []
    if pauses := summary.get("pauses"):
        text = "none sent"
        if pauses["frames"]:
            stood = _format.simulated(pauses["paused_s"] * 1e12)
            text = f"{_format.number(pauses['frames'])} sent, {stood} over all ports"
        out.append(("pauses", text))
        broken = [d for d in pauses["deadlocks"] if d.get("ended_us") is not None]
        out += [("deadlock", deadlocks.said(d)) for d in pauses["deadlocks"] if d.get("ended_us") is None]
        if broken:
            longest = _format.simulated(max(d["ended_us"] - d["at_us"] for d in broken) * 1e6)
            out.append(
                (
                    "deadlocks",
                    f"{_format.number(len(broken))} cycles of pauses that were broken, after {longest} at most",
                )
            )
        if relief := pauses.get("relief"):
            text = f"{_format.number(relief['lifted'])} packets lifted, {_format.number(relief['signals'])} signals"
            text += f", {_format.number(relief['cycles'])} cycles found" if relief["cycles"] else ""
            out.append(
                (
                    "relief",
                    text
                    + (f", {_format.number(relief['reordered'])} packets out of order" if relief["reordered"] else ""),
                )
            )
    if memory := summary.get("memory"):
        held = memory["most_bytes"]
        text = f"{_format.number(held)} B at most in an input" if held else "nothing held in any input"
        names = {"of_limit": "of its limit", "of_headroom": "of a headroom", "of_shared": "of a shared memory"}
        shares = [f"{_share(memory[key])} {name}" for key, name in names.items() if memory[key]]
        out.append(("memory", text + (f"; at most {', '.join(shares)}" if shares else "")))
    if incidents := summary.get("incidents"):
        text = f"{_format.number(incidents['packets_lost'])} packets lost on failed links"
        if incidents["pause_frames_lost"]:
            text += f", {_format.number(incidents['pause_frames_lost'])} pause frames lost"
        out.append(("incidents", text))
    return out


def _replay(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The rows of a replay."""
    percent = lambda x: f"{100 * x:.4g} %"  # noqa: E731
    original, late, n = summary["original"], summary["lateness_us"], _format.number
    bucket = f", in buckets of {summary['bucket_us']:g} us" if summary["bucket_us"] else ""
    out = [
        (
            "replayed",
            f"{original['name']} (digest {original['digest']})" + (", partial" if original["partial"] else ""),
        ),
        ("by", summary["scheduler"] + (", preemptive" if summary["preemptive"] else "") + bucket),
        ("packets", f"{n(summary['packets'])} compared, {n(summary['not_compared'])} had not left the original"),
        ("overdue", f"{percent(summary['overdue'])} ({n(summary['overdue_packets'])} packets)"),
        (
            f"by > {summary['threshold_us']:g} us",
            f"{percent(summary['overdue_beyond_threshold'])} ({n(summary['overdue_beyond_threshold_packets'])} packets)",
        ),
    ]
    if summary["never_left"]:
        out.append(("never left", f"{n(summary['never_left'])} packets, counted as overdue"))
    if late["count"]:
        parts = [("mean", late["mean"]), ("p50", late["p50"]), ("p99", late["p99"]), ("largest", late["max"])]
        out.append(("lateness of these", _units.several(parts, "us")))
    out.append(("waited no longer", percent(summary["not_slower"])))
    ratio = summary["ratio"]
    if ratio["p50"] is not None:
        text = ", ".join(f"{k} {ratio[k]:.4g}" for k in ("p5", "p50", "p95"))
        out.append(("queueing ratio", f"{text} (replay / original, switch ports)"))
    points = summary["congestion_points"]
    shares = ", ".join(f"{k}: {percent(c / max(sum(points), 1))}" for k, c in enumerate(points) if c)
    out.append(("congestion points", shares))
    if summary["hops"]:
        out.append(("switch ports passed", "{min} to {max}".format(**summary["hops"])))
    out.append(("seed, digest", f"{summary.get('seed')}, {summary.get('digest')}"))
    return out


def classes(summary: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """One row per size class of the scenario that has flows, and one for all of them: name, flows, how many of them had
    not ended (these are not part of what follows), completion times in us, slowdowns as multiples; None: no value."""
    parts = [c for c in summary.get("size_classes") or () if c.get("flows")]
    everything = summary.get("measured") or {}
    if not everything.get("completed"):
        return []
    out = []
    for name, part in [("all", everything), *((c["name"], c) for c in parts if len(parts) > 1)]:
        fct, slowdown = (part.get(k) or {} for k in ("fct_us", "slowdown"))
        numbers = (part["flows"], part.get("censored") or None)
        out.append((name, *numbers, *(fct.get(s) for s in STATISTICS), *(slowdown.get(s) for s in STATISTICS)))
    return out


def class_table(summary: Mapping[str, Any]) -> tuple[str, tuple[str, ...], list[tuple[Any, ...]]]:
    """The same for people: the unit of completion times, chosen by the largest median, heads, and rows in that unit."""
    rows = classes(summary)
    scale, unit = _units.fitting([row[4] for row in rows], "us")
    head = ("flow size", "flows", UNFINISHED, *STATISTICS, *(f"{s} ×" for s in STATISTICS))
    scaled = lambda x: None if x is None else x / scale  # noqa: E731
    return unit, *_with_values(head, [(*row[:3], *map(scaled, row[3:7]), *row[7:]) for row in rows])


def section_table(summary: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Heads, and a row for each section of traffic, where there are several: its name and controller, how many flows,
    what those without end got together, completion times and slowdowns of the others. Columns without a value are left
    out."""
    groups = summary.get("groups") or []
    if len(groups) < 2:
        return (), []
    times = [(g.get("fct_us") or {}).get(s) for g in groups for s in ("mean", "p99")]
    rates = [(g.get("endless") or {}).get("sum_gbps") for g in groups]
    (slow, time), (fast, rate) = _units.fitting(times, "us"), _units.fitting(rates, "gbps")
    head = (
        "section",
        "controller",
        "flows",
        UNFINISHED,
        rate,
        f"FCT mean {time}",
        f"p99 {time}",
        "slowdown ×",
        "p99 ×",
    )
    scaled = lambda x, scale: None if x is None else x / scale  # noqa: E731
    rows = []
    for g in groups:
        fct, slowdown, endless = (g.get(k) or {} for k in ("fct_us", "slowdown", "endless"))
        flows = (g.get("flows") or 0) + (endless.get("flows") or 0)
        row = [g["name"], g.get("controller"), flows, g.get("censored") or None]
        row += [scaled(endless.get("sum_gbps"), fast)]
        row += [scaled(fct.get(s), slow) for s in ("mean", "p99")] + [slowdown.get(s) for s in ("mean", "p99")]
        rows.append(tuple(row))
    return _with_values(head, rows)


def _with_values(head: Sequence[str], rows: list[tuple[Any, ...]]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The columns in which any row has a value."""
    kept = [n for n in range(len(head)) if any(row[n] is not None for row in rows)]
    return tuple(head[n] for n in kept), [tuple(row[n] for n in kept) for row in rows]


def tables(summary: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]]:
    """All tables of the headline: what each is, heads, rows."""
    unit, head, of_classes = class_table(summary)
    sections, of_sections = section_table(summary)
    found = [("summary", ("what", "how much"), rows(summary)), ("sections of traffic", sections, of_sections)]
    found.append((f"completion times ({unit}) and slowdown", head, of_classes))
    return [(name, tuple(heads), body) for name, heads, body in found if body]


def unfinished(summary: Mapping[str, Any], metric: str) -> float:
    """The part of the flows of a metric of completion times that had not ended: it is of the others. 0: of all other
    metrics."""
    for times in TIMES:
        of, found, _ = metric.rpartition(times)
        if found:
            numbers = scalars(summary)
            flows = numbers.get(f"{of}.flows") or 0
            return (numbers.get(f"{of}.censored") or 0) / flows if flows else 0.0
    return 0.0


def scalars(
    summary: Mapping[str, Any], prefix: str = "", taken: Mapping[str, Any] | Sequence[str] = ()
) -> dict[str, Any]:
    """The numbers and words of a nested summary under dotted names; size classes and sections of
    traffic by theirs (`size_classes.up to 10KB.slowdown.p99`, `groups.BBR.endless.sum_gbps`)."""
    flat: dict[str, Any] = {}
    for key, value in summary.items():
        name = f"{prefix}{key}"
        if key == "size_classes":
            for part in value:
                numbers = {k: v for k, v in part.items() if k not in ("name", "above_bytes", "up_to_bytes")}
                flat |= scalars(numbers, f"{name}.{part['name']}.", taken)
        elif key == "groups":
            for part in value:
                numbers = {k: v for k, v in part.items() if isinstance(v, Mapping | int | float)}
                flat |= scalars(numbers, f"{name}.{part['name']}.", taken)
        elif isinstance(value, Mapping):
            flat |= scalars(value, f"{name}.", taken)
        elif isinstance(value, int | float | str | bool) or value is None:
            flat[f"summary.{name}" if name in taken else name] = value
    return flat
