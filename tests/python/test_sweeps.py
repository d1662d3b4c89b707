"""Sweeps: named variants, tables and figures over seeds, and the same from the command line."""

import json
import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import thalweg
from conftest import LOAD, SCENARIO, SEED, python_controller
from thalweg import pool, settings, sweepfigure
from thalweg.cli import sweeping
from thalweg.examples import aimd
from thalweg.spread import spread


@pytest.fixture
def scenario(scenario):
    return scenario.with_({"traffic.0.until": "5ms"})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(SCENARIO.replace('until = "20ms"', 'until = "5ms"'))
    return path


DCTCP = {"transport.congestion": "dctcp", "switch.marking": {"kind": "step", "threshold": "20pkts"}}


def test_my_controller_is_compared_with_dctcp(scenario):
    mine = python_controller(aimd.Aimd.thalweg_name)
    runs = thalweg.sweep(scenario, {"variant": {"dctcp": DCTCP, "mine": mine}, SEED: range(2)})
    assert runs.params[0] == {"variant": "dctcp", SEED: 0}
    assert runs.frame["variant"].to_list() == ["dctcp", "dctcp", "mine", "mine"]
    assert runs.frame[SEED].to_list() == [0, 1, 0, 1]
    assert set(runs.flows["variant"]) == {"dctcp", "mine"}
    assert runs.flows.height == sum(r.flows.height for r in runs)
    assert "variant" in repr(runs)


def test_a_name_and_a_table_are_text_in_frames(scenario):
    runs = thalweg.sweep(scenario, {"switch.scheduler": ["fifo", {"kind": "drr", "quantum": "3000B"}]})
    assert runs.frame["switch.scheduler"].to_list() == ["fifo", '{ kind = "drr", quantum = "3000B" }']
    assert runs.flows["switch.scheduler"].n_unique() == 2


def test_points_may_have_different_keys(scenario):
    runs = thalweg.sweep(scenario, [{LOAD: 0.3}, {"switch.scheduler": "srpt", SEED: 9}, {}])
    assert runs.frame[LOAD].to_list() == [0.3, None, None]
    assert runs.frame["switch.scheduler"].to_list() == [None, "srpt", None]
    assert runs.flows[SEED].drop_nulls().unique().to_list() == [9]
    assert runs.flows.height == sum(r.flows.height for r in runs)


def test_points_by_hand():
    made = settings.points({"variant": {"a": {"x": 1}, "b": {"x": 2, "y": 3}}, "z": [4, 5]})
    assert [p.labels for p in made] == [
        {"variant": "a", "z": 4},
        {"variant": "a", "z": 5},
        {"variant": "b", "z": 4},
        {"variant": "b", "z": 5},
    ]
    assert made[3].set == {"x": 2, "y": 3, "z": 5}
    with pytest.raises(thalweg.ScenarioError, match="`x`: two parts of the sweep set it"):
        settings.points({"variant": {"a": {"x": 1}}, "x": [1]})
    with pytest.raises(thalweg.ScenarioError, match=r"write \{"):
        settings.points({"switch.buffer": {"small": "100KB"}})


def test_a_list_is_split_at_its_outer_commas():
    assert settings.split('a, { k = "x,y", z = [1, 2] },3') == ["a", '{ k = "x,y", z = [1, 2] }', "3"]
    assert settings.typed(["1", "2"]) == [1, 2] and settings.typed(["1", "2.5"]) == [1.0, 2.5]
    assert settings.typed(["1", "two"]) == ["1", "two"]


def test_a_confidence_interval_by_hand():
    # Mean 2, standard deviation 1, three runs: 4.303 · 1 / √3.
    found = spread([1.0, 2.0, 3.0])
    assert found.mean == 2 and math.isclose(found.half, 4.30265273 / math.sqrt(3), rel_tol=1e-8) and found.runs == 3
    # 40 runs, 39 degrees of freedom: not the normal distribution's 1.96.
    assert math.isclose(spread([0.0, 2.0] * 20).half, 2.0226909 * math.sqrt(40 / 39) / math.sqrt(40), rel_tol=1e-7)
    assert math.isnan(spread([1.0]).half) and spread([]).runs == 0


