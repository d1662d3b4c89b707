"""docs/index.md has every page once, and docs/api.md every name of the package."""

import re
from pathlib import Path

import thalweg

DOCS = Path(__file__).parents[2] / "docs"
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
# Pages that another page's table of contents has.
BELOW = ("papers", "rfc")


def pages() -> set[str]:
    found = {p.relative_to(DOCS) for s in ("*.md", "*.ipynb") for p in DOCS.rglob(s) if "_build" not in p.parts}
    return {
        p.with_suffix("").as_posix()
        for p in found
        if (p.name == "index.md" and len(p.parts) > 1) or p.parts[0] not in (*BELOW, "index.md")
    }


def test_every_page_is_once_in_the_lists_and_once_in_the_tables_of_contents():
    lists, _ = INDEX.split("```{toctree}", 1)
    listed = re.findall(r"\]\(([\w/-]+)\.(?:md|ipynb)\)", lists)
    tables = re.findall(r"```\{toctree\}\n:caption: ([\w ]+)\n(?::[^\n]*\n)*\n(.*?)```", INDEX, flags=re.DOTALL)
    shown = [page for _, table in tables for page in table.split()]
    assert sorted(listed) == sorted(shown) == sorted(pages())
    headings = re.findall(r"^## (.*)$", lists, flags=re.MULTILINE)
    assert headings == [caption for caption, _ in tables] == ["Learn", "Do", "Look up", "Understand"]
    for heading, (_, table) in zip(headings, tables, strict=True):
        section = re.split(r"^## .*$", lists.split(f"## {heading}\n")[1], flags=re.MULTILINE)[0]
        assert sorted(re.findall(r"\]\(([\w/-]+)\.(?:md|ipynb)\)", section)) == sorted(table.split()), heading


def test_the_page_of_the_python_interface_has_every_public_name():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\.\. auto(?:class|exception|function):: thalweg\.(\w+)$", page, flags=re.MULTILINE)
    assert sorted(documented) == sorted(set(thalweg.__all__) - {"__version__"}) and "`thalweg.__version__`" in page
