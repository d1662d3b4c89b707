"""The Ultra Ethernet consortium's simulator, program htsim_ndp: NDP over its leaf-spine network and its fat-tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

import replay
from replay import read

# Topology, rate in Gb/s, propagation in ns, first window in packets.
SETS = {
    "perm32": ("ls32", 100, 1000, 29),
    "perm128": ("ft128", 200, 500, 43),
    "incast8": ("ls32", 400, 500, 53),
    "incast32": ("ft128", 200, 500, 43),
    "a2a16": ("ft16", 400, 500, 79),
}
PAYLOAD = 4086


@dataclass
class Run:
    """Completion times and starts in ns, packets trimmed, packets sent again."""

    fcts: list[float]
    starts: list[float]
    trims: int
    resent: int

    def figures(self) -> dict[str, float]:
        """`end`: when the last of them is complete."""
        end = max(start + fct for start, fct in zip(self.starts, self.fcts, strict=True))
        return {"mean": mean(self.fcts), "p50": median(self.fcts), "max": max(self.fcts), "end": end}


def whole(size: int) -> int:
    """The peer sends whole packets, the last one too."""
    return -(-size // PAYLOAD) * PAYLOAD


def listed(name: str) -> str:
    """The peer's flows as thalweg's list; a flow that follows another begins when that one's sender is through."""
    columns = "id,src,dst,size_bytes,start_ns,after_acked"
    rows = [
        f"{r['id']},{r['src']},{r['dst']},{whole(int(r['size_bytes']))},{r['start_ns'] or 0},{r.get('after') or ''}"
        for r in sorted(read("uet", f"flows_{name}.csv"), key=lambda row: int(row["id"]))
    ]
    return "\n".join([columns, *rows, ""])


def scenario(name: str, seed: int, flows: Path):
    """With the flows in that file."""
    topology, gbps, delay, window = SETS[name]
    flows.write_text(listed(name))
    traffic = f'[[traffic]]\nkind = "list"\nfile = "{flows}"\n'
    overrides = {
        "seed": seed,
        "topology.file": f"links_{topology}.csv",
        "topology.rate": f"{gbps}Gbps",
        "topology.delay": f"{delay}ns",
        "transport.window": window,
    }
    return replay.scenario("ndp.toml", "uet", overrides, traffic)


def ours(name: str, seed: int) -> Run:
    import thalweg

    with TemporaryDirectory() as folder:
        flows = thalweg.run(scenario(name, seed, Path(folder) / "flows.csv"), progress=False).flows
    fcts, starts = ([ps / 1000 for ps in flows[column]] for column in ("fct_ps", "start_ps"))
    return Run(fcts, starts, int(sum(flows["trims"])), int(sum(flows["retransmissions"])))


def peers(name: str) -> list[Run]:
    """Its three runs. A NACK answers a trimmed header: no header is lost."""
    rows = [row for row in read("uet", f"fct_{name}.csv") if row["scheme"] == "ndp"]
    given = {row["id"]: row["start_ns"] for row in read("uet", f"flows_{name}.csv")}
    runs = [[row for row in rows if row["run"] == run] for run in ("1", "2", "3")]
    sums = [[sum(int(row[c]) for row in run) for c in ("nacks", "rtx")] for run in runs]
    starts = [[float(row.get("start_ns") or given[row["id"]]) for row in run] for run in runs]
    fcts = [[float(row["fct_ns"]) for row in run] for run in runs]
    return [Run(*run, *s) for run, s in zip(zip(fcts, starts, strict=True), sums, strict=True)]
