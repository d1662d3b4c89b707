"""The machinery of `reproduce`, on a tiny paper made here."""

import json

import pytest

import thalweg
from conftest import LOAD, SCENARIO
from thalweg import papers, pool

CLAIMS = """
[paper]
title = "A tiny paper"
authors = "Nobody"
venue = "Nowhere 2026"
[scale.quick]
what = "everything"

[[claim]]
id = "T-1"
statement = "Load hurts"
section = "1"
published = "2.0"
strictness = "ratio"
origin = "made up"
bounds = { ratio = { above = 1.0, max = 100 } }

[[claim]]
id = "T-2"
statement = "Impossible"
section = "2"
published = "0"
origin = "made up"
bounds = { max = 0 }
known = "slowdowns are at least 1"

[[claim]]
id = "T-3"
statement = "Only at full scale"
section = "3"
published = "1"
origin = "made up"
bounds = { min = 1 }
scales = ["full"]

[[claim]]
id = "T-4"
statement = "On a P4 switch"
section = "4"
published = "works"
unchecked = "needs hardware"

[[claim]]
id = "T-5"
statement = "Broken"
section = "5"
published = "1"
origin = "made up"
bounds = { min = 1 }

[[claim]]
id = "T-6"
statement = "Undecided"
section = "6"
published = "1"
origin = "made up"
bounds = { min = 1 }
"""

STUDY = f"""
from thalweg.papers import NotCheckable, RunSpec, measure

def runs(scale):
    low_and_high = [RunSpec("low", "scenarios/base.toml", {{"{LOAD}": 0.2}}), RunSpec("high", "scenarios/base.toml", {{"{LOAD}": 0.8}})]
    return low_and_high + ([RunSpec("never", "scenarios/base.toml")] if scale == "full" else [])

def mean(results):
    return results.measured()["slowdown"].mean()

@measure("T-1", needs=["low", "high"])
def _(runs):
    return {{"ratio": mean(runs["high"]) / mean(runs["low"])}}

@measure("T-2", needs=["low"])
def _(runs):
    return mean(runs["low"])

@measure("T-3", needs=["never"])
def _(runs):
    return 1

@measure("T-5", needs=["low"])
def _(runs):
    return runs["high"]

@measure("T-6", needs=["high"])
def _(runs):
    raise NotCheckable("too few flows")
"""

FIGURES = """
from thalweg import plots
from thalweg.papers import figure

from .study import mean

@figure("fig1", "Slowdown (Figure 1)", needs=["low", "high"])
def _(runs):
    return plots.bars(["mean"], {k: [mean(r)] for k, r in runs.items()}, "slowdown", published={"low": [1.5]})

@figure("fig2", "Cannot be drawn", needs=["low"])
def _(runs):
    return 1 / 0
"""


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    folder = tmp_path / "papers" / "tiny"
    (folder / "scenarios").mkdir(parents=True)
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "study.py").write_text(STUDY)
    (folder / "figures.py").write_text(FIGURES)
    (folder / "scenarios" / "base.toml").write_text(SCENARIO)
    monkeypatch.setenv("THALWEG_PAPERS", str(folder.parent))
    return folder


def test_claims_are_judged_with_reasons(tiny, cli):
    said = cli("reproduce", "tiny", "--json", "--quiet", "--out", "o")
    assert said.code == 1, "an error is found wanting"
    answer = json.loads(said.out)
    assert answer.keys() == {"paper", "scale", "counts", "claims", "seconds"}
    assert answer["counts"] == {"pass": 1, "fail": 1, "not-decided": 0, "not-checkable": 3, "error": 1}
    assert (answer["paper"], answer["scale"]) == ("tiny", "quick")
    rows = {c["id"]: c for c in answer["claims"]}
    keys = [
        "id",
        "status",
        "published",
        "measured",
        "bound",
        "reason",
        "full",
        "statement",
        "section",
        "within_bounds",
        "figure",
    ]
    assert all(r.keys() == set(keys) for r in rows.values())
    assert {i: r["within_bounds"] for i, r in rows.items() if r["status"] in ("pass", "fail")} == {
        "T-1": True,
        "T-2": False,
    }
    assert {i: r["status"] for i, r in rows.items()} == {
        "T-1": "pass",
        "T-2": "fail",
        "T-3": "not-checkable",
        "T-4": "not-checkable",
        "T-5": "error",
        "T-6": "not-checkable",
    }
    assert rows["T-1"]["measured"]["ratio"] > 1 and rows["T-1"]["bound"] == "ratio > 1 and ratio ≤ 100"
    assert "slowdowns are at least 1" in rows["T-2"]["reason"] and rows["T-2"]["measured"] >= 1
    assert "--scale full" in rows["T-3"]["reason"] and rows["T-4"]["reason"] == "needs hardware"
    assert "not among those" in rows["T-5"]["reason"]
    assert rows["T-6"]["reason"] == "too few flows"


