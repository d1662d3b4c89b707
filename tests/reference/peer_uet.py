"""The Ultra Ethernet consortium's simulator, program htsim_uec: its transport over leaf-spine networks and fat-trees.

    python tests/reference/peer_uet.py [SET[/SCHEME] ...] [--set KEY=VALUE ...]

prints what differs: those of which the name begins so, without one all. An assignment changes thalweg's scenarios.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

import replay
from replay import read

MTU, CONTROL = 4150, 64

# Hops of the longest path.
HOPS = {"ls32": 4, "ft128": 6, "ft16": 6}


@dataclass(frozen=True)
class Set:
    """Flows on a network. `gbps`, `delay` in ns: of every link; `queue`, `step` in bytes, where they do not follow from
    the bandwidth-delay product; `retry` in us likewise; `runs`: how many seeds."""

    topology: str
    gbps: int
    delay: int
    flows: str
    runs: int = 3
    queue: int | None = None
    step: int | None = None
    retry: float | None = None
    trims: bool = True

    @property
    def rtt(self) -> float:
        """Round trip of a full packet and a control packet without queues, ns."""
        hops = HOPS[self.topology]
        return 2 * hops * self.delay + hops * (MTU + CONTROL) * 8 / self.gbps

    @property
    def packets(self) -> int:
        """Of a bandwidth-delay product."""
        return -int(-self.rtt * self.gbps / 8 // MTU)


SETS = {
    "perm32": Set("ls32", 100, 1000, "perm32"),
    "perm128": Set("ft128", 200, 500, "perm128"),
    "incast8": Set("ls32", 400, 500, "incast8"),
    "incast32": Set("ft128", 200, 500, "incast32"),
    "a2a16": Set("ft16", 400, 500, "a2a16"),
    "slow32": Set("ls32", 100, 1000, "slow32"),
    "dead32": Set("ls32", 100, 1000, "dead32"),
    "perm32det": Set("ls32", 100, 1000, "perm32det", 1, 83_000_000, 49_800, 39_855),
    "incast8det": Set("ls32", 400, 500, "incast8det", 1, 83_000_000, 83_000, 9_975),
    "perm32trim": Set("ls32", 100, 1000, "perm32det", 1, step=49_800),
    "incast8trim": Set("ls32", 400, 500, "incast8det", 1, step=83_000),
    "incast32trim": Set("ft128", 200, 500, "incast32trim", 1, step=49_800),
    "perm32drop": Set("ls32", 100, 1000, "perm32det", 1, step=49_800, trims=False),
    "incast8drop": Set("ls32", 400, 500, "incast8det", 1, step=83_000, trims=False),
}
PINNED = [name for name, own in SETS.items() if own.runs == 1]
SPRAYED = [name for name, own in SETS.items() if own.runs > 1]

SCHEMES = [
    *("nscc_obl", "nscc_reps", "nscc_reps1", "nscc_bitmap", "nscc_mixed", "nscc_ecmp", "nscc_ar", "nscc_notrim"),
    *("const_obl", "rccc_obl", "both_obl"),
]
PINS = ["const_pin", "nscc_pin", "rccc_pin", "both_pin"]

# The peer's readings where the transport's defaults are others.
REPS = {"kind": "reps", "values": 64, "exit_after": "10ms", "explore": {"packets": 16}}


def cases() -> Iterator[tuple[str, str]]:
    yield from ((name, scheme) for name in SETS for scheme in (PINS if name in PINNED else SCHEMES))


@dataclass
class Run:
    """Completion times in ns by flow; sums over the flows."""

    fcts: dict[int, float]
    resent: int
    trims: int
    timeouts: int
    marks: int

    def figures(self) -> dict[str, float]:
        """Of the completion times."""
        fcts = list(self.fcts.values())
        return {"mean": mean(fcts), "p50": median(fcts), "max": max(fcts)}


def selection(scheme: str) -> object:
    by = scheme.split("_")[1]
    kind = {"obl": "oblivious", "ar": "oblivious", "notrim": "oblivious"}.get(by, by)
    return REPS if kind.startswith("reps") else {"kind": kind, "values": 64}


def transport(own: Set, scheme: str, queue: int, trims: bool) -> dict:
    who, by = scheme.split("_")
    fixed = {"kind": "fixed", "size": f"{own.packets * MTU}B"}
    target = own.rtt * 0.75 if trims else own.rtt
    nscc = {"kind": "nscc", "target": f"{target:.3f}ns"}
    keys = {
        "base_rtt": f"{own.rtt:.3f}ns",
        "retry": f"{own.retry or 15 + 6 * queue * 8 / own.gbps / 1000:.6f}us",
        "window": {"const": fixed, "nscc": nscc, "both": nscc, "rccc": {"kind": "none"}}[who],
    }
    if who in ("rccc", "both"):
        keys["credits"] = {}
    if by == "reps1":
        keys["ack_every"] = "1B"
    if by != "pin":
        keys["path_selection"] = selection(scheme)
    return {f"transport.{key}": value for key, value in keys.items()}


def marking(own: Set, share: float = 1.0) -> dict:
    low, high = (-int(-own.packets * part // 1) * MTU for part in (0.2, 0.8))
    low, high = (own.step, own.step) if own.step else (low, high)
    sizes = {"min": f"{round(low * share)}B", "max": f"{round(high * share)}B"}
    return {"kind": "red-ecn", **sizes, "max_probability": 1.0, "at": "departure"}


def switches(own: Set, queue: int, trims: bool) -> dict:
    """Headers first, always, and twice the data's bytes of them; the packet on the wire counts."""
    scheduler = {"kind": "ndp", "turns": 100_000, "headers": f"{2 * queue}B", "counts_in_service": True, "trim": trims}
    scheduler["victim"] = "arriving" if own.runs == 1 else "coin"
    return {"switch.scheduler": scheduler, "switch.buffer": f"{queue}B", "switch.marking": marking(own)}


