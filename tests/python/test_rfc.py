"""The pages of RFCs and drafts name tests and marks: the tests exist, the marks stand there, the counts are right."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs" / "rfc").glob("*.md") if page.stem != "index")
# What a draft is called in the marks; the others are RFCs.
DRAFTS = {"draft-ietf-ccwg-bbr": "BBRv3"}
STATUSES = ("kept", "deviates", "does not apply")
ROW = re.compile(r"^\| ([\d.]+[^|]*) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", flags=re.MULTILINE)
INDEX = (ROOT / "docs" / "rfc" / "index.md").read_text(encoding="utf-8")


def rows(page: Path) -> list[tuple[str, str, str, str]]:
    return ROW.findall(page.read_text(encoding="utf-8"))


def name(page: Path) -> str:
    return DRAFTS.get(page.stem) or page.stem.upper().replace("RFC", "RFC ")


def number(section: str) -> str:
    return re.match(r"\d+(?:\.\d+)*", section)[0]


@pytest.fixture(scope="module")
def functions() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "crates").rglob("*.rs"):
        found |= set(re.findall(r"^\s*fn (\w+)\(", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
    return found


def test_there_are_pages():
    assert len(PAGES) >= 15


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_line_of_a_page_is_a_row_and_sections_are_in_order(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert table[:2] == ["| § | requirement | status | where |", "|---|---|---|---|"]
    found = rows(page)
    assert len(found) == len(table) - 2, "a line that is not a row"
    assert {status for _, _, status, _ in found} <= set(STATUSES)
    order = [[int(part) for part in number(section).split(".")] for section, *_ in found]
    assert order == sorted(order)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_kept_has_a_test(page, functions):
    for section, what, status, where in rows(page):
        if status == "kept":
            names = re.findall(r"`(\w+)`", where)
            assert names, f"{page.name} §{section}, {what}: no test"
            missing = [name for name in names if name not in functions]
            assert not missing, f"{page.name} §{section}, {what}: no such test: {missing}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_deviates_has_a_mark_of_its_section(page):
    for section, what, status, where in rows(page):
        if status == "deviates":
            (file,) = re.findall(r"`([\w/.-]+)`", where)
            text = (ROOT / file).read_text(encoding="utf-8")
            marks = re.findall(rf"CHOICE {name(page)} §(\d+(?:\.\d+)*)", text)
            own = number(section)
            assert any(own == mark or own.startswith(f"{mark}.") for mark in marks), (
                f"{page.name} §{section}, {what}: no CHOICE {name(page)} §{own} in {file}, only {marks}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_does_not_apply_says_why(page):
    assert all(len(where.strip()) > 5 for _, _, status, where in rows(page) if status == "does not apply")


def test_the_index_counts_them():
    counts = dict(re.findall(r"^\| \[\w+\]\(([\w-]+)\.md\) \| [^|]+ \| (.+) \|$", INDEX, flags=re.MULTILINE))
    total = [0, 0, 0]
    for page in PAGES:
        statuses = [status for _, _, status, _ in rows(page)]
        own = [statuses.count(status) for status in STATUSES]
        assert counts.get(page.stem) == " | ".join(map(str, own)), f"{page.stem} has {own}"
        total = [a + b for a, b in zip(total, own, strict=True)]
    assert f"| all | | {' | '.join(map(str, total))} |" in INDEX, f"all: {total}"
