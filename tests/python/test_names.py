"""What callers name: paths, flows, texts; wrong ones are refused in words, whichever door they come in by."""

import json
import pickle
import shutil

import pytest

import thalweg
from thalweg import Diagnostic, Runs, ScenarioError, _places, captures, decisions, papers, plots, policies, projects

TEXT = """
[topology]
kind = "pair"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "10KB"
"""
POLICY = "q = Queue(64 pkts);\nout = Port(q);\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return thalweg.run(thalweg.Scenario.from_toml(TEXT), out=tmp_path_factory.mktemp("names") / "run")


DOORS = {
    "run": thalweg.run,
    "load": thalweg.Scenario.load,
    "results": thalweg.Results.load,
    "resume": thalweg.resume,
    "runs": Runs.load,
    "replay": lambda what: thalweg.replay(what, scheduler="lstf"),
    "sweep": lambda what: thalweg.sweep(what, {"seed": [1]}),
    "compare": lambda what: thalweg.compare(what, what),
    "policies": policies.load,
    "decisions": decisions.read,
    "is a record": decisions.is_record,
    "qlog of": lambda what: captures.qlog(what, "qlog"),
    "a study": lambda what: papers.Paper.load(what),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("what", "says"),
    [
        (TEXT, r"`\[topology\] …` is a text: the path of a"),
        (POLICY * 1000, r"`q = Queue\(64 pkts\); …` is a text"),
        ("", "an empty name"),
        (None, "`None` names no file"),
        (3, "`3` names no file"),
    ],
    ids=["a scenario", "a long policy", "nothing", "None", "a number"],
)
def test_what_is_no_path_is_called_what_it_is(door, what, says):
    with pytest.raises(ScenarioError, match=says) as refused:
        DOORS[door](what)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("what", "says"), [("x" * 300, "is longer than a name can be"), ("a\0b", "holds a zero byte")])
def test_what_cannot_be_a_path_is_refused(door, what, says):
    with pytest.raises(ScenarioError, match=says) as refused:
        DOORS[door](what)
    assert len(str(refused.value)) < 200


# Where something is written: `None` is refused where a place must be named.
PLACES = {
    "save": lambda run, what: run.save(what),
    "report": lambda run, what: run.report(what),
    "trace": lambda run, what: run.trace(what),
    "pcap": captures.pcap,
    "qlog": lambda run, what: captures.qlog(b"", what),
    "figure": lambda run, what: plots.save(run.plot.network(), what),
    "tune": lambda run, what: thalweg.tune(run.scenario, {"seed": "1..5"}, "drops", out=what),
}
MAYBE = {
    "run": lambda run, what: thalweg.run(run.scenario, out=what),
    "replay": lambda run, what: thalweg.replay(run, scheduler="lstf", out=what),
    "sweep": lambda run, what: thalweg.sweep(run.scenario, {"seed": [1]}, out=what),
    "exam": lambda run, what: thalweg.exam("cubic", out=what),
    "reproduce": lambda run, what: papers.reproduce("irn", out=what),
    "estimate": lambda run, what: run.scenario.estimate_fct(out=what),
    "project": lambda run, what: projects.new("study", "author-study", out=what),
    "crate": lambda run, what: papers.pack("irn", out=what),
}