def test_means_and_figures_are_over_seeds(scenario):
    runs = thalweg.sweep(scenario, {LOAD: [0.3, 0.6], "switch.scheduler": ["fifo", "srpt"], SEED: [1, 2, 3]})
    assert {name: len(part) for name, part in runs.by("switch.scheduler").items()} == {"fifo": 6, "srpt": 6}
    assert "size_classes.up to 10KB.slowdown.p99" in runs.metrics()
    means = runs.means("measured.slowdown.mean", "drops")
    assert means.height == 4 and means["runs"].to_list() == [3] * 4
    rows = runs.frame.filter((runs.frame[LOAD] == 0.3) & (runs.frame["switch.scheduler"] == "fifo"))
    assert math.isclose(means["measured.slowdown.mean"][0], rows["measured.slowdown.mean"].mean())
    assert means["measured.slowdown.mean ±"][0] > 0
    (ax,) = runs.plot().axes
    assert ax.get_xlabel() == LOAD and ax.get_ylabel() == "mean slowdown" and "3 seeds" in ax.get_title(loc="right")
    assert len(ax.containers) == 2, "a curve with error bars per scheduler"
    with pytest.raises(thalweg.ScenarioError, match="did you mean `measured"):
        runs.plot("measured.slowdown.maen")
    assert runs.pareto("measured.slowdown.mean", "measured.fct_us.p99").axes[0].get_xlabel() == "mean slowdown"


JOB = Path(__file__).parents[2] / "examples" / "job" / "scenario.toml"
COMPLETION = "groups.goal.job.completion_us"


@pytest.fixture(scope="module")
def cut_short():
    """Two settings with three seeds each; the second one's last job did not finish."""
    job = thalweg.Scenario.load(JOB)
    whole = [thalweg.run(job.with_({SEED: n}), progress=False) for n in (1, 2, 3)]
    cut = thalweg.run(job.with_({SEED: 3, "run.until": "30us"}), progress=False)
    points = [{"x": x, SEED: n} for x in (10, 20) for n in (1, 2, 3)]
    return thalweg.Runs(points, [*whole, *whole[:2], cut])


def test_a_mean_says_of_how_many_seeds_it_is(cut_short, capsys):
    sweeping.print_means(cut_short, COMPLETION)
    said = " ".join(capsys.readouterr().out.split())
    assert "6 runs, mean of 2 to 3 seeds ± 95 % confidence" in said
    assert "± seeds 10 43.5 0 3 of 3 20 43.5 0 2 of 3" in said
    assert said.endswith(f"1 of 6 runs has no `{COMPLETION}`: the means are of the others")
    assert "1 of 6 runs has no" in cut_short[:].unfinished(COMPLETION) and not cut_short[:3].unfinished(COMPLETION)
    means = cut_short.means(COMPLETION, "drops")
    assert means["runs"].to_list() == [3, 3] and means[f"{COMPLETION} runs"].to_list() == [3, 2]
    assert "drops runs" not in means.columns
    assert r"20 & 43.5 $\pm$ 0 (2 of 3) & 0 $\pm$ 0 \\" in cut_short.to_latex(COMPLETION, "drops")
    for figure in (cut_short.plot(COMPLETION), cut_short.pareto(COMPLETION, "goodput_gbps")):
        assert figure.axes[0].get_title(loc="right").startswith("mean of 2 to 3 seeds")


def test_one_value_of_two_is_no_mean_of_two(cut_short):
    pair = cut_short.chosen([4, 5])
    assert pair.title(COMPLETION) == "2 runs" and pair.title("drops").startswith("2 runs, mean of 2 seeds")
    head, ((*_, mean, count),) = pair.table_of(COMPLETION)
    assert (head[-1], count) == ("seeds", "1 of 2") and mean == pytest.approx(43.5, abs=0.1)
    # Where no run of a setting has a value there is no mean that could hide it.
    none = cut_short.chosen([0, 5])
    assert not none.unfinished(COMPLETION) and none.means(COMPLETION)[COMPLETION].to_list()[1] is None


def test_sections_say_of_how_many_seeds_a_number_is(cut_short):
    job = thalweg.Scenario.load(JOB)
    early = thalweg.run(job.with_({SEED: 3, "run.until": "10us"}), progress=False)
    runs = thalweg.Runs(cut_short.settings, [*list(cut_short)[:5], early])
    table = runs.sections()
    assert table["runs"].to_list() == [3, 3] and table["fct_us.mean runs"].to_list() == [3, 2]
    assert "flows runs" not in table.columns
    assert r"7.48 $\pm$ 0 (2 of 3)" in sweeping.latex_of(table)


