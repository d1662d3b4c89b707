"""What a paper leaves open: `choices.toml`, its sweep, and what follows for the claims, on a tiny study made here."""

import json

import pytest

from conftest import LOAD, SCENARIO
from thalweg import papers
from thalweg.papers import _choosing, _markdown, _outcome

CLAIM = """
[[claim]]
id = "T-{}"
statement = "A statement"
section = "{}"
published = "1"
origin = "made up"
bounds = {{ {} }}
"""
CLAIMS = "[paper]\ntitle = 'Tiny'\n" + "".join(
    CLAIM.format(n, n, bound)
    for n, bound in enumerate(("min = 1", "max = 60", "max = 0", "min = 1", "max = 0\ncause = 'baseline'"), start=1)
).replace("}}", "}").replace("\ncause = 'baseline' }", " }\ncause = 'baseline'")
STUDY = """
from thalweg.papers import RunSpec, measure
from .settings import LOAD, OFFERED, PERCENTILE

def runs(scale):
    return [RunSpec("tried", "scenarios/base.toml", {LOAD: OFFERED}), RunSpec("other", "scenarios/base.toml", {LOAD: 0.3})]

def slowdown(results):
    return results.measured()["slowdown"]

@measure("T-1", needs=["tried"])
def at_least_one(runs):
    return slowdown(runs["tried"]).min()

@measure("T-2", needs=["tried", "other"])
def close_to_one(runs):
    return slowdown(runs["tried"]).quantile(PERCENTILE)

@measure("T-3", needs=["other"])
def impossible(runs):
    return slowdown(runs["other"]).mean()

@measure("T-4", needs=["other"])
def not_varied(runs):
    return slowdown(runs["other"]).mean()

@measure("T-5", needs=["other"])
def not_varied_either(runs):
    return slowdown(runs["other"]).mean()
"""
SETTINGS = f"""
from . import choices

LOAD = "{LOAD}"
OFFERED = choices["load"]
PERCENTILE = choices["percentile"]
"""
CHOICES = """
[[choice]]
name = "load"
what = "how much is offered"
section = "2"
value = 0.9
why = "nothing is said"
alternatives = [0.05]
rows = ["T-[123]"]

[[choice]]
name = "percentile"
what = "which percentile"
section = "3"
value = 0.99
why = "as everywhere"
alternatives = [0.98]
rows = ["T-2"]
"""


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    folder = tmp_path / "papers" / "tiny"
    (folder / "scenarios").mkdir(parents=True)
    for name, text in (("claims", CLAIMS), ("choices", CHOICES), ("scenarios/base", SCENARIO)):
        (folder / f"{name}.toml").write_text(text)
    (folder / "study.py").write_text(STUDY)
    (folder / "settings.py").write_text(SETTINGS)
    monkeypatch.setenv("THALWEG_PAPERS", str(folder.parent))
    return folder


def test_a_sweep_says_what_each_claim_rests_on(tiny, cli):
    said = cli("reproduce", "tiny", "--choice", "*", "--quiet", "--json", "--keep-verdicts")
    assert said.code == 0, said.err
    load, percentile = json.loads(said.out)
    assert load["rows"] == {"T-1": "robust", "T-2": "decided by a choice", "T-3": "fails whatever is chosen"}
    assert {v: found["counts"]["pass"] for v, found in load["values"].items()} == {"0.9": 1, "0.05": 2}
    assert percentile["rows"] == {"T-2": "fails whatever is chosen"}

    assert cli("reproduce", "tiny", "--quiet", "--keep-verdicts", "--no-figures").code == 0
    report = (tiny.parents[1] / "out/tiny-quick/report.html").read_text()
    counted = (
        "1 robust, 1 decided by a choice (1 load), 1 fails whatever is chosen (1 cause not classified), "
        "1 within bounds, nothing varied, 1 outside bounds, nothing varied (1 another scheme that it is compared with)"
    )
    assert counted in report
    page = _choosing.markdown(papers.find("tiny"))
    assert "| `load` | how much is offered (2) | 0.9 | 0.9: 1 of 3; 0.05: 2 of 3 | T-2 |" in page
    assert counted in _outcome.line(papers.find("tiny"))
    shown = cli("reproduce", "tiny", "--choices").out
    assert "0.9: 1 of 3; 0.05: 2 of 3" in shown
    assert "decides    T-2\n" in shown


