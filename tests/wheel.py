"""Tried with the Python of an empty environment, from a folder outside the checkout: is what a user installs whole?

`make wheel` builds the wheel, makes the environment and runs this there.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
SCENARIO = """
name = "wheel"
topology = { kind = "star", hosts = 5 }
traffic = [{ kind = "incast", fan_in = 4, size = "100KB", receiver = 0 }]
run = { until = "100ms" }
"""


def thalweg(*argv: str) -> str:
    done = subprocess.run([Path(sys.executable).parent / "thalweg", *argv], text=True, capture_output=True)
    assert done.returncode == 0, f"thalweg {' '.join(argv)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def main() -> None:
    import thalweg as package

    home = Path(package.__file__).resolve().parent
    assert CHECKOUT / "python" not in home.parents, f"this is the checkout, not the wheel: {home}"
    about = importlib.metadata.metadata("thalweg")
    assert about["Version"] == package.__version__ and "thalweg contributors" in str(about["Author"])
    assert (home / "py.typed").is_file()
    assert all(check["ok"] for check in json.loads(thalweg("doctor", "--json")))
    studies = {p.parent.name for p in (CHECKOUT / "papers").glob("*/claims.toml")}
    assert {p["name"] for p in json.loads(thalweg("list", "papers", "--json"))} == studies
    for study in studies:
        assert json.loads(thalweg("list", "claims", study, "--json"))
        packed = {
            p.relative_to(home / "papers" / "data")
            for p in (home / "papers" / "data" / study).rglob("*")
            if p.is_file()
        }
        here = {p.relative_to(CHECKOUT / "papers") for p in (CHECKOUT / "papers" / study).rglob("*") if p.is_file()}
        missing = sorted(str(p) for p in here - packed if "__pycache__" not in p.parts)
        assert not missing, f"the wheel lacks {missing}"
    library = {p.stem for p in (CHECKOUT / "crates" / "policy" / "library").glob("*.oq")}
    assert {p["name"] for p in json.loads(thalweg("policy", "list", "--json"))} == library
    assert json.loads(thalweg("policy", "run", "lqd", "--engine", "generated", "--json"))["sent"] > 100
    Path("wheel.toml").write_text(SCENARIO, encoding="utf-8")
    thalweg("run", "wheel.toml", "--out", "run", "--report", "--quiet")
    thalweg("sweep", "wheel.toml", "--seeds", "2", "--out", "sweep", "--quiet")
    results = package.Results.load("run")
    assert results.digest == package.run(results.scenario, progress=False).digest
    assert Path("run/report.html").stat().st_size > 10_000 and Path("sweep/sweep.png").stat().st_size > 1000
    thalweg("reproduce", "irn", "--claim", "IRN-P0a", "--no-figures", "--out", "irn", "--quiet")
    plugins = importlib.metadata.entry_points(group="pytest11")
    assert [p.value for p in plugins if p.dist.name == "thalweg"] == ["thalweg.testing"]
    for what in ("controller", "study"):
        thalweg("new", what, f"a-{what}")
        assert Path(f"a-{what}/pyproject.toml").is_file() and list(Path(f"a-{what}/src").rglob("*.py"))
    print(f"thalweg {package.__version__} from {home}: whole")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