def links(name: str, own: Set, scheme: str, queue: int) -> list[dict]:
    """What is different at some of them."""
    sections = []
    if scheme.startswith(("rccc", "both")):
        sections.append({"which": "host-links", "direction": "backward", "marking": "none"})
    if name == "slow32":
        slow = {"transmitter": {"fixed": f"{own.gbps // 4}Gbps"}, "buffer": f"{queue // 4}B"}
        slow["marking"] = marking(own, 0.25)
        sections += [{"which": {"between": [leaf, 40]}, **slow} for leaf in range(32, 40)]
    return sections


LIST = "id,src,dst,size_bytes,start_ns,after_acked"


def flow_list(own: Set) -> str:
    """A flow that follows another begins when that one's sender is through."""
    rows = [
        f"{r['id']},{r['src']},{r['dst']},{r['size_bytes']},{r['start_ns'] or 0},{r.get('after') or ''}"
        for r in sorted(read("uet", f"flows_{own.flows}.csv"), key=lambda row: int(row["id"]))
    ]
    return "\n".join([LIST, *rows, ""])


def path_list(name: str, scheme: str) -> str:
    rows = [row for row in read("uet", "pinned_paths.csv") if (row["set"], row["scheme"]) == (name, scheme)]
    return "\n".join(["id,data_path,ack_path", *(f"{r['id']},{r['data_path']},{r['ack_path']}" for r in rows), ""])


