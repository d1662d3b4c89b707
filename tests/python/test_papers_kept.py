"""Verdicts kept next to the claims and in output folders; claims about others, taken as kept."""

import json

import pytest

from paper_texts import ABOUT, STUDY
from thalweg import papers


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
    # A verdict on a bound that has changed is not a verdict.
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


@pytest.mark.parametrize("name", sorted(papers.discover()))
def test_every_claim_that_fails_has_a_cause(name):
    """By the verdicts that the studies of this tree keep; `untested` is one, too."""
    from thalweg.papers import _outcome

    paper = papers.find(name)
    failing = {i for i, s in _outcome.standings(paper).items() if s.within is False}
    assert [c.id for c in paper.claims if c.id in failing and not c.cause] == []
    assert "cause not classified" not in _outcome.line(paper)
