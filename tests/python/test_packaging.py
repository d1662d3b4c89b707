"""What the package says about itself is said once."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import thalweg._core

ROOT = Path(__file__).parents[2]


def test_version_and_authors_agree_wherever_they_are_written():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = (ROOT / "CITATION.cff").read_text()
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    assert project["authors"] == [{"name": "thalweg contributors"}]
    assert "  - name: thalweg contributors\n" in citation
    assert re.search(r"^version: (.+)$", citation, flags=re.MULTILINE)[1] == workspace["version"] == thalweg.__version__
    assert set(re.findall(r"^  - (MIT|Apache-2.0)$", citation, flags=re.MULTILINE)) == set(
        project["license"].split(" OR ")
    )


def test_the_engine_names_the_sources_it_was_built_from():
    """Kept runs are used again by its name: FNV-1a, 64 bits, of paths and contents, each behind its length."""
    crates = ("units", "wire", "policy", "machines", "net", "record", "scenario", "sim", "lab", "theory", "python")
    found = [f.relative_to(ROOT / "crates") for c in crates for f in (ROOT / "crates" / c / "src").rglob("*")]
    files = sorted(
        [Path("../Cargo.lock"), *(f for f in found if (ROOT / "crates" / f).is_file())], key=lambda f: f.parts
    )
    said = 0xCBF29CE484222325
    for file in files:
        for text in (str(file).encode(), (ROOT / "crates" / file).read_bytes()):
            for byte in len(text).to_bytes(8, "little") + text:
                said = (said ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    assert f"{said:016x}" == thalweg._core.SOURCES, "built from other sources: `make build`"


def test_every_package_that_is_imported_is_a_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {re.match(r"[\w-]+", d)[0].replace("-", "_") for d in project["dependencies"]}
    # Only where it is requested: `to_pandas`, progress bars in notebooks, runs over time there, jobs on Slurm,
    # timelines, the plug-in of pytest, environments for learning.
    notebooks = {"IPython", "ipywidgets", "anywidget", "traitlets"}
    optional = notebooks | {"pandas", "submitit", "perfetto", "pytest", "gymnasium"}
    used = set()
    for file in (ROOT / "python" / "thalweg").rglob("*.py"):
        if "data" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                used.add(node.module.split(".")[0])
    foreign = used - set(sys.stdlib_module_names) - {"thalweg"}
    assert foreign - named - optional == set() and named <= used | {"numpy"}
