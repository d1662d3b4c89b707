"""Text and values from elsewhere: what is read, how much of it, and what is said of the rest."""

import os
from enum import Enum

import numpy as np
import pytest

import thalweg
from conftest import SCENARIO
from thalweg import ScenarioError


def said(make) -> str:
    with pytest.raises(ScenarioError) as e:
        make()
    return str(e.value)


def test_pipes_and_devices_are_not_scenarios(tmp_path, cli):
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/zero"):
        answer = cli("run", path)
        assert (answer.code, answer.out) == (2, "")
        assert f"{path}: is not a regular file" in answer.err


def test_the_limit_can_be_set(tmp_path, monkeypatch):
    path = tmp_path / "s.toml"
    path.write_text("\ufeff" + SCENARIO)
    assert thalweg.Scenario.load(path).name == "tiny"
    monkeypatch.setenv("THALWEG_MAX_INPUT", "100B")
    assert "holds more than 100 bytes" in said(lambda: thalweg.Scenario.load(path))
    monkeypatch.setenv("THALWEG_MAX_INPUT", "much")
    assert "THALWEG_MAX_INPUT is not a size" in said(lambda: thalweg.Scenario.load(path))


def test_the_limit_holds_in_the_engine_too(tmp_path, monkeypatch):
    (tmp_path / "flows.csv").write_text("src,dst,size_bytes,start_ns\n" + "0,1,1000,0\n" * 100)
    path = tmp_path / "s.toml"
    path.write_text('topology = "pair"\n[[traffic]]\nkind = "list"\nfile = "flows.csv"\n')
    thalweg.Scenario.load(path)
    monkeypatch.setenv("THALWEG_MAX_INPUT", "1KB")
    assert "`flows.csv` holds more than 1KB" in said(lambda: thalweg.Scenario.load(path))


@pytest.mark.parametrize("name", ["/tmp/x", "../../victim", ".", "a\0b", "\x1b[31m"])
def test_a_name_is_no_path(name, tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = SCENARIO.replace('name = "tiny"\n', "")
    line = said(lambda: thalweg.Scenario.from_toml(text, {"name": name}))
    assert "`name`" in line and "cannot be the name of a folder" in line
    assert line.isprintable()


def nested(depth: int) -> dict:
    table: dict = {"x": 1}
    for _ in range(depth):
        table = {"switch": table}
    return table


CASES = {
    "deep": (lambda: nested(400), "is nested more than 32 deep"),
    "deep list": (lambda: {"traffic": [[[]] * 1], "x": [nested(400)]}, "nested more than 32 deep"),
    "surrogate": (lambda: {"name": "a\ud800"}, "`name`: is not text: character 1 is half a surrogate pair (U+D800)"),
    "surrogate key": (lambda: {"a\udfff": 1}, "half a surrogate pair (U+DFFF)"),
    "array": (
        lambda: {"seed": np.arange(3)},
        "`seed`: numpy.ndarray cannot be written as TOML; write it as a list: `.tolist()`",
    ),
    "set": (lambda: {"measure": {"size_classes": {"1KB"}}}, "`measure.size_classes`: set cannot be written as TOML"),
    "large": (lambda: {"seed": 10**5000}, "`seed`: is not an integer of 64 bits"),
    "key": (lambda: {"switch": {1: 2}}, "`switch`: a key is a int, not a string"),
    "none": (lambda: {"measure": {"fct": [None]}}, "`measure.fct.0`: None cannot be written as TOML; leave it out"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_dictionary_that_is_no_scenario(case):
    table, expected = CASES[case]
    line = said(lambda: thalweg.Scenario.from_dict(table()))
    assert expected in line and len(line) < 300 and "\n" not in line
    assert line.startswith("<dict>: ")


def test_a_table_that_holds_itself():
    table: dict = {}
    table["switch"] = table
    assert "nested more than 32 deep" in said(lambda: thalweg.Scenario.from_dict(table))


def test_overrides_are_checked_alike(scenario):
    assert said(lambda: scenario.with_({"seed": np.arange(3)})).startswith("--set seed: ")
    assert "surrogate" in said(lambda: scenario.with_({"name": "\ud800"}))
    assert scenario.with_({"seed": None}).seed == 1  # taken out: the default
    assert "surrogate" in said(lambda: thalweg.Scenario.from_toml('name = "\ud800"'))
    assert scenario.with_({"seed": np.int64(5)}).seed == 5
    assert scenario.with_({"seed": np.array(5)}).seed == 5
    assert scenario.with_({"name": Enum("Name", {"SHORT": "short"}, type=str).SHORT}).name == "short"


def test_a_flood_of_unknown_keys_is_counted():
    text = "".join(f"unknown{n} = 1\n" for n in range(20_000)) + SCENARIO
    line = said(lambda: thalweg.Scenario.from_toml(text))
    assert len(line) < 10_000 and line.endswith("<text>: and 19980 more errors; mend these first")


LINKS = "a,b,rate,delay\nweb,tor,10Gbps,1us\ndb,tor,10Gbps,1us\ncache,tor,10Gbps,1us\n"


def test_nodes_keep_their_names_in_tables_and_legends(tmp_path):
    (tmp_path / "links.csv").write_text(LINKS)
    (tmp_path / "flows.csv").write_text(
        '\ufeffid,src,dst,size_bytes,start_ns\n0,web,cache,100000,0\n1,"db",2,100000,0\n'
    )
    path = tmp_path / "s.toml"
    path.write_text(
        '[topology]\nkind = "file"\nformat = "links-csv"\nfile = "links.csv"\n[measure]\nqueues = { every = "1us" }\n'
        '[[traffic]]\nkind = "list"\nfile = "flows.csv"\n'
    )
    results = thalweg.run(path, out=tmp_path / "r", progress=False)
    for r in (results, thalweg.Results.load(tmp_path / "r")):
        assert r.tables["nodes"]["name"].to_list() == ["web", "db", "cache", "tor"]
        assert r.named().select("src", "dst").rows() == [("web", "cache"), ("db", "cache")]
        assert r.flows["src"].to_list() == [0, 1]
    legend = [text.get_text() for text in results.plot.queues().legends[0].get_texts()]
    assert "tor → cache" in legend
