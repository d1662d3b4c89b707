"""Controllers and studies of installed packages: known by name everywhere, refused where a name is taken."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import thalweg
from conftest import SCENARIO
from thalweg import controllers, installed

ROOT = Path(__file__).parents[2]
CODE = """\
import thalweg
from thalweg.examples.aimd import Aimd


@thalweg.controller("{name}", params={{"decrease": 0.5}})
class Theirs(Aimd):
    pass
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Does what pip does: a module and the metadata of its package, on the path of this process and its children."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), str(ROOT / "python")]))
    installed.declared.cache_clear()

    def one(package: str, code: str, entries: dict[str, dict[str, str]], version: str = "1.2") -> Path:
        module = package.replace("-", "_")
        (site / f"{module}.py").write_text(code)
        about = site / f"{module}-{version}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in of.items()) for group, of in entries.items()]
        (about / "entry_points.txt").write_text("\n".join(lines))
        installed.declared.cache_clear()
        return site

    yield one
    installed.declared.cache_clear()


def controller(install, name: str, **kw) -> None:
    """Installs a package with one controller of its own name."""
    module = name.replace("-", "_")
    install(name, CODE.format(name=name), {"thalweg.controllers": {name: f"{module}:Theirs"}}, **kw)


def digest_of(scenario: thalweg.Scenario) -> str:
    return thalweg.run(scenario, progress=False).digest


def test_its_name_is_a_name_of_scenarios_sweeps_and_exams(install, cli, file, tmp_path):
    controller(install, "their-cc")
    said = cli("run", file, "--no-out", "--set", "transport.congestion=their-cc", "--json")
    assert said.code == 0, said.err
    with_text = SCENARIO + '[transport]\ncongestion = { kind = "their-cc", params = { decrease = 0.5 } }\n'
    assert digest_of(thalweg.Scenario.from_toml(with_text)) == json.loads(said.out)["digest"]
    said = cli("sweep", file, "--vary", "transport.congestion=cubic,their-cc", "--out", "s", "--quiet", "--json")
    assert said.code == 0 and "their-cc" in said.out
    exam = thalweg.exam("their-cc", only=["step-up"], against=(), progress=False)
    assert exam.names == ["their-cc"] and not exam.failures
    said = cli("list", "controllers", "--json")
    (row,) = [row for row in json.loads(said.out) if row["name"] == "their-cc"]
    assert row["source"] == "their-cc 1.2" and "ns per ACK" in row["summary"]


def test_it_is_not_imported_where_it_is_not_named(install, scenario):
    install("their-silent", "raise RuntimeError", {"thalweg.controllers": {"their-silent": "their_silent"}})
    digest_of(scenario)
    assert "their_silent" not in sys.modules


def test_processes_of_a_pool_and_resumed_runs_know_it(install, file, tmp_path, process):
    controller(install, "their-pooled")
    named = thalweg.Scenario.load(file, {"transport.congestion": "their-pooled"})
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(digest_of, named).result(60) == digest_of(named)
    more = ("--set", "transport.congestion=their-pooled", "--max-seconds", "1e-9", "--out", "r", "--quiet")
    stopped = process("run", file, *more)
    assert stopped.communicate(timeout=60) and stopped.returncode == 0
    resumed = process("run", "--resume", "r", "--json", "--quiet")
    out, err = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, err
    whole = thalweg.Scenario.load(file, {"transport.congestion": "their-pooled"})
    assert json.loads(out)["digest"] == digest_of(whole)


def test_records_of_its_decisions_are_replayed(install, file, process, cli):
    controller(install, "their-recorded")
    short = ("--set", "traffic.0.until=1ms", "--set", "measure.decisions=true")
    assert cli("run", file, "--set", "transport.congestion=their-recorded", *short, "--out", "r", "--quiet").code == 0
    replayed = process("decisions", "r", "--json")
    out, err = replayed.communicate(timeout=60)
    assert replayed.returncode == 0 and all(row["differs"] is None for row in json.loads(out)), err


def test_suggestions_include_it(install, cli, file):
    controller(install, "their-suggested")
    said = cli("run", file, "--no-out", "--set", "transport.congestion=their-sugested")
    assert said.code == 2 and "did you mean `their-suggested`?" in said.err
    said = cli("exam", "their-suggestd")
    assert said.code == 2 and "did you mean `their-suggested`?" in said.err


