"""The README's example is run, and its two forms of one scenario are one scenario; so are the tutorial's commands."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import thalweg
from thalweg.examples import incast

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GETTING_STARTED, LINKS = (
    (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("getting-started.md", "links.md")
)


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)


def scenario(name: str) -> str:
    return next(text for text in blocks("toml") if text.startswith(f'name = "{name}"\n'))


def test_the_python_example_runs_and_is_short(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (text,) = blocks("python")
    assert len([line for line in text.splitlines() if line.strip()]) <= 20
    names: dict = {}
    exec(compile(text, "README.md", "exec"), names)
    assert (tmp_path / "report.html").stat().st_size > 10_000
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == ["fifo", "fq", "srpt"]
    assert names["incast"] == thalweg.Scenario.from_toml(scenario("incast"))


def test_the_toml_example_runs_and_gives_the_same_digest(cli, tmp_path):
    text = scenario("incast")
    (tmp_path / "incast.toml").write_text(text)
    said = cli("run", "incast.toml", "--set", "switch.scheduler=srpt", "--report", "--quiet")
    assert said.code == 0, said.err
    results = thalweg.Results.load(tmp_path / "runs" / "incast")
    assert (results.path / "report.html").is_file()
    assert results.digest == thalweg.run(thalweg.Scenario.from_toml(text, set={"switch.scheduler": "srpt"})).digest


def test_the_cellular_link_compares_four_schemes(cli, tmp_path):
    (sweep,) = (block for block in blocks("sh", LINKS) if "--variant" in block)
    words = shlex.split(sweep.replace("\\\n", " ").replace("docs/", f"{ROOT}/docs/"))[1:]
    said = cli(*words)
    assert said.code == 0, said.err
    assert all(f"\n{name} " in said.out for name in ("cubic", "cubic+codel", "bbr", "abc"))
    assert (tmp_path / "runs" / "cellular-sweep" / "sweep.png").is_file()


def checked(script: str) -> str:
    """The script, each command of which ends it unless its exit code is the one that its comment names, else 0."""
    lines = []
    for line in script.splitlines():
        wanted = re.search(r"# .*exit code (\d+)", line)
        lines.append(line)
        if line.startswith("thalweg "):
            lines.append(f"code=$?; [ $code = {wanted[1] if wanted else 0} ] || {{ echo 'exit code' $code; exit 99; }}")
    return "\n".join(lines)


def test_the_commands_of_getting_started_work_in_the_order_of_the_page(tmp_path):
    (tmp_path / "thalweg").write_text(f'#!/bin/sh\nexec {sys.executable} -m thalweg "$@"\n')
    (tmp_path / "thalweg").chmod(0o755)
    installation, *commands = blocks("sh", GETTING_STARTED)
    assert "make build" in installation and len(commands) >= 6
    said = subprocess.run(
        ["sh", "-x", "-c", checked("".join(commands))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )
    assert said.returncode == 0, said.stderr + said.stdout[-2000:]
    first = tmp_path / "first"
    assert (first / "runs" / "incast" / "report.html").is_file() and (first / "incast.png").is_file()
    shares = [
        thalweg.Results.load(first / "runs" / name).summary["endless"]["jain"] for name in ("fairness", "fq-codel")
    ]
    assert shares[0] < 0.5 and shares[1] > 0.95
    assert len(list((first / "runs" / "fairness-sweep").glob("*seed=*"))) == 15


def test_the_tutorial_shows_the_scenario_of_the_demo_and_of_the_readme():
    (shown,) = blocks("toml", GETTING_STARTED)
    assert shown == incast.SCENARIO == scenario("incast")


def test_the_table_of_speeds_is_short_and_a_part_of_the_whole():
    def rows(text: str) -> list[str]:
        (table,) = re.findall(r"<!-- BENCH-TABLE.*?<!-- /BENCH-TABLE -->", text, flags=re.DOTALL)
        return [line for line in table.splitlines() if line.startswith("| W")]

    whole = rows((ROOT / "docs" / "performance.md").read_text(encoding="utf-8"))
    assert len(rows(README)) == 8 and set(rows(README)) < set(whole)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_to_files_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (ROOT / target).exists(), f"{page} links to {target}"
