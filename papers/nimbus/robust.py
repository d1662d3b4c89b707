"""Who is elastic (Table 4.2), and how well the detector does where loads, round trips, buffers, link rates and
numbers of bottlenecks differ (§4.6, §4.7.2, §4.7.3, §G.3, §G.4)."""

from __future__ import annotations

import numpy as np

from thalweg.study import mean, measure, needs

from . import choices
from .outcome import accuracy, competes, etas, goodput, switches, waits
from .settings import BASIC, MIX, NEWRENO, POISSON, RATE, Cross, Point, distant, specs

PIES = choices["pie"]

# --- One cross flow each (Table 4.2) ------------------------------------------------------------------------

WRITES = {"writes": {"first": "75KB", "chunk": "75KB", "every": "50ms"}}  # 12 Mb/s
KINDS = {
    "Cubic": Cross("cubic"), "NewReno": Cross("newreno"), "Copa": Cross("copa"), "Vegas": Cross("vegas"),
    "fixed window": Cross("fixed", keys={"initial_window": "200pkts"}), "BBR": Cross("bbr"), "PCC Vivace": Cross("vivace"),
    "application-limited": Cross("cubic", keys=WRITES), "constant stream": Cross("cbr", 48),
}  # fmt: skip
ONE = {name: Point(f"t4.2:{name.replace(' ', '-')}", cross=(cross,)) for name, cross in KINDS.items()}
TWO_HERTZ = Point(
    "fg4:vivace-2Hz", cross=(KINDS["PCC Vivace"],), set={"transport.congestion": BASIC | {"frequency": 2.0}}
)

# --- Loads and round trips (Figure 4-12, §4.7.2) ------------------------------------------------------------

LOADS, RATIOS, TRIPS = (16, 32, 48, 64, 72, 80, 84, 88), (1, 1.5, 2, 3, 4), (10, 20, 50, 100, 150, 200)
LOAD = {
    (s, w, x): Point(f"f4.12:{w}-{x}", s, (Cross(w, x),))
    for s in ("ncc", "copa")
    for w in ("cbr", "poisson")
    for x in LOADS
}
CATEGORIES = {"inelastic": POISSON, "elastic": NEWRENO, "mix": MIX}


RATIO = {(s, x): Point(f"f4.12r:{x:g}", s, NEWRENO, prepare=distant(50 * x)) for s in ("ncc", "copa") for x in RATIOS}
TRIP = {
    (c, ms): Point(f"r1:{c}-{ms}", cross=CATEGORIES[c], prepare=distant(ms)) for c in ("elastic", "mix") for ms in TRIPS
}

# --- Copa next to (Figures G-5, G-6) -------------------------------------------------------------------------

STREAM = {(s, x): Point(f"fg5:{x}", s, (Cross("cbr", x),)) for s in ("ncc", "copa") for x in (24, 80)}

# --- Buffers (§G.4) -----------------------------------------------------------------------------------------

BUFFERS, PATHS = (0.25, 0.5, 1, 2, 4), (25, 50, 75)
LONG = (100, 150, 200, 250, 300)


def path(ms: int, bdp: float) -> dict:
    return {"topology.delay": f"{ms / 2}ms", "switch.buffer": f"{round(bdp * RATE * 1e3 * ms / 8)}B"}


BUFFER = {
    (c, ms, b): Point(f"sg4:{c}-{ms}ms-{b:g}", cross=CATEGORIES[c], set=path(ms, b))
    for c in CATEGORIES for ms in PATHS for b in BUFFERS
}  # fmt: skip
# Queues that PIE keeps at a part of the bandwidth-delay product of 50 ms, with room for four times as much. (The
# emulator's counts whole milliseconds.)
TARGETS = (0.25, 1)


def pie(part: float) -> dict:
    ms = f"{50 * part:g}" if PIES == "rfc8033" else f"{int(50 * part)}"
    return path(50, 4) | {
        "switch.marking": {"kind": "pie", "variant": PIES, "target": f"{ms}ms", "mean_packet": "1500B"}
    }