def test_a_name_of_thalwegs_own_is_refused(install, cli, file):
    install("their-bbr", CODE.format(name="bbr"), {"thalweg.controllers": {"bbr": "their_bbr:Theirs"}})
    said = cli("run", file, "--no-out", "--set", "transport.congestion=bbr")
    expected = "`bbr` is a controller of thalweg's, and the installed package their-bbr 1.2 declares another"
    assert said.code == 2 and said.err.startswith(expected) and "their_bbr" not in sys.modules
    assert cli("exam", "bbr").err.startswith(expected)
    assert cli("run", file, "--no-out", "--quiet").code == 0
    said = cli("doctor")
    assert said.code == 1 and f"BAD  plug-ins: {expected}" in said.out


def test_two_packages_of_one_name_are_refused(install, cli, file):
    for package in ("one-cc", "other-cc"):
        install(package, CODE.format(name="same-cc"), {"thalweg.controllers": {"same-cc": "one_cc:Theirs"}})
    said = cli("run", file, "--no-out", "--set", "transport.congestion=same-cc")
    assert (said.code, said.err) == (
        2,
        "`same-cc` is declared by several installed packages: one-cc 1.2, other-cc 1.2; uninstall all but one\n",
    )


def test_a_file_that_registers_the_same_name_is_refused_unless_it_is_the_package(
    install, cli, file, tmp_path, monkeypatch
):
    # What this process has imported travels to workers, who could not find it once the test is over.
    monkeypatch.setattr(controllers, "_IMPORTED", dict(controllers._IMPORTED))
    controller(install, "their-own")
    (tmp_path / "mine.py").write_text(CODE.format(name="their-own"))
    named = ("run", file, "--no-out", "--quiet", "--set", "transport.congestion=their-own")
    assert cli(*named, "--import", "their_own").code == 0
    said = cli(*named, "--import", "mine.py")
    assert said.code == 2 and "declared by the installed package their-own 1.2" in said.err and "mine.py" in said.err


@pytest.mark.parametrize(
    ("code", "target", "why"),
    [
        (
            "import nothing_such",
            "their_broken",
            "cannot be imported: ModuleNotFoundError: No module named 'nothing_such'",
        ),
        (
            CODE.format(name="another"),
            "their_broken:Theirs",
            "their_broken:Theirs registers `another`; its class needs",
        ),
        ("", "their_broken", "their_broken does not register it; its class needs @thalweg.controller("),
    ],
)
def test_a_package_that_does_not_keep_its_word_is_named(install, cli, file, code, target, why):
    sys.modules.pop("their_broken", None)
    install("their-broken", code, {"thalweg.controllers": {"their-broken": target}})
    said = cli("run", file, "--no-out", "--set", "transport.congestion=their-broken")
    assert said.code == 2 and why in said.err and "their-broken 1.2" in said.err and said.err.count("\n") == 1
    assert "cannot be used" in cli("list", "controllers").out


def study(install, name: str) -> Path:
    """Installs the study of the examples under a name."""
    module = name.replace("-", "_")
    site = install(f"{name}-package", "", {"thalweg.studies": {name: module}})
    shutil.copytree(ROOT / "examples" / "study", site / module, ignore=shutil.ignore_patterns("__pycache__"))
    (site / module / "__init__.py").write_text("")
    return site / module


def test_a_study_is_reproduced_by_its_name(install, cli):
    study(install, "their-study")
    assert "their-study" in [row["name"] for row in json.loads(cli("list", "papers", "--json").out)]
    said = cli("reproduce", "their-study", "--claim", "HPCC-S-b", "--no-figures", "--quiet", "--json")
    assert said.code == 0 and json.loads(said.out)["paper"] == "their-study"
    assert Path("out/their-study-quick/claims.json").is_file()
    said = cli("reproduce", "their-studdy")
    assert said.code == 2 and "did you mean `their-study`?" in said.err


def test_a_study_whose_name_is_taken_is_refused(install, cli):
    folder = study(install, "irn")
    said = cli("reproduce", "irn")
    assert said.code == 2 and "one of the installed package irn-package 1.2; name the folder" in said.err
    assert str(folder) in said.err
    said = cli("list", "claims", folder)
    assert said.code == 0 and "HPCC-S-a" in said.out


def test_a_study_without_claims_is_named(install, cli):
    install("no-study", "", {"thalweg.studies": {"no-study": "no_study"}})
    said = cli("reproduce", "no-study")
    assert said.code == 2 and "no-study 1.2 declares the study `no-study`, and no_study has no claims.toml" in said.err


def test_pytest_finds_the_plug_in_by_its_entry_point():
    """`-p thalweg.testing` is the same one: an entry point of another name would register it twice."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"thalweg.testing": "thalweg.testing"}


def test_without_pytest_the_extra_is_named():
    code = "import sys; sys.modules['pytest'] = None; import thalweg.testing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.endswith("ImportError: thalweg.testing needs pytest: pip install 'thalweg[testing]'\n")
