"""CONTRIBUTING's tables quote the code; the quotations must stand there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([^`]+)` \| .* \| `([^`]+)` \|$", TEXT, flags=re.MULTILINE)


def test_there_are_quotations():
    assert len(ROWS) >= 20


@pytest.mark.parametrize(("file", "quoted"), ROWS)
def test_what_is_quoted_stands_there(file, quoted):
    assert quoted in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "file", sorted(set(re.findall(r"`((?:crates|tests|papers|docs|python)/[\w/.-]+\.\w+)`", TEXT)))
)
def test_what_is_named_exists(file):
    assert (ROOT / file).is_file()
