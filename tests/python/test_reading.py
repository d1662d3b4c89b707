"""What a person reads: units that fit, the bottleneck by name, names that are found, two runs side by side."""

import json
import pickle
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context

import numpy as np
import pytest

import thalweg
from conftest import LOAD
from thalweg import _units, headline, plots, sweepfigure
from thalweg.errors import near
from thalweg.rundata import NoTable

# One byte is 8 ns on the 1 Gb/s of the hosts, 160 ns on the bottleneck.
LONG_FLOWS = """
name = "fair"
topology = { kind = "dumbbell", pairs = 2, host_rate = "1Gbps", bottleneck_rate = "50Mbps", base_rtt = "20ms" }
switch = { buffer = "1bdp" }
run = { until = "2s" }
transports = { cubic = { congestion = "cubic" } }
[[traffic]]
kind = "backlogged"
src = 0
dst = 2
transport = "cubic"
[[traffic]]
kind = "backlogged"
src = 1
dst = 3
"""


@pytest.fixture(scope="module")
def fair():
    return thalweg.run(thalweg.Scenario.from_toml(LONG_FLOWS), progress=False)


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (841_234, "us", "841 ms"),
        (2_900_000, "us", "2.9 s"),
        (29_420, "us", "29.4 ms"),
        (0.001618, "gbps", "1.62 Mb/s"),
        (0.04778, "gbps", "47.8 Mb/s"),
        (100, "gbps", "100 Gb/s"),
        (12_345_678, "bytes", "12.3 MB"),
        (999.96, "us", "1 ms"),
        (0, "us", "0 us"),
        (0.0012, "us", "1.2 ns"),
    ],
)
def test_a_quantity_has_the_unit_that_fits_it(value, unit, said):
    assert _units.quantity(value, unit) == said


def test_several_numbers_share_the_unit_of_the_largest():
    assert _units.several([("mean", 15.93e-3), ("smallest", 1.6e-3)], "gbps") == "mean 15.9, smallest 1.6 Mb/s"


def test_the_headline_has_no_powers_of_ten_and_names_the_bottleneck(fair):
    text = dict(headline.rows(fair.summary))
    assert not any("e+" in value or "e-0" in value for value in text.values()), text
    assert text["flows without end"].endswith(" Mb/s") and "Mb/s" in text["throughput of these"]
    assert " ms (of " in text["queueing delay"] and "p95" in text["queueing delay"]
    assert text["busiest link"].startswith("switch0 → switch1 (50 Mb/s): 9") and "the other way" in text["busiest link"]
    assert "load of core links" not in text, "nothing was offered that could be computed"
    most = fair.summary["bottleneck"]
    assert most["utilisation"] > 0.9 > 0.2 > most["back_utilisation"] > 0
    busiest = fair.busiest(3)
    assert busiest["link"][0] == "switch0 → switch1" and busiest["rate_bps"][0] == 50_000_000
    of_ports = fair.tables["ports"].filter(port=busiest["port"][0]).row(0, named=True)
    assert {c: busiest[c][0] for c in ("utilisation", "dropped", "max_queue")}.items() <= of_ports.items()
    assert busiest["wait_ps"][0] == of_ports["waited_ps"] / of_ports["packets"]
    with pytest.raises(thalweg.ScenarioError, match="did you mean `utilisation`"):
        fair.busiest(by="utilization")


def test_of_two_packets_that_meet_one_waits_for_the_other():
    """1500 B at 10 Gb/s take 1.2 us: both come to the switch at one instant, the second waits so long."""
    meet = """
    topology = { kind = "star", hosts = 3, rate = "10Gbps", delay = "1us" }
    transport = { handshake = false }
    traffic = [{ kind = "incast", fan_in = 2, size = "1460B", receiver = 0 }]
    run = { until = "1ms" }
    measure = { delays = true }
    """
    waits = thalweg.run(thalweg.Scenario.from_toml(meet)).summary["packet_queueing_us"]
    assert waits["count"] == 2
    assert (waits["mean"], waits["p50"], waits["max"]) == pytest.approx((0.6, 0.0, 1.2))
    assert waits["p99"] == pytest.approx(1.2, rel=0.005)
    off = thalweg.run(thalweg.Scenario.from_toml(meet).with_({"measure.delays": False})).summary
    assert off["packet_queueing_us"] is None


