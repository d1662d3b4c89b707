"""docs/plugins.md: its manifest of a crate outside the tree has what the example needs, and resolves."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plugins"
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
(MANIFEST,) = (b for b in re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL) if b.startswith("[package]"))


def test_the_manifest_of_a_crate_of_ones_own_names_what_the_example_uses():
    ours = tomllib.loads((EXAMPLE / "Cargo.toml").read_text(encoding="utf-8"))
    theirs = tomllib.loads(MANIFEST)
    assert set(theirs["dependencies"]) == set(ours["dependencies"])
    assert theirs["package"]["name"] == ours["package"]["name"]
    assert "workspace" not in MANIFEST


def test_that_manifest_resolves_outside_the_tree(tmp_path):
    if shutil.which("cargo") is None:
        pytest.skip("no cargo")
    shutil.copytree(EXAMPLE / "src", tmp_path / "src")
    shutil.copy(ROOT / "Cargo.lock", tmp_path / "Cargo.lock")
    (tmp_path / "Cargo.toml").write_text(MANIFEST.replace("../thalweg/", f"{ROOT.as_posix()}/"), encoding="utf-8")
    said = subprocess.run(
        ["cargo", "metadata", "--offline", "--format-version", "1"], cwd=tmp_path, capture_output=True, text=True
    )
    assert said.returncode == 0, said.stderr
    packages = {p["name"] for p in json.loads(said.stdout)["packages"]}
    assert {
        "thalweg-lab",
        "thalweg-machines",
        "thalweg-net",
        "thalweg-scenario",
        "thalweg-units",
        "thalweg-sim",
    } <= packages