PIE = {(c, b): Point(f"sg4:{c}-pie-{b:g}", cross=CATEGORIES[c], set=pie(b)) for c in CATEGORIES for b in TARGETS}
FAR = {(c, ms): Point(f"sg4:{c}-{ms}ms", cross=CATEGORIES[c], set=path(ms, 2)) for c in CATEGORIES for ms in LONG}

# --- One BBR flow, by buffer (Figure G-3) -------------------------------------------------------------------

SIZES = (0.5, 1, 2, 4)
BESIDE_BBR = {(s, b): Point(f"fg3:{b:g}", s, (Cross("bbr"),), set=path(50, b)) for s in ("ncc", "cubic") for b in SIZES}

# --- What is taken for granted and is not so (§4.6, §4.7.3) -------------------------------------------------

ERRORS = (-50, -25, -12.5, 0, 12.5, 25, 50)
WRONG = {
    (c, e): Point(f"f4.14:{c}{e:+g}", cross=CATEGORIES[c], set={"transport.congestion": BASIC | {"link_rate": f"{RATE * (1 + e / 100):g}Mbps"}})
    for c in ("inelastic", "elastic") for e in ERRORS
}  # fmt: skip
CROWD = {s: Point("s1", s, (Cross("newreno", count=15),)) for s in ("ncc", "cubic")}
STEPS, LEAST, MOST = 5, 48, 144


def walk(seed: int, seconds: int = 120) -> list[float]:
    """A rate per second, Mb/s: 96 at first, up to 20 more or less each, reflected at 48 and 144."""
    draw, rate, out = np.random.default_rng(1000 + seed), 96.0, []
    for _ in range(seconds):
        out.append(round(rate, 3))
        rate += draw.uniform(-20, 20)
        rate = 2 * LEAST - rate if rate < LEAST else 2 * MOST - rate if rate > MOST else rate
    return out


def walking(name: str, scheme: str, cross) -> dict[int, Point]:
    out = {}
    for trace in range(1, STEPS + 1):
        rates = walk(trace)
        steps = [{"at": f"{n}s", "rate": f"{rate}Mbps"} for n, rate in enumerate(rates)]
        link = [{"which": "core-links", "direction": "forward", "transmitter": {"kind": "stepped", "steps": steps}}]
        known = {"transport.congestion": BASIC | {"link_rate": f"{np.mean(rates):.3f}Mbps"}} if scheme == "ncc" else {}
        out[trace] = Point(f"t4.3:{name}-{trace}", scheme, cross, set={"link": link} | known)
    return out


WALK = {(s, c): walking(c, s, CATEGORIES[c]) for s in ("ncc", "cubic") for c in ("inelastic", "elastic")}

EVERY = (
    *ONE.values(), TWO_HERTZ, *LOAD.values(), *RATIO.values(), *TRIP.values(), *STREAM.values(), *BUFFER.values(),
    *PIE.values(), *FAR.values(), *BESIDE_BBR.values(), *WRONG.values(), *CROWD.values(), *(p for walks in WALK.values() for p in walks.values()),
)  # fmt: skip


def runs(scale: str) -> list:
    return specs(EVERY, scale)


@measure("NIM-T4.2a", needs=needs(*(ONE[k] for k in ("Cubic", "NewReno", "Copa", "Vegas", "fixed window"))))
def elastic_kinds(runs):
    return {k: mean(runs, ONE[k], competes) for k in ("Cubic", "NewReno", "Copa", "Vegas", "fixed window")}


@measure("NIM-T4.2b", needs=needs(ONE["BBR"]))
def bbr_is_elastic(runs):
    return mean(runs, ONE["BBR"], competes)


@measure("NIM-T4.2c", needs=needs(ONE["PCC Vivace"]))
def vivace_is_inelastic(runs):
    return mean(runs, ONE["PCC Vivace"], lambda r: np.mean(etas(r) < 2))


@measure("NIM-T4.2d", needs=needs(ONE["application-limited"], ONE["constant stream"]))
def limited_kinds(runs):
    return {k: mean(runs, ONE[k], lambda r: accuracy(r, False)) for k in ("application-limited", "constant stream")}


@measure("NIM-FG4a", needs=needs(ONE["PCC Vivace"], TWO_HERTZ))
def vivace_at_two_hertz(runs):
    return {
        "η < 2 at 5 Hz": mean(runs, ONE["PCC Vivace"], lambda r: np.mean(etas(r) < 2)),
        "η >= 2 at 2 Hz": mean(runs, TWO_HERTZ, lambda r: np.mean(etas(r) >= 2)),
    }


