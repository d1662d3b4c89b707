"""The README's examples are run, and its two forms of one scenario are one scenario."""

import re
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    return text


def test_the_python_example_runs_and_is_short(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = block("python")
    assert len([line for line in text.splitlines() if line.strip()]) <= 20
    names: dict = {}
    exec(compile(text, "README.md", "exec"), names)
    assert (tmp_path / "report.html").stat().st_size > 10_000
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == ["fifo", "fq", "srpt"]
    assert names["incast"] == thalweg.Scenario.from_toml(block("toml"))


def test_the_toml_example_runs_and_gives_the_same_digest(cli, tmp_path):
    (tmp_path / "incast.toml").write_text(block("toml"))
    said = cli("run", "incast.toml", "--set", "switch.scheduler=srpt", "--report", "--quiet")
    assert said.code == 0, said.err
    results = thalweg.Results.load(tmp_path / "runs" / "incast")
    assert (results.path / "report.html").is_file()
    assert (
        results.digest
        == thalweg.run(thalweg.Scenario.from_toml(block("toml"), set={"switch.scheduler": "srpt"})).digest
    )


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_to_files_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (ROOT / target).exists(), f"{page} links to {target}"
