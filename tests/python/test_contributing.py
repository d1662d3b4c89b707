"""CONTRIBUTING's tables quote the code; the quotations must stand there."""

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
