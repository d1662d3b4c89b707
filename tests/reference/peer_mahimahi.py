"""Real senders over the Mahimahi emulator: which scenario replays which run."""

from __future__ import annotations

import gzip
from pathlib import Path

from replay import DATA, HERE, Outcome, read

TRACES = DATA / "../traces"
LTE = ("Verizon-LTE-short.down", "Verizon-LTE-short.up", "TMobile-LTE-driving.down", "ATT-LTE-driving-2016.down")
OPPORTUNITY, RUN_MS = 1504, 140_000
CODEL = '{ kind = "codel", target = "50ms", interval = "100ms", mtu = "1504B" }'
PIE = '{ kind = "pie", variant = "mahimahi", target = "50ms", burst = "100ms", mean_packet = "1504B" }'
# Of each scheme there: congestion control, marking, and what else its sender does otherwise.
EMULATED = {
    "cubic": ("cubic", "none", {}),
    "cubic-codel": ("cubic", CODEL, {}),
    "cubic-pie": ("cubic", PIE, {}),
    "reno": ("newreno", "none", {}),
    "bbr": ("bbr", "none", {}),
    # The peer's queue is the authors' own.
    "abc": ('{ kind = "abc", dual = false }', '{ kind = "abc", arithmetic = "artifact" }', {}),
    # Its own sender over UDP: an ACK per packet of 1472 B.
    "copa": ("copa", "none", {"transport.mss": "1416B", "transport.delayed_acks": "off"}),
    "copa05": (
        '{ kind = "copa", mode_switching = false }',
        "none",
        {"transport.mss": "1416B", "transport.delayed_acks": "off"},
    ),
}


def mahimahi(trace: str, scheme: str, seed: int = 1, **more) -> Outcome:
    """140 s of one flow: utilisation and queueing delays, all packets. The peer's value is the mean of its
    runs; `yardstick` their range."""
    import tempfile

    import numpy as np

    import thalweg

    peer = [
        r
        for r in read("mahimahi", "summary.csv")
        if (r["trace"], r["scheme"]) == (trace, scheme) and r["run"][-1].isdigit()
    ]
    begin = int(peer[0]["flow_start_ms"])
    ms = np.array(gzip.decompress((TRACES / f"{trace}.gz").read_bytes()).split(), dtype=np.int64)
    congestion, marking, own = EMULATED[scheme]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / trace).write_bytes(gzip.decompress((TRACES / f"{trace}.gz").read_bytes()))
        text = (HERE / "mahimahi.toml").read_text().replace("Verizon-LTE-short.down", trace)
        text += f'[[traffic]]\nkind = "flow"\nsrc = 0\ndst = 1\nsize = "10GB"\nstart = "{begin}ms"\n'
        overrides = {
            "run.until": f"{begin + RUN_MS}ms", "transport.congestion": congestion, "switch.marking": marking, "seed": seed,
        } | own | more  # fmt: skip
        results = thalweg.run(
            thalweg.Scenario(text, "mahimahi.toml", folder, overrides),
            out=Path(folder) / "run",
            record="hops",
            progress=False,
        )
        packets = results.packets.collect()
    data = packets.filter(packets["forward"] == 1)
    came = data["arrivals_ps"].list.first().to_numpy().astype(float)
    left = data["starts_ps"].list.first().to_numpy().astype(float)
    sent = (left > 0) & (left < (begin + RUN_MS) * 1e9)
    delay = np.sort((left[sent] - came[sent]) / 1e9)
    laps = np.concatenate([ms + lap * ms[-1] for lap in range(1 + (begin + RUN_MS) // int(ms[-1]))])
    chances = int(((laps >= begin) & (laps < begin + RUN_MS)).sum())

    def quantile(p):
        return delay[int(p * len(delay))]

    ours = {
        "util": data["wire"].to_numpy()[sent].sum() / (OPPORTUNITY * chances), "qdelay_mean_ms": delay.mean(),
        "p50": quantile(0.5), "p95": quantile(0.95), "p99": quantile(0.99),
    }  # fmt: skip
    out = Outcome(seconds=results.meta["seconds"])
    for name, value in ours.items():
        theirs = [float(r[name]) for r in peer]
        out.metrics.append((name, sum(theirs) / len(theirs), float(value)))
    return out