@measure("NIM-F4.12a", needs=needs(*(p for (s, _, x), p in LOAD.items() if s == "ncc" and x <= 84)))
def accuracy_at_every_load(runs):
    found = {
        f"{w} {x}": mean(runs, p, lambda r: accuracy(r, False))
        for (s, w, x), p in LOAD.items()
        if s == "ncc" and x <= 84
    }
    return {"least": min(found.values())} | found


@measure("NIM-F4.12b", needs=needs(*(p for (s, _, x), p in LOAD.items() if s == "copa" and x in (48, 84, 88))))
def copa_at_high_loads(runs):
    def of(x):
        return np.mean([mean(runs, LOAD["copa", w, x], lambda r: accuracy(r, False)) for w in ("cbr", "poisson")])

    half, most = of(48), max(of(84), of(88))
    return {"at 84 and 88, less that at 48": float(most - half), "at 48": float(half)}


@measure("NIM-F4.12c", needs=needs(*RATIO.values()))
def accuracy_by_round_trip(runs):
    acc = {k: mean(runs, p, lambda r: accuracy(r, True)) for k, p in RATIO.items()}
    return {
        "NimbusCC at 4": acc["ncc", 4],
        "Copa, at 4 less at 1": acc["copa", 4] - acc["copa", 1],
        "NimbusCC less Copa, 2 to 4": min(acc["ncc", x] - acc["copa", x] for x in (2, 3, 4)),
    } | {f"{'NimbusCC' if s == 'ncc' else 'Copa'}, {x:g}": v for (s, x), v in acc.items()}


@measure("NIM-F4.12d", needs=needs(*RATIO.values()))
def switches_of_mode(runs):
    of = {s: float(np.mean([mean(runs, RATIO[s, x], switches) for x in RATIOS])) for s in ("ncc", "copa")}
    return {"Copa - 3 NimbusCC": of["copa"] - 3 * of["ncc"], "NimbusCC": of["ncc"], "Copa": of["copa"]}


@measure("NIM-R1b", needs=needs(*(TRIP["mix", ms] for ms in TRIPS)))
def mixed_by_round_trip(runs):
    acc = {f"{ms} ms": mean(runs, TRIP["mix", ms], lambda r: accuracy(r, True)) for ms in TRIPS}
    return {"least": min(acc.values()), "mean": float(np.mean(list(acc.values())))} | acc


@measure("NIM-FG5a", needs=needs(STREAM["ncc", 24], STREAM["copa", 24]))
def stream_of_a_quarter(runs):
    return {"NimbusCC (ms)": mean(runs, STREAM["ncc", 24], waits), "Copa (ms)": mean(runs, STREAM["copa", 24], waits)}


@measure("NIM-FG5b", needs=needs(STREAM["ncc", 80], STREAM["copa", 80]))
def stream_of_83_percent(runs):
    ours, copa = (mean(runs, STREAM[s, 80], waits) for s in ("ncc", "copa"))
    right = mean(runs, STREAM["ncc", 80], lambda r: accuracy(r, False))
    return {
        "delay, Copa / NimbusCC": copa / ours,
        "NimbusCC keeps delays low": right,
        "NimbusCC (ms)": ours,
        "Copa (ms)": copa,
    }


@measure("NIM-FG6a", needs=needs(RATIO["ncc", 1], RATIO["copa", 1]))
def newreno_as_far(runs):
    return {
        "NimbusCC (Mb/s)": mean(runs, RATIO["ncc", 1], goodput),
        "Copa (Mb/s)": mean(runs, RATIO["copa", 1], goodput),
    }


@measure("NIM-FG6b", needs=needs(RATIO["ncc", 4], RATIO["copa", 4]))
def newreno_four_times_as_far(runs):
    return {
        "NimbusCC (Mb/s)": mean(runs, RATIO["ncc", 4], goodput),
        "Copa (Mb/s)": mean(runs, RATIO["copa", 4], goodput),
    }


