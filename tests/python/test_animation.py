"""Runs over time: what is drawn of them, the widget, the report."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

import pytest

import chromium
import thalweg
from thalweg import animation

ROOT = Path(__file__).parents[2]
READY = sorted((Path(thalweg.__file__).parent / "examples" / "scenarios").glob("*.toml"))
QUEUES = {"measure.queues": {"every": "10us"}}


@pytest.fixture(scope="module")
def sampled():
    scenario = thalweg.Scenario.load(READY[0]).with_(QUEUES | {"topology.hosts": 9, "traffic.0.fan_in": 8})
    return thalweg.run(scenario, progress=False)


@pytest.fixture(scope="module")
def bare():
    text = 'topology = { kind = "pair" }\n[[traffic]]\nkind = "flow"\nsrc = 0\ndst = 1\nsize = "1MB"\n'
    return thalweg.run(thalweg.Scenario.from_toml(text), progress=False)


@pytest.mark.parametrize("file", READY, ids=lambda file: file.stem)
def test_every_ready_scenario_runs_and_says_what_it_is(file):
    lines = file.read_text(encoding="utf-8").split("\n")
    assert re.fullmatch(r"# [A-Z][\w ]+: .{10,60}", lines[0]) and lines[1].startswith("# ")
    results = thalweg.run(thalweg.Scenario.load(file), progress=False)
    assert not results.partial and animation.moves(results)
    assert results.tables["queues"]["bytes"].max() > 0, "nothing to be seen"
    assert len(results.tables["queues"]["time_ps"].unique()) <= animation.MOST_SAMPLES, "all of it is drawn"
    assert len(animation._json(results)) < 3e6


# What the comments say to try, and a number that is less then.
MARKS = {"transport.congestion": "dctcp", "switch.marking": {"kind": "step", "threshold": "20pkts"}}
TRIES = [
    ("incast", MARKS, lambda run: run.summary["drops"]),
    ("incast", {"switch.scheduler": "srpt"}, lambda run: run.summary["measured"]["fct_us"]["mean"]),
    ("bufferbloat", {"switch.marking": "codel"}, lambda run: run.summary["packet_queueing_us"]["mean"]),
    ("bufferbloat", {"switch.scheduler": "fq-codel"}, lambda run: run.summary["measured"]["fct_us"]["p99"]),
    ("bufferbloat", {"switch.buffer": "60KB"}, lambda run: run.summary["packet_queueing_us"]["mean"]),
    ("pfc-storm", {"scheme": "hpcc+voq-pfc"}, lambda run: run.flows["fct_ps"][-1]),
    ("pfc-storm", {"scheme": "irn+voq", "measure.pauses": False}, lambda run: run.flows["fct_ps"][-1]),
    ("deadlock", {"switch.relief": "escape"}, lambda run: -run.summary["endless"]["sum_gbps"]),
    ("deadlock", {"switch.relief": {"kind": "loop-breaker", "after": "100us"}}, lambda run: -run.summary["drops"]),
    ("cubic-and-bbr", {"switch.buffer": "0.3bdp"}, lambda run: run.flows["throughput_bps"][0]),
    ("cubic-and-bbr", {"switch.buffer": "8bdp"}, lambda run: run.flows["throughput_bps"][1]),
    ("cubic-and-bbr", {"traffic.1.transport.congestion": "bbr3"}, lambda run: -run.flows["throughput_bps"][1]),
    *(
        ("lte", {"transport.congestion": name}, lambda run: run.summary["packet_queueing_us"]["mean"])
        for name in ("copa", "sprout", "verus", "bbr")
    ),
    (
        "dctcp",
        {"transport.congestion": "newreno", "switch.marking": "none"},
        lambda run: -run.summary["packet_queueing_us"]["mean"],
    ),
    ("homa", {"scheme": "tcp+fifo"}, lambda run: -run.summary["measured"]["fct_us"]["p99"]),
    ("spraying", {"routing": "ecmp"}, lambda run: -run.summary["measured"]["fct_us"]["max"]),
    ("spraying", {"routing": "flowlet"}, lambda run: -run.summary["measured"]["fct_us"]["max"]),
    ("spraying", {"routing": "least-loaded"}, lambda run: -run.summary["retransmissions"]),
]


@pytest.mark.parametrize(("name", "change", "measure"), TRIES, ids=lambda v: v if isinstance(v, str) else "")
def test_what_comments_say_to_try_shows_something(name, change, measure):
    (scenario,) = (thalweg.Scenario.load(file) for file in READY if file.stem[3:] == name)
    before, after = (measure(thalweg.run(s, progress=False)) for s in (scenario, scenario.with_(change)))
    assert after < before


def test_there_are_ten_and_each_is_what_it_says():
    assert len(READY) == 10
    ran = {file.stem[3:]: thalweg.run(thalweg.Scenario.load(file), progress=False) for file in READY[:4]}
    assert ran["incast"].summary["drops"] > 0 and ran["incast"].flows.height == 32
    assert ran["pfc-storm"].summary["drops"] == 0 and ran["pfc-storm"].summary["pauses"]["frames"] > 100
    (cycle,) = ran["deadlock"].summary["pauses"]["deadlocks"]
    assert cycle["ended_us"] is None


def test_the_engine_of_the_page_draws_the_same_columns():
    source = (ROOT / "crates" / "playground" / "src" / "drawn.rs").read_text(encoding="utf-8")
    (body,) = re.findall(r"pub const COLUMNS:.*?= \[\n(.*?)\n\];", source, flags=re.DOTALL)
    lists = re.findall(r'"(\w+)",\s*&\[(.*?)\]', body, flags=re.DOTALL)
    assert {name: tuple(re.findall(r'"(\w+)"', text)) for name, text in lists} == animation.COLUMNS
    assert f"MOST_SAMPLES: usize = {animation.MOST_SAMPLES};" in source


def test_what_is_drawn_are_columns_of_the_tables(sampled):
    drawn = animation.drawn(sampled)
    assert json.loads(animation._json(sampled)) == drawn
    assert drawn["tables"]["queues"]["bytes"] == sampled.tables["queues"]["bytes"].to_list()
    assert drawn["tables"]["flows"]["slowdown"] == sampled.flows["slowdown"].to_list()
    assert "pauses" not in drawn["tables"] and drawn["summary"]["digest"] == sampled.digest


def test_of_many_samples_every_nth_is_drawn(sampled, monkeypatch):
    every = sampled.tables["queues"]["time_ps"].unique().sort().to_list()
    monkeypatch.setattr(animation, "MOST_SAMPLES", 100)
    found = sorted(set(animation.drawn(sampled)["tables"]["queues"]["time_ps"]))
    assert found == every[:: -(-len(every) // 100)] and 50 <= len(found) <= 100


def test_the_view_was_made_of_its_sources():
    web, view = ROOT / "web", (ROOT / "python" / "thalweg" / "view" / "view.js").read_text(encoding="utf-8")
    made = hashlib.sha256()
    sources = sorted((web / "src" / "view").iterdir(), key=lambda file: file.name)
    for file in [*sources, web / "package-lock.json", web / "vite.view.config.ts"]:
        made.update(f"{file.relative_to(web).as_posix()}\n".encode() + file.read_bytes())
    assert f"sources sha256:{made.hexdigest()}\n" in view, "`make view`"
    assert len(view.encode()) < 700_000 and "Permission is hereby granted" in view


def test_without_samples_there_is_nothing_to_animate(bare):
    with pytest.raises(thalweg.ScenarioError, match=r"no samples over time.*set measure\.queues = "):
        bare.animate()


def test_without_the_package_the_widget_says_which(sampled, monkeypatch):
    animation._widget.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"pip install 'thalweg\[notebook\]'"):
        sampled.animate()


def test_the_widget_holds_the_run(sampled):
    pytest.importorskip("anywidget", reason="anywidget is not installed: pip install 'thalweg[notebook]'")
    widget = sampled.animate()
    assert json.loads(widget.run)["summary"]["digest"] == sampled.digest
    assert "export{" in str(widget._esm) and "render" in str(widget._esm)


@pytest.fixture(scope="module")
def report(sampled, tmp_path_factory):
    return sampled.report(tmp_path_factory.mktemp("report") / "sampled.html")


def test_the_report_of_a_sampled_run_has_the_view(report, bare):
    page = report.read_text(encoding="utf-8")
    assert "<h2>Over time</h2>" in page and not re.search(r"(src|href)=['\"]?https?:", page)
    assert not animation.moves(bare)  # tests/python/test_results.py: such a report has no script


@pytest.mark.skipif(not chromium.found(), reason="no Chromium: apt-get install chromium")
def test_the_report_shows_it_in_a_browser(report):
    with chromium.Page() as page:
        page.open(report.as_uri())
        page.until("document.querySelectorAll('.tw-view canvas').length > 4")
        moved = "(s => (s.value = {}, s.oninput(), document.querySelector('.tw-now').value))(document.querySelector('.tw-time'))"
        first, last = (page.value(moved.format(n)) for n in ("0", "s.max"))
        assert first == "0 s" and last != first
        assert page.problems == []
