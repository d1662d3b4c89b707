"""What callers name: paths, flows, texts; wrong ones are refused in words, whichever door they come in by."""

import shutil

import pyarrow.parquet as pq
import pytest

import thalweg
from thalweg import Runs, ScenarioError, _places, decisions, policies

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
    return thalweg.run(thalweg.Scenario.from_toml(TEXT), tmp_path_factory.mktemp("names") / "run")


DOORS = {
    "run": thalweg.run,
    "load": thalweg.Scenario.load,
    "results": thalweg.Results.load,
    "resume": thalweg.resume,
    "runs": Runs.load,
    "replay": lambda what: thalweg.replay(what, "lstf"),
    "sweep": lambda what: thalweg.sweep(what, {"seed": [1]}),
    "compare": lambda what: thalweg.compare(what, what),
    "policies": policies.load,
    "decisions": decisions.read,
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


def test_a_scenario_that_is_no_text():
    for wrong, says in ((b"seed = 1", "bytes is no text; `.decode()` it"), ({"seed": 1}, "`Scenario.from_dict`")):
        with pytest.raises(ScenarioError, match=says.replace("(", r"\(").replace(")", r"\)")):
            thalweg.Scenario.from_toml(wrong)


@pytest.mark.parametrize("flow", ["x", None, 1.0, -1, 1, True])
def test_flows_that_are_not_there(run, flow):
    with pytest.raises(ScenarioError, match=r"there is no flow .*; flows are 0 to 0"):
        run.explain(flow)


@pytest.mark.parametrize(("table", "instead"), [("ports", "flows"), ("flows", "nodes"), ("nodes", "ports")])
def test_a_table_in_the_place_of_another(run, tmp_path, table, instead):
    damaged = tmp_path / "run"
    shutil.copytree(run.path, damaged)
    shutil.copy(damaged / f"{instead}.parquet", damaged / f"{table}.parquet")
    with pytest.raises(ScenarioError, match=f"{table}.parquet: is no table of {table}: it has no column"):
        thalweg.Results.load(damaged).tables[table]


def test_every_table_that_is_written_is_one_that_is_read(run):
    from thalweg.results import NEEDED

    for table, columns in NEEDED.items():
        assert set(columns) <= set(pq.read_table(run.path / f"{table}.parquet").column_names)


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
