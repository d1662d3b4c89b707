"""The study of BFC: flows of one egress against a model of its own, its sizes, its fluid."""

import heapq
from pathlib import Path

import numpy as np
import pytest

import thalweg
from thalweg import Scenario, papers

FOLDER = Path(__file__).parents[2] / "papers" / "bfc"


def part(name):
    """A module of the study, as `thalweg reproduce` imports it."""
    return papers.find(str(FOLDER)).module(name)


def in_step(flows: int, apart: float, until: float) -> float:
    """Packets of 1020 B from `flows` senders of 100 Gb/s to one link of 100 Gb/s, a queue each, Th = 25 kB /
    queues that hold any; a queue is resumed when the last packet that found it too long leaves. Utilisation
    from the first packet on; ns."""
    time, hop, product = 81.6, 1000.0, 25_000
    queues, marked = [[] for _ in range(flows)], [0] * flows
    paused, sends = [False] * flows, [True] * flows
    events = [(apart * i, i, "send", i) for i in range(flows)]
    heapq.heapify(events)
    number, turn, busy, left = flows, 0, False, 0

    def later(at, kind, flow):
        nonlocal number
        number += 1
        heapq.heappush(events, (at, number, kind, flow))

    def serve(now):
        nonlocal turn, busy, left
        ready = [(turn + k) % flows for k in range(flows) if queues[(turn + k) % flows]]
        busy = bool(ready)
        if not ready:
            return
        flow = ready[0]
        turn, left = (flow + 1) % flows, left + 1
        if queues[flow].pop(0):
            marked[flow] -= 1
            if marked[flow] == 0:
                later(now + hop + 5, "resume", flow)
        later(now + time, "free", 0)

    while events:
        now, _, kind, flow = heapq.heappop(events)
        if now > until:
            break
        if kind == "send":
            sends[flow] = not paused[flow]
            if sends[flow]:
                later(now + time + hop, "arrive", flow)
                later(now + time, "send", flow)
        elif kind == "arrive":
            queues[flow].append(False)
            if len(queues[flow]) * 1020 > product / max(1, sum(map(bool, queues))):
                queues[flow][-1] = True
                marked[flow] += 1
                if marked[flow] == 1:
                    later(now + hop + 5, "pause", flow)
            if not busy:
                serve(now)
        elif kind == "free":
            serve(now)
        else:
            paused[flow] = kind == "pause"
            if not paused[flow] and not sends[flow]:
                sends[flow] = True
                later(now, "send", flow)
    return left * time / (until - time - hop)


@pytest.mark.parametrize("flows", [2, 4, 8])
def test_flows_of_one_egress_leave_it_idle_in_step_as_a_model_of_its_own_says(flows):
    until = 300_000
    traffic = [{"kind": "backlogged", "src": i, "dst": 17, "start": f"{371 * i}ns"} for i in range(flows)]
    scenario = Scenario.load(
        FOLDER / "scenarios" / "link.toml", {"traffic": traffic, "run.until": f"{until}ns", "topology.delay": "1us"}
    )
    ports = thalweg.run(scenario, progress=False).tables["ports"].sort("port")
    carried = float(ports["bytes"][68]) * 8 / (100e9 * (until - 1081.6) * 1e-9)
    assert carried == pytest.approx(in_step(flows, 371, until), abs=0.012)


def test_the_studys_sizes_have_the_published_means_and_byte_shares():
    w = part("workloads")
    draw = np.random.default_rng(1)
    assert w.sizes("fb", 400_000, draw).mean() == pytest.approx(121_849, rel=0.03)
    assert w.sizes("web", 200_000, draw).mean() == pytest.approx(1_711_250, rel=0.02)
    google = w.sizes("google", 400_000, draw)
    assert (google <= 1024).mean() == pytest.approx(0.8632, abs=0.003)
    assert google.min() >= 100


def test_gaps_are_log_normal_with_sigma_two_and_the_mean_that_was_asked_for():
    w = part("workloads")
    gaps = w.gaps(3.0, 2_000_000, np.random.default_rng(2))
    assert np.log(gaps).std() == pytest.approx(2, abs=0.01)
    assert np.median(gaps) == pytest.approx(3 * np.exp(-2), rel=0.01)


