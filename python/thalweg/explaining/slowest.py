"""Which flows were late: those that have not completed, with why, and those with the greatest slowdown, or that took
longest. Each can be explained by its number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from thalweg import _format, _units
from thalweg._counts import count
from thalweg.errors import nearest, refuse

if TYPE_CHECKING:
    import polars

    from thalweg.rundata import RunData

# What flows are ranked by, and what that is called.
BY = {"slowdown": "the greatest slowdown", "time": "the longest completion time"}
MOST = 5
_WIDTH = 80
# Names longer than that are cut in tables, unless there is room.
_SHORTEST = 8
_COUNTS = {"lost": "lost", "trims": "trims", "timeouts": "timeouts"}


def slowest(run: RunData, most: int = MOST, *, by: str = "slowdown") -> Slowest:
    """The flows that were late: up to `most` that have not completed, and up to `most` of those that have.

    `by`: `slowdown`, or `time`, how long they took. Of measured flows only, unless none is measured; flows without end
    are not among them.

    Example: `print(thalweg.Results.load("runs/incast").slowest(3))`.

    Raises:
        ScenarioError: the run has no flows; `by` is something else.
    """
    if by not in BY:
        raise refuse(f"flows are not ranked by `{by}`", key="by", hint=nearest(str(by), BY) or ", ".join(BY))
    if "flows" not in run.tables:
        raise refuse("has no table `flows`", file=run.path or "this run", hint="of a replay see `thalweg report`")
    return Slowest(run, count(most, "most"), by)


class Slowest:
    """Flows that were late. `print(s)` is the text; `s.completed` and `s.unfinished` are data frames, the slowest
    first.

    Columns: flow, src, dst, section, size (B), start_ps, took_ps (of `unfinished`: until the run's end), slowdown (the
    same; null: it has no ideal time), lost (data packets), trims, timeouts; of `unfinished` also why.
    """

    def __init__(self, results: RunData, most: int, by: str):
        self._run, self._most, self._by = results, most, by

    @cached_property
    def _flows(self) -> polars.DataFrame:
        """Those that have an end and count."""
        import polars as pl

        flows = self._run.named("flows")
        flows = flows.filter(pl.col("size").is_not_null())
        if flows["measured"].any():
            flows = flows.filter("measured")
        missing = {"trims": pl.lit(0), "section": pl.lit(""), "reason": pl.lit(None, pl.String)}
        flows = flows.with_columns(**{name: e for name, e in missing.items() if name not in flows.columns})
        return flows.with_columns(ended=pl.col("status") == "completed")

    def _ranked(self, flows: polars.DataFrame, *more: str) -> polars.DataFrame:
        import polars as pl

        keys = ["slowdown", "took_ps"] if self._by == "slowdown" else ["took_ps", "slowdown"]
        named = ("src", "dst", "section", "size", "start_ps", "took_ps", "slowdown")
        ranked = flows.sort(*keys, "id", descending=[True, True, False], nulls_last=True)
        found = ranked.select(
            pl.col("id").alias("flow"), *named, pl.col("data_drops").alias("lost"), *_COUNTS_AS, *more
        )
        return found.head(self._most)

    @cached_property
    def completed(self) -> polars.DataFrame:
        """Those that have completed."""
        return self._ranked(self._flows.filter("ended").rename({"fct_ps": "took_ps"}))

    @cached_property
    def unfinished(self) -> polars.DataFrame:
        """Those that have not; first those that had started."""
        import polars as pl

        end = round(self._run.summary.get("simulated_seconds", 0.0) * 1e12)
        left = self._flows.filter(~pl.col("ended")).with_columns(took_ps=end - pl.col("start_ps"))
        ideal = pl.when(pl.col("ideal_ps") > 0).then(pl.col("ideal_ps"))
        left = left.with_columns(slowdown=pl.col("took_ps") / ideal, why=pl.coalesce("reason", "status"))
        return self._ranked(left, "why")

    @property
    def counts(self) -> tuple[int, int]:
        """How many flows there are, and how many of them have not completed."""
        ended = self._flows["ended"]
        return len(ended), len(ended) - int(ended.sum())

    def tables(self) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
        """What each table is, its head and its rows, as texts: of flows that have not completed the first, if there
        are any, with why as the last column."""
        every, left = self.counts
        whole = f"of {_format.plural(every, 'flow')}"
        if left:
            shown = "" if left <= self._most else f", {len(self.unfinished)} of them"
            head, rows = self._texts(self.unfinished, at_least="> ")
            why = self.unfinished["why"].to_list()
            yield (
                f"{_format.number(left)} {whole} not completed{shown}, until the run's end",
                (*head, "why"),
                [(*row, str(reason)) for row, reason in zip(rows, why, strict=True)],
            )
        if every > left:
            head, rows = self._texts(self.completed)
            yield f"{len(rows)} {whole} with {BY[self._by]}", head, rows

    def _texts(self, flows: polars.DataFrame, at_least: str = "") -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Head and rows; columns that say nothing are left out."""
        columns: list[tuple[str, list[str]]] = [("flow", [str(n) for n in flows["flow"]])]
        columns.append(("from → to", [f"{a} → {b}" for a, b in flows.select("src", "dst").iter_rows()]))
        for name, title, unit, mark in (
            ("size", "size", "B", ""),
            ("start_ps", "start", "ps", ""),
            ("took_ps", "took", "ps", at_least),
        ):
            values = flows[name].to_list()
            # All at once: in the unit of what they took.
            scale, called = _units.fitting(values if any(values) else flows["took_ps"], unit)
            columns.append((f"{title} {called}", [_shown(v, scale, mark) for v in values]))
        slowdowns = flows["slowdown"].to_list()
        if at_least:
            # None is below 1: that it is more than less than that says nothing.
            slowdowns = [None if v is not None and v < 1 else v for v in slowdowns]
        if any(v is not None for v in slowdowns):
            columns.append(("slowdown", [_shown(v, 1.0, at_least) for v in slowdowns]))
        for name, title in _COUNTS.items():
            if flows[name].sum():
                columns.append((title, [_format.number(n) for n in flows[name]]))
        if self._flows["section"].n_unique() > 1:
            columns.append(("section", flows["section"].to_list()))
        return tuple(title for title, _ in columns), list(zip(*(texts for _, texts in columns), strict=True))

    def lines(self) -> list[str]:
        """The text, of at most 80 columns; names are cut for that."""
        out: list[str] = []
        for what, head, rows in self.tables():
            unfinished = head[-1] == "why"
            body = [row[:-1] for row in rows] if unfinished else rows
            if out:
                out.append("")
            out += [what, *_aligned([head[:-1] if unfinished else head, *body])]
            if unfinished:
                out += list(_reasons([(row[0], row[-1]) for row in rows]))
        return out or ["no flow of this run has an end"]

    def to_dict(self) -> dict[str, Any]:
        """Both tables as rows, for JSON."""
        return {"unfinished": self.unfinished.to_dicts(), "completed": self.completed.to_dicts()}

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"<Slowest: flows {[*self.unfinished['flow'], *self.completed['flow']]}>"

    def _repr_html_(self) -> str:
        from thalweg._html import table, titled

        return "".join(titled(what, table(head, rows)) for what, head, rows in self.tables())