def test_a_report_and_a_page_begin_with_how_the_study_came_out(tiny, cli):
    """Then what does not hold, with its cause, and last every claim, folded."""
    assert cli("reproduce", "tiny", "--choice", "*", "--quiet", "--keep-verdicts").code == 0
    assert cli("reproduce", "tiny", "--quiet", "--keep-verdicts", "--no-figures").code == 0
    report = (tiny.parents[1] / "out/tiny-quick/report.html").read_text()
    line = "Of 5 claims judged 2 lie within their bounds, 3 do not. By cause: 1 robust, 1 decided by a choice (1 load)"
    parts = (
        "<b>Partly reproduced</b> at scale quick.",
        line,
        "What does not hold",
        "<summary>every claim (5)</summary>",
    )
    places = [report.index(part) for part in parts]
    assert places == sorted(places)
    failing = report[places[2] : places[3]]
    assert "decided by a choice: load" in failing and "another scheme that it is compared with" in failing
    assert "<b>T-1</b>" not in failing, "it holds"

    assert _outcome.line(papers.find("tiny")).startswith(f"**Partly reproduced.** {line}")
    page = _markdown.table(papers.find("tiny"))
    assert page.index("*Decided by a choice: load.*") < page.index("<summary>Every claim: 5,") < page.index("| T-1 |")


def test_what_the_full_scale_found_counts_where_it_was_run(tiny, cli):
    """A sweep at quick scale that says otherwise than the full scale does not explain it."""
    assert cli("reproduce", "tiny", "--choice", "*", "--quiet", "--keep-verdicts").code == 0
    assert cli("reproduce", "tiny", "--quiet", "--keep-verdicts", "--no-figures").code == 0
    quick, full = tiny / "quick/verdicts.json", tiny / "full/verdicts.json"
    full.parent.mkdir()
    full.write_text(quick.read_text().replace('"status": "pass"', '"status": "fail"'))
    found = _outcome.standings(papers.find("tiny"))
    assert found["T-1"].word == "outside bounds, nothing varied" and found["T-1"].within is False
    assert found["T-2"].word == "decided by a choice"
    assert found["T-3"].word == "fails whatever is chosen"
    assert _outcome.word(found.values()) == "Not reproduced"


def test_a_sweep_is_printed_claim_by_claim(tiny, cli):
    said = cli("reproduce", "tiny", "--choice", "load", "--claim", "T-2")
    assert said.code == 0, said.err
    assert "0.9   0 of 1 within their bounds (the study's)" in said.out
    assert "decided by a choice: T-2 (holds under 0.05 only)" in said.out


def test_runs_that_an_alternative_does_not_change_are_the_studys(tiny, cli):
    cli("reproduce", "tiny", "--choice", "*", "--quiet")
    folder = tiny.parents[1] / "out/tiny-quick"
    assert sorted(p.name for p in (folder / "runs").iterdir()) == ["other", "tried"]
    assert [p.name for p in (folder / "choices/load=0.05/runs").iterdir()] == ["tried"]
    assert not (folder / "choices/percentile=0.98").exists(), "a percentile is of the measure, not of the runs"


def test_what_sweeps_found_is_kept_claim_by_claim(tiny, cli):
    for claim in ("T-1", "T-2"):
        cli("reproduce", "tiny", "--choice", "load", "--claim", claim, "--quiet", "--keep-verdicts")
    kept = json.loads((tiny / "quick/choices.json").read_text())
    assert {v: list(rows) for v, rows in kept["load"].items()} == {"0.9": ["T-1", "T-2"], "0.05": ["T-1", "T-2"]}
    # A bound that has changed since takes its rows along.
    (tiny / "claims.toml").write_text(CLAIMS.replace("max = 60", "max = 70"))
    (one, _) = json.loads(cli("reproduce", "tiny", "--choices", "--json").out)
    assert {v: m["of"] for v, m in one["measured"].items()} == {"0.9": 1, "0.05": 1}
    # So does a claim that the choice no longer names.
    (tiny / "choices.toml").write_text(CHOICES.replace("T-[123]", "T-[23]"))
    (one, _) = json.loads(cli("reproduce", "tiny", "--choices", "--json").out)
    assert one["measured"] == {}


