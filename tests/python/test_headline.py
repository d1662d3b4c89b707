"""What people see first of a run: the headline, and figures that show something."""

from pathlib import Path

import thalweg
from thalweg import headline, runplots

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
    assert text["memory"] == "25\u202f000 B at most in an input; at most 75% of its limit, 50% of a headroom"
    assert text["incidents"] == "7 packets lost on failed links"
    plain = dict(headline.rows({"flows": {"failed": 0}, "pauses": None}))
    assert not plain.keys() & {"failed", "pauses", "deadlock", "incidents"}


def test_a_job_reports_how_long_it_took_and_what_communication_added():
    example = thalweg.Scenario.load(ROOT / "examples" / "job" / "scenario.toml")
    job = dict(headline.rows(thalweg.run(example, progress=False).summary))["job"]
    assert job == "43.5 us: 36 us of computing on the longest chain, 7.48 us of exposed communication"
    cut = thalweg.run(example.with_({"run.until": "30us"}), progress=False)
    assert dict(headline.rows(cut.summary))["job"] == "not complete"
