"""What people see first of a run: the headline, and figures that show something."""

from pathlib import Path

import polars as pl
import pytest
from matplotlib.colors import to_rgb

import thalweg
from thalweg import _lines, headline, jobplot, runplots
from thalweg.errors import ScenarioError
from thalweg.plots import COLOURS
from thalweg.rundata import NoTable

ROOT = Path(__file__).parents[2]


def test_the_headline_counts_flows_and_lists_only_classes_that_have_some(scenario):
    results = thalweg.run(scenario.with_({"run.until": "30s"}))
    text = dict(headline.rows(results.summary))
    measured = results.summary["measured"]
    assert text["flows"] == f"{measured['completed']} of {measured['flows']} measured flows completed"
    assert results.digest in text["seed, digest"]
    first, *classes = headline.classes(results.summary)
    assert first[:2] == ("all", measured["flows"])
    assert all(row[1] for row in classes) and sum(row[1] for row in classes) == measured["flows"]


def test_censored_flows_are_told(scenario):
    results = thalweg.run(scenario.with_({"run.until": "1ms", "traffic.0.until": "900us"}))
    censored = results.summary["measured"]["censored"]
    assert censored and f"{censored} censored" in dict(headline.rows(results.summary))["flows"]


def test_queues_that_stay_empty_are_not_drawn(scenario):
    results = thalweg.run(scenario.with_({"measure.queues": '{ every = "50us" }', "traffic.0.pairs": "to-host-zero"}))
    (line,) = results.plot.queues().axes[0].get_lines()
    assert line.get_label().endswith("→ h0")


def test_slowdown_has_a_point_per_size_when_sizes_are_few(scenario):
    results = thalweg.run(scenario)
    sizes = results.measured()["size"].n_unique()
    median, _ = runplots.slowdown_by_size({"": results}).axes[0].get_lines()
    assert 1 < sizes <= 20 and len(median.get_xdata()) == sizes


def test_one_size_makes_no_figure_over_size(scenario):
    results = thalweg.run(scenario.with_({"traffic.0.sizes": "point"}))
    assert "slowdown" not in results.plot.all() and "slowdown-cdf" in results.plot.all()


def test_flows_without_end_are_told_by_what_they_got(tmp_path):
    scenario = thalweg.Scenario.from_toml(
        """
topology = { kind = "dumbbell", pairs = 2, host_rate = "1Gbps", bottleneck_rate = "1Gbps", base_rtt = "100us" }
switch = { buffer = "4bdp" }
transport = { max_window = "2bdp" }
run = { until = "20ms" }
[[traffic]]
kind = "backlogged"
src = 0
dst = 2
[[traffic]]
kind = "backlogged"
src = 1
dst = 3
"""
    )
    results = thalweg.run(scenario, progress=False)
    text = dict(headline.rows(results.summary))
    assert "flows" not in text and not any("0 of 0" in value for value in text.values())
    assert text["flows without end"].startswith("2, together 9")
    assert "Jain's index 0.99" in text["throughput of these"] or "Jain's index 1.0" in text["throughput of these"]
    assert text["queueing delay"].startswith("mean ")
    assert text["flows without end"].endswith(" Mb/s")
    assert "throughput" in results.plot.all()


def test_what_never_ends_is_told():
    summary = {
        "flows": {
            "failed": 3,
            "unfinished": {"the run ended first": 5, "stalled: its sender waits": 2, "unreachable: no path": 1},
        },
        "pauses": {"frames": 4, "resumes": 3, "paused_s": 0.0015, "deadlocks": [{"at_us": 20.5, "ports": [8, 10]}]},
        "memory": {"most_bytes": 25000, "of_limit": 0.75, "of_headroom": 0.5, "of_shared": None},
        "incidents": {"packets_lost": 7, "pause_frames_lost": 0},
    }
    text = dict(headline.rows(summary))
    assert text["failed"] == "2 stalled, 1 unreachable: these flows never end, see `reason` in the table flows"
    assert text["pauses"] == "4 sent, 1.5 ms over all ports"
    assert text["deadlock"] == "since 20.5 us ports 8, 10 wait for each other and never go on"
    assert text["memory"] == "25\u202f000 B at most in an input; at most 75 % of its limit, 50 % of a headroom"
    assert text["incidents"] == "7 packets lost on failed links"
    plain = dict(headline.rows({"flows": {"failed": 0}, "pauses": None}))
    assert not plain.keys() & {"failed", "pauses", "deadlock", "incidents"}