def test_only_the_runs_that_are_needed_are_run(tiny, tmp_path):
    study = papers.reproduce("tiny", out=tmp_path / "o")
    assert sorted(p.name for p in (tmp_path / "o" / "runs").iterdir()) == ["high", "low"]
    one = papers.reproduce("tiny", claim="T-2", out=tmp_path / "one")
    assert [c.id for c in one.claims] == ["T-2"]
    assert [p.name for p in (tmp_path / "one" / "runs").iterdir()] == ["low"]
    assert study.count("pass") == 1


def test_a_study_may_name_a_handful_of_its_claims(tiny, cli):
    said = cli("reproduce", "tiny", "--handful", "--quiet", "--out", "o")
    assert said.code == 2 and "claims.toml" in said.err and "handful" in said.err
    text = (tiny / "claims.toml").read_text()
    (tiny / "claims.toml").write_text(text.replace("[paper]", '[paper]\nhandful = ["T-[12]"]'))
    said = cli("reproduce", "tiny", "--handful", "--no-figures", "--json", "--quiet", "--out", "o")
    assert [c["id"] for c in json.loads(said.out)["claims"]] == ["T-1", "T-2"]


def test_a_handful_makes_no_runs_for_figures(tiny, cli, tmp_path):
    text = (tiny / "claims.toml").read_text()
    (tiny / "claims.toml").write_text(text.replace("[paper]", '[paper]\nhandful = ["T-2"]'))
    drawing = FIGURES.replace('@figure("fig1", ', '@figure("fig1", claims=["T-2"], title=').replace(
        "1 / 0", 'plots.bars(["x"], {"low": [1]}, "y")'
    )
    (tiny / "figures.py").write_text(drawing.replace('@figure("fig2", ', '@figure("fig2", claims=["T-2"], title='))
    assert cli("reproduce", "tiny", "--handful", "--quiet", "--out", "o").code == 0
    assert [p.name for p in (tmp_path / "o" / "runs").iterdir()] == ["low"], "T-2 needs no more"
    assert sorted(p.name for p in (tmp_path / "o" / "figures").glob("*.png")) == ["fig2.png"]
    assert cli("reproduce", "tiny", "--claim", "T-2", "--quiet", "--out", "o").code == 0
    assert sorted(p.name for p in (tmp_path / "o" / "runs").iterdir()) == ["high", "low"], "its figures need it"


@pytest.mark.parametrize("name", sorted(papers.discover()))
def test_every_study_names_one(name):
    paper = papers.find(name)
    claims = papers._reproduce.chosen(paper, paper.handful())
    assert 5 <= len(claims) < len(paper.claims)


DEPENDENT = f"""
from thalweg.papers import RunSpec, measure

def heavier(runs, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "note.txt").write_text(runs["low"].digest)
    return {{"{LOAD}": 0.8}}

def runs(scale):
    return [RunSpec("high", "scenarios/base.toml", {{"{LOAD}": 0.1}}, after=("low",), prepare=heavier),
            RunSpec("low", "scenarios/base.toml", {{"{LOAD}": LOW}})]

@measure("T-1", needs=["high"])
def _(runs):
    return {{"ratio": runs["high"].measured()["slowdown"].mean()}}
"""


