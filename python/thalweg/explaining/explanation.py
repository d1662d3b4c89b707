"""What a completion time is made of, as a table and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from thalweg import _format, _units
from thalweg.explaining.walk import (
    APPLICATION,
    NIC,
    OTHER,
    PACE,
    PAUSE,
    PROPAGATION,
    QUEUE,
    RECEIVER,
    RETRANSMISSION,
    SENDER,
    TIMEOUT,
    TRANSMISSION,
    UNCLEAR,
    Interval,
)

if TYPE_CHECKING:
    import polars

    from thalweg.explaining.evidence import Evidence

COLUMNS = {
    "from_ps": ("ps", "when the interval began"),
    "to_ps": ("ps", "when it ended"),
    "what": ("", "its cause"),
    "where": ("", "a port by its ends, of losses the one that lost the packet; `sender` or `receiver`"),
    "flow": ("", "whose packets were ahead, or the flow itself; null: none's"),
    "by": ("", "the node that made the port stop; null: none"),
    "ps": ("ps", "how much of the interval it was: adds up to the completion time"),
    "packet": ("", "which packet it was about: data or ACK, and its position"),
}
# The causes that are not the flow's own way, in the order of a reader's interest.
MEANINGS = {
    NIC: "NICs, behind other flows' packets",
    UNCLEAR: "NICs, behind others' packets, or no ACK yet",
    QUEUE: "queues, behind other flows' packets",
    PAUSE: "paused",
    TIMEOUT: "timeouts, from the loss on",
    RETRANSMISSION: "losses, until sent again",
    PACE: "sender: its pace",
    APPLICATION: "sender: no data from its application",
    SENDER: "sender: window, pace, timer or its queue held",
    RECEIVER: "receiver: before it answered",
    OTHER: "not known: the port was free, or slower",
}
_MOST_PLACES, _MOST_FLOWS = 3, 3
_LABEL, _WIDTH = 44, 78


def _percent(part: int, of: int, places: int = 0) -> str:
    """A share of a whole in percent, and not 0 for what is not nothing."""
    text = f"{100 * part / of:.{places}f}"
    return f"<{10**-places:g}" if part and not float(text) else text


class Explanation:
    """Why a flow took so long. `print(e)` is the text, `e.table` every interval, `e.sums` the causes."""

    def __init__(self, row: Mapping[str, Any], intervals: Sequence[Interval], evidence: Evidence | None = None):
        self._row, self.intervals, self.evidence = row, list(intervals), evidence

    @property
    def flow(self) -> int:
        """Its number."""
        return self._row["id"]

    @property
    def fct_ps(self) -> int:
        """Its completion time, ps: the sum of all intervals."""
        return self._row["fct_ps"]

    @cached_property
    def table(self) -> polars.DataFrame:
        """A row for each interval and cause: from_ps, to_ps, what, where, flow, by, ps, packet; from the start on.

        Rows with the same interval divide it between them; the sum of `ps` is the completion time.
        """
        import polars as pl

        kinds = {"from_ps": pl.Int64, "to_ps": pl.Int64, "flow": pl.Int64, "ps": pl.Int64}
        schema = {name: kinds.get(name, pl.String) for name in COLUMNS}
        return pl.DataFrame([tuple(part) for part in self.intervals], schema=schema, orient="row")

    @cached_property
    def sums(self) -> dict[str, int]:
        """Picoseconds by cause, which add up to the completion time; only causes that occur.

        `ideal`: as long as it takes alone; `own`: what its own packets, and round trips of waiting for its window, took
        beyond that. The others are causes in the table: nic, `nic or window`, queue, paused, timeout, retransmission,
        pace, application, sender, receiver, other.
        """
        own = sum(part.ps for part in self.intervals if self._is_own(part))
        ideal = min(own, self._row["ideal_ps"])
        found = {"ideal": ideal, "own": own - ideal}
        for what in MEANINGS:
            found[what] = sum(p.ps for p in self.intervals if p.what == what and not self._is_own(p))
        return {what: ps for what, ps in found.items() if ps}

    def _is_own(self, part: Interval) -> bool:
        moves = part.what in (TRANSMISSION, PROPAGATION)
        return moves or (part.what in (NIC, QUEUE) and part.flow == self.flow)

    def lines(self) -> list[str]:
        """The text, within 80 columns."""
        row = self._row
        size = "" if row["size"] is None or row["size"] >= 2**63 - 1 else ", " + _units.quantity(row["size"], "B")
        out = [f"flow {self.flow}: {row['src']} → {row['dst']}{size}, {row.get('section') or 'completed'}"]
        slowdown = f": slowdown {_units.digits(row['slowdown'])}" if row.get("slowdown") else ""
        alone = _format.simulated(row["ideal_ps"])
        out.append(f"took {_format.simulated(self.fct_ps)}, alone on its path {alone}{slowdown}")
        return [*out, "", *self.sum_lines()]

    def sum_lines(self) -> list[str]:
        """The causes, a line each, with where they were, and their sum."""
        row, sums = self._row, self.sums
        out = [f"{'':{_LABEL}}{'ps':>22}{'share':>9}"]
        part_of = "ideal, alone on its path"
        if sums.get("ideal", 0) < row["ideal_ps"]:
            part_of = "ideal, as far as it waited for nothing else"
        names = {"ideal": part_of, "own": "more round trips, and its own packets"} | MEANINGS
        for what, ps in sums.items():
            out.append(self._line(names[what], ps))
            out += self._places(what)
        out.append(self._line("in all", self.fct_ps))
        return out

    def _line(self, name: str, ps: int) -> str:
        return f"{name:{_LABEL}}{ps:>22,}{_percent(ps, self.fct_ps, 1):>7} %".rstrip()

    def _places(self, what: str) -> list[str]:
        """Where that was, and whose packets: the first few."""
        if what not in MEANINGS or what in (PACE, APPLICATION, SENDER, RECEIVER):
            return []
        by_place: dict[str, dict[int | None, int]] = {}
        for part in self.intervals:
            if part.what == what and not self._is_own(part):
                place = f"{part.where} by {part.by}" if part.by else part.where
                whose = by_place.setdefault(place, {})
                whose[part.flow] = whose.get(part.flow, 0) + part.ps
        if set(by_place) == {SENDER}:
            return []
        ranked = sorted(by_place.items(), key=lambda item: -sum(item[1].values()))
        out = []
        for place, whose in ranked[:_MOST_PLACES]:
            ps = sum(whose.values())
            out.append(f"  {place:{_LABEL - 2}}{ps:>22,}{_percent(ps, self.fct_ps, 1):>7} %")
            flows = sorted(((f, n) for f, n in whose.items() if f is not None), key=lambda item: -item[1])
            if flows:
                text = ", ".join(f"flow {flow} {_percent(n, ps)} %" for flow, n in flows[:_MOST_FLOWS])
                out.append(f"    {text}" + (f", {len(flows) - _MOST_FLOWS} more" if flows[_MOST_FLOWS:] else ""))
        if ranked[_MOST_PLACES:]:
            out.append(f"  {len(ranked) - _MOST_PLACES} more places")
        return out

    def chain(self) -> list[str]:
        """Every interval, from the start on; what is the same packet after packet in one line."""
        out = [f"{'from us':>14} {'ps':>16}  what"]
        for _, same in groupby(self.intervals, key=lambda p: (p.what, p.where, p.flow, p.by)):
            parts = list(same)
            first, ps = parts[0], sum(part.ps for part in parts)
            whose = "" if first.flow in (None, self.flow) else f", behind flow {first.flow}"
            by = f", by {first.by}" if first.by else ""
            packets = first.packet + (f" to {parts[-1].packet.split()[-1]}" if len(parts) > 1 else "")
            out.append(f"{first.from_ps / 1e6:>14.3f} {ps:>16,}  {first.what}: {packets}, {first.where}{whose}{by}")
        return out

    def to_dict(self) -> dict[str, Any]:
        """Flow, completion time, sums by cause and every interval, for JSON."""
        return {
            "flow": self.flow,
            "fct_ps": self.fct_ps,
            "ideal_ps": self._row["ideal_ps"],
            "sums": self.sums,
            "intervals": [part._asdict() for part in self.intervals],
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"<Explanation of flow {self.flow}: {', '.join(f'{w} {ps} ps' for w, ps in self.sums.items())}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
