"""The README's examples are run, and its two forms of one scenario are one scenario."""

import re
import shlex
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GETTING_STARTED = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def scenario(name: str) -> str:
    return next(text for text in blocks("toml") if text.startswith(f'name = "{name}"\n'))


def commands(file: str) -> list[list[str]]:
    """What the README types with a file, without `thalweg`."""
    lines = "".join(blocks("sh")).replace("\\\n", " ").splitlines()
    return [words[1:] for words in map(shlex.split, lines) if words[:1] == ["thalweg"] and file in words]


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


def test_three_controllers_share_a_bottleneck_by_fair_queueing_and_not_by_fifo(cli, tmp_path):
    (tmp_path / "fairness.toml").write_text(scenario("fairness"))
    run, sweep = commands("fairness.toml")
    assert cli(*run, "--quiet").code == 0
    results = thalweg.Results.load(tmp_path / "runs" / "fairness")
    assert (results.path / "report.html").is_file()
    assert results.summary["endless"]["jain"] > 0.95
    said = cli(*sweep, "--quiet")
    assert said.code == 0, said.err
    assert len(list((tmp_path / "runs" / "fairness-sweep").glob("*seed=*"))) == 15


def test_the_cellular_example_compares_four_schemes(cli, tmp_path):
    (tmp_path / "lte.toml").write_text(scenario("lte"))
    (sweep,) = commands("lte.toml")
    said = cli(*sweep)
    assert said.code == 0, said.err
    assert all(f"\n{name} " in said.out for name in ("cubic", "cubic+codel", "bbr", "abc"))
    assert (tmp_path / "runs" / "lte-sweep" / "sweep.png").is_file()


def test_several_controllers_are_the_second_example_here_and_in_getting_started():
    assert [re.match(r'name = "(.*)"', text)[1] for text in blocks("toml")][:2] == ["incast", "fairness"]
    shown = re.findall(r'from_toml\("""\n(.*?)"""\)', GETTING_STARTED, flags=re.DOTALL)
    assert thalweg.Scenario.from_toml(shown[1]) == thalweg.Scenario.from_toml(scenario("fairness"))


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