def test_delays_are_over_packets_that_arrive_in_the_measured_window(fair):
    late = thalweg.run(thalweg.Scenario.from_toml(LONG_FLOWS).with_({"measure.from": "1s"}), progress=False)
    some, every = (r.summary["packet_queueing_us"] for r in (late, fair))
    assert 0.3 * every["count"] < some["count"] < 0.7 * every["count"]
    parts = [g["packet_queueing_us"]["count"] for g in fair.summary["groups"]]
    assert len(parts) == 2 and sum(parts) == every["count"], "by traffic section"


def test_the_rates_over_time_never_exceed_the_link(fair):
    from thalweg.runplots import rates_over_time

    sampled = thalweg.run(
        thalweg.Scenario.from_toml(LONG_FLOWS).with_(
            {
                "measure.controllers": '{ every = "20ms" }',
                "measure.links": '{ every = "20ms" }',
                "switch.buffer": "20KB",
            }
        ),
        progress=False,
    )
    assert sampled.summary["drops"] > 0, "or there are no gaps"
    (ax,) = rates_over_time(sampled).axes
    assert ax.get_ylabel() == "throughput (Mb/s)"
    total = sum(np.asarray(line.get_ydata(), float) for line in ax.lines)
    assert total.max() < 50 * 1.02
    made = sampled.plot.all()
    assert {"rates", "links"} <= made.keys()
    assert "switch0 → switch1" in [
        text.get_text() for legend in made["links"][1].legends for text in legend.get_texts()
    ]
    assert "links" in repr(sampled.plot) and "pauses" not in repr(sampled.plot)


def test_names_are_found_whatever_they_are(cli):
    for word, said in {
        "cubic": "CUBIC",
        "fq-codel": "CoDel in every queue",
        "dumbbell": "Two switches with a bottleneck link between them",
        "traffic": "kinds: poisson, ",
        "traffic.backlogged": "Flows without end",
        "web-search": "Web search",
        "dctcp+srpt": "sets:",
        "endless.jain": "Jain's index",
        "ads": "thalweg reproduce ads",
    }.items():
        found = cli("explain", word)
        assert found.code == 0 and said in found.out, (word, found.out, found.err)
    file = cli("explain", "topology.file").out
    assert "The file, relative to" in file and "keys: delay, file, format" in file, "the key, and the kind's keys"
    kinds = cli("explain", "kind").out
    assert "`topology`: pair, star, dumbbell" in kinds and "with:" not in kinds and kinds.count("\n") < 60


def test_unknown_names_are_corrected_from_all_names(cli):
    for word, meant in {
        "cubik": "cubic",
        "fqcodel": "fq-codel",
        "dumbell": "dumbbell",
        "bbrv1": "bbr",
        "dctcp+srtp": "dctcp+srpt",
    }.items():
        said = cli("explain", word)
        assert said.code == 2 and f"did you mean `{meant}`?" in said.err, said.err
    assert near("bbrv1", ["bbr3", "vegas", "bbr"])[0] == "bbr"
    wrong = cli("run", "tiny.toml", "--set", "transport.congestion=bbrv1").err
    assert "no such file" in wrong.lower() or "bbr" in wrong


