"""The Ultra Ethernet consortium's simulator: NDP over its leaf-spine network and its fat-tree."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, median

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
    """Completion times in ns, packets trimmed, packets sent again."""

    fcts: list[float]
    trims: int
    resent: int

    def figures(self) -> dict[str, float]:
        return {"mean": mean(self.fcts), "p50": median(self.fcts), "max": max(self.fcts)}


def whole(size: int) -> int:
    """The peer sends whole packets, the last one too."""
    return -(-size // PAYLOAD) * PAYLOAD


def scenario(name: str, seed: int):
    topology, gbps, delay, window = SETS[name]
    flows = sorted(read("uet", f"flows_{name}.csv"), key=lambda row: int(row["id"]))
    traffic = "".join(
        f'[[traffic]]\nkind = "flow"\nsrc = {row["src"]}\ndst = {row["dst"]}\n'
        f'size = "{whole(int(row["size_bytes"]))}B"\nstart = "{row["start_ns"]}ns"\n\n'
        for row in flows
    )
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

    flows = thalweg.run(scenario(name, seed), progress=False).flows
    fcts = [ps / 1000 for ps in flows["fct_ps"]]
    return Run(fcts, int(sum(flows["trims"])), int(sum(flows["retransmissions"])))


def peers(name: str) -> list[Run]:
    """Its three runs. A NACK answers a trimmed header: no header is lost."""
    rows = [row for row in read("uet", f"fct_{name}.csv") if row["scheme"] == "ndp"]
    runs = [[row for row in rows if row["run"] == run] for run in ("1", "2", "3")]
    sums = [[sum(int(row[c]) for row in run) for c in ("nacks", "rtx")] for run in runs]
    return [Run([float(row["fct_ns"]) for row in run], *s) for run, s in zip(runs, sums, strict=True)]