def test_a_run_may_be_built_from_another(tiny, tmp_path):
    (tiny / "figures.py").unlink()
    (tiny / "study.py").write_text(DEPENDENT.replace("LOW", "0.2"))
    study = papers.reproduce("tiny", claim="T-1", out=tmp_path / "o")
    made = {p.name: thalweg.Results.load(p) for p in (tmp_path / "o" / "runs").iterdir()}
    assert study.count("pass") == 1 and made.keys() == {"high", "low"}
    assert (tmp_path / "o" / "inputs" / "note.txt").read_text() == made["low"].digest
    assert f"{LOAD.rsplit('.', maxsplit=1)[-1]} = 0.8" in made["high"].scenario_toml


def test_a_run_built_from_a_broken_one_is_an_error(tiny, tmp_path):
    (tiny / "figures.py").unlink()
    (tiny / "study.py").write_text(DEPENDENT.replace("LOW", "7.0"))
    row = papers.reproduce("tiny", claim="T-1", out=tmp_path / "o").claims[0]
    assert row.status == "error" and row.reason.startswith("run high: ")


SLOW = """
from thalweg.papers import RunSpec, figure, measure

def runs(scale):
    return []

def slow(runs):
    kept = runs.folder / "number.txt"
    if not kept.is_file():
        runs.folder.mkdir(parents=True)
        kept.write_text("1.5")
    return float(kept.read_text())

@measure("T-1", needs=[])
def _(runs):
    return {"ratio": slow(runs)}

@figure("fig1", "What was made (Figure 1)", needs=[])
def _(runs):
    from thalweg import plots
    return plots.bars(["made"], {"here": [slow(runs)]}, "number")
"""


def test_what_a_measure_makes_itself_is_kept_with_the_runs_for_others(tiny, tmp_path):
    (tiny / "figures.py").unlink()
    (tiny / "study.py").write_text(SLOW)
    papers.reproduce("tiny", claim="T-1", out=tmp_path / "o")
    kept = tmp_path / "o" / "made" / "number.txt"
    assert kept.read_text() == "1.5"
    kept.write_text("0.25")
    assert papers.reproduce("tiny", claim="T-1", out=tmp_path / "o").claims[0].measured == {"ratio": 0.25}


def test_a_study_continues_where_it_was(tiny, tmp_path, monkeypatch):
    papers.reproduce("tiny", claim=["T-2"], out=tmp_path / "o")
    ran = []
    real = pool.conclude
    monkeypatch.setattr(pool, "conclude", lambda *a, **k: ran.append(1) or real(*a, **k))
    papers.reproduce("tiny", out=tmp_path / "o")
    assert len(ran) == 1
    papers.reproduce("tiny", out=tmp_path / "o")
    assert len(ran) == 1


