"""The rule of censoring, and files of flows."""

from __future__ import annotations

import numpy as np
import polars as pl

from thalweg.study import Flows, flow_list, flows, link_list, path_list
from thalweg.study.lists import from_scenarios


class Fake:
    """Four flows: one that does not count, one that does not end, one that does, one that begins late and does not."""

    path, digest = "here", "0"

    def __init__(self):
        status = ["completed", "running", "completed", "running"]
        self.flows = pl.DataFrame({"measured": [0, 1, 1, 1], "status": status, "size": [9, 1000, 3000, 5000]})
        self.summary = {"simulated_seconds": 10.0}
        self.times = {
            "start": [0.0, 2.0, 3.0, 9.5],
            "fct": [1.0, np.nan, 4.0, np.nan],
            "ideal": [1.0, 0.5, 2.0, 1.0],
        }

    def seconds(self, column: str) -> np.ndarray:
        return np.array(self.times[column])


def test_a_flow_without_an_end_counts_with_the_time_under_way():
    found = Flows(Fake())
    assert list(found.size) == [1000, 3000, 5000]
    assert list(found.fct) == [8.0, 4.0, 0.5]  # 10 - 2, its own, 10 - 9.5
    assert list(found.done) == [False, True, False]
    assert found.censored == 2
    assert found.average == 12.5 / 3


def test_a_flow_that_still_waits_for_another_one_is_censored_and_has_no_time():
    run = Fake()
    run.times["start"][3] = np.nan
    found = Flows(run, "ideal")
    assert (list(found.size), list(found.fct), found.censored) == ([1000, 3000], [8.0, 4.0], 2)
    assert list(found.slowdown) == [16.0, 2.0] and found.average == 6.0


def test_slowdowns_of_censored_flows_are_lower_bounds_and_may_be_below_one():
    assert list(flows(Fake()).slowdown) == [16.0, 2.0, 0.5]


def test_times_that_are_requested_are_attributes():
    assert list(Flows(Fake(), "ideal").ideal) == [0.5, 2.0, 1.0]
    assert not hasattr(Flows(Fake()), "ideal")


def test_a_list_of_flows_is_numbered_in_its_order(tmp_path):
    file = flow_list(tmp_path / "new" / "list.csv", [(5, 0, 1, 100), (3, 1, 0, 200)])
    assert file.read_text() == "id,src,dst,size_bytes,start_ns\n0,0,1,100,5\n1,1,0,200,3\n"
    named = flow_list(tmp_path / "some.csv", [(5, 0, 1, 100), (3, 1, 0, 200)], [4, 9])
    assert named.read_text().splitlines()[1:] == ["4,0,1,100,5", "9,1,0,200,3"]


def test_a_network_is_the_topology_that_a_scenario_names(tmp_path):
    found = link_list(tmp_path / "links.csv", [("h0", "s", "1Gbps", "2ms"), (1, 2, "10Gbps", "0ns")])
    assert (tmp_path / "links.csv").read_text() == "a,b,rate,delay\nh0,s,1Gbps,2ms\n1,2,10Gbps,0ns\n"
    assert found == {"kind": "file", "format": "links-csv", "file": str(tmp_path / "links.csv")}


def test_paths_of_acks_are_those_of_data_in_reverse(tmp_path):
    file = path_list(tmp_path / "paths.csv", [[7, 8, 9], [5]])
    assert file.read_text() == "id,data_path,ack_path\n0,7-8-9,9-8-7\n1,5,5\n"


def test_files_are_named_from_where_scenarios_are(tmp_path):
    study = tmp_path / "papers" / "one" / "settings.py"
    assert from_scenarios(str(study), tmp_path / "out" / "list.csv") == "../../../out/list.csv"