def test_the_index_of_lists_is_short_and_every_summary_stands_alone(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli("list").out.splitlines()
    assert len(lines) < 35 and max(map(len, lines)) <= 80
    assert any(line.split()[:2] == ["topologies", "12"] for line in lines)
    every = cli("list", "--all").out
    assert max(map(len, every.splitlines())) <= 100 and "deficit round robin" in every
    from thalweg import _core

    for kind in _core.kinds():
        for name, summary, _ in _core.catalogue(kind):
            assert not summary.startswith(("The same with", "The same as", "Always the same.", "Exponential.")), (
                kind,
                name,
            )


def test_a_run_explains_its_flows_and_says_which_there_are(cli, file):
    cli("run", file, "--out", "r", "--quiet")
    assert cli("explain", "r", "0").out.startswith("flow 0: h")
    wrong = cli("explain", "r", "9999999")
    assert wrong.code == 2 and "flows are 0 to" in wrong.err
    wrong = cli("explain", "topology", "17")
    assert wrong.code == 2 and "`topology` is not a run directory" in wrong.err


def test_runs_without_completions_are_compared_by_what_they_have(cli, fair, tmp_path, recwarn, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    fair.save(tmp_path / "a")
    other = thalweg.Scenario.from_toml(LONG_FLOWS).with_({"switch.scheduler": "fq", "seed": 2})
    thalweg.run(other, out=tmp_path / "b", progress=False)
    said = cli("compare", "a", "b")
    assert said.code == 0 and not recwarn.list
    assert max(map(len, said.out.splitlines())) <= 80, said.out
    for part in (
        "seed: 1 → 2",
        "switch.scheduler",
        "flows without end, sum",
        "queueing delay, p95",
        "drops",
        "goodput of ",
    ):
        assert part in said.out, said.out
    assert not list(tmp_path.glob("*.svg"))
    found = json.loads(cli("compare", "a", "b", "--json").out)
    assert {"key": "seed", "a": 1, "b": 2} in found["keys"] and not found["same_digest"]
    assert cli("compare", "a", "b", "--plot", "x.png").code == 0 and (tmp_path / "x.png").exists()
    assert "same digest" in cli("compare", "a", "a").out
    refused = cli("compare", "a", "b", "--no-plot")
    assert refused.code == 2 and "did you mean `--plot`?" in refused.err


def test_two_sweeps_are_compared_setting_by_setting(cli, scenario, tmp_path):
    base = scenario.with_({"traffic.0.until": "2ms"})
    over = {LOAD: [0.3, 0.6], "seed": [1, 2, 3]}
    one = thalweg.sweep(base, over, out=tmp_path / "one", progress=False)
    other = thalweg.sweep(base.with_({"switch.scheduler": "srpt"}), over, out=tmp_path / "other", progress=False)
    found = thalweg.compare(one, other, "measured.slowdown.p99")
    assert [row["setting"] for row in found.rows] == ["load 0.3", "load 0.6"]
    assert all(row["b"] != row["a"] for row in found.rows)
    loaded = thalweg.Runs.load(tmp_path / "one")
    assert loaded.params == one.params and loaded.means().equals(one.means())
    said = cli("compare", "one", "other", "--metric", "measured.slowdown.p99")
    assert said.code == 0 and "B against A" in said.out
    with pytest.raises(thalweg.ScenarioError, match="a run and a sweep"):
        thalweg.compare(one, other[0])


def test_sweeps_of_many_keys_are_compared_within_80_columns(cli, scenario, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    base = scenario.with_({"traffic.0.until": "200us"})
    keys = {"switch.buffer": ["200KB"], "switch.scheduler": ["fifo", "srpt"], "topology.delay": ["300ns"]}
    over = {LOAD: [0.3], "traffic.0.sizes": [{"kind": "uniform", "min": "1KB", "max": "20KB"}], **keys}
    for name, seed in (("one", 1), ("other", 2)):
        thalweg.sweep(base.with_({"seed": seed}), over, out=tmp_path / name, progress=False)
    few = ("--metric", "measured.slowdown.p99", "--metric", "measured.fct_us.mean")
    lines = cli("compare", "one", "other", *few).out.splitlines()
    assert max(map(len, lines)) <= 80, lines
    head, *rest = lines
    assert head.split() == ["metric", "A", "B", "B", "against", "A"]
    # Per setting: its text, on as many lines as it needs, and beneath it a line per metric.
    beneath = [n for n, line in enumerate(rest) if line.startswith("  measured.")]
    assert len(beneath) == 4 and beneath[0] >= 1 and beneath[1] == beneath[0] + 1 and beneath[2] > beneath[1] + 1
    said = " ".join(line.strip() for line in rest[: beneath[0]])
    assert all(part in said for part in ("load 0.3", "200KB", "fifo", "300ns")), said
    # In a terminal that is wide enough each is a line.
    monkeypatch.setenv("COLUMNS", "400")
    assert len(cli("compare", "one", "other", *few).out.splitlines()) == 5


def test_a_wrong_metric_is_refused_before_anything_is_run(cli, file, tmp_path):
    wrong = cli("sweep", file, "--seeds", "2", "--metric", "mesured.fct.p99", "--out", "s")
    assert wrong.code == 2 and "did you mean `measured.fct_us.p99`" in wrong.err
    assert not (tmp_path / "s").exists()
    # What a key would make is named with the key.
    wrong = cli("sweep", file, "--seeds", "2", "--metric", "packet_queueing_us.p95", "--out", "s")
    assert wrong.code == 2 and "measure.delays = true" in wrong.err and not (tmp_path / "s").exists()
    measured = ["--set", "measure.delays=true", "--metric", "packet_queueing_us.p95"]
    assert cli("sweep", file, "--seeds", "1", *measured, "--out", "s", "--quiet").code == 0
    for good in ("measured.slowdown.p99", "drops", "size_classes.up to 10KB.slowdown.mean"):
        assert cli("sweep", file, "--seeds", "1", "--metric", good, "--out", "s", "--quiet").code == 0


def test_seeds_that_make_no_difference_are_said(scenario):
    still = {"traffic": [{"kind": "flow", "src": 0, "dst": 1, "size": "100KB"}]}
    runs = thalweg.sweep(
        scenario.with_(still), {"seed": [1, 2, 3], "switch.scheduler": ["fifo", "drr"]}, progress=False
    )
    assert runs.seeds_agree == "one digest" and "one digest" in runs._repr_html_()
    assert not thalweg.sweep(scenario, {"seed": [1, 2]}, progress=False).seeds_agree


def test_short_names_tell_keys_apart():
    keys = ["switch.shared_buffer.total", "switch.shared_buffer.sharing.alpha", "traffic.0.size", "seed"]
    assert list(sweepfigure.short_names(keys).values()) == ["total", "alpha", "size", "seed"]
    assert sweepfigure.short_names(["switch.buffer", "nic.buffer"])["nic.buffer"] == "nic.buffer"


def test_curves_look_different_and_many_get_panels(scenario):
    looks = {tuple(plots.look(n).values()) for n in range(32)}
    assert len(looks) == 32
    quick = scenario.with_({"traffic.0.until": "1ms"})
    over = {
        LOAD: [0.2, 0.4, 0.6],
        "switch.scheduler": ["fifo", "drr", "srpt", "fq"],
        "transport.initial_window": ["4pkts", "8pkts", "16pkts"],
    }
    fig = thalweg.sweep(quick, over, progress=False).plot()
    assert len([ax for ax in fig.axes if ax.get_visible()]) == 3
    assert [t.get_text() for t in fig.legends[0].get_texts()] == ["fifo", "drr", "srpt", "fq"]


def test_the_pareto_picture_is_the_fields_one():
    runs = thalweg.sweep(
        thalweg.Scenario.from_toml(LONG_FLOWS),
        {"switch.buffer": ["20KB", "500KB"], "switch.scheduler": ["fifo", "fq"]},
        progress=False,
    )
    (ax,) = runs.pareto().axes
    assert ax.get_xlabel() == "95th percentile queueing delay of packets (ms)"
    assert ax.get_ylabel() == "throughput, flows without end\n(Mb/s)"
    left, right = ax.get_xlim()
    assert left > right, "delay falls to the right"


def test_figures_are_saved_under_names(fair, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fig = fair.plot.throughput()
    assert fig.axes[0].get_xlabel() == "throughput of flows without end (Mb/s)"
    assert [str(p) for p in plots.save(fig, "x")] == ["x.png", "x.svg", "x.pdf"]
    assert [str(p) for p in plots.save(fig, ".", "y", "pdf")] == ["y.pdf"]
    assert [str(p) for p in plots.save(fig, "paper/z.pdf")] == ["paper/z.pdf"]
    with pytest.raises(thalweg.ScenarioError, match="no format is called `gif`"):
        plots.save(fig, "x", "y", ["gif"])


def test_ticks_of_a_short_logarithmic_axis_do_not_lie_on_each_other(scenario):
    run = thalweg.run(
        scenario.with_(
            {"traffic.0.sizes": '{ kind = "uniform", min = "2MB", max = "9MB", steps = 30 }', "run.until": "2s"}
        )
    )
    fig = run.plot.slowdown()
    fig.draw_without_rendering()
    (ax,) = fig.axes
    low, high = ax.get_xlim()
    shown = [t for t in ax.get_xticklabels() if t.get_text() and low <= t.get_position()[0] <= high]
    assert 2 <= len(shown) <= 8 and "MB" in shown[0].get_text()
    boxes = [t.get_window_extent() for t in shown]
    assert all(a.x1 < b.x0 for a, b in pairwise(sorted(boxes, key=lambda b: b.x0)))


def test_a_table_that_is_missing_says_what_makes_it(fair):
    for table, said in {
        "packets": "thalweg run --record",
        "queues": "measure.queues",
        "flow": "did you mean `flows`",
    }.items():
        with pytest.raises(NoTable, match=said):
            fair.columns(table)
    with pytest.raises(KeyError, match=r"measure\.controllers"):
        fair.plot.windows()


def one_run(seed: int):
    return thalweg.run(
        thalweg.Scenario.from_toml(LONG_FLOWS).with_({"seed": seed, "run.until": "50ms"}), progress=False
    )


def test_results_go_through_a_pool_of_processes(fair):
    back = pickle.loads(pickle.dumps(fair))
    assert back.digest == fair.digest and back.flows.equals(fair.flows) and back.columns() == fair.columns()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = list(pool.map(one_run, [1, 2]))
    assert [r.summary["seed"] for r in there] == [1, 2]
    assert there[0].digest == one_run(1).digest


def test_what_several_transports_share_is_folded_on_a_terminal():
    from thalweg.cli.asking import folded

    text = thalweg.Scenario.from_toml(LONG_FLOWS).to_toml()
    short = folded(text)
    part = short.split("[transports.cubic]")[1].split("\n[")[0]
    assert "congestion" in part and "mss" not in part and "--full" in short
    assert len(short.splitlines()) < len(text.splitlines()) - 10


def test_a_sweep_is_a_latex_table_without_another_library(cli, file, tmp_path):
    argv = ["sweep", file, "--vary", f"{LOAD}=0.3,0.6", "--seeds", "2", "--latex", "--out", "s"]
    said = cli(*argv)
    assert said.code == 0 and "s/sweep.tex" in said.out
    text = (tmp_path / "s" / "sweep.tex").read_text()
    assert text.startswith("\\begin{tabular}{lr}") and "$\\pm$" in text and "0.3 & " in text


def test_the_card_of_a_scenario_names_the_transports_in_use():
    card = thalweg.Scenario.from_toml(LONG_FLOWS)._repr_html_()
    assert "cubic: tcp, cubic; tcp, newreno" in card
    only = thalweg.Scenario.from_toml(LONG_FLOWS).with_({"traffic.1.transport": "cubic"})._repr_html_()
    assert "newreno" not in only.split("<pre>")[0]


def test_ctrl_c_in_a_sweep_says_what_is_kept_and_that_the_command_goes_on(scenario, tmp_path):
    from conftest import LONG
    from thalweg import pool
    from thalweg.results import Interrupted

    quick = scenario.with_({"traffic.0.until": "1ms", "run.until": "2ms"})
    jobs = [pool.Job(f"{n}", quick.with_({"seed": n}), tmp_path / f"{n}") for n in range(3)]
    jobs.append(pool.Job("long", scenario.with_(LONG), tmp_path / "long"))
    pool.perform_all(jobs[:2], 1, False)
    said = pool.interrupted(jobs, "runs")
    assert said == "interrupted: 2 of 4 runs are kept; the same command goes on from there"
    assert "nothing was kept" in pool.interrupted([pool.Job("x", quick)], "runs")
    assert str(Interrupted(None, said)) == said


def test_a_long_sweep_without_a_terminal_says_now_and_then_that_it_goes_on(monkeypatch, capsys):
    from thalweg import progress

    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    seen = {"until_ps": 10, "now_ps": 5, "measured_total": 0, "measured_done": 0}
    for asked, lines in ((None, 1), (False, 0)):
        clock[0] = 0.0
        many = progress.Many(asked, 40)
        many.update({"a": seen}, 0.1)
        clock[0] = 31.0
        many.update({"a": seen}, 0.1)
        many.finish()
        err = capsys.readouterr().err
        assert err.count("\n") == lines and ("0/40 runs" in err) == bool(lines), err