def test_an_executor_changes_nothing(tiny, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    class Counting(ThreadPoolExecutor):
        calls = 0

        def submit(self, *work):
            self.calls += 1
            return super().submit(*work)

    how = {"progress": False, "draw": False}
    local = papers.reproduce("tiny", out=tmp_path / "local", **how)
    with Counting(2) as executor:
        there = papers.reproduce("tiny", out=tmp_path / "there", executor=executor, **how)
    assert executor.calls == 2
    assert [(c.id, c.status, c.measured) for c in there.claims] == [(c.id, c.status, c.measured) for c in local.claims]


def test_an_option_that_there_is_not_is_refused_by_name_of_both_calls(tiny, tmp_path):
    for call in (lambda **o: papers.reproduce("tiny", **o), lambda **o: papers.sweep("tiny", "load", **o)):
        with pytest.raises(TypeError, match="no option is called `keep_verdict`.*keep_verdicts"):
            call(keep_verdict=True)
        with pytest.raises(thalweg.ScenarioError, match="no scale is called `ful`"):
            call(scale="ful")
    assert papers.Options(claim="T-1").claims == ["T-1"] and papers.Options().claims == []
    assert papers.Options(scale="full").folder(papers.find("tiny")).as_posix() == "out/tiny-full"


def test_jobs_change_nothing(tiny, tmp_path):
    answers = [papers.reproduce("tiny", jobs=n, out=tmp_path / f"j{n}") for n in (1, 2)]
    assert [c.to_dict() for c in answers[0].claims] == [c.to_dict() for c in answers[1].claims]
    for path in (tmp_path / "j1").rglob("*"):
        other = tmp_path / "j2" / path.relative_to(tmp_path / "j1")
        if path.is_file() and path.name not in ("meta.json", "report.html", "claims.json"):
            assert path.read_bytes() == other.read_bytes(), path


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
    assert not belongs(Measure(print, (), "Figure 2-6: rate"), hyphens), "the chapter is no figure"
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


def test_a_broken_scenario_is_an_error_of_its_claims_only(tiny, tmp_path):
    text = (tiny / "study.py").read_text().replace(f'"{LOAD}": 0.8', '"nonsense": 1')
    (tiny / "study.py").write_text(text)
    study = papers.reproduce("tiny", out=tmp_path / "o")
    rows = {c.id: c for c in study.claims}
    assert rows["T-1"].status == "error" and "nonsense" in rows["T-1"].reason
    assert rows["T-2"].status == "fail"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('id = "T-2"', 'id = "T-1"', "twice"),
        ("max = 100", "maks = 100", "maks"),
        ("max = 100", 'max = "many"', "must be a number"),
        ('origin = "made up"\nbounds = { ratio', "bounds = { ratio", "`origin` is missing"),
        ('strictness = "ratio"', 'stricktness = "ratio"', "did you mean `strictness`"),
        ("[scale.quick]", "[scale.quick", "claims.toml"),
        ('id = "T-6"', 'id = "T-7"', "T-6"),
    ],
)
def test_a_wrong_claims_file_is_refused(tiny, tmp_path, old, new, expected):
    text = (tiny / "claims.toml").read_text()
    assert old in text
    (tiny / "claims.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(thalweg.ScenarioError) as e:
        papers.reproduce("tiny", out=tmp_path / "o")
    assert expected in str(e.value)


def test_bounds_by_hand():
    claim = papers.Claim("x", "", "", "", "", "", {"r": {"min": 1, "max": 2}, "s": {"below": 3}})
    assert claim.bound_text() == "1 ≤ r ≤ 2; s < 3"
    assert claim.judge({"r": 1, "s": 2.9}) == []
    assert len(claim.judge({"r": 2.1, "s": 3})) == 2
    with pytest.raises(ValueError, match="bound is on `s`"):
        claim.judge({"r": 1})


# --- Verdicts kept next to the claims ------------------------------------------------------------------------


def test_verdicts_are_kept_beside_the_claims_and_those_not_asked_for_stay(tiny, cli):
    from thalweg.papers import _verdicts

    file = tiny / "quick" / "verdicts.json"
    assert cli("reproduce", "tiny", "--claim", "T-1", "--quiet", "--out", "o").code == 0
    assert not file.exists()
    for claim in ("T-1", "T-2"):
        assert cli("reproduce", "tiny", "--claim", claim, "--quiet", "--keep-verdicts", "--out", "o").code == 0
    kept = _verdicts.kept(papers.find("tiny"), "quick")
    assert {i: (v.status, v.runs) for i, v in kept.items()} == {"T-1": ("pass", 2), "T-2": ("fail", 1)}
    assert kept["T-1"].seconds > 0 and kept["T-1"].machine and len(file.read_text().splitlines()) == 4
    # A verdict on a bound that has changed is no verdict.
    text = (tiny / "claims.toml").read_text()
    (tiny / "claims.toml").write_text(text.replace("max = 100", "max = 90"))
    assert list(_verdicts.kept(papers.find("tiny"), "quick")) == ["T-2"]


def test_a_verdict_that_can_no_longer_be_reached_is_no_longer_kept(tiny, cli):
    from thalweg.papers import _verdicts

    again = ("reproduce", "tiny", "--claim", "T-[12]", "--quiet", "--keep-verdicts", "--out", "o")
    assert cli(*again).code == 0
    assert list(_verdicts.kept(papers.find("tiny"), "quick")) == ["T-1", "T-2"]
    claims = (tiny / "claims.toml").read_text()
    (tiny / "claims.toml").write_text(claims.replace('id = "T-2"', 'id = "T-2"\nscales = ["full"]'))
    assert cli(*again).code == 0
    assert list(_verdicts.kept(papers.find("tiny"), "quick")) == ["T-1"]


def test_a_quick_verdict_that_the_full_scale_contradicts_is_marked(tiny, cli):
    assert cli("reproduce", "tiny", "--quiet", "--keep-verdicts", "--out", "o").code == 1
    (tiny / "full").mkdir()
    file = tiny / "full" / "verdicts.json"
    file.write_text((tiny / "quick" / "verdicts.json").read_text().replace('"pass"', '"fail"'))
    said = json.loads(cli("reproduce", "tiny", "--json", "--quiet", "--out", "o").out)
    rows = {c["id"]: c for c in said["claims"]}
    assert [rows["T-1"][k] for k in ("status", "within_bounds", "full")] == ["not-decided", True, "fail"]
    assert rows["T-1"]["reason"].startswith("within its bounds at this scale, fail at full scale")
    assert (rows["T-2"]["status"], rows["T-2"]["full"]) == ("fail", "fail") and rows["T-3"]["full"] is None
    said = cli("reproduce", "tiny", "--claim", "T-[12]", "--out", "o", "--strict")
    assert said.code == 1 and "1 fail, 1 not decided at this scale" in said.out
    assert "verdict    not decided at this scale (full scale: fail)\n" in said.out
    assert cli("reproduce", "tiny", "--claim", "T-1", "--quiet", "--out", "o", "--strict").code == 0
    from thalweg.papers import _markdown

    page = _markdown.table(papers.find("tiny"))
    assert "| T-1 | Load hurts | 2.0 | ratio " in page and "| *not decided* |" in page
    assert "*Cause not classified.* Slowdowns are at least 1." in page and "- **T-4**: needs hardware." in page
    assert (
        "`--scale quick`: of 2 claims judged 0 hold, 1 do not, 1 are not decided at this scale; "
        "`--scale full`: of 2 claims judged 0 hold, 2 do not." in page
    )


def test_a_kept_quick_verdict_says_what_the_full_scale_says_now(tiny, cli):
    """Files of before, which know only pass and fail, are read; those written now have the word and the counts."""
    from thalweg.papers import _verdicts

    again = ("reproduce", "tiny", "--claim", "T-[12]", "--quiet", "--keep-verdicts", "--out", "o")
    assert cli(*again).code == 0
    quick, full = tiny / "quick" / "verdicts.json", tiny / "full" / "verdicts.json"
    full.parent.mkdir()
    full.write_text(quick.read_text().replace('"status": "pass"', '"status": "fail"'))
    kept = _verdicts.kept(papers.find("tiny"), "quick")
    assert [(v.status, v.within_bounds) for v in kept.values()] == [("not-decided", True), ("fail", False)]
    assert json.loads(quick.read_text())["claims"]["T-1"]["status"] == "pass", "as it was written"
    assert cli(*again).code == 0
    written = json.loads(quick.read_text())
    assert written["counts"] == {"pass": 0, "fail": 1, "not-decided": 1}
    assert (written["claims"]["T-1"]["status"], written["claims"]["T-1"]["within_bounds"]) == ("not-decided", True)
    # The full scale comes to the same: its own verdicts are kept, and quick's are pass and fail again.
    assert cli(*again[:-1], "full-out", "--scale", "full").code == 0
    assert json.loads(quick.read_text())["counts"] == {"pass": 1, "fail": 1, "not-decided": 0}


def test_a_verdict_on_a_bound_that_has_changed_stays_in_the_file_when_others_are_kept(tiny, cli):
    from thalweg.papers import _verdicts

    again = ("reproduce", "tiny", "--quiet", "--keep-verdicts", "--out", "o", "--claim")
    assert cli(*again, "T-[12]").code == 0
    text = (tiny / "claims.toml").read_text()
    (tiny / "claims.toml").write_text(text.replace("max = 100", "max = 90"))
    assert cli(*again, "T-2").code == 0
    assert list(_verdicts.kept(papers.find("tiny"), "quick")) == ["T-2"]
    (tiny / "claims.toml").write_text(text)
    assert list(_verdicts.kept(papers.find("tiny"), "quick")) == ["T-1", "T-2"]


@pytest.mark.parametrize("subset", [("--claim", "T-2"), ("--handful",), ("--claim", "T-2", "--no-figures")])
def test_a_call_for_some_claims_takes_nothing_from_what_the_folder_keeps(tiny, cli, tmp_path, subset):
    text = (tiny / "claims.toml").read_text()
    (tiny / "claims.toml").write_text(text.replace("[paper]", '[paper]\nhandful = ["T-2"]'))
    assert cli("reproduce", "tiny", "--quiet", "--out", "o").code == 1
    before = json.loads((tmp_path / "o" / "claims.json").read_text())
    assert [c["id"] for c in before["claims"]] == [f"T-{n}" for n in range(1, 7)]
    said = cli("reproduce", "tiny", *subset, "--out", "o")
    assert said.code == 0 and "judged before and kept: 1 pass, 3 not checkable, 1 error" in said.out
    after = json.loads((tmp_path / "o" / "claims.json").read_text())
    assert after["claims"] == before["claims"] and after["counts"] == before["counts"]
    page = (tmp_path / "o" / "report.html").read_text()
    assert all(f"<b>T-{n}</b>" in page for n in range(1, 7)), "the report has them all, too"
    assert "Slowdown (Figure 1) (drawn before)" in page and ">high<" in page
    # What is judged now takes the place of what was.
    (tiny / "claims.toml").write_text(
        (tiny / "claims.toml").read_text().replace("bounds = { max = 0 }", "bounds = { max = 1e9 }")
    )
    assert cli("reproduce", "tiny", *subset, "--quiet", "--out", "o").code == 0
    assert json.loads((tmp_path / "o" / "claims.json").read_text())["counts"]["pass"] == 2


def test_kept_rows_of_a_subset_add_to_what_the_folder_keeps(rows, cli, tmp_path):
    assert cli("reproduce", "tiny", "--claim", "T-2", "--quiet", "--keep-verdicts", "--out", "o").code == 0
    assert cli("reproduce", "tiny", "--claim", "T-7", "--quiet", "--kept-rows", "--no-figures", "--out", "o").code == 0
    assert [c["id"] for c in json.loads((tmp_path / "o" / "claims.json").read_text())["claims"]] == ["T-2", "T-7"]
    assert len(json.loads((rows / "quick" / "verdicts.json").read_text())["claims"]) == 1


def test_claims_that_an_older_thalweg_kept_are_read(tiny, cli, tmp_path):
    assert cli("reproduce", "tiny", "--claim", "T-1", "--quiet", "--out", "o").code == 0
    file = tmp_path / "o" / "claims.json"
    old = json.loads(file.read_text())
    del old["counts"]
    for row in old["claims"]:
        for key in ("statement", "section", "within_bounds"):
            del row[key]
    file.write_text(json.dumps(old))
    assert cli("reproduce", "tiny", "--claim", "T-2", "--quiet", "--out", "o").code == 0
    found = json.loads(file.read_text())
    assert [(c["id"], c["within_bounds"], c["statement"]) for c in found["claims"]] == [
        ("T-1", True, "Load hurts"),
        ("T-2", False, "Impossible"),
    ]


def test_a_folder_keeps_one_study_at_one_scale(tiny, cli, tmp_path):
    assert cli("reproduce", "tiny", "--claim", "T-1", "--quiet", "--out", "o").code == 0
    said = cli("reproduce", "tiny", "--claim", "T-1", "--scale", "full", "--out", "o")
    assert said.code == 2 and "keeps the study tiny at quick scale" in said.err and "--out" in said.err
    assert json.loads((tmp_path / "o" / "claims.json").read_text())["scale"] == "quick"


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
    import io

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


ROWS = """
[[claim]]
id = "T-7"
statement = "In every row"
section = "7"
published = "1"
origin = "made up"
bounds = { "largest row" = { above = 0 } }
"""
ABOUT = """
@measure("T-7", needs=["low", "high"], rows=["T-[12]"])
def _(runs):
    kept = {name: row["ratio"] for name, row in runs.rows.items() if name == "T-1"}
    return {"largest row": max([*kept.values(), *(mean(r) for r in runs.values())], default=0) or 1, "runs": len(runs), "kept": len(runs.rows)}
"""


@pytest.fixture
def rows(tiny):
    (tiny / "claims.toml").write_text(CLAIMS + ROWS)
    (tiny / "study.py").write_text(STUDY + ABOUT)
    return tiny


def judged(cli, *more):
    said = cli("reproduce", "tiny", "--claim", "T-7", "--json", "--quiet", "--no-figures", *more)
    assert said.code == 0, said.err
    return json.loads(said.out)["claims"][0]


def test_a_claim_about_rows_takes_them_as_kept_and_their_runs_are_not_made_again(rows, cli, tmp_path):
    from thalweg.papers import _verdicts

    row = judged(cli, "--out", "a")
    assert (row["measured"]["runs"], row["measured"]["kept"], row["reason"]) == (2, 0, "")
    assert cli("reproduce", "tiny", "--claim", "T-2", "--quiet", "--keep-verdicts", "--out", "a").code == 0
    row = judged(cli, "--out", "b", "--kept-rows")
    assert (row["measured"]["runs"], row["measured"]["kept"]) == (1, 1), "the run `low` is T-2's"
    assert row["reason"] == "taken as kept: T-2" and [p.name for p in (tmp_path / "b" / "runs").iterdir()] == ["high"]
    # What a row cost is counted; a row that is requested too is run.
    assert judged(cli, "--out", "b", "--kept-rows", "--keep-verdicts")["status"] == "pass"
    kept = _verdicts.kept(papers.find("tiny"), "quick")
    assert kept["T-7"].runs == 2 and kept["T-7"].seconds > kept["T-2"].seconds
    assert cli("reproduce", "tiny", "--claim", "T-1", "--quiet", "--keep-verdicts", "--out", "a").code == 0
    said = cli("reproduce", "tiny", "--claim", "T-[17]", "--json", "--quiet", "--kept-rows", "--out", "c")
    assert json.loads(said.out)["claims"][1]["reason"] == "taken as kept: T-2"


def test_kept_rows_that_nobody_takes_are_refused(rows, cli):
    said = cli("reproduce", "tiny", "--claim", "T-7", "--kept-rows", "--out", "o")
    assert (
        said.code == 2 and "--kept-rows" in said.err and "--keep-verdicts" in said.err and "Traceback" not in said.err
    )


def test_rows_that_are_no_claims_are_refused_by_name(rows, cli):
    (rows / "study.py").write_text((STUDY + ABOUT).replace("T-[12]", "T-12"))
    said = cli("reproduce", "tiny", "--claim", "T-7", "--out", "o")
    assert said.code == 2 and "T-7 is about `T-12`" in said.err


@pytest.mark.parametrize("text", ["{", "[]", '{"claims": 3}', '{"claims": {"T-1": {"status": "pass"}}}'])
def test_a_damaged_file_of_verdicts_is_refused_by_name(tiny, cli, text):
    (tiny / "full").mkdir()
    (tiny / "full" / "verdicts.json").write_text(text)
    said = cli("reproduce", "tiny", "--claim", "T-1", "--quiet", "--out", "o")
    assert said.code == 2 and "verdicts.json" in said.err and "--keep-verdicts" in said.err


def test_a_claim_that_holds_only_because_runs_are_short_is_not_decided(tiny, cli):
    text = (tiny / "claims.toml").read_text()
    (tiny / "claims.toml").write_text(
        text.replace('origin = "made up"', 'origin = "made up"\nshort = "1.0 after a day"', 1)
    )
    (row,) = json.loads(cli("reproduce", "tiny", "--claim", "T-1", "--json", "--quiet", "--out", "o").out)["claims"]
    assert (row["status"], row["within_bounds"]) == ("not-decided", True)
    assert "runs are short: 1.0 after a day" in row["reason"]
    (full,) = json.loads(cli("reproduce", "tiny", "--scale", "full", "--claim", "T-1", "--json", "--quiet").out)[
        "claims"
    ]
    assert full["status"] == "pass"


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