WRONG = {
    "an unknown key": ('why = "nothing', 'because = ""\nwhy = "nothing', "unknown key", "because"),
    "a missing key": ('section = "2"\n', "", "`section` is missing", "section"),
    "an empty text": ('what = "which percentile"', 'what = ""', "must be a text that is not empty", "what"),
    "no alternatives": ("[0.05]", "[]", "must be a list that is not empty", "alternatives"),
    "another kind": ("[0.05]", '["0.05"]', "`0.05` is of another kind than the value `0.9`", "alternatives"),
    "the value itself": ("[0.05]", "[0.9]", "`0.9` is the value itself", "alternatives"),
    "an alternative twice": ("[0.05]", "[0.05, 0.05]", "`0.05` is there twice", "alternatives"),
    "a claim that is not there": ('"T-2"]', '"U-2"]', "no claim is called `U-2`", "T-2"),
    "a name twice": ('name = "percentile"', 'name = "load"', "choice load is there twice", "choices.toml"),
    "no name": ('name = "load"', 'name = "the load"', "must be a name of letters, digits and _", "name"),
    "another table": ('[[choice]]\nname = "load"', '[[choise]]\nname = "load"', "unknown key", "choice"),
    "no choice": (CHOICES, "", "holds no [[choice]]", "choices.toml"),
    "no TOML": ("value = 0.99", "value = ", "Invalid value", "choices.toml"),
}


@pytest.mark.parametrize(("old", "new", "reason", "named"), WRONG.values(), ids=WRONG)
def test_a_malformed_file_is_refused_with_its_reason(tiny, cli, old, new, reason, named):
    assert old in CHOICES
    (tiny / "choices.toml").write_text(CHOICES.replace(old, new, 1))
    said = cli("reproduce", "tiny", "--choices")
    assert said.code == 2
    assert "choices.toml" in said.err
    assert reason in said.err
    assert named in said.err


def test_a_study_reads_what_it_declares_and_declares_what_it_reads(tiny, cli):
    (tiny / "settings.py").write_text(SETTINGS.replace('choices["percentile"]', "0.99"))
    said = cli("reproduce", "tiny", "--quiet")
    assert said.code == 2
    assert "the study never reads the choice `percentile`" in said.err


def test_a_choice_that_is_not_declared_is_refused_with_the_nearest(tiny, cli):
    (tiny / "settings.py").write_text(SETTINGS.replace('choices["load"]', 'choices["lode"]'))
    said = cli("reproduce", "tiny", "--quiet")
    assert said.code == 2
    assert "reads the choice `lode`" in said.err
    assert "load" in said.err


UNSWEPT = {
    "an unknown choice": (("--choice", "lod"), "has no choice `lod`", "load"),
    "a claim of another": (("--choice", "percentile", "--claim", "T-1"), "no claim that is requested is among", "T-2"),
    "a handful": (("--choice", "load", "--handful"), "--handful", "leave it out"),
    "an unknown scale": (("--choice", "load", "--scale", "quik"), "quik", "quick"),
}


@pytest.mark.parametrize(("options", "reason", "hint"), UNSWEPT.values(), ids=UNSWEPT)
def test_what_cannot_be_swept_is_refused(tiny, cli, options, reason, hint):
    said = cli("reproduce", "tiny", *options)
    assert said.code == 2
    assert reason in said.err
    assert hint in said.err


def test_an_unknown_cause_is_refused_with_the_nearest(tiny, cli):
    (tiny / "claims.toml").write_text(CLAIMS.replace("'baseline'", "'baselin'"))
    said = cli("reproduce", "tiny", "--choices")
    assert said.code == 2
    assert "unknown cause `baselin`" in said.err
    assert "did you mean `baseline`" in said.err


def test_a_study_without_choices_says_so(tiny, cli):
    (tiny / "choices.toml").unlink()
    (tiny / "settings.py").write_text(
        SETTINGS.replace('choices["load"]', "0.9").replace('choices["percentile"]', "0.9")
    )
    assert cli("reproduce", "tiny", "--choices").out == "tiny declares no choices\n"
    assert "declares no choices" in cli("reproduce", "tiny", "--choice", "load").err


def test_a_broken_file_of_sweeps_is_refused(tiny, cli):
    (tiny / "quick").mkdir()
    (tiny / "quick/choices.json").write_text('{"load": {"0.9": {"T-1": {"within_bounds": true}}}}')
    said = cli("reproduce", "tiny", "--choices")
    assert said.code == 2
    assert "choices.json" in said.err
    assert "is not a file of swept choices" in said.err


def test_every_study_loads_and_reads_its_choices():
    """Importing a study refuses a choice that no setting reads."""
    declared = {name: papers.find(name) for name in papers.discover()}
    for paper in declared.values():
        if paper.choices:
            paper.module("study")
