"""htsim: which scenario replays which of its lists."""

from __future__ import annotations

import replay
from replay import Outcome, by_flow, read

HTSIM = {"k4_10g": (4, 10, 250, 30), "k4_100g": (4, 100, 300, 65), "k8_100g": (8, 100, 300, 65)}
SEGMENT = 1500


def htsim(name: str, scheme: str) -> Outcome:
    k, gbps, limit, mark = HTSIM[name]
    overrides = {
        "topology.file": f"links_k{k}.csv",
        "topology.rate": f"{gbps}Gbps",
        "routing.file": f"paths_{name}.csv",
        "traffic.0.file": f"flows_{name}.csv",
        # The peer counts the packet on the wire against the limit, thalweg does not.
        "switch.buffer": f"{(limit - 1) * SEGMENT}B",
    }
    if scheme == "dctcp":
        overrides["transport.congestion"] = (
            '{ kind = "dctcp", initial_alpha = 0.0, growth = "room", cut_without_marks = true }'
        )
        # The peer looks when the last bit has left, a packet later than thalweg.
        overrides["switch.marking"] = (
            f'{{ kind = "step", threshold = "{(mark - 1) * SEGMENT}B", at = "departure", include_self = true }}'
        )
    if scheme == "swift":
        overrides |= {
            "transport": "{ mss = '1500B', header = '0B', ack_size = '40B', sack = 'off', limited_transmit = false, "
            "initial_window = '12pkts', max_window = '1000pkts', "
            "rto = { kind = 'rfc6298', initial = '1ms', min = '100us' }, "
            "congestion = { kind = 'swift', variant = 'htsim', min_window = 0.00667 } }",
            # A packet's delay begins as the NIC takes it, and those of a flow wait for their turn there.
            "nic": "{ order = 'round-robin' }",
        }
    results = replay.run("htsim.toml", "htsim-permutation", overrides)
    return by_flow(results, read("htsim-permutation", f"fct_{name}_{scheme}.csv"))


def htsim_model(name: str, scheme: str, **rules) -> Outcome:
    """The peer's rules, written out: see `htsim_model.py`."""
    import time

    from htsim_model import Rules, replay

    k, gbps, limit, mark = HTSIM[name]
    flows = [tuple(int(r[c]) for c in ("src", "dst", "size_bytes", "start_ns")) for r in
             read("htsim-permutation", f"flows_{name}.csv")]  # fmt: skip
    paths = [
        tuple([int(n) for n in r[c].split("-")] for c in ("data_path", "ack_path"))
        for r in read("htsim-permutation", f"paths_{name}.csv")
    ]
    begun = time.monotonic()
    asked = Rules(dctcp=scheme == "dctcp", **rules)
    fcts = replay(asked, gbps * 10**9, limit * SEGMENT, mark * SEGMENT, 10**6, k**3 // 4, flows, paths)
    peer = read("htsim-permutation", f"fct_{name}_{scheme}.csv")
    triples = [(f[2], float(p["fct_ns"]), t) for f, p, t in zip(flows, peer, fcts, strict=True)]
    return Outcome(flows=triples, seconds=time.monotonic() - begun)