def test_a_job_reports_how_long_it_took_and_what_communication_added():
    example = thalweg.Scenario.load(ROOT / "examples" / "job" / "scenario.toml")
    job = dict(headline.rows(thalweg.run(example, progress=False).summary))["job"]
    assert job == "43.5 us: 36 us of computing on the longest chain, 7.48 us of exposed communication"
    cut = thalweg.run(example.with_({"run.until": "30us"}), progress=False)
    assert dict(headline.rows(cut.summary))["job"] == "not complete"


def test_the_times_of_a_job_are_compared_whatever_its_section_is_called():
    example = thalweg.Scenario.load(ROOT / "examples" / "job" / "scenario.toml")
    a = thalweg.run(example, progress=False)
    slow = example.with_({"traffic.0.name": "slower", "topology.rate": "25Gbps"})
    b = thalweg.run(slow, progress=False)
    jobs = [r.summary["groups"][0]["job"] for r in (a, b)]
    found = {n.what: n for n in thalweg.compare(a, b).numbers}
    for what, key in (("completion", "completion_us"), ("computing", "compute_us"), ("exposed", "exposed_us")):
        row = found[f"job, {what}"]
        assert [row.a, row.b] == [job[key] for job in jobs] and row.column == f"job.{key}"
    assert found["job, completion"].b > found["job, completion"].a
    alike = {n.what: n.column for n in thalweg.compare(a, a).numbers}
    assert alike["job, exposed"] == f"groups.{a.summary['groups'][0]['name']}.job.exposed_us"
    # The other has none, or has not ended: what there is stands there.
    cut = thalweg.run(example.with_({"run.until": "30us"}), progress=False)
    found = {n.what: (n.a, n.b) for n in thalweg.compare(a, cut).numbers}
    assert found["job, completion"] == (jobs[0]["completion_us"], None)
    assert any("job, completion" in line and "–" in line for line in thalweg.compare(a, cut).lines())


def test_of_several_jobs_each_is_compared_with_its_namesake():
    ring = '[[traffic]]\nkind = "ring-all-reduce"\nsize = "64KB"\nname = "%s"\nhosts = [%s]\n'
    text = 'topology = { kind = "star", hosts = 4, rate = "10Gbps", delay = "1us" }\nscheme = "roce+pfc"\n'
    a = thalweg.run(thalweg.Scenario.from_toml(text + ring % ("one", "0, 1") + ring % ("two", "2, 3")), progress=False)
    b = thalweg.run(thalweg.Scenario.from_toml(text + ring % ("two", "2, 3")), progress=False)
    found = {n.what: (n.a, n.b) for n in thalweg.compare(a, b).numbers if ".job." in n.column}
    first, second = (g["job"]["completion_us"] for g in a.summary["groups"])
    assert found["one: completion"] == (first, None)
    assert found["two: completion"] == (second, b.summary["groups"][0]["job"]["completion_us"])
    # Without computations all of it is communication, which the completion says already.
    assert not any("exposed" in what or "computing" in what for what in found)


ROUNDS = """
topology = { kind = "star", hosts = 4, rate = "10Gbps", delay = "1us" }
scheme = "roce+pfc"
traffic = [{ kind = "ring-all-reduce", size = "64KB", iterations = 3, compute = "100us" }]
"""


def test_computing_between_the_iterations_of_a_collective_is_told_and_compared(tmp_path):
    results = thalweg.run(thalweg.Scenario.from_toml(ROUNDS), progress=False)
    job = results.summary["groups"][0]["job"]
    assert (job["computations"], job["compute_us"]) == (0, 200)
    text = dict(headline.rows(results.summary))["job"]
    assert ": 200 us of computing on the longest chain, " in text and text.endswith(" of exposed communication")
    assert text in results.report(tmp_path / "report.html").read_text()
    found = {n.what: (n.a, n.b) for n in thalweg.compare(results, results).numbers}
    assert found["job, computing"] == (200, 200) and found["job, exposed"] == (job["exposed_us"],) * 2


