"""The reference in the tree is what the program says: pages in docs/reference/, and the generated parts of
other pages."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import reference  # noqa: E402

WRITTEN = reference.written()
# Anchors and links are about text, not about what code shows.
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", flags=re.DOTALL | re.MULTILINE)
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts),
]


@pytest.mark.parametrize("page", [str(p.relative_to(ROOT)) for p in WRITTEN])
def test_a_reference_page_is_what_the_program_says(page):
    path = ROOT / page
    assert path.is_file(), f"{page} is missing: `python docs/reference.py` writes it"
    same = path.read_text(encoding="utf-8") == WRITTEN[path]
    assert same, f"{page} is not what the program says: `python docs/reference.py` writes it anew"


def test_every_generated_part_is_filled():
    names = [m[2] for path in WRITTEN for m in reference.PART.finditer(WRITTEN[path])]
    assert set(names) == set(reference.PARTS)
    assert all(m[0].count("\n") > 4 for path in WRITTEN for m in reference.PART.finditer(WRITTEN[path]))


def test_a_paragraph_never_begins_a_list_where_it_is_broken():
    words = " ".join(["word"] * 21)
    lines = reference.wrapped(f"{words} fifth - {words} 12. {words}")
    assert len(lines) > 2 and not any(re.match(r"(-|12\.) ", line) for line in lines)


def anchors(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    named = re.findall(r"^\(([\w-]+)\)=$", text, flags=re.MULTILINE)
    return set(named) | {reference.slug(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", h)) for h in headings}


@pytest.mark.parametrize("page", [str(p.relative_to(ROOT)) for p in PAGES])
def test_a_page_can_be_read_as_a_file(page):
    """On a site that shows Markdown as it is: no link without a text, nothing included, links lead to files
    and headings."""
    path = ROOT / page
    text = CODE.sub("code", path.read_text(encoding="utf-8"))
    assert "[](" not in text, "a link without a text"
    for target, anchor in re.findall(r"\]\(([^)#:]*)#?([^)]*)\)", text):
        if "://" in f"{target}{anchor}" or target in ("http", "https"):
            continue
        to = (path.parent / target) if target else path
        assert to.exists(), f"links to {target}"
        if anchor and to.suffix == ".md":
            assert anchor in anchors(to), f"{target}#{anchor}: there is no such heading"


def test_no_page_includes_a_file_that_only_the_site_has():
    for page in PAGES:
        assert "{include}" not in page.read_text(encoding="utf-8"), page
        assert "{literalinclude}" not in page.read_text(encoding="utf-8"), page


def test_pages_name_commands_that_there_are():
    from thalweg.cli.parser import build

    (commands,) = (action.choices for action in build()._actions if isinstance(action.choices, dict))
    named = r"(?<=[`$] )thalweg ([a-z][a-z-]*)|`thalweg ([a-z][a-z-]*)"
    found = {
        (str(page.relative_to(ROOT)), first or second)
        for page in PAGES
        for first, second in re.findall(named, page.read_text(encoding="utf-8"))
    }
    assert len(found) > 50
    assert not [(page, word) for page, word in sorted(found) if word not in commands]
