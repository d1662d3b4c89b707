"""What a release is made by: workflows, recipe and the files around them say what Makefile and manifests say."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
RECIPE = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")


def options(line: str) -> dict[str, str]:
    return dict(re.findall(r"(--[a-z-]+) ([^ -]\S*)", line))


def test_the_workflow_makes_and_tries_wheels_as_make_does():
    """Only the profile and the interpreter differ: a release is optimised as a whole, in a container."""
    text = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    (built,) = re.findall(r"args: (--profile .*)", text)
    (ours,) = re.findall(r"maturin build (.*?) >", MAKEFILE)
    differs = {"--profile", "--interpreter"}
    assert {k: v.replace("$(OUT)", "out") for k, v in options(ours).items() if k not in differs} == {
        k: v for k, v in options(built).items() if k not in differs
    }
    assert differs < options(ours).keys() == options(built).keys()
    (tried,) = re.findall(r"run: (\.ci/wheel .*)", text)
    (by_make,) = re.findall(r"(\.ci/wheel .*)", MAKEFILE)
    assert tried == by_make.replace("$(OUT)", "out")
    platforms = re.findall(r"target: ([\w-]+), manylinux: \"(\w+)\"", text)
    assert [t.split("-")[0] + "/" + m for t, m in platforms] == ["x86_64/2_28", "aarch64/2_28", "aarch64/off"]


def test_the_tests_of_a_push_are_those_of_the_house():
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    assert "- run: .ci/run\n" in text and (ROOT / ".ci" / "run").stat().st_mode & 0o100
    assert (ROOT / ".ci" / "wheel").stat().st_mode & 0o100


def test_workflows_are_what_actionlint_takes():
    linter = shutil.which("actionlint")
    if linter is None:
        pytest.skip("actionlint is not installed: go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7")
    done = subprocess.run([linter, *WORKFLOWS], capture_output=True, text=True, cwd=ROOT)
    assert len(WORKFLOWS) == 3 and (done.returncode, done.stdout) == (0, "")


def test_the_recipe_has_the_version_and_the_dependencies_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (version,) = re.findall(r'^  version: "(.*)"$', RECIPE, flags=re.MULTILINE)
    assert version == thalweg.__version__
    (run,) = re.findall(r"^  run:\n((?:    - .*\n)+)", RECIPE, flags=re.MULTILINE)
    # Conda's package without toolkits for windows.
    named = {line[6:].replace(" ", "").replace("matplotlib-base", "matplotlib") for line in run.splitlines()}
    assert named == {*project["dependencies"], f"python{project['requires-python']}"}
    (script,) = re.findall(r"^      - (thalweg = .*)$", RECIPE, flags=re.MULTILINE)
    assert script == f"thalweg = {project['scripts']['thalweg']}"


def test_files_that_the_release_page_names_exist():
    for page in ("RELEASING.md", "SECURITY.md", "docs/stability.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for name in re.findall(r"\]\((?!https?:)([\w./-]+)\)", text):
            assert ((ROOT / page).parent / name).exists(), f"{page}: {name}"
        for name in re.findall(r"`((?:docs|recipe|fuzz|tests)/[\w./-]*)`", text):
            assert (ROOT / name).exists(), f"{page}: {name}"