def test_two_sweeps_are_compared_with_what_their_means_leave_out(cut_short):
    whole = thalweg.Runs(cut_short.settings, [*list(cut_short)[:3], *list(cut_short)[:3]])
    found = thalweg.compare(cut_short, whole, COMPLETION)
    note = f"A: 1 of 6 runs has no `{COMPLETION}`: the means are of the others"
    assert found.notes == [note] and note in found.tables()[0][0] and note in found._repr_html_()
    assert note in " ".join(line.strip() for line in found.lines())
    assert [(row["runs_a"], row["runs_b"]) for row in found.rows] == [(3, 3), (2, 3)]
    assert not thalweg.compare(whole, whole, COMPLETION).notes
    # Of settings that only one of them has nothing is said.
    assert not thalweg.compare(cut_short, whole.chosen([0, 1, 2]), COMPLETION).notes


def test_two_sweeps_are_compared_with_the_part_of_flows_that_had_not_ended(cli, scenario, tmp_path):
    for name, until in (("short", "2ms"), ("long", "50ms")):
        base = scenario.with_({"traffic.0.until": "2ms", "run.until": until})
        thalweg.sweep(base, {SEED: [1, 2]}, out=tmp_path / name, progress=False)
    metric = "measured.slowdown.mean"
    said = thalweg.Runs.load(tmp_path / "short").unfinished(metric)
    assert "of the flows had not ended" in said
    assert f"A: {said}\n" in cli("compare", "short", "long", "--metric", metric).out.replace("\n   ", " ")
    assert json.loads(cli("compare", "short", "long", "--json").out)["notes"][0] == f"A: {said}"


def test_the_front_by_hand():
    assert sweepfigure.front([(1, 4), (2, 2), (3, 3), (4, 1), (2, 2), (math.nan, 0)]) == [0, 1, 3, 4]


def test_quantities_are_places_on_an_axis():
    assert sweepfigure._places(["10KB", "100KB"]) == ([10, 100], None, "KB")
    assert sweepfigure._places(["10KB", "1MB"]) == ([10, 1000], None, "KB")
    assert sweepfigure._places(["10KB", "1bdp"]) == ([0, 1], ["10KB", "1bdp"], "")
    assert sweepfigure._places(["b", "a", "b"]) == ([0, 1, 0], ["b", "a"], "")


def test_a_sweep_is_not_mixed_with_other_things(scenario, tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "thesis.txt").write_text("years of work")
    with pytest.raises(thalweg.ScenarioError, match="holds other things"):
        thalweg.sweep(scenario, {SEED: [1]}, out=tmp_path / "s")
    assert [p.name for p in (tmp_path / "s").iterdir()] == ["thesis.txt"]


def test_the_command_sweeps_into_one_table_and_one_figure(cli, file, tmp_path):
    argv = [
        "sweep",
        file,
        "--vary",
        f"{LOAD}=0.3,0.6",
        "--vary",
        "switch.scheduler=fifo,srpt",
        "--seeds",
        "2",
        "--jobs",
        "2",
        "--out",
        "s",
    ]
    said = cli(*argv)
    assert said.code == 0, said.err
    lines = (tmp_path / "s" / "sweep.csv").read_text().splitlines()
    assert len(lines) == 9 and lines[0].startswith(f"{LOAD},switch.scheduler,seed,")
    assert {"sweep.png", "sweep.svg", "sweep.pdf"} <= {p.name for p in (tmp_path / "s").iterdir()}
    assert "mean slowdown" in said.out and "±" in said.out and "s/sweep.csv" in said.out
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "s").glob("*/flows.parquet")}
    again = json.loads(cli(*argv, "--json").out)
    assert before == {p: p.stat().st_mtime_ns for p in (tmp_path / "s").glob("*/flows.parquet")}, "nothing ran twice"
    assert len(again["runs"]) == 8 and len(again["means"]) == 4 and again["metric"] == "measured.slowdown.mean"
    assert again["runs"][0][LOAD] == 0.3 and again["runs"][0][SEED] == 3, "the scenario's own seed first"
    assert not list((tmp_path / "s").glob(".*")), "temporary files stay behind"


def test_several_metrics_have_a_table_and_a_figure_each(cli, file, tmp_path):
    argv = ("sweep", file, "--seeds", "2", "--metric", "drops", "--metric", "measured.slowdown.p99", "--out", "s")
    said = cli(*argv, "--csv")
    assert said.code == 0 and "drops" in said.out and "99th percentile slowdown" in said.out, said.err
    assert {"sweep.png", "sweep-measured.slowdown.p99.png"} <= {p.name for p in (tmp_path / "s").iterdir()}
    columns = ["runs", "drops", "drops ±", "measured.slowdown.p99", "measured.slowdown.p99 ±"]
    assert (tmp_path / "s" / "means.csv").read_text().splitlines()[0].split(",")[-5:] == columns
    both = json.loads(cli(*argv, "--json").out)
    assert (both["metric"], both["metrics"]) == ("drops", ["drops", "measured.slowdown.p99"])
    wrong = cli("sweep", file, "--seeds", "2", "--metric", "drops", "--metric", "drosp", "--out", "none")
    assert wrong.code == 2 and "did you mean `drops`" in wrong.err and not (tmp_path / "none").exists()