def test_a_blank_follows_every_label(monkeypatch, capsys):
    rows = [("job hierarchical-all-reduce", "71.7 us: as long as it takes"), ("packets", "0 drops"), ("links", "")]
    monkeypatch.delenv("COLUMNS", raising=False)
    _lines.print_rows(rows)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "job hierarchical-all-reduce: 71.7 us: as long as it takes"
    assert [line.rstrip() for line in lines[1:]] == ["packets:              0 drops", "links:"]
    # Lines that begin with a long label are no longer than others.
    monkeypatch.setenv("COLUMNS", "48")
    _lines.print_rows(rows)
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert (first, second) == ("job hierarchical-all-reduce: 71.7 us: as long as", " " * 22 + "it takes")


def test_trimmed_packets_are_in_the_headline_and_in_comparisons():
    text = 'scheme = "%s"\n[topology]\nkind = "leaf-spine"\nleaves = 2\nspines = 2\nhosts_per_leaf = 9\ndelay = "1us"\n'
    text += 'host_rate = "10Gbps"\nspine_rate = "10Gbps"\n'
    text += '[[traffic]]\nkind = "incast"\nfan_in = 16\nsize = "200KB"\nreceiver = 0\n'
    trimming = thalweg.run(thalweg.Scenario.from_toml(text % "ndp+trim"), progress=False)
    plain = thalweg.run(thalweg.Scenario.from_toml(text % "dctcp"), progress=False)
    trims = trimming.summary["trims"]
    assert trims > 0 and f"{headline._format.number(trims)} trims" in dict(headline.rows(trimming.summary))["packets"]
    assert "trims" not in dict(headline.rows(plain.summary))["packets"]
    found = {n.what: (n.a, n.b) for n in thalweg.compare(trimming, plain).numbers}
    assert found["trims"] == (trims, 0)
    assert not any(n.what == "trims" for n in thalweg.compare(plain, plain).numbers)


def spans(ax, colour: int) -> dict[str, list[tuple[float, float]]]:
    """What a figure of a job shows of each host, by its tick: from and to."""
    ticks = dict(zip(ax.get_yticks(), (t.get_text() for t in ax.get_yticklabels()), strict=True))
    found: dict[str, list[tuple[float, float]]] = {}
    for bars in ax.collections:
        if bars.get_facecolor()[0][:3] == pytest.approx(to_rgb(COLOURS[colour])):
            boxes = [path.get_extents() for path in bars.get_paths()]
            found[ticks[round(boxes[0].y0)]] = [(box.x0, box.x1) for box in boxes]
    return found


def test_a_job_is_drawn_as_what_each_host_computed_and_received():
    example = thalweg.Scenario.load(ROOT / "examples" / "job" / "scenario.toml")
    results = thalweg.run(example, progress=False)
    fig = results.plot.all()["job"][1]
    (ax,) = fig.axes
    assert ax.get_xlabel() == "time (us)"
    works = results.named("works").filter(pl.col("lasts_ps") > 0)
    flows = results.named("flows")
    for colour, frame, of, begins, ends in (
        (0, works, "host", "begun_ps", "ended_ps"),
        (5, flows, "dst", "begun_ps", "received_ps"),
    ):
        drawn = spans(ax, colour)
        assert set(drawn) == set(frame[of])
        for host, bars in drawn.items():
            mine = frame.filter(pl.col(of) == host)
            assert bars[0][0] == pytest.approx(mine[begins].min() * 1e-6)
            assert bars[-1][1] == pytest.approx(mine[ends].max() * 1e-6)
            for begin, end in mine.select(begins, ends).iter_rows():
                assert any(a <= begin * 1e-6 + 1e-9 and end * 1e-6 <= b + 1e-9 for a, b in bars)


def test_intervals_that_overlap_are_one_and_gaps_stay():
    table = pl.DataFrame({"began": [50, 0, 5, 31, 2], "ended": [60, 10, 20, 40, 3]})
    assert jobplot.merged(table, 0).tolist() == [[0, 20], [31, 40], [50, 60]]
    assert jobplot.merged(table, 10).tolist() == [[0, 20], [31, 60]]
    assert jobplot.merged(table.head(1), 0).tolist() == [[50, 60]]


