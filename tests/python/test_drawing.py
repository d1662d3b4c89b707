"""`thalweg report` and `thalweg plot`: pages and figures of runs that are there."""

import pytest

import thalweg
from thalweg.examples import incast


@pytest.fixture
def run(cli, file):
    assert cli("run", file, "--out", "runs/a", "--quiet").code == 0
    return "runs/a"


def test_a_report_of_an_older_run_belongs_to_its_folder(cli, run, tmp_path, file):
    said = cli("report", run)
    assert said.code == 0 and said.out == f"{run}/report.html\n"
    assert "FCT slowdown" in (tmp_path / run / "report.html").read_text()
    assert cli("run", file, "--out", run, "--quiet").code == 0, "the page is one of the run's files: it may be replaced"
    assert cli("report", run, "--out", "page.html").out == "page.html\n" and (tmp_path / "page.html").exists()


def test_figures_of_an_older_run_are_files_next_to_it(cli, run, tmp_path):
    said = cli("plot", run, "--format", "png")
    assert said.code == 0 and "runs/a-figures/slowdown.png" in said.out.splitlines()
    assert cli("plot", run, "slowdown-cdf", "--out", "f").code == 0
    assert sorted(p.name for p in (tmp_path / "f").glob("s*")) == [f"slowdown-cdf.{e}" for e in ("pdf", "png", "svg")]
    names = [line.split()[0] for line in cli("plot", run, "--list").out.splitlines()]
    assert names == list(thalweg.Results.load(tmp_path / run).plot.all())


def test_a_figure_that_the_run_has_no_data_for_is_refused_by_name(cli, run, tmp_path):
    said = cli("plot", run, "slowdwon")
    assert said.code == 2 and "did you mean `slowdown`" in said.err and not (tmp_path / "runs" / "a-figures").exists()
    assert cli("report", "nowhere").code == 2 and cli("plot", "nowhere").code == 2


def test_a_run_of_a_sweep_has_a_report_too(cli, file, tmp_path):
    assert cli("sweep", file, "--vary", "traffic.0.load=0.2,0.4", "--out", "s", "--quiet").code == 0
    one = next((tmp_path / "s").rglob("summary.json")).parent
    assert cli("report", one).code == 0 and (one / "report.html").exists()
    assert cli("sweep", file, "--vary", "traffic.0.load=0.2,0.4", "--out", "s", "--quiet").code == 0, "it is used again"


def test_the_examples_incast_is_the_one_that_the_readme_shows():
    from test_readme import README

    blocks = README.split("```toml\n")[1:]
    shown = [thalweg.Scenario.from_toml(b.split("```")[0]) for b in blocks if 'kind = "incast"' in b.split("```")[0]]
    assert thalweg.Scenario.from_toml(incast.SCENARIO) in shown
