"""What `reproduce` shows of a study: report, figures, the table of verdicts."""

import io
import json

import pytest

from thalweg import papers
from thalweg.papers._markdown import table as markdown


def test_figures_and_report_are_written(tiny, tmp_path):
    study = papers.reproduce("tiny", out=tmp_path / "o")
    assert [p.suffix for p in study.figures["fig1"]] == [".png", ".svg", ".pdf"]
    page = study.report.read_text()
    assert "A tiny paper" in page and "data:image/svg+xml" in page and "ZeroDivisionError" in page
    assert page.index("<figure>") < page.index("<h2>Claims") < page.index("<h2>Details")
    assert "http" not in page.replace("http-equiv", "")


def test_the_table_is_printed(tiny, cli):
    said = cli("reproduce", "tiny", "--claim", "T-1")
    assert said.code == 0 and "T-1" in said.out and "report:" in said.out
    assert cli("reproduce", "tiny", "--claim", "T-2", "--quiet").code == 0
    assert cli("reproduce", "tiny", "--claim", "T-2", "--quiet", "--strict").code == 1
    assert "A tiny paper" in cli("list", "papers").out
    assert "did you mean `T-1`" in cli("reproduce", "tiny", "--claim", "T1").err


def test_claims_are_listed_with_what_they_say(tiny, cli):
    said = cli("list", "claims", "tiny")
    assert said.code == 0 and said.out.splitlines()[0] == "T-1  Load hurts  [§1]"
    assert "T-4  On a P4 switch (not checkable)" in said.out
    rows = json.loads(cli("list", "claims", "tiny", "--json").out)
    assert rows[0]["id"] == "T-1" and rows[0]["bound"] == "ratio > 1 and ratio ≤ 100"
    assert "of which paper?" in cli("list", "claims").err and "tiny" in cli("list", "claims").err
    for argv in (["list", "claims"], ["list", "claims", "tiyn"], ["list", "schemes", "tiny"]):
        assert cli(*argv).code == 2


def test_claims_may_be_asked_for_by_patterns_and_show_their_statement_and_figure(tiny, cli, tmp_path):
    text = (tiny / "claims.toml").read_text().replace('section = "1"', 'section = "1, Fig 1"')
    (tiny / "claims.toml").write_text(text)
    said = cli("reproduce", "tiny", "--claim", "T-[13]", "--out", "o")
    assert (
        said.code == 0
        and "\nT-1 (§1, Fig 1): Load hurts\n" in said.out
        and "\nT-3 (§3): Only at full scale\n" in said.out
    )
    assert (tmp_path / "o" / "figures" / "fig1.png").exists() and not (tmp_path / "o" / "figures" / "fig2.png").exists()
    assert "T-2" not in said.out
    assert "T-2 (§" in cli("reproduce", "tiny", "--claim", "2", "--no-figures", "--out", "q").out
    assert cli("reproduce", "tiny", "--claim", "T-1", "--no-figures", "--out", "p", "--quiet").code == 0
    assert not (tmp_path / "p" / "figures").exists()
    assert "no claim `X-*`" in cli("reproduce", "tiny", "--claim", "X-*").err


def test_a_figure_belongs_to_the_claims_of_its_number_and_to_those_it_names():
    from thalweg.papers._paper import Measure, belongs, numbered

    assert numbered("Tables 4.2 to 4.5: R1") == {"Table 4.2", "Table 4.3", "Table 4.4", "Table 4.5"}
    assert numbered("dissertation, Figures 5.8 and 5.9") == {"Fig 5.8", "Fig 5.9"}
    assert numbered("3.1, Fig 3.2") == numbered("Figure 3.2: round trips") == {"Fig 3.2"}
    assert numbered("Figures 3-9 to 3-11 and Fig B-5") == {"Fig 3-9", "Fig 3-10", "Fig 3-11", "Fig B-5"}
    assert numbered("Figure 1a: slowdown") == {"Fig 1a"} and numbered("4.3.2, footnote 4") == set()
    claim = papers.Claim("X-F1a.2", "", "2.3, Table 2", "", "", "", {})
    assert belongs(Measure(print, (), "Table 2: FCT"), claim) and not belongs(Measure(print, (), "Table 22"), claim)
    assert belongs(Measure(print, (), "Slowdown", ("X-F1a.*",)), claim)
    assert belongs(Measure(print, (), "Figure 3.1: slowdown"), claim) and not belongs(
        Measure(print, (), "Figure 1.2"), claim
    )
    assert not belongs(Measure(print, (), "Figure 1b", ("X-F1b",)), claim)
    hyphens = papers.Claim("X-F2.5a", "", "2.5.1, Figure 2-5", "", "", "", {})
    assert belongs(Measure(print, (), "Figure 2-5: time"), hyphens)
    assert not belongs(Measure(print, (), "Figure 2-6: rate"), hyphens), "the chapter is not a figure"
    assert not belongs(Measure(print, (), "Figure 2-2"), hyphens)
    by_name = papers.Claim("X-F2.5", "", "2.5.1", "", "", "", {})
    shown = {
        t: belongs(Measure(print, (), t), by_name)
        for t in ("Figure 2", "Figure 2-5", "Figure 2.5", "Figure 2-2", "Figure 5")
    }
    assert shown == {"Figure 2": True, "Figure 2-5": True, "Figure 2.5": True, "Figure 2-2": False, "Figure 5": False}