def right(runs, points: dict, key: tuple) -> float:
    return mean(runs, points[key], lambda r: accuracy(r, key[0] != "inelastic"))


MODEST = [(c, ms, b) for c in ("inelastic", "elastic") for ms in (25, 50) for b in (0.5, 1, 2)]


@measure("NIM-SG4a", needs=needs(*(BUFFER[k] for k in MODEST)))
def accuracy_by_buffer(runs):
    acc = {f"{c}, {ms} ms, {b:g} BDP": right(runs, BUFFER, (c, ms, b)) for c, ms, b in MODEST}
    return {"least": min(acc.values())} | acc


@measure("NIM-SG4c", needs=needs(BUFFER["inelastic", 50, 0.25], PIE["inelastic", 0.25]))
def too_little_room(runs):
    return {
        "buffer of 0.25 BDP": mean(runs, BUFFER["inelastic", 50, 0.25], competes),
        "PIE at 0.25 BDP": mean(runs, PIE["inelastic", 0.25], competes),
    }


@measure("NIM-SG4f", needs=needs(*(PIE[c, 1] for c in CATEGORIES)))
def pie_at_a_whole_product(runs):
    acc = {c: right(runs, PIE, (c, 1)) for c in CATEGORIES}
    return {"least, pure": min(acc["inelastic"], acc["elastic"])} | acc


@measure(
    "NIM-SG4e",
    needs=needs(*(FAR[c, ms] for c in CATEGORIES for ms in (250, 300)), *(BUFFER[c, 50, 2] for c in CATEGORIES)),
)
def beyond_the_period(runs):
    far = float(np.mean([right(runs, FAR, (c, ms)) for c in CATEGORIES for ms in (250, 300)]))
    near = float(np.mean([right(runs, BUFFER, (c, 50, 2)) for c in CATEGORIES]))
    return {"far less near": far - near, "250 and 300 ms": far, "50 ms": near}


# Cells that the thesis names no failure of (§1.3.3, §4.1): loads to 84 Mb/s, round trips, buffers of half a BDP to two.
CELLS = (
    [(p, False) for (s, _, x), p in LOAD.items() if s == "ncc" and x <= 84]
    + [(RATIO["ncc", x], True) for x in RATIOS]
    + [(TRIP[c, ms], True) for c in ("elastic", "mix") for ms in TRIPS]
    + [(BUFFER[c, ms, b], c != "inelastic") for c in CATEGORIES for ms in (25, 50) for b in (0.5, 1, 2)]
    + [(PIE[c, 1], c != "inelastic") for c in CATEGORIES]
)


@measure("NIM-K1", needs=needs(*(p for p, _ in CELLS)))
def accuracy_over_all(runs):
    acc = [mean(runs, p, lambda r, is_elastic=is_elastic: accuracy(r, is_elastic)) for p, is_elastic in CELLS]
    return {"mean": float(np.mean(acc)), "least": min(acc), "cells below 0.85": float(sum(a < 0.85 for a in acc))}


@measure("NIM-F4.14b", needs=needs(*(WRONG["elastic", e] for e in ERRORS)))
def wrong_link_rates(runs):
    acc = {f"{e:+g} %": mean(runs, WRONG["elastic", e], lambda r: accuracy(r, True)) for e in ERRORS}
    return {"least": min(acc.values())} | acc


@measure("NIM-S1a", needs=needs(*CROWD.values()))
def small_share(runs):
    return {
        "competes": mean(runs, CROWD["ncc"], competes),
        "throughput / Cubic's": mean(runs, CROWD["ncc"], goodput) / mean(runs, CROWD["cubic"], goodput),
    }


@measure("NIM-T4.3b", needs=needs(*WALK["ncc", "inelastic"].values(), *WALK["cubic", "inelastic"].values()))
def walking_link(runs):
    def of(s, what):
        return float(np.mean([mean(runs, p, what) for p in WALK[s, "inelastic"].values()]))

    return {
        "throughput, against Cubic": of("ncc", goodput) / of("cubic", goodput) - 1,
        "accuracy": of("ncc", lambda r: accuracy(r, False)),
        "delay / Cubic's": of("ncc", waits) / of("cubic", waits),
        "delay (ms of 96 Mb/s)": of("ncc", waits),
    }