def test_the_command_takes_named_variants(cli, file, tmp_path):
    marking = 'switch.marking={ kind = "step", threshold = "20pkts" }'
    said = cli(
        "sweep",
        file,
        "--variant",
        "reno",
        "--variant",
        "dctcp",
        "transport.congestion=dctcp",
        marking,
        "--metric",
        "drops",
        "--json",
    )
    assert said.code == 0, said.err
    assert [r["variant"] for r in json.loads(said.out)["runs"]] == ["reno", "dctcp"]
    assert (tmp_path / "runs" / "tiny-sweep" / "sweep.csv").exists()


@pytest.mark.parametrize(
    ("over", "more", "said"),
    [
        ({SEED: 5}, {}, "`seed`: a key of a sweep has a list of values; write {'seed': [5]}"),
        ([], {}, "`vary`: the list of settings is empty"),
        ({SEED: []}, {}, "`seed`: the list of values is empty"),
        ({"variant": {}}, {}, "`variant`: the table of variants is empty"),
        ({SEED: [1]}, {"jobs": 0}, "`jobs`: `0` is not a whole number above zero"),
    ],
)
def test_a_sweep_in_which_nothing_would_run_is_refused(over, more, said, scenario):
    with pytest.raises(thalweg.ScenarioError) as e:
        thalweg.sweep(scenario, over, progress=False, **more)
    assert said in str(e.value)


def test_no_thread_is_no_number_of_threads(scenario):
    with pytest.raises(thalweg.ScenarioError, match="`0` is not a whole number above zero"):
        thalweg.run(scenario, threads=0)


SWEPT_WRONG = {
    "nothing to vary": ([], "--vary, --variant or --seeds"),
    "no values": (["--vary", "seed="], "key=value,value"),
    "no equals sign": (["--vary", "seed"], "key=value,value"),
    "unknown key": (["--vary", "switch.bufer=1MB,2MB"], "switch.bufer"),
    "value out of range": (["--vary", f"{LOAD}=0.5,1.5"], "1.5"),
    "twice": (["--vary", "seed=1,2", "--seeds", "3"], "seed"),
    "twice the same": (["--vary", "seed=1,1"], "twice"),
    "an option twice": (["--seeds", "2", "--seeds", "3"], "argument --seeds: it is given twice"),
    "a key set twice": (["--seeds", "2", "--set", f"{LOAD}=0.5", "--set", f"{LOAD}=0.6"], f"`{LOAD}` is changed twice"),
    "set and unset": (["--seeds", "2", "--set", f"{LOAD}=0.5", "--unset", LOAD], f"--unset: `{LOAD}` is changed twice"),
    "set and varied": (["--vary", f"{LOAD}=0.5,0.6", "--set", f"{LOAD}=0.7"], "--set of it cannot take effect"),
    "no such metric": (["--seeds", "2", "--metric", "drosp"], "did you mean `drops`"),
    "variant without equals sign": (["--variant", "a", "seed"], "key=value"),
    "variant without a name": (
        ["--variant", f"{LOAD}=0.5", "--variant", f"{LOAD}=0.6"],
        f"--variant {LOAD}=0.5: a variant has a name before the keys it sets; write --variant NAME KEY=VALUE",
    ),
    "variant's name with an equals sign": (["--variant", f"a={LOAD}=0.5"], "write --variant NAME KEY=VALUE"),
    "two variants alike": (
        ["--variant", "a", f"{LOAD}=0.5", "--variant", "b", f"{LOAD}=0.5"],
        "`variant.b`: it sets the same as `a`; remove one of them",
    ),
    "two variants of nothing": (["--variant", "a", "--variant", "b"], "`variant.b`: it sets the same as `a`"),
    "other things": (["--seeds", "2", "--out", "full"], "holds other things"),
    "a file": (["--seeds", "2", "--out", "tiny.toml"], "in the way"),
    "no seeds": (["--seeds", "0"], "above zero"),
}


