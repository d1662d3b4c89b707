"""The network drawn with its use, what reports show first, tables of sections; LaTeX and CSV files."""

import csv
import math
import statistics

import polars as pl
import pytest

import thalweg
from thalweg import headline, networkplot, texttables

MIX = """
name = "mix"
topology = { kind = "dumbbell", pairs = 3, host_rate = "1Gbps", bottleneck_rate = "50Mbps", delay = "5ms" }
switch = { buffer = "2bdp" }
run = { until = "300ms" }
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
name = "other"
transport = { congestion = "bbr" }
[[traffic]]
kind = "poisson"
sizes = "web-search"
load = 0.1
until = "150ms"
name = "web"
transport = "copa"
[[traffic]]
kind = "incast"
fan_in = 3
size = "20KB"
name = "burst"
"""


@pytest.fixture(scope="module")
def mix():
    scenario = thalweg.Scenario.from_toml(MIX).with_({"measure.controllers": {"every": "10ms"}})
    return thalweg.run(scenario, progress=False)


def legend(figure):
    places = [*figure.legends, *(a.get_legend() for a in figure.axes)]
    return {text.get_text() for at in places if at for text in at.get_texts()}


def test_a_half_of_each_link_has_the_colour_of_its_direction_s_use(mix):
    figure = mix.plot.network()
    (lines,) = figure.axes[0].collections[:1]
    used = mix.tables["ports"]["utilisation"]
    assert lines.get_array().tolist() == pytest.approx((100 * used.clip(upper_bound=1)).to_list())
    most = mix.summary["bottleneck"]
    assert figure.axes[0].get_title(loc="left").startswith(f"busiest: {most['from']} → {most['to']}, 50 Mb/s, ")
    assert {text.get_text() for text in figure.axes[0].texts} >= {"h0", "switch0", "switch1"}


@pytest.mark.parametrize(
    "topology", ['kind = "leaf-spine"\nleaves = 3\nspines = 2\nhosts_per_leaf = 4', 'kind = "fat-tree"\nk = 4']
)
def test_a_tree_is_drawn_in_layers_and_every_node_has_a_place(topology):
    text = f'[topology]\n{topology}\n[[traffic]]\nkind = "flow"\nsrc = 0\ndst = 1\nsize = "1KB"\n[run]\nuntil = "1ms"\n'
    run = thalweg.run(thalweg.Scenario.from_toml(text), progress=False)
    kinds = dict(run.tables["nodes"].select("name", "kind").iter_rows())
    places = networkplot.laid(kinds, list(run.named("ports").select("from", "to").iter_rows()))
    assert places.keys() == kinds.keys() and len(set(places.values())) == len(kinds)
    heights = {name.rstrip("0123456789"): {places[n][1] for n in kinds if n.startswith(name[:3])} for name in kinds}
    assert all(len(found) == 1 for found in heights.values()) and heights["h"] == {0.0}


def test_a_mesh_of_switches_is_drawn_on_a_circle_with_hosts_outside():
    ring = [(f"s{n}", f"s{(n + 1) % 5}") for n in range(5)] + [(f"h{n}", f"s{n}") for n in range(5)]
    kinds = {f"{kind[0]}{n}": kind for kind in ("host", "switch") for n in range(5)}
    places = networkplot.laid(kinds, ring + [(b, a) for a, b in ring])
    radius = {name: round(math.hypot(*place), 6) for name, place in places.items()}
    assert len(set(places.values())) == 10
    assert {radius[f"s{n}"] for n in range(5)} == {1.0} and min(radius[f"h{n}"] for n in range(5)) > 1.2


def test_a_report_has_its_figures_first_and_names_the_bottleneck(mix, tmp_path):
    page = mix.report(tmp_path / "r.html").read_text()
    heads = [page.index(f"<h2>{head}") for head in ("Figures", "Summary", "Sections of traffic", "Completion times")]
    assert heads == sorted(heads)
    lead = page[page.index("<p class=lead>") : heads[0]]
    assert "busiest link switch0 → switch1 (50 Mb/s)" in lead
    assert page.index("The network: how much") < page.index("<h2>Summary")


def test_sections_have_a_table_with_names_and_transports(mix):
    head, rows = headline.section_table(mix.summary)
    assert head[:3] == ("section", "controller", "flows")
    assert [row[:2] for row in rows] == [("CUBIC", "cubic"), ("other", "bbr"), ("web", "copa"), ("burst", "newreno")]
    groups = mix.summary["groups"]
    at = head.index("Mb/s")
    assert [row[at] for row in rows[:2]] == [pytest.approx(1e3 * g["endless"]["sum_gbps"]) for g in groups[:2]]
    slow = head.index("slowdown ×")
    assert [row[slow] for row in rows] == [None, None, *(g["slowdown"]["mean"] for g in groups[2:])]
    one = thalweg.Scenario.from_toml(MIX).with_({f"traffic.{n}": None for n in (3, 2, 1)})
    assert headline.section_table(thalweg.run(one, progress=False).summary) == ((), [])


