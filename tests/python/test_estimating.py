"""Completion times link by link: exact where there is one link to wait at, 1 where there is none, refused where links
cannot be taken apart."""

from __future__ import annotations

import json
import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import thalweg
from thalweg import _core
from thalweg.estimating import Buckets, estimate_fct, refusals
from thalweg.estimating.clusters import standing_for
from thalweg.estimating.delays import Alone, Delays
from thalweg.estimating.links import Work
from thalweg.estimating.paths import crossing, flows_of, paths_of
from thalweg.estimating.reduced import Reducer

ROOT = Path(__file__).parents[2]
# NICs that serve flows in turn, windows that start full: alone, a flow takes its ideal time.
FABRIC = """\
name = "fabric"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 3
spine_rate = "15Gbps"
[transport]
kind = "rdma"
congestion = "dctcp"
[nic]
order = "round-robin"
buffer = "unlimited"
marking = "none"
[switch]
buffer = "unlimited"
marking = { kind = "step", threshold = "30pkts" }
"""
POISSON = """\
[[traffic]]
kind = "poisson"
load = 0.5
max_flows = 300
sizes = "facebook-hadoop"
"""


def listed(folder: Path, rows, name: str = "flows.csv") -> dict:
    """A section of flows: (source, destination, bytes, start in ns)."""
    lines = ["id,src,dst,size_bytes,start_ns", *(",".join(map(str, (n, *row))) for n, row in enumerate(rows))]
    (folder / name).write_text("\n".join(lines) + "\n")
    return {"kind": "list", "file": str(folder / name)}


@pytest.fixture
def fabric():
    return thalweg.Scenario.from_toml(FABRIC + POISSON)


@pytest.fixture
def incast(tmp_path):
    """One flow from each of 40 hosts to host 0: nothing waits but at the sink's link."""
    rows = [(n, 0, 3000, 137 * n) for n in range(1, 41)]
    written = FABRIC[FABRIC.index("[transport]") :]
    return with_flows('name = "incast"\n[topology]\nkind = "star"\nhosts = 41\n' + written, listed(tmp_path, rows))


def with_flows(text: str, *sections: dict, **more) -> thalweg.Scenario:
    return thalweg.Scenario.from_dict(tomllib.loads(text) | {"traffic": list(sections)} | more)


def quietly(scenario, **how):
    return estimate_fct(scenario, progress=False, **how)


def test_one_link_to_wait_at_is_the_whole_network(incast, tmp_path):
    """To the picosecond, flow by flow: the reduced network of the sink's link is the star itself."""
    run, flows = thalweg.run(incast, progress=False), flows_of(incast)
    paths = paths_of(incast, flows, False)
    (sink,) = [port for port, chosen in crossing(paths.data).items() if len(chosen) == 40]
    link = Reducer(incast, paths.network, tmp_path).link(sink, flows, np.arange(40), paths.data, {})
    alone = thalweg.run(link, progress=False)
    assert alone.flows["fct_ps"].equals(run.flows["fct_ps"]) and run.flows["slowdown"].max() > 5
    # The draws are from these very delays: percentiles of 1280 draws are those of 40 flows, but for the next rank.
    found = quietly(incast, draws=200).against(run).row(-1, named=True)
    assert abs(found["p50_error_percent"]) < 5 and abs(found["p99_error_percent"]) < 3


def test_in_an_idle_network_nothing_is_late(tmp_path):
    rows = [(n % 6, (n + 1 + n % 4) % 6, 300 * (n + 1), 10_000_000 * n) for n in range(24)]
    found = quietly(with_flows(FABRIC, listed(tmp_path, rows)))
    assert found.frame["slowdown"].to_list() == [1.0] * 24 and found.frame["slowdown_p99"].to_list() == [1.0] * 24