def test_a_claim_is_counted_with_its_figure_or_table_else_with_its_section():
    from thalweg.papers._answer import places

    sections = {
        "X-F1a": "4.3, Figure 4.1a",
        "X-F4b": "4.3.2",
        "X-F4a": "4.3.2, Fig 4.4",
        "X-F2.5": "3.3.1",
        "X-T2-70": "Tables 4.2 to 4.8",
        "X-TH1": "2.1",
        "X-P": "abstract",
        "X-B": "Figure 3-8",
    }
    found = places([papers.Claim(i, "", where, "", "", "", {}) for i, where in sections.items()])
    assert list(found.values()) == [
        "Figure 4.1",
        "Figure 4.4",
        "Figure 4.4",
        "Figure 2.5",
        "Table 4.2",
        "§2.1",
        "abstract",
        "Figure 3-8",
    ]
    for name, where in (("X-F1a.2", "Figure 1"), ("X-F2.5", "Figure 2")):
        assert places([papers.Claim(name, "", "2.3", "", "", "", {})]) == {name: where}, "a paper without chapters"


LONG_STATEMENT = "Slowdown under load is " + "considerably, visibly and measurably " * 5 + "worse"


@pytest.mark.parametrize("width", [60, 80, 132])
def test_verdicts_are_blocks_that_wrap_and_have_no_boxes(tiny, cli, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    text = (tiny / "claims.toml").read_text()
    (tiny / "claims.toml").write_text(
        text.replace("Load hurts", LONG_STATEMENT).replace('section = "1"', 'section = "1, Fig 1b"')
    )
    said = cli("reproduce", "tiny", "--out", "o").out
    assert not set(said) & set("│┃━─┌╭|\x1b")
    assert max(map(len, said.splitlines())) <= width
    lines = said.splitlines()
    summary = [line.split() for line in lines[2:10]]
    assert summary[0] == ["figure", "or", "table", "claims", "pass", "fail", "not", "checkable", "error"]
    assert ["Figure", "1", "1", "1", "–", "–", "–"] in summary and ["all", "6", "1", "1", "3", "1"] in [
        line.split() for line in lines[:12]
    ]
    block = said[said.index("\nT-1 (") + 1 :].split("\n\n")[0]
    assert " ".join(block.split()).startswith(f"T-1 (§1, Fig 1b): {LONG_STATEMENT} published 2.0 measured ratio = ")
    assert [line.split()[0] for line in block.splitlines() if line.startswith("  ") and line[2] != " "][-4:] == [
        "published",
        "measured",
        "bound",
        "verdict",
    ]


def test_verdicts_are_coloured_only_on_a_terminal(tiny, cli, monkeypatch, tmp_path):

    from thalweg import _console
    from thalweg.cli import reproducing

    study, real = papers.reproduce("tiny", claim="T-2", out=tmp_path / "o"), _console.console
    for terminal in (True, False):
        target = io.StringIO()
        more = {"color_system": "standard"} if terminal else {}
        made = real(file=target, force_terminal=terminal, width=80, **more)
        monkeypatch.setattr(_console, "console", lambda made=made: made)
        reproducing.print_study(study)
        assert ("\x1b[" in target.getvalue()) == terminal


def test_the_demo_draws_an_incast_then_judges_a_handful_and_says_where_to_go(tiny, cli, monkeypatch, tmp_path):
    from thalweg.cli import demo

    text = (tiny / "claims.toml").read_text()
    (tiny / "claims.toml").write_text(text.replace("[paper]", '[paper]\nhandful = ["T-[12]"]'))
    monkeypatch.setattr(demo, "STUDY", "tiny")
    said = cli("demo", "--out", "d")
    assert said.code == 0 and (tmp_path / "d" / "incast.png").stat().st_size > 10_000
    places = [
        said.out.index(x)
        for x in ("picture: d/incast.png", "figure or table", "report: d/tiny/report.html", "Where next:")
    ]
    assert places == sorted(places), "the picture comes first"
    assert len(said.out[places[-1] :].splitlines()) == 4 and max(map(len, said.out.splitlines())) <= 100
    again = cli("run", "d/incast.toml", "--set", "switch.scheduler=fq", "--no-out", "--quiet")
    assert again.code == 0, "as it says"
    assert cli("demo", "--out", "d").code == 0, "a second time"


def test_large_numbers_are_written_out():
    from thalweg._format import significant

    written = [significant(x, 3) for x in (1625.4, 999.6, 120000.0, 0.012345, -2333.0, 2e9)]
    assert written == ["1625", "1000", "120000", "0.0123", "-2333", "2e+09"]
    assert significant(10.4567) == "10.46" and significant(float("nan")) == "nan"


def test_measured_values_are_written_out_where_verdicts_are_shown(tiny, cli, tmp_path):
    study = (tiny / "study.py").read_text()
    (tiny / "study.py").write_text(study.replace('return mean(runs["low"])', "return 120000.0"))
    said = cli("reproduce", "tiny", "--claim", "T-2", "--no-figures", "--keep-verdicts", "--out", "o")
    shown = said.out + (tmp_path / "o" / "report.html").read_text() + markdown(papers.find("tiny"))
    assert "value\u00a0≤\u00a00" in shown  # no line begins with a sign or with the number behind it
    assert shown.count("120000") >= 4 and "1.2e+05" not in shown


def test_the_bounds_of_a_claim_with_many_are_folded():
    from thalweg.papers._answer import ClaimResult
    from thalweg.papers._reporting import _bound

    def shown(bounds):
        fields = dict.fromkeys(("id", "statement", "section", "published", "reason"), "")
        return _bound(ClaimResult(**fields, bound="; ".join(bounds), status="fail", measured=None))

    assert "<details" not in shown(["a > 1"] * 4) and "<details" in shown(["a > 1"] * 5)
    assert shown(["a > 1"] * 5).count("<br>") == 4
