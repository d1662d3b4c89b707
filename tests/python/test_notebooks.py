"""What notebooks show, and the lessons that are notebooks."""

import json
import sys
import types
from pathlib import Path

import pytest

import thalweg
from conftest import LOAD, SEED
from thalweg import engine, progress

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def kernel(monkeypatch):
    """As if this process were a notebook's."""
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))


def widgets(monkeypatch, there: bool):
    monkeypatch.setattr(progress.importlib.util, "find_spec", lambda name: object() if there else None)


def test_objects_show_themselves(scenario):
    quick = scenario.with_({"traffic.0.until": "5ms"})
    runs = thalweg.sweep(quick, {LOAD: [0.3, 0.6], SEED: [1, 2]})
    shown = {what: what._repr_html_() for what in (quick, runs[0], runs)}
    assert "star" in shown[quick] and "packet-hops" in shown[quick] and "<details>" in shown[quick]
    assert runs[0].digest in shown[runs[0]] and "measured flows completed" in shown[runs[0]]
    assert "4 runs, mean of 2 seeds" in shown[runs] and "mean slowdown" in shown[runs] and "± 95 %" in shown[runs]
    html = thalweg.compare(runs[0], runs[2])._repr_html_()
    assert "up to 10KB" in html and "KS" in html
    for page in (*shown.values(), html):
        assert page.count("<table>") == page.count("</table>") and "<script" not in page


def test_names_are_not_markup(scenario):
    variants = {"<b>": {}, "plain": {"switch.scheduler": "srpt"}}
    runs = thalweg.sweep(scenario.with_({"traffic.0.until": "2ms"}), {"variant": variants})
    assert "<b>&lt;" not in runs._repr_html_() and "&lt;b&gt;" in runs._repr_html_()


def test_a_notebook_gets_a_bar_or_plain_lines(kernel, monkeypatch):
    assert progress.speaks(None) and not progress.speaks(False)
    widgets(monkeypatch, True)
    bar = progress.reporter(None)
    assert isinstance(bar, progress.Bar)
    assert progress._bar().console.is_jupyter
    widgets(monkeypatch, False)
    assert isinstance(progress.reporter(None), progress.Plain)
    assert isinstance(progress.reporter(False), progress.Reporter) and not isinstance(
        progress.reporter(False), progress.Plain
    )


def test_a_short_run_draws_no_bar(kernel, monkeypatch, scenario):
    widgets(monkeypatch, True)
    monkeypatch.setattr(progress, "_bar", lambda *columns: pytest.fail("a bar for a moment"))
    monkeypatch.setattr(progress, "BAR_AFTER", 60)
    thalweg.run(scenario)
    thalweg.sweep(scenario, {SEED: [1]})
    monkeypatch.setattr(progress, "BAR_AFTER", 0.0)
    with pytest.raises(BaseException, match="a bar for a moment"):
        engine.drive(thalweg._core.Simulation(scenario._core), progress.reporter(None))


@pytest.mark.parametrize("lesson", sorted(p.name for p in DOCS.glob("*.ipynb")))
def test_a_lesson_runs_from_top_to_bottom(lesson, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = json.loads((DOCS / lesson).read_text(encoding="utf-8"))["cells"]
    names: dict = {}
    for n, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None, (
                "outputs are made by the documentation's build"
            )
            exec(compile("".join(cell["source"]), f"{lesson}[{n}]", "exec"), names)
    assert names["means"].height == 4


def test_the_files_of_the_page_on_thresholds_can_be_read(monkeypatch):
    monkeypatch.chdir(DOCS)
    cell = (DOCS / "thresholds.md").read_text(encoding="utf-8").split("```{code-cell} ipython3\n")[1].split("```")[0]
    names: dict = {}
    exec(compile(cell, "thresholds.md", "exec"), names)
    lines = (DOCS / "thresholds" / "flows.csv").read_text(encoding="utf-8").splitlines()
    assert names["base"].estimate()["flows"] == len(lines) - 1