def test_slow_start_counts_once_and_not_at_every_link(tmp_path):
    """Alone, a flow of TCP is slower than its ideal time, and the estimate is what it takes."""
    rows = [(n % 3, 3 + n % 3, 1460 * (5 + 20 * n), 10_000_000 * n) for n in range(12)]
    scenario = with_flows(FABRIC.split("[transport]")[0], listed(tmp_path, rows), transport={"initial_window": "2pkts"})
    run, found = thalweg.run(scenario, progress=False), quietly(scenario)
    assert found.frame["fct_ps"].equals(run.flows["fct_ps"]) and run.flows["slowdown"].max() > 1.5


def test_paths_are_those_that_the_simulator_lays(tmp_path):
    few, more = ([(n % 6, (n + 3) % 6, 3000, 400 * n + late) for n in range(40)] for late in (0, 150))
    scenario = with_flows(FABRIC, listed(tmp_path, few, "a.csv"), listed(tmp_path, more, "b.csv"))
    flows = flows_of(scenario)
    assert np.unique(flows.section).tolist() == [0, 1]
    paths = paths_of(scenario, flows, False)
    run = thalweg.run(scenario, out=tmp_path / "run", record="hops", progress=False)
    seen = {
        (flow, bool(forward)): ports
        for flow, forward, ports in run.packets.select("flow", "forward", "ports").collect().iter_rows()
    }
    assert len(seen) == 160
    for n in range(80):
        assert list(paths.data[n][1:]) == seen[n, True] and list(paths.acks[n][1:]) == seen[n, False]


def test_no_number_depends_on_who_runs_the_links(fabric):
    one = quietly(fabric, jobs=1)
    with ThreadPoolExecutor(2) as pool:
        for other in (quietly(fabric, jobs=2), quietly(fabric, executor=pool), fabric.estimate_fct(progress=False)):
            assert other.frame.equals(one.frame) and other.links.equals(one.links) and other.classes.equals(one.classes)
    drawn = quietly(fabric, seed=7)
    assert drawn.links.equals(one.links) and not drawn.frame.equals(one.frame)


def test_links_that_are_alike_have_one_simulation(fabric):
    each, near = quietly(fabric), quietly(fabric, cluster=0.9)
    assert each.links["leader"].equals(each.links["port"])
    kept = near.links.filter(near.links["leader"] == near.links["port"])
    assert 1 < kept.height < each.links.height and set(near.links["leader"]) == set(kept["port"])
    # One that stands for others has its own rate, and its own place in the network.
    rates = dict(near.links.select("port", "rate_bps").iter_rows())
    assert all(rates[port] == rates[lead] for port, lead in near.links.select("port", "leader").iter_rows())


def test_of_links_that_are_alike_the_first_stands_for_all():
    class Number:
        def __init__(self, load):
            self.load = load

        def is_near(self, other, within):
            return abs(self.load - other.load) <= within

    looks = {4: Number(1.0), 7: Number(1.1), 9: Number(2.0), 12: Number(1.15)}
    assert standing_for(looks, None) == {4: 4, 7: 7, 9: 9, 12: 12}
    assert standing_for(looks, 0.12) == {4: 4, 7: 4, 9: 9, 12: 12}


def test_buckets_are_full_by_number_and_by_span():
    sizes = np.array([1, 2, 3, 3, 3, 7, 8])
    assert Buckets(least=2, span=2.0).edges(sizes) == [2, 6, 7], "flows of one size are together"
    assert Buckets(least=100, span=2.0).edges(sizes) == [7] and Buckets().edges(np.array([])) == []
    known = Delays(sizes[::-1], sizes[::-1] * 10.0, Buckets(least=2, span=2.0))
    assert known.of(2).tolist() == [10.0, 20.0] and known.of(4).tolist() == known.of(7).tolist() == [30.0] * 3 + [70.0]
    assert known.of(8).tolist() == known.of(10**9).tolist() == [80.0], "the largest flows draw from the last"


def test_few_sizes_are_tried_one_by_one_and_many_by_packets():
    assert Alone.tried(np.array([7, 7, 9000]), 1000).tolist() == [7, 9000]
    tried = Alone.tried(np.arange(1, 400_000, 100), 1000)
    assert tried[:64].tolist() == [1000 * n for n in range(1, 65)] and tried[-1] == 400_000 and len(tried) < 80
    alone = Alone(np.array([1000, 2000, 4000]), np.array([0, 10, 30]))
    assert alone.of(np.array([1, 1500, 2000, 2001]), 1000).round(1).tolist() == [0.0, 10.0, 10.0, 21.7]