def test_legends_have_the_names_of_sections(mix):
    assert legend(mix.plot.cdf()) == {"web (copa)", "burst (newreno)"}
    names = legend(mix.plot.rates())
    assert {"CUBIC", "other"} <= names and all(
        name.split(",")[0] in {"CUBIC", "other", "web", "burst"} for name in names
    )


def test_the_command_prints_sections_and_a_report_writes_tables(cli, tmp_path):
    (tmp_path / "mix.toml").write_text(MIX)
    said = cli("run", "mix.toml", "--out", "r")
    assert "sections of traffic\n" in said.out and "burst" in said.out
    assert cli("report", "r", "--latex", "t.tex", "--csv", "t.csv").out.endswith("table: t.tex\ntable: t.csv\n")
    tex = (tmp_path / "t.tex").read_text()
    assert tex.count(r"\begin{tabular}") == tex.count(r"\bottomrule") == 3
    assert r"busiest link & switch0 $\to$ switch1 (50 Mb/s)" in tex and "web & copa &" in tex
    numbers = dict(csv.reader((tmp_path / "t.csv").read_text().splitlines()))
    summary = thalweg.Results.load(tmp_path / "r").summary
    assert float(numbers["groups.web.slowdown.mean"]) == summary["groups"][2]["slowdown"]["mean"]
    assert cli("report", "r", "--latex", "t.tex", "--csv", "t.csv").code == 0, "their like is replaced"


def test_a_file_of_another_s_is_not_replaced_and_then_nothing_is_written(cli, file, tmp_path):
    assert cli("run", file, "--out", "r", "--quiet").code == 0
    (tmp_path / "mine.csv").write_text("mine\n")
    said = cli("report", "r", "--latex", "t.tex", "--csv", "mine.csv")
    assert said.code == 2 and "mine.csv: is in the way" in said.err
    assert not (tmp_path / "t.tex").exists() and not (tmp_path / "r" / "report.html").exists()
    said = cli("explain", "r", "--flow", "0", "--csv", "mine.csv")
    assert said.code == 2 and (tmp_path / "mine.csv").read_text() == "mine\n"


def test_a_comparison_is_a_table_of_both_kinds(cli, file, tmp_path):
    for seed in (1, 2):
        assert cli("run", file, "--set", f"seed={seed}", "--out", f"r{seed}", "--quiet").code == 0
    assert cli("compare", "r1", "r2", "--latex", "t.tex", "--csv", "t.csv").code == 0
    assert r"seed & 1 & 2 \\" in (tmp_path / "t.tex").read_text()
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    a, b = (thalweg.Results.load(tmp_path / f"r{n}").summary["measured"]["slowdown"]["mean"] for n in (1, 2))
    (row,) = [r for r in rows if r["name"] == "measured.slowdown.mean"]
    assert (float(row["a"]), float(row["b"])) == (a, b) and float(row["percent"]) == pytest.approx(100 * (b / a - 1))
    assert {r["kind"] for r in rows} == {"key", "number", "class"}


def test_a_sweep_has_the_sections_means_and_intervals(cli, tmp_path):
    (tmp_path / "mix.toml").write_text(MIX)
    argv = ["sweep", "mix.toml", "--vary", "traffic.1.transport=bbr,cubic", "--seeds", "3", "--out", "s"]
    said = cli(*argv, "--latex", "--csv")
    assert said.code == 0 and "web: mean slowdown" in " ".join(said.out.split())
    sections = pl.read_csv(tmp_path / "s" / "sections.csv")
    runs = thalweg.sweeps.Runs.load(tmp_path / "s")
    assert sections.columns == runs.sections().columns and sections.height == 8
    assert dict(
        sections.filter(pl.col("section") == "other").select("traffic.1.transport", "controller").iter_rows()
    ) == {
        "bbr": "bbr",
        "cubic": "cubic",
    }
    row = sections.row(
        by_predicate=(pl.col("section") == "burst") & (pl.col("traffic.1.transport") == "bbr"), named=True
    )
    values = [r.summary["groups"][3]["slowdown"]["mean"] for r in list(runs)[:3]]
    assert row["runs"] == 3 and row["slowdown.mean"] == pytest.approx(statistics.fmean(values))
    assert row["slowdown.mean ±"] == pytest.approx(4.30265273 * statistics.stdev(values) / 3**0.5)
    assert row["endless.sum_gbps"] is None
    tex = (tmp_path / "s" / "sections.tex").read_text()
    assert tex.count(r" \\") == 9 and r" $\pm$ " in tex and "throughput, flows without end (Mb/s)" in tex
    assert pl.read_csv(tmp_path / "s" / "means.csv").height == 2


def test_latex_escapes_and_csv_keeps_every_digit():
    text = texttables.latex(("name", "×"), [("a_b & 5 %", 1.23456), ("–", None)])
    assert r"a\_b \& 5 \% & 1.23 \\" in text and "-- & -- " in text and r"name & $\times$ \\" in text
    assert text.startswith("\\begin{tabular}{lr}\n\\toprule\n")
    assert texttables.csv_text(("a", "b"), [(0.1 + 0.2, None), ("x,y", 1)]) == 'a,b\n0.30000000000000004,\n"x,y",1\n'
