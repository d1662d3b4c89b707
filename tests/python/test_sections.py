"""Sections of traffic: names, transports, metrics of each; keys that are taken out; nulls."""

import json
import math

import polars as pl
import pytest

import thalweg
from thalweg.cli import main

MIX = """
name = "mix"
topology = { kind = "dumbbell", pairs = 3, host_rate = "1Gbps", bottleneck_rate = "50Mbps", delay = "5ms" }
switch = { buffer = "2bdp" }
run = { until = "500ms" }
[[traffic]]
kind = "backlogged"
src = 0
dst = 3
name = "CUBIC"
transport = { congestion = "cubic" }
[[traffic]]
kind = "backlogged"
src = 1
dst = 4
name = "BBR"
transport = { congestion = "bbr" }
[[traffic]]
kind = "backlogged"
src = 2
dst = 5
name = "third"
transport = "copa"
"""


@pytest.fixture
def mix(tmp_path):
    path = tmp_path / "mix.toml"
    path.write_text(MIX, encoding="utf-8")
    return path


def test_names_of_sections_stand_in_the_table_the_headline_and_the_legend(mix):
    from thalweg import headline

    results = thalweg.run(mix, set={"measure.controllers": {"every": "10ms"}}, progress=False)
    assert results.flows["section"].to_list() == ["CUBIC", "BBR", "third"]
    assert results.flows["controller"].to_list() == ["cubic", "bbr", "copa"]
    rows = dict(headline.rows(results.summary))
    assert all(name in rows["of each section"] for name in ("CUBIC", "BBR", "third"))
    figure = results.plot.windows()
    legend = [
        text.get_text()
        for at in (*figure.legends, *(a.get_legend() for a in figure.axes))
        if at
        for text in at.get_texts()
    ]
    assert set(legend) == {"CUBIC", "BBR", "third"}


def test_a_sweep_has_the_throughput_of_each_section_with_its_interval(mix, tmp_path, capsys):
    metric = "groups.BBR.endless.sum_gbps"
    assert main(["sweep", str(mix), "--seeds", "2", "--metric", metric, "--json", "--out", str(tmp_path / "s")]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["metric"] == metric and said["means"][0][metric] > 0 and f"{metric} ±" in said["means"][0]


def test_a_sweep_over_the_transport_of_a_section(mix, tmp_path, capsys):
    assert (
        main(
            ["sweep", str(mix), "--vary", "traffic.2.transport=copa,bbr,cubic", "--json", "--out", str(tmp_path / "s")]
        )
        == 0
    )
    said = json.loads(capsys.readouterr().out)
    assert [run["traffic.2.transport"] for run in said["runs"]] == ["copa", "bbr", "cubic"]
    assert len({run["digest"] for run in said["runs"]}) == 3


def test_a_key_is_taken_out_on_the_command_line_and_in_python(mix, tmp_path, capsys):
    assert main(["show", str(mix), "--unset", "traffic.2", "--unset", "switch.buffer"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("[[traffic]]") == 2 and 'buffer = "500KB"' in shown
    base = thalweg.Scenario.load(mix)
    assert base.with_({"switch.buffer": None}).to_dict()["switch"]["buffer"] == "500KB"
    # What an override has set is gone with it; what a later one sets is there.
    assert base.with_({"seed": 7}).with_({"seed": None}) == base
    assert base.with_({"switch.buffer": None}).with_({"switch.buffer": "1bdp"}) == base.with_({"switch.buffer": "1bdp"})


def test_a_key_that_is_not_written_cannot_be_taken_out(mix, capsys):
    assert main(["show", str(mix), "--unset", "switch.bufer"]) == 2
    said = capsys.readouterr().err
    assert "--unset switch.bufer" in said and "does not write this key" in said and "did you mean `buffer`" in said


def test_what_is_missing_is_null_in_every_table(mix):
    late = {
        "run.max_events": 2000,
        "traffic.2.start": "490ms",
        "traffic.0.until": "50ms",
        "measure.controllers": {"every": "50ms"},
    }
    results = thalweg.run(mix, set=late, progress=False)
    flows = results.flows
    assert flows["size"].null_count() == 3 and flows["fct_ps"].null_count() == 3 and flows["slowdown"].null_count() == 3
    assert flows["start_ps"].to_list()[2] is None and flows["throughput_bps"].to_list()[2] is None
    sampled = results.tables["controllers"]
    assert sampled["srtt_ps"].to_list()[0] is None and sampled["threshold"].null_count() > 0
    for name in results.tables:
        table = results.tables[name]
        for column in table.columns:
            if table[column].dtype.is_float():
                assert not table[column].is_nan().any(), (name, column)
            elif table[column].dtype.is_integer():
                values = table[column].drop_nulls()
                assert values.is_empty() or (values.min() >= 0 and values.max() < 2**63), (name, column)
            elif table[column].dtype == pl.String:
                assert "" not in table[column], (name, column)
    assert results.to_pandas()["fct_ps"].isna().all()
    assert math.isnan(results.seconds("fct")[0])


def test_a_flow_that_is_complete_has_no_reason_why_it_is_not(scenario, tmp_path):
    thalweg.run(scenario, set={"traffic.0.until": "5ms", "run.until": "5ms"}, out=tmp_path / "r", progress=False)
    flows = thalweg.Results.load(tmp_path / "r").flows
    complete = flows["end"] == "completed"
    assert 0 < complete.sum() < len(flows)
    assert flows["reason"].is_null().to_list() == complete.to_list()
    assert set(flows.filter(~complete)["reason"]) == {"the run ended first"}


def test_nulls_survive_a_run_directory(mix, tmp_path):
    results = thalweg.run(mix, out=tmp_path / "r", progress=False)
    again = thalweg.Results.load(tmp_path / "r").flows
    assert again.equals(results.flows) and again["size"].dtype == pl.Int64


def test_one_s_own_controller_without_its_file_names_import(mix, capsys):
    assert main(["run", str(mix), "--set", "traffic.0.transport={congestion='delay-aimd'}"]) == 2
    assert "--import" in capsys.readouterr().err