def test_acks_take_their_part_of_a_link(fabric, monkeypatch):
    seen = {}

    def noted(self, acks):
        seen["less"], seen["acks"], seen["rate"] = less(self, acks), acks, self._paths.network.rate
        return seen["less"]

    less = Work._less
    monkeypatch.setattr(Work, "_less", noted)
    quietly(fabric)
    # 70 B for each packet of at most 1024 B and its headers; never more than that part of the link.
    assert 69.9 < seen["acks"][0] < 70.1 and len(seen["less"]) > 6
    assert all(0 < rate < 0.3 * seen["rate"][port] for port, rate in seen["less"].items())


REFUSED = {
    "routing": ({"routing": "spray-random"}, "several paths.*--set routing=ecmp"),
    "switch.shared_buffer": (
        {"switch.shared_buffer": "{ total = '4MB', sharing = 'complete' }", "switch.buffer": None},
        "shared memory.*--unset",
    ),
    "switch.pfc": (
        {"switch.inputs": "{ memory = '200KB' }", "switch.pfc": "{}", "switch.buffer": None},
        "pause reaches back",
    ),
    "switch.cut_through": ({"switch.cut_through": "64B", "nic": None}, "several links at once"),
    "switch.scheduler": ({"switch.scheduler": "lstf", "slack": {"kind": "constant"}}, "other ports"),
    "traffic.0.transport": ({"transport": "homa", "switch.marking": None, "nic.marking": None}, "driven by receivers"),
    "traffic.0.connection": ({"traffic.0.connection": "per-pair"}, "wait for each other.*fresh"),
    "incident": ({"incident": [{"kind": "link-failure", "link": ["leaf0", "spine0"], "at": "1ms"}]}, "moves flows"),
    "link.0.loss": ({"link": [{"which": "all", "loss": {"kind": "independent", "probability": 0.01}}]}, "chance"),
    "traffic.0.kind": ({"traffic": [{"kind": "backlogged", "src": 0, "dst": 3}]}, "no completion time"),
}


@pytest.mark.parametrize("key", REFUSED)
def test_what_links_cannot_carry_is_refused_by_name(key):
    changed, reason = REFUSED[key]
    scenario = thalweg.Scenario.from_toml(FABRIC + POISSON, changed)
    with pytest.raises(thalweg.ScenarioError) as refused:
        quietly(scenario)
    mine = [str(d) for d in refused.value.diagnostics if d.key == key]
    assert len(mine) == 1 and re.search(f"cannot be estimated link by link: .*{reason}", mine[0]), refused.value
    assert "; " in mine[0], "the way out"


def test_flows_that_follow_others_are_refused(tmp_path):
    (tmp_path / "f.csv").write_text("id,src,dst,size_bytes,start_ns,after\n0,0,3,1000,0,\n1,3,0,1000,0,0\n")
    with pytest.raises(thalweg.ScenarioError, match=r"`traffic`: cannot be estimated.*after"):
        quietly(with_flows(FABRIC, {"kind": "list", "file": str(tmp_path / "f.csv")}))


def test_every_kind_of_traffic_is_known_to_estimates():
    follows = set(refusals.FOLLOWING)
    alone = {"poisson", "permutation", "all-to-all", "incast", "list", "flow", "backlogged", "udp"}
    assert not follows & alone
    assert follows | alone == {name for name, *_ in _core.catalogue("traffic")}


@pytest.mark.parametrize(
    ("how", "reason"),
    [({"draws": 0}, "`draws`: `0` is not a whole number above zero"), ({"cluster": 1.5}, "`cluster` is 1.5")],
)
def test_settings_that_mean_nothing_are_refused(fabric, how, reason):
    with pytest.raises(thalweg.ScenarioError, match=reason):
        quietly(fabric, **how)


