"""The arithmetic of the study of TIMELY, by hand."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import thalweg
from conftest import assert_whole
from thalweg import papers

PAPER = papers.find(str(Path(__file__).parents[2] / "papers" / "timely"))


def part(name: str):
    return PAPER.module(name)


numbers, settings = part("numbers"), part("settings")
US, MS, S = 10**6, 10**9, 10**12  # ps


class Config:
    def __init__(self, measure: dict):
        self._measure = measure

    def to_dict(self) -> dict:
        return {"measure": self._measure}


class Fake:
    """What a measure reads of a run."""

    def __init__(self, name: str, measure: dict | None = None, flows=None, summary=None, packets=None, **tables):
        self.path, self.digest = name, name
        self.scenario = Config({"from": "0s"} | (measure or {}))
        self.summary = {"drops": 0, "pauses": {"frames": 0}} | (summary or {})
        self.flows = pl.DataFrame(flows or {})
        self.packets = pl.LazyFrame(packets or {})
        self.tables = {k: pl.DataFrame(v) for k, v in tables.items()}

    def seconds(self, column: str):
        values = self.flows[f"{column}_ps"].to_numpy().astype(float)
        return np.where(values < 0, np.nan, values) * 1e-12


class Runs(dict):
    scale = "quick"


def round_trips(at_us, flow, rtt_us, rate_mbps=None) -> dict:
    n = len(at_us)
    return {
        "time_ps": [round(x * US) for x in at_us],
        "flow": list(flow),
        "rtt_ps": [round(x * US) for x in rtt_us],
        "pace": [round(x * 1e6) for x in (rate_mbps if rate_mbps is not None else [500] * n)],
    }


# --- numbers.py ---------------------------------------------------------------------------------------------


def test_a_segment_of_16_KB_is_twelve_packets():
    assert numbers.packets(16_000) == [1500] * 11 + [138 + 58]
    assert numbers.on_wire(16_000) == 16_696
    assert numbers.packets(2 * 1442) == [1500, 1500]


def test_the_idle_round_trip_stores_the_last_packet_once_more():
    # One packet of 1500 B: 0.3 us through the second link of 40 Gb/s, and an ACK of 64 B over both.
    assert numbers.idle_rtt(1442, (10e9, 40e9), 0.0) == pytest.approx((1500 / 40 + 64 / 10 + 64 / 40) * 8e-9)
    # Packets of 1500 and 196 B over equal links: the second waits for the first, which takes 1.2 us from when
    # it is there.
    two = (1500 + 1500 + 196) * 8e-10 - 1696 * 8e-10
    assert numbers.idle_rtt(1442 + 138, (10e9, 10e9), 1e-6) == pytest.approx(two + 2 * 64 * 8e-10 + 4e-6)


def test_every_branch_of_algorithm_1_by_hand():
    rule = numbers.Algorithm1(50e-6, 500e-6)
    assert rule.step(1e9, 49e-6, gradient=9.0) == (1.01e9, "below T_low")
    assert rule.step(1e9, 1000e-6, gradient=-9.0) == (pytest.approx(0.6e9), "above T_high")
    assert rule.step(1e9, 100e-6, gradient=0.0) == (1.01e9, "increase")
    assert rule.step(1e9, 100e-6, gradient=-0.1, negative=4) == (1.01e9, "increase")
    assert rule.step(1e9, 100e-6, gradient=-0.1, negative=5) == (1.05e9, "hyper")
    assert rule.step(1e9, 100e-6, gradient=0.25) == (pytest.approx(0.8e9), "decrease")
    assert rule.step(1e9, 100e-6, gradient=0.25, f=0.5) == (pytest.approx(0.9e9), "decrease")
    assert rule.step(1e9, 100e-6, gradient=3.0) == (0.5e9, "decrease")  # half at most
    assert rule.step(15e6, 100e-6, gradient=3.0)[0] == 10e6  # the floor
    assert rule.step(9.999e9, 49e-6, gradient=0.0)[0] == 10e9  # the line


def test_the_first_sample_changes_nothing_and_history_is_kept_in_all_branches():
    rule = numbers.Algorithm1(50e-6, 500e-6, alpha=0.5)
    at, rtt = np.array([0, 1e-3, 2e-3]), np.array([40e-6, 46e-6, 61e-6])
    rates, ran = rule.rates(at, rtt, 1e9)
    # The second is below T_low: +10 Mb/s, difference 0.5 x 6 = 3 us. The third: 0.5 x 3 + 0.5 x 15 = 9 us,
    # gradient 0.3.
    assert rates.tolist() == pytest.approx([1e9, 1.01e9, 1.01e9 * (1 - 0.8 * 0.3)])
    assert ran["first"] == ran["below T_low"] == ran["decrease"] == 1 and ran["scaled"] == 0


def test_updates_within_minrtt_are_scaled():
    rates, ran = numbers.Algorithm1(50e-6, 500e-6).rates([0.0, 15e-6], [20e-6, 20e-6], 1e9)
    assert rates[1] == pytest.approx(1.005e9) and ran["scaled"] == 1


def test_five_negative_gradients_in_a_row_make_it_hyper_active():
    at, rtt = np.arange(8) * 1e-3, (200 - np.arange(8)) * 1e-6
    rates, ran = numbers.Algorithm1(50e-6, 500e-6).rates(at, rtt, 1e9)
    assert np.diff(rates).tolist() == pytest.approx([10e6] * 4 + [50e6] * 3)
    assert ran["increase"] == 4 and ran["hyper"] == 3
    # A positive one in between starts the count again: then five more are needed.
    rtt = np.array([200, 190, 180, 170, 160, 300, 200, 100, 90, 80, 70]) * 1e-6
    _, ran = numbers.Algorithm1(50e-6, 500e-6, alpha=1.0).rates(np.arange(11) * 1e-3, rtt, 1e9)
    assert (ran["increase"], ran["decrease"], ran["hyper"]) == (8, 1, 1)


def test_decile_gaps_allow_5_us_or_15_per_cent():
    y = np.linspace(0, 200, 1001)
    assert numbers.decile_gaps(y, y).max() == 0
    gaps = numbers.decile_gaps(y + 10, y)
    assert gaps[0] == pytest.approx(10 / 5) and gaps[-1] == pytest.approx(10 / 27)


def test_a_mean_rate_holds_the_latest_of_each_flow():
    grid = [0.0, 1.0, 2.0, 3.0]
    got = numbers.mean_rate([0.5, 1.5, 1.0], [7, 7, 9], [100, 300, 500], grid)
    assert got.tolist() == [(100 + 500) / 2, (100 + 500) / 2, (300 + 500) / 2, (300 + 500) / 2]


def test_reaching_is_the_first_time_and_may_never_be():
    assert numbers.reaches([0, 1, 2], [5, 10, 7], 10) == 1
    assert numbers.reaches([0, 1, 2], [5, 9, 7], 10) == numbers.NEVER


def test_saturation_is_the_largest_load_that_is_accepted():
    assert numbers.saturation({0.1: 0.97, 0.2: 0.99, 0.3: 0.98, 0.4: 0.9}) == 0.3
    assert numbers.saturation({0.1: 0.5}) == 0


# --- settings.py --------------------------------------------------------------------------------------------


def test_keys_say_what_differs_and_nothing_else():
    keys = {settings.TIMELY: "timely:default", settings.target(500): "timely:500-500us"}
    keys[settings.but(segment=64, pace=700, low=0)] = "timely:64KB+700Mbps+0-500us"
    keys |= {settings.PFC: "pfc:default", settings.PFC3: "pfc:3cap", settings.but(ports=2): "timely:two-ports"}
    assert {p: p.key for p in keys} == keys


def test_all_schemes_of_a_seed_see_the_same_starts():
    one, other = settings.TIMELY.set(3)["traffic"], settings.PFC.set(3)["traffic"]
    assert one == other and one != settings.TIMELY.set(4)["traffic"]
    assert len(one) == 40 and len({t["src"] for t in one}) == 10 and {t["dst"] for t in one} == {0}


def test_two_ports_share_the_connections_of_every_client():
    set = settings.but(ports=2).set(1)
    pairs = [(t["src"], t["dst"]) for t in set["traffic"]]
    assert all(pairs.count((c, s)) == 2 for c in range(2, 12) for s in (0, 1))
    assert set["topology.hosts"] == 12 and set["measure.links.ports"] == [1, 3]


def test_noise_pacing_and_shares_are_set_where_they_belong():
    set = settings.but(noise=50, pace=700, segment=64, each=10, start="line").set(1)
    assert set["transport.rtt.noise"] == "50us" and set["transport.segments.nic_pace"] == "700Mbps"
    assert set["transport.segments.bytes"] == "64KB" and set["transport.congestion.initial_share"] == 1.0
    assert settings.but(each=10).set(1)["transport.congestion.initial_share"] == pytest.approx(0.1)
    assert settings.PFC.set(1)["transport.congestion"] == "fixed"


# --- what runs say ------------------------------------------------------------------------------------------


def test_throughput_and_shares_count_from_the_measured_window_on():
    run = Fake(
        "counters",
        {"from": "1500ms"},
        links={
            "time_ps": [S, 3 * S // 2, 2 * S],
            "port": [1] * 3,
            "packets": [0] * 3,
            "bytes": [9 * 10**8, 10**9, 2 * 10**9],
        },
        controllers={
            "time_ps": [3 * S // 2] * 2 + [2 * S] * 2,
            "flow": [1, 0] * 2,
            "delivered": [10**6, 0, 10**6 + 10**8, 3 * 10**8],
        },
    )
    outcome = part("outcome")
    assert outcome.throughput(run) == pytest.approx(16.0)
    assert outcome.goodput(run).tolist() == pytest.approx([4800, 1600])
    assert outcome.fairness(run) == pytest.approx(0.8)


def test_the_trace_check_finds_a_wrong_rate():
    algorithm = part("algorithm")
    at, rtt = np.arange(20) * 1000.0, 60 + 30 * np.sin(np.arange(20))
    rule = numbers.Algorithm1(50e-6, 500e-6)
    rates, _ = rule.rates(at * 1e-6, rtt * 1e-6, 2.5e9)
    good = Fake("good", round_trips=round_trips(at, [3] * 20, rtt, rates / 1e6))
    worst, ran = algorithm.compared(good, rule, 2.5e9)
    assert worst < 1e-6 and sum(ran[b] for b in algorithm.BRANCHES if b in ran) == 19
    rates[10:] *= 1.001
    bad = Fake("bad", round_trips=round_trips(at, [3] * 20, rtt, rates / 1e6))
    assert algorithm.compared(bad, rule, 2.5e9)[0] > 5e-4


def test_the_fluid_test_finds_its_three_slopes():
    # 0.2 us per us for 5 ms, then down by 0.4 for 2.5 ms, then empty.
    came = np.arange(0, 9000, 20.0)
    queue = np.where(came < 5000, 0.2 * came, np.maximum(1000 - 0.4 * (came - 5000), 0))
    rtt = 30 + queue
    run = Fake("fluid", round_trips=round_trips(came + rtt, [0] * len(came), rtt))
    assert part("algorithm").slopes(run) == pytest.approx((0.2, -0.4, 0.0), abs=2e-3)


def test_the_queueing_delay_is_the_round_trip_less_the_idle_one():
    base = numbers.idle_rtt(64_000, (10e9, 10e9), 7.5e-6) * 1e6
    run = Fake(
        "queue",
        {"from": "10us"},
        packets={
            "forward": [1, 1, 0, 1],
            "ingress_ps": [11 * US, 12 * US, 13 * US, 9 * US],
            "wire": [1500, 610, 64, 1500],
            "waited_ps": [4 * US, 12 * US, 7, 8],
        },
        round_trips=round_trips([10, 20], [0, 1], [base, base + 12]),
        queues={"time_ps": [0, 10 * US, 11 * US], "port": [1] * 3, "bytes": [99, 0, 15_000]},
    )
    found = part("algorithm").queueing(run)
    assert found["RTT - base"].tolist() == pytest.approx([0, 12], abs=1e-5)
    assert found["packets"].tolist() == pytest.approx([4, 12]) and found["last"].tolist() == pytest.approx([12])
    assert found["time"].tolist() == pytest.approx([0, 12])


def test_nine_of_ten_connections_of_every_client_stop():
    recovery = part("recovery")
    made = recovery.traffic(1)
    assert len(made) == 100 and {one["dst"] for one in made} == {0}
    stay = [one["src"] for one in made if "until" not in one]
    stop = [one["src"] for one in made if one.get("until") == "2.0s"]
    assert stay == list(range(1, 11)) and stop == stay * 9
    assert len({one["start"] for one in made}) > 90


def test_survivors_are_those_that_do_not_stop():
    recovery = part("recovery")
    at = [1_900_000.0, 1_900_000.0, 2_030_000.0, 2_060_000.0]
    run = Fake(
        "survivors",
        flows={"id": [0, 1], "end": ["stopped", "censored"]},
        round_trips=round_trips(at, [0, 1, 1, 1], [40] * 4, [9999, 200, 1600, 2000]),
    )
    assert recovery.time_to(1500)(run) == pytest.approx(30, abs=0.11)
    assert recovery.time_to(1950)(run) == pytest.approx(60, abs=0.11)


# Two calls (flows 0 and 3, answers 1 and 4) and pings (2 and 5); the second call has no answer, the second ping no ACK.
CALLS = {
    "id": list(range(6)),
    "src": [0, 9, 4, 1, 8, 2],
    "dst": [9, 0, 7, 8, 1, 3],
    "size": [64_000, 64_000, 64, 64_000, 64_000, 64],
    "group": [0, 0, 1, 0, 0, 1],
    "after": [-1, 0, -1, -1, 3, -1],
    "start_ps": [20 * MS, 20 * MS + 80 * US, 30 * MS, 59 * MS, -1, 58 * MS],
    "received_ps": [20 * MS + 80 * US, 20 * MS + 150 * US, 30 * MS + 9 * US, 61 * MS, -1, 59 * MS],
    "acked_ps": [-1, -1, 30 * MS + 20 * US, -1, -1, -1],
}


def test_calls_last_from_the_request_to_the_answer():
    found = part("fabric").Calls(Fake("calls", {"from": "20ms", "until": "60ms"}, CALLS))
    assert found.accepted == pytest.approx(2 * 64_000 / 0.04) and found.offered == pytest.approx(4 * 64_000 / 0.04)
    assert found.latency.tolist() == pytest.approx([150, 1000]) and found.unanswered == 1
    assert found.rtt.tolist() == pytest.approx([20, 2000]) and found.lost_pings == 1


def test_what_comes_after_a_pause_and_what_moves_a_rate():
    """One pair: a segment at once, one that waits for 200 us in its host, one after 1 ms of silence; and a
    ping, which does not count."""
    wire = numbers.serialization(numbers.on_wire(64_000), 10e9) * 1e6  # us
    posted, rtt = [20_000, 20_900, 22_300, 22_300], [600, 300, 900, 20]
    run = Fake(
        "seen",
        {"from": "20ms", "until": "60ms"},
        {
            "id": list(range(4)),
            "src": [0, 0, 0, 4],
            "dst": [9, 9, 9, 7],
            "group": [0, 0, 0, 1],
            "start_ps": [20_000 * US, 20_700 * US, 22_300 * US, 22_300 * US],
        },
        round_trips=round_trips(
            [p + wire + r for p, r in zip(posted, rtt, strict=True)], range(4), rtt, [9000, 8000, 8000, 0]
        ),
    )
    found = part("silence").Seen(run)
    assert found.segments == 3
    assert found.share == pytest.approx(
        {"high": 2 / 3, "silent": 2 / 3, "moved": 1 / 3, "held": 1 / 3, "high, of these silent": 1}
    )


def test_pings_go_to_other_pods_once_per_millisecond(tmp_path):
    fabric = part("fabric")
    rows = fabric.pings(4, 20, 1, tmp_path).read_text().splitlines()
    assert rows[0] == "id,src,dst,size_bytes,start_ns"
    table = np.array([[int(x) for x in r.split(",")] for r in rows[1:]])
    assert set(table[:, 1]) == set(range(16)) and (table[:, 3] == 64).all()
    assert (fabric.pod(table[:, 1], 4) != fabric.pod(table[:, 2], 4)).all()
    assert len(table) == 16 * 20 and (np.diff(table[:, 4]) >= 0).all()


def test_the_crowd_is_forty_clients_of_one_server():
    flows = part("fabric").crowd(6, 1)
    assert len({f["src"] for f in flows}) == 40 and len({f["dst"] for f in flows}) == 1
    assert flows[0]["dst"] not in {f["src"] for f in flows}


# --- the study as a whole -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_claim_has_its_measure_and_every_need_its_run(scale):
    assert_whole(PAPER, scale)


def test_every_scenario_is_there_and_has_the_published_constants():
    for spec in PAPER.module("study").runs("full"):
        assert (PAPER.folder / spec.scenario).is_file(), spec.scenario
    for file in (PAPER.folder / "scenarios").glob("*.toml"):
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        congestion = table["transport"]["congestion"]
        if file.stem not in ("fluid", "fabric") and not isinstance(congestion, str) and congestion["kind"] == "timely":
            published = {"t_low": "50us", "t_high": "500us", "beta": 0.8, "additive": "10Mbps"}
            assert congestion.items() >= published.items(), file.stem
            assert congestion["hyper"] == {"after": 5, "step": "50Mbps"}


def test_every_scenario_file_runs_by_itself():
    for file in (PAPER.folder / "scenarios").glob("*.toml"):
        assert thalweg.Scenario.load(file).estimate()["flows"] > 0


def test_every_run_of_the_study_loads(tmp_path):
    for spec in PAPER.module("study").runs("quick"):
        more = spec.prepare({}, tmp_path) if spec.prepare else {}
        thalweg.Scenario.load(PAPER.folder / spec.scenario, {**spec.set, **more})


def judged(claim: str, runs: dict) -> list[str]:
    """What is wrong if the runs are these."""
    call = PAPER.module("study")._thalweg_measures[claim].call
    return next(c for c in PAPER.claims if c.id == claim).judge(call(Runs(runs)))


def finished(name: str, gbps: float, average: float, p99: float, shares=(1, 1), frames: int = 0) -> Fake:
    """A run of one second with this throughput, mean and 99th percentile of round trips, and shares of two
    connections."""
    rtt = [(100 * average - 2 * p99) / 98] * 98 + [p99] * 2
    return Fake(
        name,
        summary={"pauses": {"frames": frames}},
        round_trips=round_trips(range(100), [0, 1] * 50, rtt),
        pauses={"began_ps": [1] * frames},
        links={"time_ps": [0, S], "port": [1, 1], "bytes": [0, round(gbps * 1e9 / 8)]},
        controllers={
            "time_ps": [0, 0, S, S],
            "flow": [0, 1, 0, 1],
            "delivered": [0, 0, *(round(10**6 * s) for s in shares)],
        },
    )


def incast_runs(values: dict, prefix: str) -> dict:
    return {p.key.at(1): finished(f"{prefix} {p.key}", *x) for p, x in values.items()}


def test_the_published_table_3_1_passes():
    incast = part("incast")
    values = {p: (*row, (1, 1.3)) for p, row in incast.TABLE.items()}
    values |= dict.fromkeys((*incast.VARIANTS, settings.PFC3), incast.TABLE[settings.TIMELY])
    runs = incast_runs(values, "T1")
    assert {c: w for c in ("a", "b", "c", "d", "e") if (w := judged(f"TIM-T1-{c}", runs))} == {}
    assert judged("TIM-S-a", runs) == []
    assert len(judged("TIM-T1-d", runs | {"timely:default@1": finished("T1 paused", 19.4, 61, 116, frames=1)})) == 1
    assert len(judged("TIM-T1-a", runs | {"timely:default@1": finished("T1 slow", 18.0, 61, 116)})) == 2


def test_gradient_and_queue_size_are_told_apart():
    incast = part("incast")
    values = {settings.TIMELY: (19.4, 61, 116), incast.LOW: (15, 45, 80), incast.HIGH: (19.6, 500, 520)}
    runs = incast_runs(values, "F7")
    assert judged("TIM-F7-a", runs) == [] and judged("TIM-F7-b", runs) == []
    slow = runs | {f"{settings.TIMELY.key}@1": finished("F7 slow", 14.9, 61, 180)}
    assert len(judged("TIM-F7-a", slow)) == 1 and len(judged("TIM-F7-b", slow)) == 2


def test_the_published_sweeps_pass():
    sensitivity = part("sensitivity")
    noise = {sensitivity.noisy(x, low): (19.4 - x / 20, 61, 116) for x in sensitivity.NOISE for low in (0, 50)}
    assert judged("TIM-F10-a", incast_runs(noise, "F10")) == []
    collapses = {16: {0: 18.9, 50: 19.4}, 32: {0: 12, 50: 15.5}, 64: {0: 10.2, 50: 11.2, 100: 15}}
    sizes = {
        sensitivity.sized(s, low): (collapses[s].get(low, 19.4), 61, 116 + low)
        for s in sensitivity.SEGMENTS
        for low in sensitivity.LOWS
    }
    runs = incast_runs(sizes, "F13")
    assert {c: w for c in "abc" if (w := judged(f"TIM-F13-{c}", runs))} == {}
    paces = {0: (11.2, 10.2), 700: (18.9, 18.4), 500: (18.5, 18.1), 450: (17.5, 17.5)}
    values = {
        sensitivity.paced(p, low): (paces.get(p, (15, 15))[low == 0], 60 if p else 70, 116)
        for p in sensitivity.PACES
        for low in sensitivity.PACED_LOWS
    }
    runs = incast_runs(values, "F14")
    assert {c: w for c in "abc" if (w := judged(f"TIM-F14-{c}", runs))} == {}
    tails = {4: 100, 7: 200, 10: 500}
    values = {sensitivity.bounded(h, c): (19.4, 61, tails[c]) for h in sensitivity.HIGHS for c in sensitivity.EACH}
    runs = incast_runs(values, "F15")
    assert {c: w for c in "abd" if (w := judged(f"TIM-F15-{c}", runs))} == {}


def test_the_published_recovery_passes():
    recovery = part("recovery")

    def run(key: str, at_ms: float) -> Fake:
        at = [1_900_000.0, 2_000_000 + 1000 * at_ms, 2_000_000 + 2000 * at_ms]
        table = round_trips(at, [0] * 3, [40] * 3, [200, 1500, 2000])
        return Fake(f"F16 {key}", flows={"id": [0], "end": ["censored"]}, round_trips=table)

    runs = {f"{k}@1": run(k, 50 if "hai" in k else 140) for k in recovery.KINDS}
    assert judged("TIM-F16-a", runs) == []
    runs["recovery:low-0+hai@1"] = run("slow", 140)
    assert len(judged("TIM-F16-a", runs)) == 2


def test_small_claims_hold_on_what_the_paper_says():
    assert judged("TIM-M2-a", {}) == []