def clos(name: str, flows, **more) -> Scenario:
    """The study's network with a scheme of it and a few flows: source, destination, bytes, start in us."""
    traffic = [
        {"kind": "flow", "src": src, "dst": dst, "size": f"{size}B", "start": f"{at}us"} for src, dst, size, at in flows
    ]
    set = part("settings").scheme(name) | {"traffic": traffic, "run.until": "1ms"}
    return Scenario.load(FOLDER / "scenarios" / "clos.toml", set | more)


def test_ideal_srf_serves_a_short_flow_before_a_longer_one_whose_last_packet_waits_too():
    # The rack's port to host 0 gets 200 Gb/s from two flows, both of which have left their hosts when the
    # short one comes.
    results = thalweg.run(clos("ideal-srf", [(1, 0, 60_000, 0), (2, 0, 90_000, 0), (3, 0, 1000, 9)]), progress=False)
    alone = thalweg.run(clos("ideal-srf", [(3, 0, 1000, 9)]), progress=False)
    waited = results.seconds("acked")[2] - alone.seconds("acked")[0]
    assert 0 <= waited <= 1.01 * 1020 * 8 / 100e9, "longer than the packet in transmission"


@pytest.mark.parametrize(("sizes", "unscheduled"), [("google-rpc", 18), ("facebook-hadoop-fine", 6)])
def test_homa_has_the_published_levels(sizes, unscheduled):
    traffic = {"kind": "poisson", "sizes": sizes, "load": 0.6, "until": "1ms"}
    transport = clos("homa", [], traffic=[traffic]).to_dict()["transport"]
    assert (transport["levels"], len(transport["cutoffs"]) + 1) == (32, unscheduled)


@pytest.mark.parametrize("name", ["expresspass", "homa", "homa-ecmp"])
def test_a_receiver_driven_flow_alone_has_the_whole_link_but_for_credits(name):
    # Across the spines; credits take 84 B for every 1020, and begin at half of their rate.
    size = 20_000_000
    scenario = clos(name, [(0, 31, size, 0)], **{"run.until": "3ms"})
    fct = thalweg.run(scenario, progress=False).seconds("acked")[0]
    share = size / 1000 * 1020 * 8 / 100e9 / fct
    assert share > (0.9 if name == "expresspass" else 0.99)


def test_processor_sharing_at_another_speed_is_the_same_in_its_own_time():
    """So how many flows share a link does not depend on its rate, and a fair share's changes only on rate
    times interval (§3.2.3)."""
    study = papers.find(str(FOLDER))
    theory, sizes = study.module("theory"), study.module("workloads").sizes
    draw = np.random.default_rng(5)
    for workload in ("google", "fb"):
        size = sizes(workload, 3000, draw)
        at = np.cumsum(draw.exponential(size.mean() * 8 / 0.8 / 100e9, len(size)))
        fast, slow = theory.Sharing(at, size, 100e9), theory.Sharing(10 * at, size, 10e9)
        assert (fast.counts == slow.counts).all()
        assert 10 * fast.times == pytest.approx(slow.times)
        assert fast.counts.max() > 3


def graph(folder, links, paths, flows, queues: int, seed: int = 1, until="4ms") -> dict:
    """Flows (source, destination, bytes, start in ns) along their paths, by way of files; the table of flows
    and that of ports."""
    rows = [f"{a},{b},100Gbps,1us" for a, b in links]
    (folder / "links.csv").write_text("\n".join(["a,b,rate,delay", *rows]) + "\n")
    ways = [f"{n},{'-'.join(path)},{'-'.join(reversed(path))}" for n, path in enumerate(paths)]
    (folder / "paths.csv").write_text("\n".join(["id,data_path,ack_path", *ways]) + "\n")
    settings = part("settings")
    set = settings.scheme("bfc") | {"switch": settings.bfc(queues=queues), "seed": seed, "run.until": until}
    set |= {
        "topology.file": str(folder / "links.csv"),
        "routing": {"kind": "pinned", "file": str(folder / "paths.csv")},
    }
    set["traffic"] = [
        {"kind": "flow", "src": a, "dst": b, "size": f"{size}B", "start": f"{at}ns"} for a, b, size, at in flows
    ]
    return thalweg.run(Scenario.load(FOLDER / "scenarios" / "graph.toml", set), progress=False)


