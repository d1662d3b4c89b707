"""The study of BFC: flows of one egress against a model of its own, its sizes, its fluid."""

import heapq
import sys
from importlib import util
from pathlib import Path

import numpy as np
import pytest

import thalweg
from thalweg import Scenario

FOLDER = Path(__file__).parents[2] / "papers" / "bfc"


def part(name):
    """A module of the study that imports no other."""
    spec = util.spec_from_file_location(f"bfc_{name}", FOLDER / f"{name}.py")
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def in_step(flows: int, apart: float, until: float) -> float:
    """Packets of 1020 B from `flows` senders of 100 Gb/s to one link of 100 Gb/s, a queue each, Th = 25 kB / queues that hold any; a queue
    is resumed when the last packet that found it too long leaves. Utilisation from the first packet on; ns."""
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
