"""CONTRIBUTING's tables quote the code, and comments cite: what is quoted must stand there, what is cited must exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([^`]+)` \| .* \| `([^`]+)` \|$", TEXT, flags=re.MULTILINE)


def test_there_are_quotations():
    assert len(ROWS) >= 15


@pytest.mark.parametrize(("file", "quoted"), ROWS)
def test_what_is_quoted_stands_there(file, quoted):
    assert quoted in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "file", sorted(set(re.findall(r"`((?:crates|tests|papers|docs|python)/[\w/.-]+\.\w+)`", TEXT)))
)
def test_what_is_named_exists(file):
    assert (ROOT / file).is_file()


def test_a_controller_is_one_file_and_one_line_in_one_list():
    """No other file of the engine knows one by name, but those that are about it."""
    section = TEXT.split("## A congestion controller")[1].split("\n## ")[0]
    assert len(re.findall(r"^\| `crates/", section, flags=re.MULTILINE)) == 2
    congestion = ROOT / "crates/machines/src/congestion"
    listed = re.findall(r"^    (\w+): \w+\(", (congestion / "mod.rs").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(listed) > 5
    for module in set(listed) - {"custom"}:
        others = {
            path.relative_to(ROOT).as_posix()
            for crate in ("units", "machines", "sim", "lab", "python")
            for path in (ROOT / "crates" / crate / "src").rglob("*.rs")
            if re.search(
                rf"congestion::(\w+::)*{module}\b|ControllerSpec::{module.replace('_', '')}\b",
                path.read_text(encoding="utf-8"),
                re.I,
            )
            and "tests" not in path.parts
            and not path.stem.startswith("test")
        }
        # Each transport names its default.
        own = {f"crates/machines/src/congestion/{module}.rs"}
        defaults = {"newreno": {"crates/lab/src/schema/tcp.rs"}, "fixed": {"crates/lab/src/schema/rdma.rs"}}
        assert others <= own | defaults.get(module, set()), module


# ---- Citations ----

SOURCES = set(
    re.findall(r"^\| ([A-Za-z& ]+?) \|", (ROOT / "docs/sources.md").read_text(encoding="utf-8"), flags=re.M)
) - {"name"}
CODE = sorted(f for crate in ("crates", "examples", "benches") for f in (ROOT / crate).rglob("*.rs"))
MARK = re.compile(r"CHOICE(?: ([^:\n]*?))?(?: ?§[^:\n]*| Algorithm \d+| \([^:\n]*)?:")


def unresolved(text: str) -> list[str]:
    """Sources of CHOICE marks that nobody can look up."""
    names = (m[1] for m in MARK.finditer(text) if m[1])
    return [n for n in names if not re.fullmatch(r"RFC \d+", n.strip(" ,")) and n.strip(" ,") not in SOURCES]


def test_a_mark_that_cites_nothing_published_is_found():
    assert len(SOURCES) >= 12
    assert unresolved("// CHOICE " + "irn M3: x") == ["irn M3"]
    assert not unresolved(
        "// CHOICE: x\n// CHOICE RFC 5681 §3.1: y\n// CHOICE Choudhury & Hahne §III: z\n// CHOICE IRN §4.3.1 (TIMELY): a"
    )


def test_every_choice_names_a_source_that_can_be_looked_up():
    wrong = [f"{f.relative_to(ROOT)}: {name}" for f in CODE for name in unresolved(f.read_text(encoding="utf-8"))]
    assert not wrong, "\n".join(wrong)


def test_files_that_comments_and_documents_name_exist():
    named = re.compile(r"(?<![\w/])(?:papers|docs|crates|tests|benches)/[\w/-]+\.(?:py|toml|md|rs)\b")
    documents = [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "papers").glob("*.md"),
        *(ROOT / "papers").glob("*/*.md"),
    ]
    wrong = [
        f"{f.relative_to(ROOT)}: {name}"
        for f in [*CODE, *documents]
        for name in named.findall(f.read_text(encoding="utf-8"))
        if not any((at / name).is_file() for at in (ROOT, f.parent))
    ]
    assert not wrong, "\n".join(wrong)
