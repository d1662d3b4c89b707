"""Names, lists of names and tables of settings: what is none is refused in words, whichever function it is given to."""

import math

import pytest

import thalweg
from conftest import SCENARIO, SEED
from thalweg import Results, Runs, Scenario, ScenarioError, papers, policies, runplots


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    set = {"traffic.0.until": "1ms", "measure.queues": {"every": "100us"}, "run.until": "2ms"}
    place = tmp_path_factory.mktemp("given") / "run"
    return thalweg.run(Scenario.from_toml(SCENARIO, set), out=place, progress=False, record="hops")


@pytest.fixture(scope="module")
def runs(run):
    return Runs([{SEED: 1}, {SEED: 2}], [run, run])


NO_TABLE = [5, "x", [5], math.nan, True]
TABLES = {
    "with_": lambda run, what: run.scenario.with_(what),
    "from_toml": lambda run, what: Scenario.from_toml(SCENARIO, what),
    "from_dict": lambda run, what: Scenario.from_dict(what),
    "run": lambda run, what: thalweg.run(run.scenario, set=what),
    "sweep": lambda run, what: thalweg.sweep(run.scenario, what if what != [5] else 5),
    "tune": lambda run, what: thalweg.tune(run.scenario, what, "drops", out="out"),
    "exam": lambda run, what: thalweg.exam("cubic", set=what),
    "packets": lambda run, what: policies.load("fifo").run(what),
    "settings of runs": lambda run, what: Runs([what], [run]),
}


@pytest.mark.parametrize("door", TABLES)
@pytest.mark.parametrize("what", NO_TABLE)
def test_settings_are_keys_and_their_values(run, door, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"`.*` is not a table of keys and their values"):
        TABLES[door](run, what)
    assert not list(tmp_path.iterdir())


NO_NAME = [5, [5], math.nan, True, {"a": 1}]
NAMES = {
    "metric of a sweep": lambda run, runs, what: thalweg.sweep(run.scenario, {SEED: [1]}, metric=what),
    "objective": lambda run, runs, what: thalweg.tune(run.scenario, {"switch.buffer": "1KB..9KB"}, what, out="out"),
    "metric": lambda run, runs, what: runs.plot(what),
    "means": lambda run, runs, what: runs.means(what),
    "compare": lambda run, runs, what: thalweg.compare(runs, runs, what),
    "to_latex": lambda run, runs, what: runs.to_latex(what),
    "by": lambda run, runs, what: runs.by(what),
    "column": lambda run, runs, what: run.plot.cdf(what),
    "target": lambda run, runs, what: policies.load("fifo").code(what),
    "engine": lambda run, runs, what: policies.load("fifo").run({"queue": [0]}, engine=what),
    "claim": lambda run, runs, what: papers.reproduce("irn", claim=[what]),
    "choice": lambda run, runs, what: papers.sweep("irn", [what]),
    "situation": lambda run, runs, what: thalweg.exam("cubic", only=[what]),
}


@pytest.mark.parametrize("door", NAMES)
@pytest.mark.parametrize("what", NO_NAME)
def test_a_name_is_a_text(run, runs, door, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"`\w+`: `.*` is not a name"):
        NAMES[door](run, runs, what)


LISTS = {
    "situations": lambda run, what: thalweg.exam("cubic", only=what),
    "others": lambda run, what: thalweg.exam("cubic", against=what),
    "claims": lambda run, what: papers.reproduce("irn", claim=what),
    "choices": lambda run, what: papers.sweep("irn", what),
    "percentiles": lambda run, what: runplots.slowdown_by_size({"a": run}, percentiles=what),
    "range": lambda run, what: thalweg.tune(run.scenario, {"switch.buffer": what}, "drops", out="out"),
    "runs": lambda run, what: Runs(what, [run]),
    "results": lambda run, what: Runs([{}], what),
}


@pytest.mark.parametrize("door", LISTS)
@pytest.mark.parametrize("what", [5, math.nan, True, {"a": 1}])
def test_a_list_is_one(run, door, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"`[\w.]+`: `.*` is not a list"):
        LISTS[door](run, what)


OTHERS = {
    "a table": (lambda run: run.columns([5]), KeyError, "no table `[5]`"),
    "a named table": (lambda run: run.named({}), KeyError, "no table `{}`"),
    "threshold": (lambda run: thalweg.replay(run, threshold=[]), ScenarioError, "the threshold `[]` is not a time"),
    "bucket": (lambda run: thalweg.replay(run, bucket=1.5), ScenarioError, "the bucket `1.5` is not a time"),
    "port": (lambda run: run.scenario.trace_text("x"), ScenarioError, "`port`: `'x'` is not a port"),
    "evidence": (lambda run: run.explain(0, evidence="x"), ScenarioError, "`evidence`: `x` is not a record to look in"),
    "bins": (lambda run: run.plot.slowdown(bins="x"), ScenarioError, "`bins`: `x` is not a whole number above zero"),
    "most": (lambda run: run.plot.queues(most=0), ScenarioError, "`most`: `0` is not a whole number above zero"),
    "percentile": (lambda run: run.plot.slowdown(percentiles=[101]), ScenarioError, "`101` is not a percentile"),
    "record": (lambda run: thalweg.run(run.scenario, record=[]), ScenarioError, "`record` is True, False"),
    "a policy": (lambda run: policies.parse(5), ScenarioError, "policy.oq: a int is not the text of a policy"),
    "traffic": (lambda run: policies.load("fifo").traffic("x"), ScenarioError, "`packets`: `x` is not a whole number"),
    "runs": (lambda run: Runs([{}, {}], [run]), ScenarioError, "2 settings and 1 results; one for each run"),
}


@pytest.mark.parametrize("wrong", OTHERS)
def test_what_results_and_policies_do_not_take(run, wrong):
    call, kind, says = OTHERS[wrong]
    with pytest.raises(kind) as refused:
        call(Results.load(run.path))
    assert says in str(refused.value)