def test_of_many_hosts_those_are_drawn_that_were_through_last():
    example = thalweg.Scenario.load(ROOT / "examples" / "job" / "scenario.toml")
    results = thalweg.run(example, progress=False)
    (ax,) = results.plot.job(hosts=2).axes
    assert len(ax.get_yticks()) == 2 and "2 of 4 hosts" in ax.get_title(loc="right")
    cut = thalweg.run(example.with_({"run.until": "1us"}), progress=False)
    assert all(bars[0] == (0, pytest.approx(1.0)) for bars in spans(cut.plot.job().axes[0], 0).values())


def test_without_computations_there_is_no_job_to_draw():
    ring = '[[traffic]]\nkind = "ring-all-reduce"\nsize = "64KB"\n'
    text = 'topology = { kind = "star", hosts = 4, rate = "10Gbps", delay = "1us" }\nscheme = "roce+pfc"\n'
    results = thalweg.run(thalweg.Scenario.from_toml(text + ring), progress=False)
    assert "job" not in results.plot.all()
    with pytest.raises((NoTable, ScenarioError), match=r"works|no computation"):
        results.plot.job()


QUIET = """
topology = { kind = "star", hosts = 4 }
traffic = [{ kind = "incast", fan_in = 3, size = "9KB" }]
run = { until = "1ms" }
"""


@pytest.mark.parametrize(
    ("set", "marks"),
    [
        ({}, False),
        ({"switch.marking": {"kind": "step", "threshold": "90pkts"}, "transport.congestion": "dctcp"}, True),
        ({"switch.scheduler": "fq-codel"}, True),
    ],
)
def test_a_zero_is_shown_where_it_could_be_something_else(set, marks):
    results = thalweg.run(thalweg.Scenario.from_toml(QUIET).with_(set), progress=False)
    assert results.summary["marks"] == 0
    assert ("0 marks" in dict(headline.rows_of(results))["packets"]) == marks
    assert dict(headline.rows_of(results))["packets"].startswith("0 drops, ")


def test_values_that_say_nothing_are_left_out_or_said_in_words():
    summary = {
        "measured": {"flows": 3, "completed": 0, "censored": 3},
        "drops": 36407,
        "marks": 0,
        "retransmissions": 1,
        "timeouts": 0,
        "load": {"core_links": {"offered": 960.0, "carried": 1.0}},
        "pauses": {"frames": 0, "paused_s": 0.0, "deadlocks": []},
        "memory": {"most_bytes": 0, "of_limit": 0.0, "of_headroom": None, "of_shared": 0.0004},
    }
    text = dict(headline.rows(summary, marks=False))
    assert text["flows"] == "0 of 3 measured flows completed, 3 censored: there are no others"
    assert text["packets"] == "36\u202f407 drops, 1 retransmission, 0 timeouts"
    assert text["load of core links"].startswith("offered 96000 %, carried 100 %")
    assert text["pauses"] == "none sent"
    assert text["memory"] == "nothing held in any input; at most 0.04 % of a shared memory"


def test_explain_says_no_instant_twice_counts_one_as_one_and_no_part_as_zero(cli, tmp_path):
    from thalweg.explaining.explanation import _percent

    scenario = thalweg.Scenario.from_toml(QUIET).with_({"traffic.0.size": "900B"})
    thalweg.run(scenario, out=tmp_path / "r", progress=False)
    said = cli("explain", str(tmp_path / "r"), "--flow", "0").out
    assert "1 data packet sent, 0 of them again, 0 timeouts, 0 data packets lost" in said, said
    assert "started at 0 ps" in said and "its first packet left" not in said and "trimmed" not in said
    assert [_percent(n, 10_000, 1) for n in (0, 1, 5, 6, 10_000)] == ["0.0", "<0.1", "0.1", "0.1", "100.0"]
    assert [_percent(n, 1000) for n in (0, 1, 6)] == ["0", "<1", "1"]


def test_a_bound_of_a_slowdown_that_all_flows_keep_is_none():
    results = thalweg.run(thalweg.Scenario.from_toml(QUIET).with_({"run.until": "4us"}), progress=False)
    slowest = results.slowest()
    assert slowest.unfinished["slowdown"].max() < 1
    assert "slowdown" not in str(slowest).split("\n")[1] and "> 4" in str(slowest), str(slowest)
