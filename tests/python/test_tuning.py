"""`thalweg tune`: the same search whatever makes its runs and however often it is interrupted."""

from __future__ import annotations

import json
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

import thalweg
from conftest import LOAD, SCENARIO, SEED
from thalweg import _places
from thalweg.tuning.ranges import Range

optuna = pytest.importorskip("optuna", reason="Optuna is not installed: pip install 'thalweg[tune]'")
# Of other packages they are theirs.
pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::FutureWarning")

ROOT = Path(__file__).parents[2]
VARY = {"switch.buffer": "10KB..500KB:log", "switch.scheduler": ["fifo", "srpt"]}
METRIC = "measured.slowdown.mean"


@pytest.fixture
def short(scenario):
    return scenario.with_({"traffic.0.until": "2ms"})


def search(scenario, out, **how):
    return thalweg.tune(scenario, VARY, METRIC, out=out, progress=False, **({"trials": 12} | how))


def test_the_same_seed_tries_the_same_settings_however_it_is_run(short, tmp_path):
    straight = search(short, tmp_path / "a")
    with ThreadPoolExecutor(3) as pool:
        assert search(short, tmp_path / "b", executor=pool).frame.equals(straight.frame)
    search(short, tmp_path / "c", trials=4)
    assert search(short, tmp_path / "c", jobs=1).frame.equals(straight.frame), "a search goes on as if it had not ended"
    assert not search(short, tmp_path / "d", seed=1).frame.equals(straight.frame)
    assert straight.frame.height == 12 and straight.best.value == straight.frame[METRIC].min()
    assert straight.best.set["switch.scheduler"] == "srpt" and straight.best.value < straight.before.value
    assert straight.plot().axes


def test_a_search_that_was_killed_goes_on(short, tmp_path, monkeypatch):
    from thalweg import tuning

    straight = search(short, tmp_path / "a")
    real, calls = tuning.perform_all, []

    def dies(jobs, *args, **kw):
        calls.append(len(jobs))
        found = real(jobs, *args, **kw)
        if len(calls) == 3:  # its runs are made, their values are not reported
            raise RuntimeError("killed")
        return found

    monkeypatch.setattr(tuning, "perform_all", dies)
    with pytest.raises(RuntimeError, match="killed"):
        search(short, tmp_path / "b")
    # And another, while it was choosing: a trial that has no settings yet.
    backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "b" / "optuna.journal"))
    optuna.load_study(study_name=None, storage=optuna.storages.JournalStorage(backend)).ask()
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "b").glob("*/meta.json")}
    again = search(short, tmp_path / "b")
    kept = straight.frame.drop("trial"), again.frame.drop("trial")
    assert kept[0].equals(kept[1])
    assert before == {p: p.stat().st_mtime_ns for p in before}, "no run is made twice"


def test_seeds_are_averaged_and_settings_that_cannot_be_are_avoided(short, tmp_path):
    base = short.with_(
        {"switch.marking": {"kind": "red-ecn", "min": "20KB", "max": "200KB"}, "transport.ecn": "classic"}
    )
    vary = {"switch.marking.min": "5KB..300KB", "switch.marking.max": ["100KB", "200KB"]}
    found = thalweg.tune(base, vary, "drops", out=tmp_path / "t", trials=8, seeds=2, maximize=True, progress=False)
    bad = [t for t in found.trials if t.value is None]
    assert bad and all(int(t.set["switch.marking.min"][:-2]) >= 100 for t in bad) and "min" in bad[0].why
    trial = next(t for t in found.trials if t.value is not None)
    drops = [thalweg.run(base, set=dict(trial.set) | {SEED: s}, progress=False).summary["drops"] for s in (3, 4)]
    assert trial.value == sum(drops) / 2 and found.spreads[trial.number].runs == 2
    assert found.best.value == max(t.value for t in found.trials if t.value is not None)


# Ten senders share a buffer of four packets: hardly any ends in 100 ms.
STARVED = """
topology = { kind = "star", hosts = 16 }
[transport]
congestion = "cubic"
[nic]
buffer = "unlimited"
[[traffic]]
kind = "incast"
fan_in = 10
size = "200KB"
receiver = 0
senders = "neighbours"
[[traffic]]
kind = "flow"
src = 11
dst = 12
size = "20KB"
[run]
until = "100ms"
"""


def test_a_setting_under_which_flows_do_not_end_is_not_the_best(tmp_path, cli):
    (tmp_path / "s.toml").write_text(STARVED)
    varied = {"switch.buffer": ["6KB", "2MB"]}
    found = thalweg.tune(tmp_path / "s.toml", varied, METRIC, out=tmp_path / "t", trials=4, progress=False)
    assert found.best.set == {"switch.buffer": "2MB"}
    starved = next(t.value for t in found.trials if t.set == {"switch.buffer": "6KB"})
    # Nine of ten have been under way for 100 ms, and would be alone for 17 us per 20 KB.
    assert starved > 0.5 * 0.1 / 170e-6
    alone = thalweg.run(tmp_path / "s.toml", set={"switch.buffer": "6KB"}, progress=False).summary["measured"]
    assert alone["slowdown"]["mean"] < 2 and alone["censored"] > 5, "what the others have"
    said = cli("sweep", "s.toml", "--vary", "switch.buffer=6KB,2MB", "--metric", METRIC)
    assert re.search(r"0 to 90.9 % of the flows had not ended: `measured.slowdown.mean` is of the\s+others", said.out)
    said = cli("sweep", "s.toml", "--vary", "switch.buffer=1MB,2MB", "--metric", METRIC, "--out", "whole")
    assert said.code == 0 and "had not ended" not in said.out