@pytest.mark.parametrize("case", SWEPT_WRONG)
def test_a_wrong_sweep_is_one_line_and_exit_code_2(case, cli, file, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    argv, expected = SWEPT_WRONG[case]
    said = cli("sweep", "tiny.toml", *argv, "--quiet")
    assert said.code == 2 and said.out == "" and expected in said.err and said.err.count("\n") == 1, said.err


def test_a_failed_write_keeps_the_old_table(cli, file, tmp_path, monkeypatch):
    from thalweg import plots

    assert cli("sweep", file, "--seeds", "1", "--out", "s", "--quiet").code == 0
    before = {p.name: p.read_bytes() for p in (tmp_path / "s").glob("sweep.*")}
    monkeypatch.setattr(plots, "drawn", lambda *a, **k: (_ for _ in ()).throw(OSError(28, "no space")))
    assert cli("sweep", file, "--seeds", "2", "--out", "s", "--quiet").code == 2
    after = {p.name: p.read_bytes() for p in (tmp_path / "s").glob("sweep.*") if p.name != "sweep.json"}
    assert after == {n: b for n, b in before.items() if n != "sweep.json"}


FAILS = """
import thalweg

@thalweg.controller("fails", params={"when": False})
class Fails:
    def __init__(self, flow):
        self.window, self.when = flow.initial_window, flow.params["when"]

    def on_ack(self, ack):
        assert not self.when

    def on_loss(self, loss): ...
    def on_timeout(self, loss): ...
"""


@pytest.mark.parametrize("executor", [None, "threads"])
def test_a_run_that_fails_is_named_and_what_is_kept_counted(cli, file, tmp_path, monkeypatch, executor):
    (tmp_path / "fails.py").write_text(FAILS)
    if executor:
        with ThreadPoolExecutor(1) as pool_:
            monkeypatch.setattr(sweeping, "executor_of", lambda args: pool_)
            said = _fails(cli, file)
    else:
        said = _fails(cli, file)
    where = r"s/when=true,seed=3-[0-9a-f]{10}: \S*fails.py:10: controller `fails`, flow \d+, at [\d.]+ [mun]s: "
    expected = where + "on_ack: AssertionError: ; 2 of 4 runs are kept; the same command goes on from there\n"
    assert (said.code, said.out) == (2, "") and re.fullmatch(expected, said.err), said
    assert len(list((tmp_path / "s").glob("*/meta.json"))) == 2
    assert _fails(cli, file, "--vary", "transport.congestion.params.when=false").code == 0


def _fails(cli, file, *vary):
    vary = vary or ("--vary", "transport.congestion.params.when=false,true")
    kind = "transport.congestion={ kind = 'custom', name = 'fails', params = { when = false } }"
    argv = ["sweep", file, "--import", "fails.py", "--set", kind, *vary, "--seeds", "2", "--jobs", "1"]
    return cli(*argv, "--out", "s", "--quiet")


@pytest.mark.parametrize(
    ("error", "first"),
    [
        (OSError(28, "No space left on device"), "thalweg: No space left on device\nthalweg: it was the run RUN"),
        (thalweg.ScenarioError("is too large"), "RUN: is too large"),
        (LookupError("mine"), rf"{re.escape(__file__)}:\d+: LookupError: mine\nthalweg: it was the run RUN"),
    ],
)
def test_failures_of_every_kind_name_their_run(cli, file, tmp_path, monkeypatch, error, first):
    performed, perform = [], pool.perform

    def fails(job, *how):
        performed.append(job)
        if len(performed) == 2:
            raise error
        return perform(job, *how)

    monkeypatch.setattr(pool, "perform", fails)
    said = cli("sweep", file, "--seeds", "3", "--jobs", "1", "--out", "s", "--quiet")
    first = first.replace("RUN", re.escape(f"s/{performed[1].out.name}"))
    # The next may have begun before it is seen that this one has failed.
    kept = r"; [12] of 3 runs are kept(, 1 begun)?; the same command goes on from there\n"
    assert said.code == 2 and re.fullmatch(first + kept, said.err), said.err


def test_a_run_that_fails_without_a_folder_is_named_by_its_settings(scenario):
    base = scenario.with_(python_controller(aimd.Aimd.thalweg_name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aimd.Aimd, "on_ack", lambda self, ack: 1 / 0)
        with pytest.raises(thalweg.ControllerError, match=r"^load=0.6,seed=7: .*ZeroDivisionError") as e:
            thalweg.sweep(base, {LOAD: [0.6], SEED: [7]}, progress=False)
    assert e.value.controller == "python-aimd" and isinstance(e.value.__cause__, ZeroDivisionError)
