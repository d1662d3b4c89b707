"""Prose is for readers with a terminal of 120 columns: Markdown, comments, docstrings. And it has the field's words."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WIDTH = 120
FOLDERS = ("benches", "crates", "docs", "examples", "fuzz", "papers", "python", "tests")
BUILT = {"_build", "target", "data", "__pycache__"}
FENCE = re.compile(r"^\s*(```|~~~|:::)")
GENERATED = re.compile(r"<!-- generated: .*?<!-- /generated -->", flags=re.DOTALL)


def files(suffix: str) -> list[Path]:
    inside = (p for folder in FOLDERS for p in (ROOT / folder).rglob(f"*{suffix}"))
    return [*ROOT.glob(f"*{suffix}"), *(p for p in inside if not BUILT & set(p.relative_to(ROOT).parts))]


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """Lines that a program could break: not of code, tables, or one link that is longer than a line."""
    fenced = False
    for n, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.startswith("    ") and " " in line.strip() and line.lstrip()[0] != "|":
            yield n, line


def is_aligned(line: str) -> bool:
    """A list in columns, which no line break improves."""
    return bool(re.search(r"\S {3,}\S", line))


# Strings and characters, in which `//` begins no comment, and comments; lifetimes are not characters.
RUST = re.compile(
    r'b?r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\(?:u\{\w+\}|x\w\w|.)|[^\'\\\n])\'|/\*.*?\*/|(?P<comment>//[^\n]*)',
    flags=re.DOTALL,
)


def comments_of_rust(text: str) -> Iterator[tuple[int, str]]:
    for found in RUST.finditer(text):
        # Rows of a table cannot be broken.
        if found["comment"] and not re.match(r"//[/!]? ?\|", found["comment"]):
            yield text.count("\n", 0, found.start()) + 1, alone(text, found.start(), found["comment"])


def alone(text: str, start: int, comment: str) -> str:
    """The line of a comment, which ends it, without the code in front."""
    return " " * (start - text.rfind("\n", 0, start) - 1) + comment


def comments_of_toml(text: str) -> Iterator[tuple[int, str]]:
    for n, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            yield n, line


# For programs, which want them where they are.
PRAGMA = re.compile(r"# (?:(?:fmt|pragma|ruff|type):|noqa\b)")


def comments_of_python(text: str) -> Iterator[tuple[int, str]]:
    lines = text.splitlines()
    with_docs = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, with_docs) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            # What is indented further is code, or an aligned list.
            for n in range(first.lineno, first.end_lineno + 1):
                if not lines[n - 1].startswith(" " * (first.col_offset + 4)):
                    yield n, lines[n - 1]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not PRAGMA.match(token.string):
            yield token.start[0], " " * token.start[1] + token.string


KINDS = {
    ".md": markdown,
    ".rs": comments_of_rust,
    ".toml": comments_of_toml,
    ".py": comments_of_python,
}


@pytest.mark.parametrize("suffix", KINDS)
def test_lines_of_prose_fit(suffix):
    long = [
        f"{path.relative_to(ROOT)}:{n}: {len(line)} columns"
        for path in files(suffix)
        for n, line in KINDS[suffix](path.read_text(encoding="utf-8"))
        if len(line) > WIDTH and not is_aligned(line)
    ]
    assert not long, f"{len(long)} lines are longer than {WIDTH} columns, such as {long[:20]}"


def test_what_is_prose_and_what_is_not():
    page = "a b\n```sh\nthalweg run\n```\n| a | b |\n[name](https://example.org/long)\n\n    code here\nlast line\n"
    assert [n for n, _ in markdown(page)] == [1, 9]
    module = '"""About\n\n    name    what\n"""\n\nX = 1  # one\n# two\n\n\ndef f():\n    """Three."""\n'
    assert sorted(n for n, _ in comments_of_python(module)) == [1, 2, 4, 6, 7, 11]
    assert list(comments_of_python("told = 1  # one\nx = 2  # fmt: skip\n")) == [(1, "          # one")]
    code = """\
let a = "// no"; // one
/// two
// | row |
let (b, c): (&'a str, char) = (r#"
// no"#, '"'); // three
"""
    shown = [(1, 17 * " " + "// one"), (2, "/// two"), (5, 15 * " " + "// three")]
    assert list(comments_of_rust(code)) == shown


# What readers of RFCs would not write, with what they would.
WORDS = {
    "told": "notified, given, reported",
    "hears?|heard": "receives, is notified",
    "nobody": "no one, none",
    "somebody|anybody": "some host, some part",
    "whoever": "which, the one that",
    "beside": "with, next to, against",
}
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", [str(p.relative_to(ROOT)) for p in PAGES])
def test_pages_have_the_words_of_the_field(page):
    text = GENERATED.sub("", (ROOT / page).read_text(encoding="utf-8"))
    text = " ".join(re.sub(r"`[^`]*`", "", line) for _, line in markdown(text))
    found = {word: hint for word, hint in WORDS.items() if re.search(rf"\b{word}\b", text, flags=re.IGNORECASE)}
    assert not found


# A claim's statement is its paper's.
@pytest.mark.parametrize("suffix", [".rs", ".toml", ".py"])
def test_comments_have_the_words_of_the_field(suffix):
    words = re.compile(rf"\b({'|'.join(WORDS)})\b", flags=re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{n}: {match.group()}"
        for path in files(suffix)
        for n, line in KINDS[suffix](path.read_text(encoding="utf-8"))
        if (match := words.search(QUOTED.sub("", line)))
    ]
    assert not found, f"{len(found)} comments, such as {found[:20]}; write {WORDS}"


# In names, where nothing is quoted, every form of these. (`crates/lab` and `crates/python` have yet to follow.)
IN_NAMES = (
    "tell tells told hear hears heard ask asks asked say says said nobody somebody anybody everybody whoever beside"
)
NAMED = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))? )?(?:const |unsafe )*(?:fn|struct|enum|trait|mod|type|const) (\w+)", flags=re.M
)
CRATES = (
    *("units", "wire", "policy", "machines", "net", "scenario", "capture", "sim", "lab", "theory", "verbs"),
    *("emulate", "connect", "plugin", "python"),
)


def words_of(name: str) -> set[str]:
    """Of `snake_case`, `CamelCase` and `SCREAMING_CASE`."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)}


@pytest.mark.parametrize("crate", CRATES)
def test_names_have_the_words_of_the_field(crate):
    names = {
        f"{path.relative_to(ROOT)}: {name}": words_of(name)
        for path in sorted((ROOT / "crates" / crate).rglob("*.rs"))
        for name in NAMED.findall(path.read_text(encoding="utf-8"))
    }
    found = [where for where, words in names.items() if words & set(IN_NAMES.split())]
    assert names and not found, f"{len(found)} names, such as {found[:20]}; notify, report, receive, request, declare"
