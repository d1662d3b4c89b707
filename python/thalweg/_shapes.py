"""What `summary.json` and `meta.json` of run directories hold, so far as anything is made of it: compared once, as a
run is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

# A shape is a function that says where a value is not of it and what was expected there; nothing, if it is.
Misfit = tuple[str, str] | None
Shape = Callable[[Any, str], Misfit]


def misfit(value: Mapping[str, Any], shape: Shape) -> str | None:
    """Where a value is not of a shape, in words."""
    found = shape(value, "")
    return None if found is None else f"its `{found[0]}` is not {found[1]}"


def _of(kind: Callable[[Any], bool], words: str) -> Shape:
    return lambda value, at: None if kind(value) else (at, words)


def _maybe(shape: Shape) -> Shape:
    return lambda value, at: None if value is None else shape(value, at)


def _list(shape: Shape) -> Shape:
    def check(value: Any, at: str) -> Misfit:
        if not isinstance(value, list):
            return at, "a list"
        return next(filter(None, (shape(one, f"{at}.{n}") for n, one in enumerate(value))), None)

    return check


def _table(**keys: Shape) -> Shape:
    """Of a key that ends in `_` the underscore is not part of its name: it may be missing."""

    def check(value: Any, at: str) -> Misfit:
        if not isinstance(value, Mapping):
            return at, "a table"
        for key, shape in keys.items():
            name = key.removesuffix("_")
            if name in value:
                if found := shape(value[name], f"{at}.{name}".lstrip(".")):
                    return found
            elif name == key:
                return f"{at}.{name}".lstrip("."), "there"
        return None

    return check


def _each(shape: Shape) -> Shape:
    """A table of such values."""

    def check(value: Any, at: str) -> Misfit:
        if not isinstance(value, Mapping):
            return at, "a table"
        return next(filter(None, (shape(one, f"{at}.{key}") for key, one in value.items())), None)

    return check


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


_number = _of(_is_number, "a number")
_whole = _of(lambda v: isinstance(v, int) and not isinstance(v, bool), "a whole number")
_text = _of(lambda v: isinstance(v, str), "a text")
_flag = _of(lambda v: isinstance(v, bool), "true or false")


def _statistics(value: Any, at: str) -> Misfit:
    """How many values there were, and, if there were any, their mean and percentiles."""
    wanted = ("mean", "p50", "p95", "p99", "max") if isinstance(value, Mapping) and value.get("count") else ()
    return _each(_maybe(_number))(value, at) or _table(count=_whole, **dict.fromkeys(wanted, _number))(value, at)


_endless = _table(
    flows=_whole,
    throughput_gbps=_statistics,
    sum_gbps=_number,
    smallest_gbps=_maybe(_number),
    jain=_maybe(_number),
    queueing_us_=_statistics,
)
_offered = _table(offered=_maybe(_number), carried=_maybe(_number))
_times = {"fct_us_": _maybe(_statistics), "slowdown_": _maybe(_statistics)}
_wait = _table(from_node=_whole, to_node=_whole, port=_whole, flows=_list(_whole))
_deadlock = _table(at_us=_number, ended_us_=_maybe(_number), ports=_list(_whole), waits_=_list(_wait))
_job = _table(
    computations_=_whole,
    **dict.fromkeys(("completion_us_", "compute_us_", "exposed_us_", "spread_us_"), _maybe(_number)),
)
_relief = _table(lifted=_whole, signals=_whole, cycles=_whole, reordered=_whole)
_ends = {"from_": _text, "to_": _text, "port_": _whole}

RUN: Shape = _table(
    digest=_text,
    name=_text,
    partial=_flag,
    simulated_seconds_=_number,
    goodput_gbps_=_maybe(_number),
    **dict.fromkeys(("drops_", "trims_", "marks_", "retransmissions_", "timeouts_"), _whole),
    measured_=_maybe(_table(flows=_whole, completed=_whole, censored=_whole, **_times)),
    endless_=_maybe(_endless),
    packet_queueing_us_=_maybe(_statistics),
    load_=_maybe(_table(host_links_=_maybe(_offered), core_links_=_maybe(_offered))),
    bottleneck_=_maybe(
        _table(**_ends, rate_gbps=_number, utilisation=_number, back_utilisation=_number),
    ),
    links_=_maybe(_table(most_used_=_maybe(_table(**_ends, utilisation=_number)), packets_lost_=_maybe(_whole))),
    flows_=_maybe(_table(failed_=_whole, unfinished_=_maybe(_each(_whole)))),
    pauses_=_maybe(_table(frames=_whole, paused_s=_number, deadlocks=_list(_deadlock), relief_=_maybe(_relief))),
    memory_=_maybe(
        _table(
            most_bytes=_maybe(_whole),
            of_limit=_maybe(_number),
            of_headroom=_maybe(_number),
            of_shared=_maybe(_number),
        )
    ),
    incidents_=_maybe(_table(packets_lost=_whole, pause_frames_lost=_whole)),
    packets_=_maybe(_table(recorded=_whole, inside=_whole, most_common_wire_bytes_=_maybe(_whole))),
    size_classes_=_list(_table(name=_text, flows_=_whole, **_times)),
    groups_=_list(_table(name=_text, endless_=_maybe(_endless), job_=_maybe(_job), **_times)),
)
REPLAY: Shape = _table(
    digest=_text,
    name=_text,
    partial=_flag,
    original=_table(name=_maybe(_text), digest=_text, partial=_maybe(_flag)),
    scheduler=_text,
    preemptive=_flag,
    bucket_us=_maybe(_number),
    threshold_us=_number,
    **dict.fromkeys(("packets", "not_compared", "overdue_packets", "never_left"), _whole),
    **dict.fromkeys(("overdue", "overdue_beyond_threshold", "not_slower"), _number),
    overdue_beyond_threshold_packets=_whole,
    lateness_us=_statistics,
    ratio=_each(_maybe(_number)),
    congestion_points=_list(_whole),
    hops_=_maybe(_table(min=_whole, max=_whole)),
)
META: Shape = _table(
    machine_=_maybe(_table(memory_bytes_=_maybe(_number))),
    seconds_=_maybe(_number),
    directory_=_maybe(_text),
    inputs_=_maybe(_each(_text)),
    python_controllers_=_maybe(_each(_table(ns_per_ack=_number, acks=_whole))),
)
