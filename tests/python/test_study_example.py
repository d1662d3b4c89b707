"""The study that CONTRIBUTING shows, and laws of all studies."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from thalweg import papers
from thalweg.study import Key

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "study"
FILES = sorted((ROOT / "papers").glob("*/*.py"))


def test_contributing_shows_the_whole_example():
    code = (EXAMPLE / "study.py").read_text(encoding="utf-8")
    assert f"```python\n{code}```\n" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(code.splitlines()) <= 60


def test_the_example_judges_its_claims_and_draws_its_figure(tmp_path):
    study = papers.reproduce(papers.find(str(EXAMPLE)), out=tmp_path / "out", progress=False)
    assert {c.id: c.status for c in study.claims} == {"HPCC-S-a": "pass", "HPCC-S-b": "pass"}
    assert list(study.figures) == ["slowdown"]
    assert study.claims[0].measured["p95, HPCC"] < 2


def test_its_runs_have_keys_whose_parts_are_data():
    runs = papers.find(str(EXAMPLE)).module("study").runs("full")
    assert {type(r.key) for r in runs} == {Key}
    assert {(r.key.place, r.key.seed) for r in runs} == {("rack-50", 1), ("rack-50", 2), ("rack-50", 3)}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_measures_and_figures_have_names(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "_"]


# What the kit has, under whatever name it stood in studies.
KIT = {
    "jain",
    "percentile",
    "nearest_rank",
    "half_interval",
    "student",
    "steps",
    "thinned_cdf",
    "across_bytes",
    "seconds",
}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_no_study_writes_again_what_the_kit_has(file):
    text = file.read_text(encoding="utf-8")
    defined = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    assert not defined & KIT
    assert "id,src,dst,size_bytes" not in text, "thalweg.study.flow_list writes lists of flows"
    assert 'rsplit("@"' not in text, "thalweg.study.Key has the seed"