_COUNTS_AS = [name for name in _COUNTS if name != "lost"]


def _shown(value: float | None, scale: float, mark: str) -> str:
    return "–" if value is None else mark + _units.digits(value / scale)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns of texts: names to the left, numbers to the right. Names give way where a line would be too long."""
    names = [n for n, title in enumerate(rows[0]) if title in ("from → to", "section")]
    wide = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    for n in reversed(names):
        over = sum(wide) + 2 * (len(wide) - 1) - _WIDTH
        wide[n] = max(wide[n] - max(over, 0), min(wide[n], _SHORTEST))
    for row in rows:
        texts = [t if len(t) <= w else t[: w - 1] + "…" for t, w in zip(row, wide, strict=True)]
        cells = (f"{t:<{w}}" if n in names else f"{t:>{w}}" for n, (t, w) in enumerate(zip(texts, wide, strict=True)))
        yield "  ".join(cells).rstrip()


def _reasons(why: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Why flows have not completed: those with the same reason in one line."""
    import textwrap

    flows: dict[str, list[str]] = {}
    for flow, reason in why:
        flows.setdefault(reason, []).append(flow)
    for reason, of in flows.items():
        text = f"{'flow' if len(of) == 1 else 'flows'} {', '.join(of)}: {reason}"
        yield from textwrap.wrap(text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
