"""The machinery of `reproduce`, on a tiny paper: what is run, and how claims are judged."""

import json

import pytest

import thalweg
from conftest import LOAD
from paper_texts import FIGURES
from thalweg import papers, pool


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
        with pytest.raises(TypeError, match=r"no option is called `keep_verdict`.*keep_verdicts"):
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
