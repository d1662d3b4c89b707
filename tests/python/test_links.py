"""Links that vary, lose and delay, from the command line and from Python."""

import gzip
import json
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs/links/cellular.toml"
TRACES = ROOT.parent / "shared/traces"


def short(**settings) -> thalweg.Scenario:
    return thalweg.Scenario.load(EXAMPLE, set={"run.until": "10s"} | settings)


def test_the_example_fills_its_link_and_draws_it(cli, tmp_path):
    out = cli("run", EXAMPLE, "--set", "run.until=10s", "--out", tmp_path / "r", "--report").out
    assert "links" in out and "of what could have left" in out
    results = thalweg.Results.load(tmp_path / "r")
    most = results.summary["links"]["most_used"]
    assert most["port"] == 4 and 0.5 < most["utilisation"] <= 1.0
    assert results.summary["links"]["packets_lost"] == 0
    assert results.summary["endless"]["queueing_us"]["mean"] > 10_000
    assert results.plot.link().axes[0].get_ylabel() == "rate (Mb/s)"
    assert "link" in results.plot.all()
    with pytest.raises(thalweg.ScenarioError, match="port 0 was not sampled"):
        results.plot.link(0)
    ports = results.tables["ports"]
    carried, capacity = ports["bytes"][4], ports["capacity"][4]
    # What is not out yet of a packet in transmission is among `bytes`, and not in the share.
    assert 0 <= carried / capacity - ports["utilisation"][4] <= 1504 / capacity


def test_a_run_can_be_run_again_from_its_directory_and_names_its_trace(tmp_path):
    (tmp_path / "x.trace").write_text("1\n2\n2\n7\n")
    traced = {"kind": "traced", "file": str(tmp_path / "x.trace")}
    scenario = short(**{"link.0.transmitter": traced, "run.until": "2s"})
    results = thalweg.run(scenario, out=tmp_path / "r", progress=False)
    meta = json.loads((tmp_path / "r/meta.json").read_text())
    assert len(meta["inputs"][str(tmp_path / "x.trace")]) == 16
    again = thalweg.run(thalweg.Results.load(tmp_path / "r").scenario, progress=False)
    assert again.digest == results.digest
    (tmp_path / "x.trace").write_text("1\n2\n3\n7\n")
    assert thalweg.run(scenario.with_(), progress=False).digest != results.digest or scenario.inputs() != meta["inputs"]


def test_a_made_up_trace_is_exported_and_runs_the_same(cli, tmp_path):
    text = cli("export-trace", EXAMPLE).out
    times = [int(line) for line in text.split()]
    assert times == sorted(times) and times[-1] == 60_000
    (tmp_path / "made.trace").write_text(text)
    one = thalweg.run(short(), progress=False)
    traced = {"kind": "traced", "file": str(tmp_path / "made.trace")}
    two = thalweg.run(short(**{"link.0.transmitter": traced}), progress=False)
    assert one.digest == two.digest
    assert cli("export-trace", EXAMPLE, "--port", "4").out == text


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--port", "5"], "port 5 has no trace of delivery opportunities; ports that have one: 4"),
        (["--port", "x"], "`x` is not the number of a port"),
        (
            ["--set", "link.0.transmitter.min=30Mbps"],
            "`link.0.transmitter.max`: 30Mbps is no more than the smallest rate",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_line(cli, args, says):
    done = cli("export-trace", EXAMPLE, *args)
    assert done.code == 2 and says in done.err and done.err.count("\n") == 1


def test_links_that_vary_are_recorded_but_not_replayed(cli, tmp_path):
    cli("run", EXAMPLE, "--set", "run.until=1s", "--record", "--out", tmp_path / "r")
    done = cli("replay", tmp_path / "r", "--scheduler", "lstf")
    assert done.code == 2 and "`link.0.transmitter`: cannot be replayed" in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("name", ["Verizon-LTE-short.down"])
def test_cubic_fills_a_recorded_link(name, tmp_path):
    packed = TRACES / f"{name}.gz"
    if not packed.is_file():
        pytest.skip("no recorded traces next to the repository")
    (tmp_path / name).write_bytes(gzip.decompress(packed.read_bytes()))
    traced = {"kind": "traced", "file": str(tmp_path / name)}
    results = thalweg.run(short(**{"link.0.transmitter": traced, "run.until": "30s"}), progress=False)
    used = results.summary["links"]["most_used"]["utilisation"]
    # Real Linux senders over this trace: 0.995 to 0.997 of 140 s.
    assert 0.95 < used <= 1.0, used
    assert results.summary["drops"] > 10