def test_ranges_by_hand():
    r = Range.of("k", "10KB..500KB:log")
    assert (r.low, r.high, r.unit, r.whole, r.log, str(r)) == (10, 500, "KB", True, True, "10KB..500KB:log")
    assert r.setting(37) == "37KB" and Range.of("k", "10..20KB").setting(11) == "11KB"
    assert Range.of("k", "0.5us..20us").setting(1.23456789) == "1.23457us"
    assert Range.of("k", "1e-7..1.0:log").setting(1.23456789e-5) == 1.23457e-5
    assert Range.of("k", "1e-7s..1.0s:log").setting(1.23456789e-5) == "0.0000123457s"
    assert Range.of("k", "-3..4").setting(2.0) == 2 and str(Range.of("k", "0.5..1")) == "0.5..1.0"
    assert Range.of("k", 'fifo,{ kind = "drr", quantum = "1,5KB" }').choices[1] == '{ kind = "drr", quantum = "1,5KB" }'
    assert Range.of("k", "1,2").choices == (1, 2)


WRONG = {
    "no range": (["--vary", "switch.buffer"], "key=value,value"),
    "one value": (["--vary", "switch.buffer=10KB"], "nothing is to be found"),
    "half a range": (["--vary", "switch.buffer=10KB.."], "is not a range; LOW..HIGH"),
    "two units": (["--vary", "switch.buffer=10KB..1MB"], "has two units"),
    "empty": (["--vary", "switch.buffer=20KB..10KB"], "is empty"),
    "no logarithm": (["--vary", f"{LOAD}=0.0..0.5:log"], "has no logarithm"),
    "twice": (["--vary", f"{LOAD}=0.1..0.5", "--vary", f"{LOAD}=0.1..0.5"], "varied twice"),
    "set": (["--vary", f"{LOAD}=0.1..0.5", "--set", f"{LOAD}=0.7"], "--set of it cannot take effect"),
    "the seed": (["--vary", "seed=1..5"], "chance would win"),
    "nothing": ([], "nothing is varied"),
    "no such metric": (["--vary", f"{LOAD}=0.1..0.5", "--objective", "drosp"], "did you mean `drops`"),
    "no such key": (["--vary", "switch.bufer=10KB..20KB"], "bufer"),
    "other things": (["--vary", f"{LOAD}=0.1..0.5", "--out", "full"], "holds other things"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_search_is_one_line_and_exit_code_2(case, cli, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    (tmp_path / "tiny.toml").write_text(SCENARIO)
    argv, expected = WRONG[case]
    objective = [] if "--objective" in argv else ["--objective", "drops"]
    said = cli("tune", "tiny.toml", *objective, *argv, "--quiet", "--trials", "1")
    assert said.code == 2 and said.out == "" and expected in said.err and said.err.count("\n") == 1, said.err
    assert not list(tmp_path.glob("runs/*")), "nothing is begun"


def test_the_command_prints_the_best_as_options_and_refuses_another_searchs_folder(cli, tmp_path):
    (tmp_path / "tiny.toml").write_text(SCENARIO.replace('until = "20ms"', 'until = "2ms"'))
    argv = ["tune", "tiny.toml", "--vary", "switch.buffer=10KB..100KB", "--objective", METRIC, "--out", "t"]
    said = cli(*argv, "--trials", "2")
    assert said.code == 0, said.err
    assert "(as it is: " in said.out and "--set switch.buffer=" in said.out and "table: t/tune.csv" in said.out
    assert "2 of 2 trials: best " in said.err
    assert (tmp_path / "t" / "tune.csv").read_text().startswith("trial,switch.buffer,measured.slowdown.mean,±,why\n")
    again = json.loads(cli(*argv, "--trials", "3", "--json").out)
    assert len(again["trials"]) == 3 and again["best"]["switch.buffer"].endswith("KB") and again["before"]
    other = cli(*argv, "--maximize", "--quiet")
    assert other.code == 2 and "is of another search (maximize differ" in other.err
    marker = _places.read_json(tmp_path / "t" / "thalweg.json")
    assert marker["format"] == "thalweg tune"


def test_the_commands_of_the_page_are_true(cli, tmp_path):
    from thalweg.cli.parser import build

    page = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL)).replace("\\\n", " ")
    commands = [shlex.split(line) for line in blocks.splitlines() if line.startswith("thalweg ")]
    assert len(commands) == 4
    for words in commands:
        assert build().parse_args(words[1:]).command
    (search_,) = (words for words in commands if words[1] == "tune")
    search_[2] = str(ROOT / search_[2])
    for option, few in (("--trials", "2"), ("--seeds", "1")):
        search_[search_.index(option) + 1] = few
    said = cli(*search_[1:], "--set", "traffic.0.until=1ms", "--json", "--quiet")
    assert said.code == 0 and json.loads(said.out)["best"].keys() == {r.split("=")[0] for r in search_ if ".." in r}


def test_a_missing_optuna_is_named(cli, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    (tmp_path / "tiny.toml").write_text(SCENARIO)
    said = cli("tune", "tiny.toml", "--objective", "drops", "--vary", f"{LOAD}=0.1..0.5", "--quiet")
    assert said.code == 2 and "optuna is not installed; pip install 'thalweg[tune]'" in said.err


def test_a_count_is_a_metric_though_flows_do_not_end():
    from thalweg.tuning.completion import value

    measured = {"flows": 3, "completed": 2, "censored": 1, "fct_us": {"count": 2, "mean": 5.0}}
    assert value(SimpleNamespace(summary={"measured": measured}), "measured.fct_us.count") == 2
