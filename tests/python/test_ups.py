"""The arithmetic of the study of universal packet scheduling, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from conftest import assert_whole
from thalweg import papers

PAPER = papers.find(str(Path(__file__).parents[2] / "papers" / "ups"))


def part(name: str):
    return PAPER.module(name)


numbers = part("numbers")
US, MS, S = 10**6, 10**9, 10**12  # ps


class Fake:
    """What a measure reads of a run."""

    def __init__(self, name: str, end: float = 1.0, flows=None, packets=None, **tables):
        self.path, self.digest = name, name
        self.packets = pl.LazyFrame(packets or {})
        self.summary = {"simulated_seconds": end}
        self.flows = pl.DataFrame(flows or {})
        self.tables = {k: pl.DataFrame(v) for k, v in tables.items()}

    def seconds(self, column: str):
        values = self.flows[f"{column}_ps"].to_numpy().astype(float)
        return np.where(values < 0, np.nan, values) * 1e-12


class Runs(dict):
    scale = "quick"
    rows: ClassVar[dict] = {}


# --- numbers.py ---------------------------------------------------------------------------------------------


def test_buckets_hold_all_sizes_of_the_workload():
    sizes = np.array([1, 2, 3, 5, 7, 40, 72, 137, 267, 1187, 2107]) * 1460
    held = [int(numbers.in_bucket(sizes, b).sum()) for b in numbers.BUCKETS]
    assert held == [1, 4, 4, 1, 1] and sum(held) == len(sizes)
    assert numbers.packets([1, 1460, 1461]).tolist() == [1, 1, 2]


def test_bins_are_half_open():
    got = numbers.binned([0, 1, 1, 0], [0, 9, 10, 20], [100, 200, 300, 400], flows=2, width=10, bins=2)
    assert got.tolist() == [[100, 200], [0, 300]]
    got = numbers.binned([0, 0, 0], [4, 5, 14], [1, 2, 3], flows=1, width=10, bins=1, begin=5)
    assert got.tolist() == [[5]]


def test_settling_means_for_good():
    assert numbers.settles([0.1, 0.96, 0.9, 0.97, 0.99], 0.95) == 4
    assert numbers.settles([0.96, 0.99], 0.95) == 1
    assert numbers.settles([0.99, 0.90], 0.95) == numbers.NEVER


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ((2000, 100, 100), (4761.9, 238.1, 761.9)),
        ((900, 100, 100), (4500, 500, 500)),
        ((500, 100, 100), (4166.7, 500, 500)),
        ((200, 100, 100), (3333.3, 500, 500)),
        ((100, 100, 100), (2500, 500, 500)),
        ((100, 100, 500), (2500, 166.7, 833.3)),
    ],
)
def test_two_bottlenecks_are_not_max_min(weights, expected):
    assert numbers.weighted_shares(*weights) == pytest.approx(expected, abs=0.05)


def test_a_lead_settles_when_it_is_largest_but_for_a_packet():
    # 4 packets of 100 B at once, then one per 10: exactly the share of 10 B per unit of time.
    at = [1, 2, 3, 4, 14, 24, 34]
    assert numbers.lead_settles(at, [100] * 7, rate=10, packet=100) == 3
    assert numbers.lead_settles([10, 20, 30], [100] * 3, rate=10, packet=100) == 10


def test_the_good_range_is_within_a_tenth_of_the_best():
    assert numbers.good_range({10: 1.2, 20: 1.05, 50: 1.0, 100: 1.1, 200: 1.11}) == (50, 20, 100)


def test_a_percentile_of_bins_lies_inside_its_bin():
    assert numbers.percentile_of_bins([0, 10], [10, 30], [90, 10], 99) == pytest.approx(10 + 0.9 * 20)
    assert numbers.percentile_of_bins([0, 10, 20], [10, 20, 30], [50, 0, 50], 50) == pytest.approx(10)


# --- what runs say ------------------------------------------------------------------------------------------


def test_unfinished_flows_count_with_their_age_and_round_trips_by_size():
    flows = {
        "measured": [1, 1, 1, 0],
        "status": ["completed", "censored", "completed", "completed"],
        "size": [1460, 14600, 2920, 1460],
        "start_ps": [0, S // 2, 0, 0],
        "fct_ps": [S // 10, -1, S // 5, 7],
        "rtt_ps": [20 * MS, 50 * MS, -1, 7],
    }
    found = part("outcome").Flows(Fake("flows", 2.0, flows))
    assert found.fct.tolist() == pytest.approx([0.1, 1.5, 0.2]) and found.censored == 1
    assert found.average == pytest.approx(0.6)
    assert found.bytes_fct == pytest.approx((1 * 0.1 + 10 * 1.5 + 2 * 0.2) / 13)
    assert found.bytes_rtt == pytest.approx((1 * 0.02 + 10 * 0.05) / 11)
    assert found.fct_of("2-7").tolist() == pytest.approx([0.2])


def test_rates_and_indices_count_what_arrives():
    fairness = part("fairness")
    # Two flows, one packet of 1000 B each in the first millisecond, then only flow 1; neither an ACK counts
    # nor what never came.
    packets = {
        "flow": [0, 1, 1, 1, 0],
        "forward": [1, 1, 1, 0, 1],
        "exit_ps": [MS // 2, MS - 1, MS, 2, -1],
        "wire": [1000, 1000, 1000, 40, 1000],
    }
    run = Fake("index", 0.02, {"src": [0, 1]}, packets=packets)
    assert fairness.indices(run)[:3] == [1.0, 0.5, 0.0]


def test_flows_of_figure_12_are_told_by_section_not_by_number():
    fairness = part("fairness")
    packets = {
        "flow": [0, 1, 2, 2],
        "forward": [1] * 4,
        "exit_ps": [16 * MS] * 3 + [14 * MS],
        "wire": [1500, 3000, 4500, 1],
    }
    run = Fake("sections", 0.03, {"group": [2, 0, 1]}, packets=packets)
    assert fairness.throughput(run).tolist() == pytest.approx([1.6, 2.4, 0.8])


def test_flows_per_link_go_by_the_lowest_next_hop():
    count = part("fairness").flows_per_link(
        [(0, 3)], [(a, b) for a, b in [(0, 1), (0, 2), (1, 3), (2, 3)] for a, b in [(a, b), (b, a)]]
    )
    assert [link for link, n in count.items() if n] == [(0, 1), (1, 3)]


# --- the study as a whole -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_claim_has_its_measure_and_every_need_its_run(scale):
    assert_whole(PAPER, scale)


def test_every_network_has_its_scenarios():
    for spec in PAPER.module("study").runs("full"):
        assert spec.replay or (PAPER.folder / spec.scenario).is_file(), spec.scenario


def test_the_late_threshold_is_a_packet_time():
    settings = part("settings")
    assert settings.GIGABIT == 11_680_000
    assert settings.NETWORKS["datacenter"].late == 1_168_000
    assert settings.NETWORKS["10g-10g"].late == 10_503_598
    assert [settings.split(settings.point(n, 70)) for n in settings.NETWORKS] == [(n, 70) for n in settings.NETWORKS]


def finished(name: str, fct: float, rtt: float = 0.1, **summary) -> Fake:
    """A run whose one flow has taken so long."""
    flows = {"measured": [1], "status": ["completed"], "size": [1460], "start_ps": [0]}
    flows |= {"delivered": [1460], "timeouts": [0], "drops": [0]}
    made = Fake(name, 10.0, flows | {"fct_ps": [round(fct * S)], "rtt_ps": [round(rtt * S)]})
    made.summary |= summary
    return made


def summarised(name: str, **summary) -> Fake:
    made = Fake(name)
    made.summary |= summary
    return made


def judged(claim: str, runs: dict) -> list[str]:
    """What is wrong if the runs are these."""
    call = PAPER.module("study")._thalweg_measures[claim].call
    return next(c for c in PAPER.claims if c.id == claim).judge(call(Runs(runs)))


PLACES = {"a": "i2-30", "b": "i2-50", "c": "i2-70", "d": "1g-1g-70", "f": "rocketfuel-70", "g": "datacenter-70"}


@pytest.mark.parametrize("name", PLACES)
def test_the_published_mean_completion_times_pass(name):
    fct, place = part("fct"), PLACES[name]
    runs = {f"fct-{place}:{s}@1": x for s, x in zip(fct.FOUR, fct.PUBLISHED[place], strict=True)}
    assert judged(f"UPS-F2{name}", {k: finished(f"F2 {k}", x) for k, x in runs.items()}) == []


def test_the_published_gap_grows_with_load():
    fct = part("fct")
    rows = {p: row for p, row in fct.PUBLISHED.items() if row}
    runs = {f"fct-{p}:{s}@1": x for p, row in rows.items() for s, x in zip(fct.FOUR, row, strict=True)}
    assert judged("UPS-F2h", {k: finished(f"F2h {k}", x) for k, x in runs.items()}) == []
    runs["fct-i2-50:sjf@1"] = 0.1
    assert len(judged("UPS-F2h", {k: finished(f"F2h' {k}", x) for k, x in runs.items()})) == 1


def measured(claim: str, runs: dict, rows: dict | None = None) -> dict:
    there = Runs(runs)
    there.rows = rows or {}
    return PAPER.module("study")._thalweg_measures[claim].call(there)


def test_what_is_true_of_every_row_is_the_same_from_rows_as_kept():
    """Figure 2: all rows from runs; some as kept, without their runs; and a row without a claim of its own."""
    fct = part("fct")
    table = {p: row or (0.4, 0.3, 0.3, 0.3) for p, row in fct.PUBLISHED.items()}
    runs = {
        f"fct-{p}:{s}@1": finished(f"rows {p} {s}", x)
        for p, row in table.items()
        for s, x in zip(fct.FOUR, row, strict=True)
    }
    for some in (list(fct.CLAIMS), ["i2-50", "datacenter-70"]):
        rows = {fct.CLAIMS[p]: measured(fct.CLAIMS[p], runs) for p in some}
        left = {k: r for k, r in runs.items() if not k.startswith(tuple(f"fct-{p}:" for p in some))}
        assert measured("UPS-F2h", left, rows) == pytest.approx(measured("UPS-F2h", runs))
    # Table 2: of every row the best estimate and its range.
    shares = part("shares")
    runs = {
        f"fair-{p}:{s}@1": finished(f"rows {p} {s}", 1 + 0.3 * (s == f"lstf-{worst}"))
        for p, worst in zip(shares.ORDER, (10, 20, 30, 40), strict=True)
        for s in ("fifo", "fq", "lstf-10", "lstf-20", "lstf-30", "lstf-40")
    }
    rows = {
        c: measured(c, {k: r for k, r in runs.items() if k.startswith(f"fair-{p}:")}) for p, c in shares.ORDER.items()
    }
    assert measured("UPS-T2g", {}, rows) == pytest.approx(measured("UPS-T2g", runs))


@pytest.mark.parametrize("name", PLACES)
def test_the_published_delays_pass(name):
    tail, place = part("tail"), PLACES[name]
    d, d_lstf, d99, d99_lstf = (1e6 * x for x in tail.PUBLISHED[place])
    runs = {}
    for s, average, above in (("fifo", d, d99), ("fifo+", d_lstf, d99_lstf)):
        table = {"from_ps": [0.0, 0.998e6 * above], "to_ps": [1e6, 1.002e6 * above], "packets": [98, 2]}
        runs[f"tail-{place}:{s}@1"] = Fake(s, delays=table)
        runs[f"tail-{place}:{s}@1"].summary["packets"] = {"delay_us": {"mean": average}}
    assert judged(f"UPS-F3{name}", runs) == [] and judged("UPS-F3h", runs) == []


@pytest.mark.parametrize("name", "abcdefgh")
def test_the_published_times_of_figure_6_pass(name):
    edge = part("edge")
    place = dict(zip("abcdefgh", edge.PUBLISHED, strict=True))[name]
    rows = zip(edge.FIVE, *edge.PUBLISHED[place][:2], strict=True)
    runs = {f"fair-{place}:{s}@1": finished(f"F6 {place} {s}", fct, rtt) for s, fct, rtt in rows}
    assert judged(f"UPS-F6{name}", runs) == []
    for claim in "jkl" if name == "h" else "ijkl":
        if claim != "i" or place.startswith("tenth"):
            assert judged(f"UPS-F6{claim}", runs) == [], claim


@pytest.mark.parametrize("name", "abcef")
def test_the_published_table_2_passes(name):
    shares = part("shares")
    place = {**PLACES, "e": "tenth-70"}[name]
    (fifo, fq, lstf), best, _ = shares.PUBLISHED[place]
    values = {"fifo": fifo, "fq": fq, f"lstf-{best}": lstf, "lstf-900": 2 * lstf}
    runs = {f"fair-{place}:{s}@1": finished(f"T2 {place} {s}", x) for s, x in values.items()}
    assert judged(f"UPS-T2{name}", runs) == []


def test_the_published_refresh_thresholds_pass():
    edge = part("edge")
    seen = {"refreshes_by_delay": 3, "refreshes_by_gap": 2, "refreshes_by_gap_at_low_delay": 1}
    runs = {
        f"fair-tenth-70:{edge.refreshed(ms)}@1": finished(f"T4 {ms}", *row, edge=seen)
        for ms, row in edge.REFRESH.items()
    }
    assert judged("UPS-T4a", runs) == [] and judged("UPS-T4b", runs) == []


@pytest.mark.parametrize(("name", "percent"), [("a", 30), ("b", 50), ("c", 70)])
def test_the_published_table_3_passes(name, percent):
    edge = part("edge")
    rows = zip(edge.THREE, *edge.MARKING[percent], strict=True)
    runs = {f"{edge.marked_key(percent, s)}@1": finished(f"T3 {percent} {s}", fct, 1e-3 * rtt) for s, fct, rtt in rows}
    assert judged(f"UPS-T3{name}", runs) == []


def test_the_published_table_1_passes():
    replays = part("replays")
    runs = {}
    for row, published in replays.TABLE.items():
        ov, ov_t = published or (0.02, None)
        runs[f"{replays.replayed(*row)}@1"] = {"overdue": ov, "overdue_beyond_threshold": ov_t or 0.0}
    for row, ov in replays.PREEMPTIVE.items():
        runs[f"{replays.replayed(*row, 'preemptive')}@1"] = {"overdue": ov, "overdue_beyond_threshold": 0.0}
    ov, ov_t = replays.PRIORITIES[replays.DEFAULT]
    runs[f"{replays.replayed(*replays.DEFAULT, 'priorities')}@1"] = {"overdue": ov, "overdue_beyond_threshold": ov_t}
    for key, published in replays.POINTS.items():
        runs[f"{key}>lstf@1"]["congestion_points"] = [100 * published.get(n, 0.0) for n in range(5)]
        runs[f"{key}>lstf@1"]["congestion_points"][0] += 100 * (1 - sum(published.values()))
    runs[f"{replays.replayed(*replays.DEFAULT)}@1"]["hops"] = {"min": 4, "max": 7}
    for s in replays.ORIGINALS:
        runs[f"{replays.replayed('i2-70', s)}@1"]["not_slower"] = 0.9
    made = {k: summarised(k, **v) for k, v in runs.items()}
    claims = [c.id for c in PAPER.claims if c.id.startswith(("UPS-T1", "UPS-CP", "UPS-F1a")) and c.id != "UPS-T1x"]
    assert len(claims) == 28
    assert {c: wrong for c in claims if (wrong := judged(c, made))} == {}
