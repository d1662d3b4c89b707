"""Transmissions of a recorded run: a row for every port that a packet came to, its sender's NIC included.

A timeline draws them (`thalweg trace`), and they say which packets another one waited behind (`thalweg explain`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

    from thalweg.rundata import RunData

# Of a rate that is meant to be infinite: what still fits a signed column.
_FASTEST = 2**62


def transmissions(run: RunData, packets: polars.LazyFrame, ports: Sequence[int] | None = None) -> polars.DataFrame:
    """A row for each visit of a packet to a port, in order of `port` and `start_ps`.

    `packets`: rows of `run.packets`, perhaps filtered. `ports`: only these.

    Columns: packet (its row's number in `packets`), hop (0: its sender's NIC), port, flow, forward, seq, wire (in the
    end), bytes (on the wire at this port: more, where it was trimmed later), marked, came_ps (given to the NIC, or
    arrived), start_ps (null: its transmission never began), sent_ps (its last bit left; until the next transmission
    there at most), next_ps (arrived at the next port, or its host; null: never, or hops were not recorded), exit_ps,
    lost_ps and lost (at this port), takes_ps (its bytes at the port's rate), least_ps (the port's least delay, as
    below).

    A transmission's end is not recorded. It is the arrival at the next place less the port's least delay, which is the
    least time that any packet here took beyond its bytes at the port's rate; where a switch cuts through, or a link's
    rate changes, it is the bytes at the mean rate.

    Where a packet was trimmed is not recorded either. It was whole at ports that took as long as that needs, from its
    sender's NIC on; how much that is, copies of it say that were not trimmed.
    """
    import polars as pl

    rows = packets if "packet" in packets.collect_schema().names() else packets.with_row_index("packet")
    recorded = "ports" in rows.collect_schema().names()
    rows = rows.join(nics(run).lazy(), on="flow", how="left")
    rows = rows.with_columns(host=pl.when(pl.col("forward") == 1).then("src").otherwise("dst"))
    table = run.tables["ports"].lazy()
    common = ["packet", "flow", "forward", "kind", "seq", "wire", "marked", "exit_ps", "lost_ps", "lost_at"]
    nic = _with_nics(rows, table, recorded).select(
        *common,
        hop=pl.lit(0, pl.Int64),
        port="nic",
        came_ps="handed_ps",
        # What a NIC dropped was not transmitted: its one instant is that of its loss.
        start_ps=pl.when((pl.col("lost_at") == pl.col("nic")) & (pl.col("lost_on_link") == 0))
        .then(None)
        .otherwise("ingress_ps"),
    )
    parts = [nic]
    if recorded:
        numbered = rows.with_columns(hop=pl.int_ranges(1, pl.col("ports").list.len().cast(pl.Int64) + 1))
        switch = numbered.explode("arrivals_ps", "starts_ps", "ports", "hop").filter(pl.col("ports").is_not_null())
        parts.append(switch.select(*common, "hop", port="ports", came_ps="arrivals_ps", start_ps="starts_ps"))
    every = pl.concat(parts, how="vertical_relaxed").sort("packet", "hop")
    after = pl.col("came_ps").shift(-1).over("packet")
    last = pl.col("hop") == pl.col("hop").max().over("packet")
    there = pl.when(last & pl.lit(recorded)).then("exit_ps")
    every = every.with_columns(
        next_ps=pl.coalesce(after, there), lost=(pl.col("lost_at") == pl.col("port")).fill_null(False)
    )
    if ports is not None:
        every = every.filter(pl.col("port").is_in(list(ports)))
    rates = table.select("port", rate=pl.col("rate_bps").clip(upper_bound=_FASTEST).cast(pl.Int64))
    every = every.join(rates, on="port", how="left", maintain_order="left")
    every = every.with_columns(takes=_takes("wire"))
    beyond = pl.col("next_ps") - pl.col("start_ps") - pl.col("takes")
    every = every.with_columns(beyond=beyond.min().over("port"))
    every = _whole_until_trimmed(run, rows, every)
    leaves = pl.when(pl.col("beyond") >= 0).then(pl.col("next_ps") - pl.col("beyond"))
    every = every.with_columns(sent_ps=pl.coalesce(leaves, pl.col("start_ps") + pl.col("takes")))
    every = every.sort("port", "start_ps", "came_ps", "packet", nulls_last=True)
    behind = pl.col("start_ps").shift(-1).over("port")
    every = every.with_columns(sent_ps=pl.min_horizontal("sent_ps", behind))
    names: list[str | polars.Expr] = [
        "packet",
        "hop",
        "port",
        "flow",
        "forward",
        "kind",
        "seq",
        "wire",
        "bytes",
        "marked",
        "came_ps",
    ]
    names += ["start_ps", "sent_ps"]
    names += [
        "next_ps",
        "exit_ps",
        "lost_ps",
        "lost",
        pl.col("takes").alias("takes_ps"),
        pl.col("beyond").alias("least_ps"),
    ]
    return run.check_packets(every.select(names).collect(engine="streaming"), "port", "takes_ps")


def _takes(column: str) -> polars.Expr:
    """How long so many bytes take at the port's rate, ps."""
    import polars as pl

    return -(-pl.col(column).cast(pl.Int64) * (8 * 10**12) // pl.col("rate"))


def _whole_until_trimmed(run: RunData, rows: polars.LazyFrame, every: polars.LazyFrame) -> polars.LazyFrame:
    """With `bytes` at each port, and `takes` of these."""
    import polars as pl

    flows = run.flows
    trimmed = flows.filter(pl.col("trims") > 0)["id"].to_list() if "trims" in flows.columns else []
    if not trimmed:
        return every.with_columns(bytes="wire")
    data = rows.filter((pl.col("forward") == 1) & pl.col("flow").is_in(trimmed))
    sizes = data.group_by("flow", "seq").agg(whole=pl.col("wire").max()).with_columns(forward=pl.lit(1, pl.UInt8))
    every = every.join(sizes, on=["flow", "seq", "forward"], how="left")
    every = every.with_columns(whole=pl.coalesce("whole", "wire"))
    long = pl.col("next_ps") - pl.col("start_ps") - pl.col("beyond") >= _takes("whole")
    # What a switch passes on before it has all of it takes as long whole or trimmed: of that nothing is known.
    there = ((pl.col("beyond") >= 0) & long).fill_null(False).cast(pl.Int8)
    there = there.cum_min().over("packet", order_by="hop") == 1
    every = every.with_columns(bytes=pl.when(there).then("whole").otherwise("wire"))
    return every.with_columns(takes=_takes("bytes"))


def nics(run: RunData, *more: str) -> polars.DataFrame:
    """Of each `flow` the nodes by which its data is sent and received, `src` and `dst`: the hosts, or where these have
    several links the nodes of those that it takes; with `more` of its columns."""
    import polars as pl

    ends = [pl.col(f"{end}_nic" if f"{end}_nic" in run.flows.columns else end).alias(end) for end in ("src", "dst")]
    return run.flows.select(pl.col("id").alias("flow"), *ends, *more)


def _with_nics(rows: polars.LazyFrame, ports: polars.LazyFrame, recorded: bool) -> polars.LazyFrame:
    """The port by which each packet left its host: that which leads to the first switch that it came to, else the
    host's first one."""
    import polars as pl

    first = ports.unique("from", keep="first", maintain_order=True).select(host="from", first="port")
    rows = rows.join(first, on="host", how="left", maintain_order="left")
    if not recorded:
        return rows.rename({"first": "nic"})
    nodes = ports.select(entry="port", node="from")
    links = ports.unique(["from", "to"], keep="first", maintain_order=True)
    links = links.select(host="from", node="to", leads="port")
    rows = rows.with_columns(entry=pl.col("ports").list.first())
    rows = rows.join(nodes, on="entry", how="left", maintain_order="left")
    rows = rows.join(links, on=["host", "node"], how="left", maintain_order="left")
    return rows.with_columns(nic=pl.coalesce("leads", "first"))