@pytest.mark.parametrize("door", [*PLACES, *MAYBE])
def test_what_is_no_place_to_write_is_called_what_it_is(run, door, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = {5: "`5` names no file", "": "an empty name", TEXT: r"`\[topology\] …` is a text", "x" * 300: "longer than"}
    for what, says in (wrong | ({None: "`None` names no file"} if door in PLACES else {})).items():
        with pytest.raises(ScenarioError, match=says):
            (PLACES | MAYBE)[door](run, what)
    assert not list(tmp_path.iterdir())


def test_a_sweep_that_is_not_there_and_what_is_near(tmp_path):
    thalweg.sweep(thalweg.Scenario.from_toml(TEXT), {"seed": [1]}, out=tmp_path / "seeds", progress=False)
    with pytest.raises(ScenarioError, match=r"seed: no such sweep; did you mean `seeds`\?"):
        Runs.load(tmp_path / "seed")
    (inside,) = (p for p in (tmp_path / "seeds").iterdir() if p.is_dir())
    with pytest.raises(ScenarioError, match=r"it is a run: `thalweg.Results.load` opens it"):
        Runs.load(inside)
    with pytest.raises(ScenarioError, match=r"it is a sweep: `thalweg.Runs.load` opens it"):
        thalweg.Results.load(tmp_path / "seeds")
    index = tmp_path / "seeds" / "sweep.json"
    for wrong in (5, [5], [{"set": {}, "run": 5}], [{"set": {}, "run": "x", "labels": 5}]):
        index.write_text(json.dumps({"jobs": wrong}))
        with pytest.raises(ScenarioError, match=r"sweep.json: is not a sweep's folder: its list of runs is not one"):
            Runs.load(tmp_path / "seeds")


# Where a name is expected.
NAMED = {
    "exam": thalweg.exam,
    "exam, of a table": lambda what: thalweg.exam("{" + what),
    "exam, of a module": lambda what: thalweg.exam(what + "a:b"),
    "study": papers.find,
    "scale": lambda what: papers.reproduce("irn", scale=what),
    "scheduler": lambda what: thalweg.replay(".", scheduler=what),
    "executor": lambda what: thalweg.sweep(thalweg.Scenario.from_toml(TEXT), {"seed": [1]}, executor=what),
    "figure": lambda what: plots.save(None, "x", formats=what),
}


@pytest.mark.parametrize("door", NAMED)
def test_a_text_in_the_place_of_a_name_is_shown_by_its_first_line(door, run, monkeypatch):
    monkeypatch.chdir(run.path)
    with pytest.raises(ScenarioError) as refused:
        NAMED[door](TEXT * 100)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300


def test_a_refusal_is_made_of_a_text_or_of_another():
    first = ScenarioError([Diagnostic("is not a rate", key="rate", hint="1Gbps")])
    for other in (ScenarioError(first), ScenarioError(first.diagnostics[0]), pickle.loads(pickle.dumps(first))):
        assert str(other) == str(first) == "`rate`: is not a rate; 1Gbps" and other.diagnostics == first.diagnostics
    assert str(ScenarioError("no way")) == "no way"


def test_a_scenario_that_is_no_text():
    for wrong, says in ((b"seed = 1", "bytes is not text; `.decode()` it"), ({"seed": 1}, "`Scenario.from_dict`")):
        with pytest.raises(ScenarioError, match=says.replace("(", r"\(").replace(")", r"\)")):
            thalweg.Scenario.from_toml(wrong)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    scenario = thalweg.Scenario.from_toml(TEXT)
    return thalweg.run(scenario, out=tmp_path_factory.mktemp("recorded") / "run", progress=False, record="hops")


OF_FLOWS = {
    "explain": lambda run, flow, place: run.explain(flow),
    "pcap": lambda run, flow, place: captures.pcap(run, place, flows=[flow]),
    "pcap, ports": lambda run, port, place: captures.pcap(run, place, ports=[port]),
    "trace": lambda run, flow, place: run.trace(place, flows=[flow]),
    "trace, ports": lambda run, port, place: run.trace(place, ports=[port]),
}


@pytest.mark.parametrize("door", OF_FLOWS)
@pytest.mark.parametrize("number", ["x", None, 1.0, -1, 9, True])
def test_flows_and_ports_that_are_not_there(recorded, tmp_path, door, number):
    with pytest.raises(ScenarioError, match=r"there is no (flow .*; flows are 0 to 0|port .*; ports are 0 to 1)$"):
        OF_FLOWS[door](recorded, number, tmp_path / "file")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [5, "0", None])
def test_flows_are_a_list(recorded, tmp_path, wrong):
    for write in (
        lambda: captures.pcap(recorded, tmp_path / "file", flows=wrong),
        lambda: recorded.trace(tmp_path / "f", flows=wrong),
    ):
        with pytest.raises(ScenarioError, match=r"is not a list of flows; for example \[0, 1\]"):
            write()


WRONG = {
    "figure of a column": (lambda run: run.plot.cdf("slow"), "`flows` has no column `slow`; did you mean `slowdown`"),
    "times": (lambda run: run.seconds("fc"), "the table `flows` has no column `fc` of times; did you mean `fct`"),
    "busiest": (lambda run: run.busiest("x"), "`most`: `x` is not a whole number above zero"),
    "link": (lambda run: sampled(run).plot.link(7), "port 7 was not sampled; those were 0, 1"),
}


def sampled(run):
    return thalweg.run(run.scenario.with_({"measure.links": {"every": "1us"}}), progress=False)


@pytest.mark.parametrize("wrong", WRONG)
def test_columns_and_ports_that_results_do_not_have(run, wrong):
    call, says = WRONG[wrong]
    with pytest.raises(ScenarioError, match=says.replace("(", r"\(")):
        call(run)


def test_a_table_that_is_not_there_and_those_that_are(run):
    with pytest.raises(KeyError) as refused:
        run.tables["port"]
    assert str(refused.value).startswith("this run has no table `port`")
    with pytest.raises(KeyError, match=r"no table `flow`; did you mean `flows`\? \(known: flows, nodes, ports\)"):
        run.tables["flow"]


@pytest.mark.parametrize(("table", "instead"), [("ports", "flows"), ("flows", "nodes"), ("nodes", "ports")])
def test_a_table_in_the_place_of_another(run, tmp_path, table, instead):
    damaged = tmp_path / "run"
    shutil.copytree(run.path, damaged)
    shutil.copy(damaged / f"{instead}.parquet", damaged / f"{table}.parquet")
    with pytest.raises(ScenarioError, match=f"{table}.parquet: is not a table of {table}: it has no column"):
        thalweg.Results.load(damaged).tables[table]


def test_of_two_who_write_a_new_file_at_once_the_first_has_it(tmp_path, monkeypatch):
    place = tmp_path / "new.oq"
    write = _places._write

    def late(path, data, settle):
        path.write_text("another's")  # since the question whether something is there
        write(path, data, settle)

    monkeypatch.setattr(_places, "_write", late)
    with pytest.raises(ScenarioError, match="is there already"):
        _places.write_new(place, "mine")
    assert place.read_text() == "another's" and list(tmp_path.iterdir()) == [place]
