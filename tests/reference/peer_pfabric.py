"""pFabric's simulator: which scenario replays which of its lists."""

from __future__ import annotations

import replay
from replay import Outcome, by_flow, read

SPRAY = '{ kind = "spray-round-robin", offsets = "spray_offsets.csv" }'
MINTCP = {
    "switch.scheduler.kind": "fifo",
    "transport.congestion": '{ kind = "mintcp", halve_threshold = false }',
    "run.until": "200ms",  # some flows of the peer never end
}


# Its pHost: control packets first, all data alike (`capability_prio_thresh` 0); a token per 1540 B. Its NIC
# has a queue; here it polls its flows.
PHOST = {
    "nic.order": "round-robin",
    "switch.scheduler": '{ kind = "priority", classes = 3 }',
    "transport": '{ kind = "phost", free_class = 2, token_class = 2, spacing = "1232ns" }',
}


def pfabric(flows: str, mode: str, **extra) -> Outcome:
    overrides = {"traffic.0.file": f"flows_{flows}.csv", **extra}
    if mode.endswith("spray"):
        overrides["routing"] = SPRAY
    if mode == "mintcp_hash":
        overrides |= MINTCP
    if mode.startswith("phost"):
        overrides |= PHOST
    return by_flow(replay.run("pfabric.toml", "pfabric", overrides), read("pfabric", f"fct_{flows}_{mode}.csv"))


def pfabric_lone() -> Outcome:
    """The README's formula, for flows of n packets within a rack and across."""
    out = Outcome()
    sizes = [1, 2, 3, 12, 13, 50, 1000]
    for dst, rest in [(1, 2064), (16, 3480)]:
        traffic = "".join(
            f'[[traffic]]\nkind = "flow"\nsrc = 0\ndst = {dst}\nsize = "{1460 * n}B"\nstart = "{i * 10}ms"\n'
            for i, n in enumerate(sizes)
        )
        fcts = replay.run("pfabric.toml", "pfabric", {}, traffic).flows["fct_ps"]
        out.flows += [(1460 * n, 1200 * n + rest, fct / 1000) for n, fct in zip(sizes, fcts, strict=True)]
    return out
