"""Figures that can be read: legends inside the page, units of the range, what is shown and why."""

import matplotlib
import numpy as np
import pytest

import thalweg
from conftest import LOAD
from thalweg import _layout, plots, runplots
from thalweg.comparison import size_classes


def legend_boxes(fig):
    _layout.fit(fig)
    fig.draw_without_rendering()
    legends = [*fig.legends, *(ax.get_legend() for ax in fig.axes if ax.get_legend())]
    return [(legend.get_window_extent(), fig.bbox) for legend in legends]


@pytest.mark.parametrize("letters", [30, 300])
def test_a_legend_is_never_cut_off(letters):
    names = [f"scheme {n} " + "with many words " * (letters // 16) for n in range(6)]
    made = [
        plots.bars(["a"], {name: [1.0] for name in names}, "y"),
        plots.cdf({name: [1.0, 2.0] for name in names[:2]}, "x"),
    ]
    with plots.style():
        # As the studies draw.
        fig, ax = plots.figure()
        lines = [ax.plot([1, 2], label=name)[0] for name in names]
        fig.legend(handles=lines, loc="outside upper center", ncols=6)
        made.append(fig)
    for fig in made:
        with plots.style():
            for box, page in legend_boxes(fig):
                assert box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1, (letters, box)
            if fig.legends:
                (ax,) = fig.axes
                assert ax.get_window_extent().height > 0.3 * plots.COLUMN * 0.68 * fig.dpi, (
                    "the page grows, not the axes shrink"
                )


@pytest.mark.parametrize(("entries", "columns"), [(3, 3), (5, 5), (6, 3), (7, 4), (9, 5)])
def test_the_lines_of_a_legend_are_of_about_one_length(entries, columns):
    fig = plots.bars(["a"], {f"{n}": [1.0] for n in range(entries)}, "y", width=8.0)
    _layout.fit(fig)
    assert fig.legends[0]._ncols == columns, "six entries in five columns leave one alone"


def test_groups_of_bars_fill_the_width_of_any_number():
    for groups in (1, 3, 17):
        (ax,) = plots.bars([f"{n}" for n in range(groups)], {"x": [1.0] * groups}, "y").axes
        assert ax.get_xlim() == pytest.approx((-0.55, groups - 0.45))


def test_a_time_axis_has_the_unit_of_its_range():
    for longest, unit in ((40.0, "s"), (1.0, "s"), (0.99, "ms"), (2e-3, "ms"), (5e-6, "us"), (3e-9, "ns")):
        factor, found = _layout.time_unit(longest)
        assert found == unit and 1 <= longest * factor < 1000 * max(longest, 1)
    assert plots.cdf({"": [2.0, 3.0]}, "flow completion time (s)").axes[0].get_xlabel() == "flow completion time (s)"
    (ax,) = plots.cdf({"": [2e-5, 3e-5]}, "flow completion time (s)").axes
    assert ax.get_xlabel() == "flow completion time (us)" and ax.lines[0].get_xdata()[0] == pytest.approx(20)


INCAST = """
name = "incast"
topology = { kind = "star", hosts = 21 }
traffic = [{ kind = "incast", fan_in = 20, size = "100KB", receiver = 0 }]
measure = { controllers = { every = "50us" }, queues = { every = "50us" } }
run = { until = "5ms" }
"""


def test_figures_say_which_flows_are_shown_and_why_these():
    results = thalweg.run(thalweg.Scenario.from_toml(INCAST))
    (ax,) = results.plot.windows().axes
    assert len(ax.lines) == 8
    assert ax.get_title(loc="right") == "8 of 16 sampled flows (of 20): the highest peaks"
    assert "largest" in results.plot.all()["windows"][0]
    (ax,) = results.plot.queues().axes
    assert ax.get_title(loc="right") == "1 of 21 ports: the others stay at 0"


def test_long_runs_are_drawn_in_seconds(scenario):
    short = scenario.with_({"traffic.0.until": "1ms", "measure.queues": '{ every = "10ms" }'})
    for until, unit in (("50ms", "ms"), ("2s", "s")):
        results = thalweg.run(short.with_({"run.until": until, "run.stop_when_done": False}))
        assert results.plot.queues().axes[0].get_xlabel() == f"time ({unit})"
    assert results.plot.cdf("fct_ps").axes[0].get_xlabel() == "flow completion time (us)"


def test_published_values_are_seen_on_bars_of_any_colour():
    (ax,) = plots.bars(["a"], {"x": [2.0]}, "y", published={"x": [1.0]}).axes
    marks = [line for line in ax.get_lines() if line.get_marker() == "D"]
    assert [line.get_label() == "published" for line in marks] == [False, True]
    for line in marks:
        assert line.get_markerfacecolor() == "white" and line.get_markeredgecolor() == "black"


def test_repetitions_have_error_bars(scenario):
    runs = [thalweg.run(scenario.with_(seed=n)) for n in (1, 2, 3)]
    (ax,) = runplots.slowdown_by_size({"": runs}).axes
    assert "3 seeds" in ax.get_title(loc="right")
    bars = [c for c in ax.collections if isinstance(c, matplotlib.collections.LineCollection)]
    lengths = [np.ptp(segment[:, 1]) for c in bars for segment in c.get_segments()]
    assert len(bars) == 2 and max(lengths) > 0
    assert not runplots.slowdown_by_size({"": runs[0]}).axes[0].collections
    # Of sizes that not every run has flows of, fewer runs are averaged.
    few = thalweg.run(scenario.with_({"traffic.0.until": "100us"}))
    assert few.measured()["size"].n_unique() < runs[0].measured()["size"].n_unique()
    (ax,) = runplots.slowdown_by_size({"": [*runs[:2], few]}).axes
    assert ax.get_title(loc="right").startswith("mean of 2 to 3 seeds")
    assert len(plots.bars(["a"], {"x": [2]}, "y", errors={"x": [1]}).axes[0].collections) == 1
    assert len(plots.lines([1], {"x": [2]}, "x", "y", errors={"x": [1]}).axes[0].collections) == 1
    assert len(plots.bars(["a"], {"x": [2]}, "y", errors={"x": [None]}).axes[0].collections) == 0


def test_run_and_compare_have_the_same_size_classes(scenario):
    a = thalweg.run(scenario.with_({"measure.size_classes": ["2KB", "50KB"]}))
    b = thalweg.run(scenario.with_({LOAD: 0.3}))
    assert [name for _, _, name in size_classes(b)] == [
        "up to 10KB",
        "up to 100KB",
        "up to 1MB",
        "up to 10MB",
        "above 10MB",
    ]
    for one, other in ((a, a), (b, b), (a, b)):
        found = {r["class"]: r["flows_a"] for r in thalweg.compare(one, other).rows[1:]}
        assert {c["name"]: c["completed"] for c in one.summary["size_classes"]} == {k: n for k, n in found.items() if n}


def test_the_report_folds_what_columns_mean(scenario, tmp_path):
    page = thalweg.run(scenario).report(tmp_path / "r.html").read_text()
    section = page.split("<h2>Columns</h2>")[1].split("<h2>")[0]
    assert section.startswith("<details>") and section.endswith("</details>") and "flows.slowdown" in section