def test_an_estimate_stands_next_to_a_run_of_its_own_flows_only(fabric, tmp_path):
    found = quietly(fabric)
    run = thalweg.run(fabric, out=tmp_path / "run", progress=False)
    table = found.against(tmp_path / "run")
    rows = table.to_dicts()
    assert [row["class"] for row in rows][-1] == "all" and rows[-1]["flows"] == 300 == found.frame.height
    assert rows[-1]["p50_run"] == pytest.approx(run.summary["measured"]["slowdown"]["p50"], rel=0.02)
    assert rows[-1]["p99_error_percent"] == pytest.approx(100 * (rows[-1]["p99_estimate"] / rows[-1]["p99_run"] - 1))
    with pytest.raises(thalweg.ScenarioError, match="has other flows"):
        found.against(thalweg.run(fabric, set={"seed": 9}, progress=False))


def test_the_command(cli, tmp_path):
    file = tmp_path / "fabric.toml"
    file.write_text(FABRIC + POISSON)
    said = cli("estimate", file)
    assert said.code == 0 and "packet-hops" in said.out and said.out.startswith("fabric: about 300 flows")
    assert json.loads(cli("estimate", file, "--json").out)["flows"] == 300
    assert cli("run", file, "--out", tmp_path / "run", "--quiet").code == 0
    fct = ("estimate", file, "--fct", "--jobs", "1", "--out", tmp_path / "out", "--against", tmp_path / "run")
    said = cli(*fct, "--buckets", "20,2")
    assert said.code == 0 and "99th: run" in said.out and "simulated of" in said.out, said.err
    files = {p.name for p in (tmp_path / "out").iterdir()}
    assert files == {"classes.csv", "flows.csv", "links.csv", "scenario.toml", "thalweg.json"}
    found = json.loads(cli(*fct, "--buckets", "20,2", "--json").out)
    assert found["classes"][-1]["flows"] == 300 and {"paths", "alone", "links", "sums"} == set(found["seconds"])
    assert "too few flows" in cli(*fct[:3], "--jobs", "1").err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--seed", "3"), "--seed has no effect without --fct; add --fct"),
        (("--out", "x"), "--out has no effect without --fct"),
        (("--fct", "--buckets", "many"), "not of the form FLOWS,SPAN"),
        (("--fct", "--cluster", "2"), "not a fraction between 0 and 1"),
        (("--fct", "--against", "nowhere"), "no such run directory"),
        (("--fct", "--set", "routing=spray-random"), "`routing`: cannot be estimated link by link"),
    ],
)
def test_errors_of_the_command_are_one_line(cli, tmp_path, words, reason):
    file = tmp_path / "fabric.toml"
    file.write_text(FABRIC + POISSON)
    said = cli("estimate", file, *words)
    assert said.code == 2 and reason in said.err and "Traceback" not in said.err and not said.out


def test_a_folder_of_other_things_is_refused_before_anything_is_run(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("thalweg.estimating.flows_of", lambda *_, **__: pytest.fail("it was run"))
    file = tmp_path / "fabric.toml"
    file.write_text(FABRIC + POISSON)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    said = cli("estimate", file, "--fct", "--out", tmp_path / "mine")
    assert said.code == 2 and "holds other things" in said.err
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_the_page_has_every_scenario_that_was_compared():
    page = (ROOT / "docs" / "estimates.md").read_text(encoding="utf-8")
    (part,) = re.findall("<!-- measured by .*?<!-- /measured -->", page, flags=re.DOTALL)
    files = {p.stem for p in (ROOT / "examples" / "estimates").glob("*.toml")}
    assert len(files) == 12 and set(re.findall(r"^\| `([\w-]+)` \|", part, flags=re.MULTILINE)) == files


def test_without_flows_there_is_nothing_to_estimate():
    # The first would come after 12 s on average.
    text = """
topology = { kind = "star", hosts = 3 }
run = { until = "1ms" }
[[traffic]]
kind = "poisson"
sizes = { kind = "point", size = "1MB" }
load = 0.0000001
"""
    with pytest.raises(thalweg.ScenarioError, match="there is no flow to estimate"):
        thalweg.Scenario.from_toml(text).estimate_fct()
