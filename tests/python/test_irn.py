"""The arithmetic of the study of IRN, by hand, and the study as a whole."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import assert_whole
from thalweg import papers
from thalweg.scenario import Scenario

PAPER = papers.find(str(Path(__file__).parents[2] / "papers" / "irn"))


def part(name: str):
    return PAPER.module(name)


numbers = part("numbers")
settings = part("settings")
G = 10**9
MS = 10**9  # ps


class Fake:
    """What a measure reads of a run."""

    def __init__(self, name: str, flows: dict, end: float = 1.0, **summary):
        self.path, self.digest = name, name
        self.summary = {"simulated_seconds": end} | summary
        self.flows = pl.DataFrame(flows)

    def seconds(self, column: str):
        values = self.flows[f"{column}_ps"].to_numpy().astype(float)
        return np.where(values < 0, np.nan, values) * 1e-12


class Runs(dict):
    scale = "quick"


def judged(claim: str, runs: dict) -> list[str]:
    """What is wrong with a claim, given these runs."""
    values = PAPER.module("study")._thalweg_measures[claim].call(Runs(runs))
    (found,) = [c for c in PAPER.claims if c.id == claim]
    return found.judge({k: float(v) for k, v in values.items()})


# --- numbers.py ---------------------------------------------------------------------------------------------


def test_the_default_is_the_published_set_up():
    assert numbers.bdp(40 * G) == 120_000 and numbers.cap(40 * G) == 110
    assert [numbers.cap(r * G) for r in (10, 100)] == [27, 275]
    assert [numbers.fat_tree(k)[:2] for k in (6, 8, 10)] == [(54, 45), (128, 80), (250, 125)]
    assert numbers.threshold(240_000, 40 * G) == 220_000
    assert numbers.headroom(40 * G) == 20_000 + 3 * 1090 + 64


@pytest.mark.parametrize(
    ("k", "memory", "rate", "expected"),
    [
        (6, 240, 40, 320),
        (6, 60, 10, 320),
        (6, 600, 100, 320),
        (8, 240, 40, 410),
        (10, 240, 40, 510),
        (6, 60, 40, 100),
        (6, 120, 40, 170),
        (6, 480, 40, 600),
    ],
)
def test_rto_high_goes_by_full_inputs(k, memory, rate, expected):
    assert numbers.chosen_rto_high(k, memory * 1000, rate * G) == expected


def test_every_point_has_the_published_memory_and_threshold():
    got = {
        p: (settings.POINTS[p].bytes, settings.pfc(settings.POINTS[p])["switch.pfc"]["threshold"]["xoff"])
        for p in settings.POINTS
    }
    assert got["default"] == (240_000, "220000B") and got["rate-10"] == (60_000, "55000B")
    assert got["rate-100"] == (600_000, "550000B") and got["memory-60"] == (60_000, "40000B")
    assert got["memory-480"] == (480_000, "460000B") and got["xoff-40"] == (240_000, "40000B")


def test_mean_sizes_and_packets_by_hand():
    # 0.5 · 528 + 0.35 · 100 512 + 0.15 · 1 600 000
    assert numbers.mean_size(numbers.HEAVY_TAILED) == pytest.approx(264 + 35_179.2 + 240_000)
    drawn = np.random.default_rng(1).random(400_000)
    p, s = (np.array([x[n] for x in numbers.HEAVY_TAILED]) for n in (1, 0))
    sizes = np.round(np.interp(drawn, p, s))
    assert np.ceil(sizes / 1024).mean() == pytest.approx(numbers.mean_packets(numbers.HEAVY_TAILED), rel=0.01)
    assert numbers.mean_packets(((1000, 0.0), (1000, 1.0))) == 1
    assert numbers.mean_packets(((2048, 0.0), (2048, 1.0))) == 2


def test_the_window_is_as_long_as_the_flows_take():
    # 54 hosts at 28 Gb/s on the wire, and a mean flow of about 293 KB there.
    wire = numbers.mean_size(numbers.HEAVY_TAILED) + 66 * numbers.mean_packets(numbers.HEAVY_TAILED)
    assert numbers.flow_rate(numbers.HEAVY_TAILED, 0.7, 40 * G, 54) == pytest.approx(54 * 28 * G / 8 / wire)
    assert numbers.window(50_000, numbers.HEAVY_TAILED, 0.7, 40 * G, 54) == pytest.approx(0.0776, rel=0.01)


def test_the_cdf_files_are_the_distributions():
    for name, cdf in settings.SIZES.items():
        lines = (PAPER.folder / "scenarios" / f"{name}.cdf").read_text().splitlines()
        rows = [re.sub("#.*", "", line).split() for line in lines]
        assert tuple((int(r[0]), float(r[1])) for r in rows if r) == cdf


def test_distances_out_of_order():
    ahead, again = numbers.out_of_order([0, 2, 3, 1, 3, 4])
    assert ahead.tolist() == [0, 1, 2, 0, -1, 0] and again.tolist() == [False] * 4 + [True, False]


def test_outstanding_counts_from_the_lowest_unacknowledged():
    sent = [(0, 0), (1, 1), (2, 2), (5, 1), (6, 3)]
    assert numbers.outstanding(sent, []) == 4
    assert numbers.outstanding(sent, [(4, 1)]) == 3
    assert numbers.outstanding(sent, [(2, 2)]) == 2, "an acknowledgement at the same time comes first"


# --- what runs say ------------------------------------------------------------------------------------------


def test_unfinished_flows_count_with_their_age():
    flows = {
        "measured": [1, 1, 1, 0],
        "status": ["completed", "censored", "completed", "completed"],
        "size": [1024, 300_000, 1025, 7],
        "start_ps": [0, 500 * MS, 0, 0],
        "fct_ps": [2 * MS, -1, 4 * MS, 7],
        "ideal_ps": [MS, MS, MS, 1],
    }
    found = part("outcome").Flows(Fake("unfinished", flows))
    assert found.fct.tolist() == pytest.approx([2e-3, 0.5, 4e-3]) and found.censored == 1
    assert found.metrics() == pytest.approx({"slow": (2 + 500 + 4) / 3, "fct": 0.506 / 3, "p99": 0.5})
    assert found.of_class("1 KB").tolist() == [True, False, False]
    assert found.of_class("10 KB").tolist() == [False, False, True]


def test_classes_hold_all_sizes():
    found = part("outcome").Flows.__new__(part("outcome").Flows)
    found.size = np.array([32, 1024, 1025, 10_000, 200_000, 200_001, 1_000_000, 3_000_000])
    assert sum(found.of_class(c).sum() for c in part("outcome").CLASSES) == len(found.size)


def test_an_incast_ends_with_its_last_flow():
    flows = {
        "group": [0, 1, 1, 1, 1],
        "start_ps": [0, 0, 0, 9 * MS, 9 * MS],
        "fct_ps": [99 * MS, MS, 3 * MS, 2 * MS, MS],
    }
    assert part("incast").completion_times(Fake("rct", flows)).tolist() == pytest.approx([3e-3, 2e-3])
    flows["fct_ps"][1] = -1
    with pytest.raises(ValueError, match="never ended"):
        part("incast").completion_times(Fake("rct'", flows))


def test_senders_of_several_connections_are_distinct_and_share_the_bytes():
    incast = part("incast")
    rows = incast.drawn(4, 30, 2, 54, 1, 100)
    assert len(rows) == 240
    for event in (0, 100):
        mine = [r for r in rows if r[0] == event]
        assert len({r[1] for r in mine}) == 30 and 0 not in {r[1] for r in mine}
        assert sum(r[3] for r in mine) == incast.TOTAL and {r[2] for r in mine} == {0}


# --- traces.py ----------------------------------------------------------------------------------------------


def test_the_two_traces_differ_in_what_restarts_the_timer_and_in_nothing_else():
    a, b = (r.set for r in part("traces").runs("quick") if r.key.startswith("trace"))
    assert {k for k in a | b if a.get(k) != b.get(k)} == {"name", "transport.timer_restart"}
    assert (a["transport.timer_restart"], b["transport.timer_restart"]) == ("answer", "progress")


def test_all_scenarios_restart_the_timer_as_the_authors_trace_has_it():
    for path in (PAPER.folder / "scenarios").glob("*.toml"):
        assert 'timer_restart = "answer"' in path.read_text(encoding="utf-8"), path


def test_the_slowest_flow_of_a_burst_is_the_one_that_ends_last():
    fake = Fake("burst", {"id": [0, 1, 2], "fct_ps": [3 * MS, 9 * MS, 5 * MS]})
    fake.tables = {"controllers": pl.DataFrame({"flow": [0, 1, 1, 1], "time_ps": [5, 0, 6, 7], "pace": [1, 2, 3, 4]})}
    t, pace = part("traces").slowest(fake)
    assert t.tolist() == pytest.approx([6e-12, 7e-12]) and pace.tolist() == [3, 4]


def test_silences_are_gaps_of_a_flow_in_arrivals():
    traces = part("traces")
    # 218 ns each: 1514 arrivals are the first 330 us and more.
    flow = np.array([0] + [1] * 1514 + [0] + [1] * 1512 + [0])
    assert traces.silences(flow).tolist() == pytest.approx([1515 * 218e-9])
    assert traces.quiet(flow) == {"silences": 1, "fullest bin from (us)": 300}


def test_the_authors_trace_is_checked_answer_by_answer(tmp_path, monkeypatch):
    traces = part("traces")
    monkeypatch.delenv("THALWEG_IRN_TRACES", raising=False)
    with pytest.raises(papers.NotCheckable, match="THALWEG_IRN_TRACES"):
        traces.authors()
    monkeypatch.setenv("THALWEG_IRN_TRACES", str(tmp_path))
    with pytest.raises(papers.NotCheckable, match="recvInput"):
        traces.authors()
    came, said = tmp_path / "recvInput-40Gbps-incast.txt", tmp_path / "recvOutput-40Gbps-incast.txt"
    # Two queue pairs; number 1 of the first comes late, and once more.
    came.write_text("6\n7 1 0\n3 1 0\n7 1 2\n7 1 1\n7 1 1\n3 1 1\n")
    said.write_text("0 1 0 0 0\n0 1 0 0 0\n1 1 2 0 0\n0 3 1 0 0\n0 3 1 0 0\n0 2 1 0 0\n")
    assert judged("IRN-V1a", {}) == ["answers = 6, must be = 140361"]
    said.write_text(said.read_text().replace("1 1 2", "0 1 2"))
    assert any("answers alike" in wrong for wrong in judged("IRN-V1a", {}))
    said.write_text("0 1 0 0 0\n")
    with pytest.raises(papers.NotCheckable, match="6 arrivals and 1 answers"):
        judged("IRN-V1a", {})


def test_the_drop_rate_is_of_data_packets():
    run = Fake("drops", {"packets": [100, 100], "data_drops": [3, 7], "drops": [30, 70]}, drops=100)
    assert part("outcome").drop_rate(run) == 0.05


def test_windows_over_roce_have_no_cap_and_dctcp_loses_as_aimd():
    default = settings.POINTS["default"]
    for cc in ("aimd", "dctcp"):
        assert settings.scheme("roce-pfc", cc, default)["transport.cap"] == settings.UNLIMITED > 3_000_000 / 1024
        assert "transport.cap" not in settings.scheme("irn", cc, default)
    assert settings.control("dctcp", default)["transport.congestion"]["losses"] == "aimd"
    assert settings.control("timely", default)["transport.congestion"]["idle_holds"] is False


def test_scaled_thresholds_are_parts_of_the_memory():
    def marks(place, cc="dcqcn-scaled"):
        found = settings.control(cc, settings.POINTS[place])["switch.marking"]
        return found["min"], found["max"]

    assert marks("default") == marks("default", "dcqcn") == marks("rate-10", "dcqcn") == ("5000B", "200000B")
    assert marks("rate-10") == marks("memory-60") == ("1250B", "50000B") and marks("memory-120")[1] == "100000B"


# --- the published numbers ----------------------------------------------------------------------------------


def finished(name: str, slow: float, fct_ms: float, p99_ms: float) -> Fake:
    """A run whose three metrics are these: 97 flows of one kind, three slow ones; slowdowns need not fit."""
    n = 100
    fct = np.full(n, (fct_ms * n - 2 * p99_ms) / (n - 2)) * MS
    fct[-2:] = p99_ms * MS
    ideal = fct / slow
    columns = {"start_ps": np.zeros(n), "fct_ps": fct, "ideal_ps": ideal}
    flows = {
        "measured": [1] * n,
        "status": ["completed"] * n,
        "size": [1000] * n,
        "packets": [10] * n,
        "data_drops": [0] * (n - 1) + [85],
    } | columns
    return Fake(name, flows, pauses={"frames": 10}, measured={"censored": 0})


TABLES = part("tables")
ROWS = {
    f"{name}-{letter}": (place, cc) for name, place in TABLES.NAMES.items() for letter, cc in TABLES.LETTERS.items()
}


def published_runs(place: str, cc: str, at: str | None = None) -> dict:
    runs = {}
    irn, *ratios = TABLES.PUBLISHED[place, cc]
    runs[f"{at or place}:irn.{cc}@1"] = finished(f"{place} {cc} irn", *irn)
    base = at or TABLES.baseline(place)
    for name, ratio in zip(("roce-pfc", "irn-pfc"), ratios, strict=True):
        key = f"{base}:{name}.{cc}@1"
        runs[key] = finished(f"{place} {key}", *(a / r for a, r in zip(irn, ratio, strict=True)))
    return runs


def test_the_published_rows_are_those_of_the_claims():
    rows = {c.id: c.published for c in PAPER.claims if c.id in ROWS}
    assert rows.keys() == ROWS.keys()
    for claim, text in rows.items():
        found = [tuple(map(float, t.split(","))) for t in re.findall(r"\(([^)]*)\)", text)]
        assert tuple(found) == TABLES.PUBLISHED[ROWS[claim]], claim


@pytest.mark.parametrize("claim", sorted(ROWS))
def test_the_published_rows_pass(claim):
    runs = published_runs(*ROWS[claim], at="long" if claim == "IRN-T2-70-n" else None)
    assert judged(claim, runs) == [] and judged(f"{claim}.ratio", runs) == []


def test_a_row_fails_where_it_should():
    runs = published_runs("default", "none", at="long")
    runs["long:irn.none@1"] = finished("as bad as RoCE", 30.7, 2.6, 50.9)
    assert len(judged("IRN-T2-70-n", runs)) >= 2


def test_the_summary_finds_every_row():
    runs = {}
    for place, cc in TABLES.PUBLISHED:
        mine = published_runs(place, cc)
        runs |= {k: r for k, r in mine.items() if TABLES.baseline(place) == place or ":irn." in k}
    assert len(TABLES.complete(Runs(runs))) == 36
    assert judged("IRN-SUMa", runs) == [] and judged("IRN-SUMb", runs) == [] and judged("IRN-SUMc", runs) == []
    assert judged("IRN-SUMa.ratio", runs) == []
    assert judged("IRN-T7x", runs) == [] and judged("IRN-T2x", runs) == []
    printed = TABLES.printed(Runs(runs))
    assert len(printed) == 3 * (4 + 2 + 1 + 2 + 3 + 3 + 3)
    text = TABLES.markdown(printed)
    assert "| default | none | 8.24 (8.24) |" in text and text.count("Table 4.") == 7
    assert TABLES.csv(printed).splitlines()[1].startswith("4.2,30 % load,none,1.85,1.85")


def test_arithmetic_claims_pass():
    for claim in ("T1b", "P0a", "P0b", "S1f", "S1a", "S1b", "S1c", "S1d", "T9d", "T9e", "T9f"):
        assert judged(f"IRN-{claim}", {}) == []


# --- verbs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", ["V2b", "V2c", "V2d", "V2e", "V2f", "S1e"])
def test_the_semantics_of_verbs_hold(claim):
    assert judged(f"IRN-{claim}", {}) == []


def test_a_look_at_random_messages_finds_what_is_wrong():
    watched = part("messages").Watched(3)
    every = sum(m.packets for m in watched.messages)
    assert (watched.out_of_turn, watched.missing, watched.ends_well()) == (0, 0, True)
    watched._look(every, len(watched.messages))
    assert (watched.out_of_turn, watched.missing) == (0, 0)
    watched._look(every - 1, len(watched.messages) - 1)
    assert watched.out_of_turn == 1 and watched.missing == 0, "more is seen than what has arrived without a gap entails"
    lost = next(m for m in watched.messages if m.kind == "write" and m.data)
    lost.place.store(bytes(len(lost.data)))
    watched._look(every, len(watched.messages))
    assert watched.out_of_turn == 1 and watched.missing > 0 and not watched.ends_well()


def test_a_case_meets_what_it_is_for():
    found = part("verbs").cases("quick")
    assert all(found[f"{k}: came early"] > 100 for k in part("messages").CONDITIONS)


# --- the study as a whole -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_claim_has_its_measure_and_every_need_its_run(scale):
    assert_whole(PAPER, scale)


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_scenario_resolves(scale, tmp_path):
    for spec in PAPER.module("study").runs(scale):
        if scale == "full" and not spec.key.endswith("@1"):
            continue
        more = spec.prepare({}, tmp_path) if spec.prepare else {}
        resolved = Scenario.load(PAPER.folder / spec.scenario, {**spec.set, **more}).to_dict()
        if resolved["transport"]["kind"] == "rdma" and "-pfc." in spec.key:
            assert resolved["transport"]["timer"] == {"kind": "off"}, spec.key


def test_schemes_do_not_change_the_flows():
    specs = {s.key: s for s in PAPER.module("study").runs("quick")}
    keys = [k for k in specs if k.startswith("default:")]
    flows = {Scenario.load(PAPER.folder / specs[k].scenario, specs[k].set).flows_csv() for k in keys}
    assert len(keys) > 30 and len(flows) == 1
    (text,) = flows
    assert 4500 < len(text.splitlines()) < 5500


def test_the_load_counts_headers():
    spec = next(s for s in PAPER.module("study").runs("full") if s.key == "default:irn.none@1")
    sizes = []
    for seed in range(1, 9):
        text = Scenario.load(PAPER.folder / spec.scenario, {**spec.set, "seed": seed}).flows_csv()
        sizes += [int(line.split(",")[3]) for line in text.splitlines()[1:]]
    size = np.array(sizes)
    wire = (size + 66 * -(-size // 1024)).sum() / 8
    window = settings.POINTS["default"].window("full")
    assert wire * 8 / (54 * 40e9 * window) == pytest.approx(0.7, rel=0.015)
