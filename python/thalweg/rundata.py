"""What a run measured: headline numbers and tables, each column with its unit and meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg._arrow import frame
from thalweg._counts import count, is_whole
from thalweg._tables import AGAIN, NODES
from thalweg.errors import ScenarioError, refuse
from thalweg.scenario import Scenario, transport_of

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow

SECONDS_PER = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


# Tables that a run has only if they were requested.
WAYS = {
    "packets": "a recording is not a table: it is `results.packets`, after `thalweg run --record`",
    "late": "replays have it: `thalweg replay`",
    "ratios": "replays have it: `thalweg replay`",
    "lateness": "replays have it: `thalweg replay`",
    "queues": "set measure.queues = { every = '1ms' }",
    "links": "set measure.links = { every = '1ms' }",
    "controllers": "set measure.controllers = { every = '1ms' }",
    "round_trips": "set measure.round_trips = true",
    "pauses": "set measure.pauses = true",
    "memory": "set measure.memory = true",
    "works": "jobs from traces (`goal`, `chakra`, `simai`) and all-to-alls with iterations have it",
}


class NoTable(KeyError):
    """There is no such table in a run: which there are, and what makes the one that is missing."""

    def __init__(self, name: object, known: Iterable[str] = ()):
        from thalweg.errors import nearest

        super().__init__(name, tuple(known))
        way = WAYS.get(str(name)) or nearest(str(name), known) or ""
        self.text = f"this run has no table `{name}`" + (way and (" " if way.startswith("(") else "; ") + way)

    def __str__(self) -> str:  # a KeyError shows what it was given in quotes
        return self.text


class Made:
    """A maker of a table that is there already."""

    def __init__(self, table: pyarrow.Table):
        self.table = table

    def __call__(self) -> pyarrow.Table:
        return self.table


class Tables(Mapping[str, Any]):
    """Named tables: `tables["queues"]` is a polars data frame, `tables.arrow("queues")` the Arrow table with
    the unit and the meaning of each column in its metadata."""

    def __init__(self, makers: Mapping[str, Callable[[], pyarrow.Table]]):
        self._makers = dict(makers)
        self._made: dict[str, pyarrow.Table] = {}

    def arrow(self, name: str) -> pyarrow.Table:
        if not isinstance(name, str) or name not in self._made:
            if not isinstance(name, str) or name not in self._makers:
                raise NoTable(name, self._makers)
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __reduce__(self) -> tuple[type[Tables], tuple[dict[str, Made]]]:
        # The tables themselves: another process has neither the engine's buffers nor, perhaps, the folder.
        return Tables, ({name: Made(self.arrow(name)) for name in self._makers},)

    def __getitem__(self, name: str) -> polars.DataFrame:
        return frame(self.arrow(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"<tables: {', '.join(self._makers)}>"


class RunData:
    """A run's scenario, headline numbers (`summary`) and tables. `partial` is true if it was stopped before its end.

    `flows` and `tables[...]` are polars data frames.
    """

    def __init__(self, scenario_toml: str, summary: dict[str, Any], tables: Tables, meta: dict[str, Any]):
        self._scenario_toml = scenario_toml
        self.summary, self.tables, self.meta = summary, tables, meta
        self.path: Path | None = None

    @cached_property
    def flows(self) -> polars.DataFrame:
        """One row per flow."""
        return self.tables["flows"]

    @cached_property
    def scenario(self) -> Scenario:
        """The resolved scenario: running it again gives these results."""
        name = str(self.path / "scenario.toml") if self.path else "scenario.toml"
        return Scenario(self._scenario_toml, name, self.meta.get("directory") or ".")

    @property
    def scenario_toml(self) -> str:
        return self._scenario_toml

    @cached_property
    def document(self) -> dict[str, Any]:
        """The resolved scenario as tables, read without its plug-ins."""
        import tomllib

        try:
            found = tomllib.loads(self._scenario_toml)
        except tomllib.TOMLDecodeError as e:
            raise self._damaged("scenario.toml", f"is not a scenario: {e}") from None
        for key, kind in (("topology", dict), ("traffic", list), ("transport", dict)):
            if not isinstance(found.get(key), kind):
                raise self._damaged("scenario.toml", f"is not a resolved scenario: it has no `{key}`")
        return found

    @cached_property
    def traffic(self) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Of the resolved scenario each section of traffic, with its transport."""
        return [(section, transport_of(self.document, section)) for section in self.document["traffic"]]

    def section_of(self, flow: int) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """A flow's section of traffic, with its transport."""
        number = self.flows["group"][flow]
        if not 0 <= number < len(self.traffic):
            reason = f"its column `group` has the section {number}; the scenario has {len(self.traffic)}"
            raise self._damaged("flows.parquet", reason)
        return self.traffic[number]

    def numbers(self, wanted: Iterable[int], table: str) -> list[int]:
        """Numbers of flows, or of ports, that callers name; refused if there are no such ones."""
        known, place = self.tables[table].height, self.path or "this run"
        if isinstance(wanted, str) or not isinstance(wanted, Iterable):
            raise refuse(f"`{wanted!r}` is not a list of {table}", file=place, hint="for example [0, 1]")
        wanted = list(wanted)
        for number in wanted:
            if not is_whole(number) or not 0 <= number < known:
                hint = f"{table} are 0 to {known - 1}" if known else "it has none"
                raise refuse(f"there is no {table.removesuffix('s')} {number!r}", file=place, hint=hint)
        return [int(number) for number in wanted]

    def check_packets(self, rows: polars.DataFrame, *found: str) -> polars.DataFrame:
        """Rows made of the recording, in which all packets are of flows and at ports that the tables have: then these
        columns have no gaps."""
        if any(rows[column].null_count() for column in found):
            raise self._damaged("packets.parquet", "has packets of other flows, or at other ports, than its tables")
        return rows

    def _damaged(self, file: str, reason: str) -> ScenarioError:
        """What is wrong with one of the run's files."""
        return refuse(reason, file=self.path / file if self.path else file, hint=AGAIN)

    @property
    def partial(self) -> bool:
        return bool(self.summary.get("partial"))

    @property
    def recorded(self) -> bool:
        """Whether every packet was recorded (the recording itself may have been deleted since)."""
        return isinstance(self.summary.get("packets"), dict)

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits: equal digests mean the same events in the same order."""
        return self.summary["digest"]

    @property
    def name(self) -> str:
        return str(self.summary.get("name", ""))

    def columns(self, table: str = "flows") -> list[tuple[str, str, str]]:
        """`(name, unit, meaning)` of each column of a table; of `"packets"` the names of the recording's."""
        if table == "packets" and table not in self.tables and self.recorded:
            return [(name, "", "") for name in self.packets.collect_schema().names()]
        fields = self.tables.arrow(table).schema
        text = [{k.decode(): v.decode() for k, v in (f.metadata or {}).items()} for f in fields]
        return [(f.name, t.get("unit", ""), t.get("doc", "")) for f, t in zip(fields, text, strict=True)]

    def seconds(self, column: str, table: str = "flows") -> np.ndarray:
        """A column of times as a NumPy array of seconds, whatever unit it is kept in; NaN where there is no time."""
        import numpy as np

        for name, unit, _ in self.columns(table):
            if name == column or name == f"{column}_{unit}":
                values = self.tables[table][name].to_numpy().astype(np.float64)
                return values * SECONDS_PER[unit or "s"]
        from thalweg.errors import nearest

        known = [name.removesuffix(f"_{unit}") for name, unit, _ in self.columns(table) if unit in SECONDS_PER]
        raise refuse(f"the table `{table}` has no column `{column}` of times", hint=nearest(column, known))

    def measured(self) -> polars.DataFrame:
        """The flows that count and have ended: what FCT statistics are about."""
        import polars as pl

        return self.flows.filter(pl.col("measured") & (pl.col("status") == "completed"))

    @property
    def packets(self) -> polars.LazyFrame:
        """The recording of a recorded run: a polars query with one row per packet, read when it is collected."""
        from thalweg import recording

        if self.path is None or not recording.present(self.path):
            hint = "run it again with `thalweg run --record`"
            raise refuse("has no recording", file=self.path or "this run", hint=hint)
        return recording.packets(self.path)

    def named(self, table: str = "flows") -> polars.DataFrame:
        """A table in which nodes are called by their names instead of their numbers (`h3`, `leaf0`, or as their file
        says). For `ports` see also `busiest`."""
        import polars as pl

        frame = self.tables[table]
        names = self.tables["nodes"]
        columns = [c for c in NODES.get(table, ()) if c in frame.columns]
        called = [pl.col(c).replace_strict(names["node"], names["name"], return_dtype=pl.String) for c in columns]
        return frame.with_columns(called)

    def busiest(self, most: int = 10, *, by: str = "utilisation") -> polars.DataFrame:
        """The ports that were used most, a row each: `link` (its two ends by name), `rate_bps`, `utilisation` (the
        share of that rate that was used in the whole run), `dropped` (packets), `max_queue` (the longest queue, bytes),
        `wait_ps` (the mean wait of a packet in the queue) and `port` (its number). `by`: the column to rank by."""
        import polars as pl

        from thalweg.errors import nearest

        most = count(most, "most")
        frame = self.named("ports").select(
            pl.format("{} → {}", "from", "to").alias("link"),
            "rate_bps",
            "utilisation",
            "dropped",
            "max_queue",
            (pl.col("waited_ps") / pl.max_horizontal("packets", 1)).alias("wait_ps"),
            "port",
        )
        if by not in frame.columns:
            raise refuse(f"`busiest` has no column `{by}`", hint=nearest(by, frame.columns))
        return frame.sort(by, descending=True, maintain_order=True).head(most)

    def to_pandas(self, table: str = "flows") -> pandas.DataFrame:
        """A pandas data frame, through Arrow."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            raise ImportError("pandas is not installed: pip install pandas") from None
        return self.tables.arrow(table).to_pandas()