@pytest.mark.parametrize("seed", range(6))
def test_networks_whose_paths_go_up_and_then_down_always_drain(tmp_path, seed):
    """Theorem 2 (App. D): their backpressure graph is acyclic. Random layers, two data queues a port, so that
    flows do share them."""
    draw = np.random.default_rng([seed, 10])
    leaves, middles, tops = draw.integers(2, 5), draw.integers(2, 4), draw.integers(1, 3)
    hosts = 3 * leaves
    ups = {
        f"l{n}": [f"m{m}" for m in draw.permutation(middles)[: draw.integers(1, middles + 1)]] for n in range(leaves)
    }
    links = [(f"h{n}", f"l{n // 3}") for n in range(hosts)]
    links += [(leaf, m) for leaf, over in ups.items() for m in over]
    links += [
        (f"m{m}", f"t{t}") for m in range(middles) for t in range(tops) if any(f"m{m}" in v for v in ups.values())
    ]

    def way(a: int, b: int) -> list[str]:
        first, last = f"l{a // 3}", f"l{b // 3}"
        if first == last:
            return [first]
        up, down = draw.choice(ups[first]), draw.choice(ups[last])
        return [first, up, last] if up == down else [first, up, f"t{draw.integers(tops)}", down, last]

    pairs = [draw.permutation(hosts)[:2] for _ in range(40)]
    starts = np.sort(draw.choice(30_000, len(pairs), replace=False))  # flows are numbered in order of their starts
    flows = [(a, b, draw.integers(1_000, 600_000), at) for (a, b), at in zip(pairs, starts, strict=True)]
    results = graph(tmp_path, links, [way(a, b) for a, b in pairs], flows, queues=3)
    assert (results.flows["status"] == "completed").all()
    assert results.tables["ports"]["pauses"].sum() > 100


def test_a_ring_stands_still_as_often_as_all_its_ports_have_both_flows_in_one_queue(tmp_path):
    """Of m queues, drawn at random: once in m³. With sixteen a cycle of the graph is not a deadlock any more
    (App. D says when there is none, not when there is one)."""
    links = [(f"h{n}", f"s{n % 3}") for n in range(6)] + [("s0", "s1"), ("s1", "s2"), ("s2", "s0")]
    paths = [[f"s{(n + k) % 3}" for k in range(3)] for n in range(3)]
    flows = [(n, 3 + (n + 2) % 3, 500_000, 0) for n in range(3)]

    def stands(queues: int, seed: int) -> bool:
        found = graph(tmp_path, links, paths, flows, 1 + queues, seed, until="1ms").flows["status"]
        return bool((found != "completed").any())

    assert stands(1, 1)
    still = sum(stands(2, seed) for seed in range(64))
    assert 3 <= still <= 16, "one in eight"
    assert not any(stands(16, seed) for seed in range(12))


def test_an_incast_takes_three_of_its_periods_and_the_published_memory():
    """P13 of the design: 20 MB through one link, one every 500 us; 1 BDP of each of 100 senders before any of them is
    notified (§3.6.2.2)."""
    study = papers.find(str(FOLDER))
    fabric, settings = study.module("fabric"), study.module("settings")
    best = fabric.BURST * 8 / fabric.RATE
    leaves, spines, _ = fabric.PUBLISHED
    period = fabric.BURST * 8 / (0.05 * leaves * spines * fabric.RATE)
    assert (best, period) == (pytest.approx(1.6e-3), pytest.approx(500e-6))
    assert best / period == pytest.approx(3.2), "incasts at once, if each goes as fast as it can"
    # 8 us at line rate are 100 KB; the windows of all schemes add the packets that a round trip has in hand.
    assert pytest.approx(10e6) == 100 * 8e-6 * settings.LINE / 8
    assert 100e3 < settings.BDP * settings.MTU < 110e3