def scenario(name: str, scheme: str, seed: int, folder: Path, flows: str | None = None, **changes):
    """With its files in that folder; `flows`: others than the set's."""
    own = SETS[name]
    trims = own.trims and not scheme.endswith("notrim")
    queue = own.queue or own.packets * MTU * (5 if scheme.endswith("notrim") else 1)
    (folder / "flows.csv").write_text(flows or flow_list(own))
    keys = {
        "seed": seed,
        "topology.file": f"links_{own.topology}.csv",
        "topology.rate": f"{own.gbps}Gbps",
        "topology.delay": f"{own.delay}ns",
        **transport(own, scheme, queue, trims),
        **switches(own, queue, trims),
        "routing": {"kind": "adaptive" if scheme.endswith("ar") else "entropy"},
    }
    if name in PINNED:
        (folder / "paths.csv").write_text(path_list(name, scheme))
        keys["routing"] = {"kind": "pinned", "file": str(folder / "paths.csv")}
    if name == "dead32":
        # Routes never change.
        keys["incident"] = [{"kind": "link-failure", "link": [32, 41], "at": "60us", "until": "600us"}]
        keys["routing"]["convergence"] = "1s"
    if own_links := links(name, own, scheme, queue):
        keys["link"] = own_links
    traffic = f'[[traffic]]\nkind = "list"\nfile = "{folder / "flows.csv"}"\n'
    return replay.scenario("uet.toml", "uet", {**keys, **changes}, traffic)


def ours(name: str, scheme: str, seed: int, flows: str | None = None, **changes) -> Run:
    import thalweg

    with TemporaryDirectory() as folder:
        results = thalweg.run(scenario(name, scheme, seed, Path(folder), flows, **changes), progress=False)
    flows = results.flows
    # The list has them by number, from 1 on.
    fcts = dict(enumerate((ps / 1000 for ps in flows["fct_ps"]), 1))
    sums = (int(sum(flows[column])) for column in ("retransmissions", "trims", "timeouts"))
    return Run(fcts, *sums, int(sum(results.tables["ports"]["marked"])))


def lone(row: dict[str, str], scheme: str) -> float:
    """How long one flow alone takes, of a row of lone.csv."""
    name = next(name for name, own in SETS.items() if own.topology == row["topology"])
    return ours(name, scheme, 1, f"{LIST}\n1,{row['src']},{row['dst']},{row['size_bytes']},0,\n").fcts[1]


@cache
def rows(name: str) -> list[dict[str, str]]:
    return read("uet", f"fct_{name}.csv")


def peers(name: str, scheme: str) -> list[Run]:
    runs = []
    for run in range(1, SETS[name].runs + 1):
        own = [row for row in rows(name) if row["scheme"] == scheme and row["run"] == str(run)]
        fcts = {int(row["id"]): float(row["fct_ns"]) for row in own}
        sums = (sum(int(row[column] or 0) for row in own) for column in ("rtx", "trims", "rto", "ecn"))
        runs.append(Run(fcts, *sums))
    return runs


def compare(name: str, scheme: str, changes: dict) -> str:
    """A line of the table: peer / thalweg, mean over the runs."""
    theirs = peers(name, scheme)
    own = [ours(name, scheme, seed, **changes) for seed in range(1, SETS[name].runs + 1)]

    def both(what) -> tuple[float, float]:
        return mean(map(what, theirs)), mean(map(what, own))

    cells = []
    for figure in ("mean", "p50", "max"):
        values = [[run.figures()[figure] / 1000 for run in runs] for runs in (theirs, own)]
        a, b = map(mean, values)
        spread = "/".join(f"{max(v) - min(v):.2f}" for v in values)
        cells.append(f"{a:8.2f} {b:8.2f} {100 * (b / a - 1):+6.2f}% ({spread})")
    for what in ("resent", "trims", "timeouts", "marks"):
        a, b = both(lambda run, what=what: getattr(run, what))
        cells.append(f"{what} {a:.0f}/{b:.0f}")
    equal = [abs(own[0].fcts[i] - fct) <= 1 for i, fct in theirs[0].fcts.items()] if len(own) == 1 else []
    if equal:
        cells.append(f"{100 * mean(equal):.0f}% equal")
    return f"{name + '/' + scheme:24} " + "  ".join(cells)


def main(arguments: list[str]) -> None:
    chosen = [a for a in arguments if "=" not in a and a != "--set"]
    changes = dict(a.split("=", 1) for a in arguments if "=" in a)
    for name, scheme in cases():
        if not chosen or any(f"{name}/{scheme}".startswith(c) for c in chosen):
            try:
                print(compare(name, scheme, changes), flush=True)
            except Exception as error:
                print(f"{name}/{scheme}: {error}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
