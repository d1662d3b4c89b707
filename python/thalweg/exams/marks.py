"""What is measured of a run, in numbers and as curves. What each mark is stands in the engine (`crates/exam`), for
Python and for Rust; here are the columns that it takes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg import _core
from thalweg.exams.situations import Situation
from thalweg.results import Results

if TYPE_CHECKING:
    import polars

NONE = math.nan
# What marks are taken from.
COLUMNS: dict[str, dict[str, type]] = {
    "flows": {
        "id": np.uint32,
        "group": np.uint32,
        "start_ps": np.int64,
        "fct_ps": np.int64,
        "packets": np.uint64,
        "data_drops": np.uint64,
    },
    "links": {"time_ps": np.uint64, "bytes": np.uint64, "capacity": np.uint64},
    "round_trips": {"time_ps": np.uint64, "flow": np.uint32, "rtt_ps": np.uint64},
    "controllers": {"time_ps": np.uint64, "flow": np.uint32, "delivered": np.uint64},
}


@dataclass
class Marks:
    """One controller in one situation. Not a number: there is none (nothing was sent, or no other flow to share
    with)."""

    utilisation: float = NONE
    delay_ms: float = NONE
    loss: float = NONE
    fairness: float = NONE
    share: float = NONE
    settled_s: float = NONE
    failed: str | None = None
    curves: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    def row(self) -> dict[str, Any]:
        """The numbers by name; what there is not is `None`."""
        every = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "curves"}
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in every.items()}


def measure(situation: Situation, results: Results) -> Marks:
    """The marks of a run of this situation, and for the pictures its curves: what could have been and what was carried
    (Mb/s), what the flows examined got, their delays (ms)."""
    base_rtt_ms = results.summary["base_rtt_us"] * 1e-3
    numbers, curves = _core.exam_marks(asdict(situation), _columns(situation, results), _examined(results), base_rtt_ms)
    marks = Marks(curves={name: np.frombuffer(memoryview(column)) for name, column in curves.items()})
    for name, number in numbers.items():
        setattr(marks, name, number)
    return marks


def _examined(results: Results) -> list[int]:
    """The traffic sections of the controller examined."""
    traffic = results.scenario.to_dict()["traffic"]
    return [n for n, section in enumerate(traffic) if section.get("transport", "default") == "default"]


def _columns(situation: Situation, results: Results) -> dict[str, np.ndarray]:
    """By `TABLE.COLUMN`; of `links` the bottleneck's rows; what is null is negative."""
    ports = results.named("ports")
    near, far = situation.bottleneck
    (port,) = ports.filter((ports["from"] == near) & (ports["to"] == far))["port"].to_list()
    links = results.tables["links"]
    tables = {
        "flows": results.flows,
        "links": links.filter(links["port"] == port),
        "round_trips": results.tables["round_trips"],
        "controllers": results.tables["controllers"],
    }
    return {
        f"{table}.{name}": _values(tables[table][name], dtype)
        for table, columns in COLUMNS.items()
        for name, dtype in columns.items()
    }


def _values(column: polars.Series, dtype: type) -> np.ndarray:
    if dtype is np.int64:
        column = column.cast(int).fill_null(-1)
    return np.ascontiguousarray(column.to_numpy(), dtype)
