"""Timelines for Perfetto: what is in the file is what is in the tables."""

import re

import polars as pl
import pytest

import thalweg
from thalweg import tracing
from thalweg.errors import ScenarioError

pb = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="pip install 'thalweg[trace]'")

LOSSY = """
name = "lossy"
seed = 5
topology = { kind = "star", hosts = 6 }
switch = { buffer = "30KB" }
run = { until = "1s" }
[[traffic]]
kind = "incast"
fan_in = 5
size = "200KB"
[measure]
packets = { hops = true }
decisions = true
controllers = { every = "1ms" }
links = { every = "100us" }
"""
PAUSED = """
name = "paused"
seed = 5
scheme = "roce+pfc"
run = { until = "100ms" }
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 6
[switch.pfc]
threshold = { kind = "static", xoff = "20KB", xon = "10KB" }
[[traffic]]
kind = "incast"
fan_in = 10
size = "200KB"
[measure]
packets = { hops = true }
pauses = true
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("traced")
    made = {}
    for text in (LOSSY, PAUSED):
        scenario = thalweg.Scenario.from_toml(text)
        made[scenario.name] = thalweg.run(scenario, out=place / scenario.name, progress=False)
    return made


class Read:
    """A timeline as Perfetto reads it: slices by track, each with its annotations; counters; instants; arrows."""

    def __init__(self, path):
        trace = pb.Trace.FromString(path.read_bytes())
        self.tracks, self.slices, self.instants, self.samples = {}, {}, {}, {}
        self.leads, self.comes = {}, {}
        names, keys, opened = {}, {}, {}
        for packet in trace.packet:
            names |= {e.iid: e.name for e in packet.interned_data.event_names}
            keys |= {e.iid: e.name for e in packet.interned_data.debug_annotation_names}
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
                continue
            event, at = packet.track_event, packet.timestamp
            about = {
                keys[n.name_iid]: n.string_value if n.HasField("string_value") else n.int_value
                for n in event.debug_annotations
            }
            made = (names.get(event.name_iid), at, about)
            if event.type == event.TYPE_SLICE_BEGIN:
                assert event.track_uuid not in opened, "slices of a track do not overlap"
                opened[event.track_uuid] = made
                self.leads |= dict.fromkeys(event.flow_ids, made)
                self.comes |= dict.fromkeys(event.terminating_flow_ids, made)
            elif event.type == event.TYPE_SLICE_END:
                name, begun, about = opened.pop(event.track_uuid)
                assert at >= begun
                self.slices.setdefault(event.track_uuid, []).append((name, begun, at, about))
            elif event.type == event.TYPE_COUNTER:
                self.samples.setdefault(event.track_uuid, []).append((at, event.counter_value))
            else:
                self.instants.setdefault(event.track_uuid, []).append(made)
        assert not opened

    def path(self, track):
        """Names from the root to a track."""
        at = self.tracks[track]
        return (*(self.path(at.parent_uuid) if at.parent_uuid else ()), at.name)

    def under(self, *names):
        (found,) = [n for n in self.tracks if self.path(n) == names]
        return found


@pytest.mark.parametrize("name", ["lossy", "paused"])
def test_every_transmission_is_a_slice_of_its_port_at_its_time(runs, name, tmp_path):
    run = runs[name]
    drawn = run.trace(tmp_path / "t.pftrace")
    read = Read(tmp_path / "t.pftrace")
    packets = run.packets.collect()
    hops = packets.explode("starts_ps", "ports").filter(pl.col("starts_ps").is_not_null())
    assert drawn.transmissions == run.tables["ports"]["packets"].sum() == packets.height + hops.height
    for port, start, end, carried, dropped in (
        run.named("ports").select("port", "from", "to", "packets", "dropped").iter_rows()
    ):
        track = read.under(start, f"→ {end} (port {port})")
        slices = read.slices.get(track, [])
        assert len(slices) == carried and len(read.instants.get(track, [])) == dropped
        assert [s[1] for s in slices] == [s[3]["from_ps"] // 1000 for s in slices]
        assert [s[2] for s in slices] == [s[3]["to_ps"] // 1000 for s in slices]
        at_port = hops.filter(pl.col("ports") == port).sort("starts_ps")
        if at_port.height:
            assert [s[3]["from_ps"] for s in slices] == at_port["starts_ps"].to_list()
            assert [s[3]["bytes"] for s in slices] == at_port["wire"].to_list()
        rate = run.tables["ports"]["rate_bps"][port]
        assert all(s[3]["to_ps"] - s[3]["from_ps"] == s[3]["bytes"] * 8 * 10**12 // rate for s in slices)


def test_bytes_that_wait_are_counted_as_the_engine_counts_them(runs, tmp_path):
    run = runs["lossy"]
    run.trace(tmp_path / "t.pftrace")
    read = Read(tmp_path / "t.pftrace")
    for port, start, end, most in run.named("ports").select("port", "from", "to", "max_queue").iter_rows():
        waiting = [n for n in read.tracks if read.path(n) == (start, f"→ {end} (port {port})", "bytes waiting")]
        if waiting and start.startswith("switch") and most > 40:
            values = [value for _, value in read.samples[waiting[0]]]
            assert min(values) == 0 and max(values) in (most, most - 1500) and values[-1] == 0


def test_flows_are_tracks_with_what_befell_them(runs, tmp_path):
    run = runs["lossy"]
    run.trace(tmp_path / "t.pftrace")
    read = Read(tmp_path / "t.pftrace")
    for row in run.named("flows").iter_rows(named=True):
        track = read.under("flows", f"flow {row['id']}: {row['src']} → {row['dst']} (incast)")
        ((_, begun, ended, about),) = read.slices[track]
        assert (begun, ended) == (row["start_ps"] // 1000, (row["start_ps"] + row["fct_ps"]) // 1000)
        assert about["fct_ps"] == row["fct_ps"] and about["controller"] == "newreno"
        events = [name for name, _, _ in read.instants[track]]
        assert events.count("retransmission") == row["retransmissions"]
        assert events.count("timeout") == row["timeouts"]
        windows = run.tables["controllers"].filter(pl.col("flow") == row["id"])
        sampled = read.samples[read.under(*read.path(track), "window")]
        assert [value for _, value in sampled] == windows["window"].drop_nulls().to_list()


def test_pauses_are_slices_and_arrows_lead_along_their_causes(runs, tmp_path):
    run = runs["paused"]
    drawn = run.trace(tmp_path / "t.pftrace")
    read = Read(tmp_path / "t.pftrace")
    pauses = run.named("pauses")
    assert drawn.pauses == pauses.height > 0
    slices = [s for t, found in read.slices.items() if read.path(t)[-1] == "paused" for s in found]
    at = {s[3]["pause"]: (s[3]["from_ps"], s[3]["to_ps"], s[3]["by"]) for s in slices}
    assert at == {
        n: (b, e, to) for n, to, b, e in pauses.select("pause", "to_node", "began_ps", "ended_ps").iter_rows()
    }
    arrows = {read.comes[n][2]["pause"]: read.leads[n][2]["pause"] for n in read.leads}
    causes = pauses.filter(pl.col("cause").is_not_null())
    assert arrows == dict(causes.select("pause", "cause").iter_rows()) and arrows


def test_what_was_not_recorded_is_named_with_its_key(runs, tmp_path):
    sets = {"measure.packets": None, "measure.pauses": None}
    bare = thalweg.run(thalweg.Scenario.from_toml(PAUSED).with_(sets), out=tmp_path / "bare", progress=False)
    drawn = bare.trace(tmp_path / "t.pftrace")
    assert drawn.transmissions == 0 and drawn.flows == 10
    assert [line for line in drawn.missing if "--record-hops" in line]
    assert [line for line in drawn.missing if "measure.pauses = true" in line]
    assert [line for line in drawn.missing if "measure.controllers" in line]
    nics = thalweg.run(thalweg.Scenario.from_toml(PAUSED), out=tmp_path / "n", record=True, progress=False)
    drawn = nics.trace(tmp_path / "t.pftrace")
    assert drawn.transmissions == nics.packets.collect().height
    assert "measure.packets = { hops = true }" in drawn.missing[0]


@pytest.mark.parametrize("scheme", ["uet+spray", "ndp+trim", "dctcp"])
def test_no_key_is_advised_that_the_run_would_refuse(scheme, tmp_path):
    text = PAUSED.split("[switch.pfc]")[0].replace("roce+pfc", scheme)
    text += '[[link]]\nwhich = "host-links"\nloss = { independent = 0.1 }\n'
    text += '[[traffic]]\nreceiver = 0\nkind = "incast"\nfan_in = 11\nsize = "500KB"\n[measure]\npackets = { hops = true }\n'
    run = thalweg.run(thalweg.Scenario.from_toml(text), out=tmp_path / "r", progress=False)
    assert run.flows["timeouts"].sum()
    missing = run.trace(tmp_path / "t.pftrace").missing
    assert [line for line in missing if "when timeouts fired" in line]
    decides = scheme == "dctcp"
    assert any("measure.decisions = true" in line for line in missing) == decides
    for key in {key for line in missing for key in re.findall(r"(measure\.\w+) =", line)}:
        run.scenario.with_({key: {"every": "1ms"} if key == "measure.controllers" else True})


def test_one_flow_at_one_port(runs, tmp_path):
    run = runs["lossy"]
    port = int(run.tables["ports"]["dropped"].arg_max())
    drawn = run.trace(tmp_path / "one.pftrace", flows=[2], ports=[port])
    of_flow = run.packets.filter(pl.col("flow") == 2, pl.col("forward") == 1, pl.col("lost_ps").is_null()).collect()
    assert (drawn.transmissions, drawn.flows) == (of_flow.height, 1)
    with pytest.raises(ScenarioError, match="there is no flow 99"):
        run.trace(tmp_path / "none.pftrace", flows=[99])
    assert not (tmp_path / "none.pftrace").exists()


def test_a_file_appears_whole_or_not_at_all(runs, tmp_path, monkeypatch):
    file = tmp_path / "t.pftrace"
    file.write_text("mine")
    with pytest.raises(ScenarioError, match="did not write this file"):
        runs["lossy"].trace(file)
    from thalweg.tracing import drawing

    def broken(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(drawing.Drawing, "_draw_flows", broken)
    with pytest.raises(RuntimeError):
        runs["lossy"].trace(tmp_path / "u.pftrace")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.pftrace"] and file.read_text() == "mine"


def test_the_command_names_the_extra_that_is_missing(runs, cli, monkeypatch):
    said = cli("trace", runs["paused"].path, "-o", "p.pftrace")
    assert said.code == 0 and said.out.startswith("p.pftrace: ") and "not drawn: " in said.out
    assert cli("trace", runs["paused"].path, "-o", "p.pftrace").code == 0, "its like is replaced"

    def absent():
        raise ImportError("the package perfetto is not installed: pip install 'thalweg[trace]'")

    monkeypatch.setattr(tracing, "_writer", absent)
    said = cli("trace", runs["paused"].path, "-o", "q.pftrace")
    assert said.code == 2 and "thalweg[trace]" in said.err


@pytest.mark.parametrize("transport", ["expresspass", "phost"])
def test_messages_are_not_shown_as_retransmissions(transport, tmp_path):
    switch = (
        'switch = { scheduler = "expresspass", buffer = "100KB" }'
        if transport == "expresspass"
        else 'nic = { order = "round-robin" }'
    )
    text = f"""
topology = {{ kind = "star", hosts = 4 }}
transport = "{transport}"
{switch}
traffic = [{{ kind = "incast", fan_in = 3, size = "60KB", receiver = 0 }}]
measure = {{ packets = {{ hops = true }} }}
run = {{ until = "20ms" }}
"""
    run = thalweg.run(thalweg.Scenario.from_toml(text), out=tmp_path / "run", progress=False)
    run.trace(tmp_path / "run.pftrace")
    again = list(tracing.drawing._sent_again(run.packets.with_row_index("packet")))
    assert len(again) == run.flows["retransmissions"].sum()
