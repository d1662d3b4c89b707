"""`thalweg pack`: a study and its results as an RO-Crate that programs can read, whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import tomllib
import zipfile
from pathlib import Path

import pytest

import thalweg
from thalweg import papers
from thalweg.errors import ScenarioError
from thalweg.papers import _crate
from thalweg.papers._license import address_of

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "examples" / "study"


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("packing") / "out"
    papers.reproduce(papers.find(str(STUDY)), out=out, progress=False)
    return out


@pytest.fixture
def crate(results, tmp_path) -> Path:
    return papers.pack(str(STUDY), [results], tmp_path / "crate", license="CC-BY-4.0")


def graph(crate: Path) -> dict[str, dict]:
    found = json.loads((crate / "ro-crate-metadata.json").read_text())
    assert found["@context"] == "https://w3id.org/ro/crate/1.1/context"
    return {entity["@id"]: entity for entity in found["@graph"]}


def test_the_metadata_is_that_of_an_ro_crate_and_names_every_file(crate):
    entities = graph(crate)
    about = entities["ro-crate-metadata.json"]
    assert about["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"} and about["about"] == {"@id": "./"}
    root = entities["./"]
    assert root["@type"] == "Dataset" and re.fullmatch(r"\d{4}-\d\d-\d\d", root["datePublished"])
    assert root["name"].startswith("study: HPCC") and root["description"].endswith("quick: 2 pass.")
    assert root["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    there = {p.relative_to(crate).as_posix() for p in crate.rglob("*") if p.is_file()}
    assert {part["@id"] for part in root["hasPart"]} == there - {"ro-crate-metadata.json"}
    for name in there - {"ro-crate-metadata.json"}:
        data = (crate / name).read_bytes()
        assert entities[name]["@type"] == "File" and entities[name]["contentSize"] == str(len(data))
        assert entities[name]["sha256"] == hashlib.sha256(data).hexdigest()
    run = entities["#reproduce-quick"]
    assert run["instrument"] == {"@id": "#thalweg"} and entities["#thalweg"]["version"] == thalweg.__version__
    referred = {e["@id"] for entity in entities.values() for e in _references(entity)}
    assert {r for r in referred if not r.startswith("http")} <= entities.keys()


def _references(value):
    if isinstance(value, dict):
        if value.keys() == {"@id"}:
            yield value
        for one in value.values():
            yield from _references(one)
    elif isinstance(value, list):
        for one in value:
            yield from _references(one)


def test_it_holds_the_study_verdicts_digests_and_environment(crate, results):
    for name in ("claims.toml", "study.py", "scenarios/rack.toml", "README.md"):
        assert (crate / "study" / name).read_bytes() == (STUDY / name).read_bytes()
    assert (crate / "results/quick/claims.json").read_bytes() == (results / "claims.json").read_bytes()
    assert (crate / "results/quick/figures/slowdown.png").is_file() and not list(crate.rglob("*.parquet"))
    rows = list(csv.DictReader(io.StringIO((crate / "digests.csv").read_text())))
    assert [row["run"] for row in rows] == ["rack-50-dcqcn-1", "rack-50-hpcc-1", "rack-50-timely-1"]
    for row in rows:
        run = thalweg.Results.load(results / "runs" / row["run"])
        assert (row["digest"], row["engine"]) == (run.digest, thalweg._core.SOURCES)
    environment = json.loads((crate / "environment.json").read_text())
    assert environment["engine"] == thalweg._core.SOURCES and environment["packages"]["numpy"]


def test_a_packed_study_is_a_study(crate):
    assert [c.id for c in papers.find(str(crate / "study")).claims] == ["HPCC-S-a", "HPCC-S-b"]


def test_an_archive_has_the_same_files_and_the_same_bytes_each_time(crate, results, tmp_path):
    one, two = (papers.pack(str(STUDY), [results], tmp_path / f"{n}.zip", license="CC-BY-4.0") for n in "ab")
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as archive:
        assert {n: archive.read(n) for n in archive.namelist()} == {
            p.relative_to(crate).as_posix(): p.read_bytes() for p in crate.rglob("*") if p.is_file()
        }


def test_on_the_command_line(cli, results, tmp_path):
    said = cli("pack", STUDY, "--results", results, "--json")
    assert (said.code, json.loads(said.out)) == (0, {"crate": "study-crate"})
    assert (tmp_path / "study-crate" / "ro-crate-metadata.json").is_file()


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        ((STUDY,), "there are no results of `study` to pack; run `thalweg reproduce study` first"),
        ((STUDY, "--results", "."), "holds no results of a study"),
        (("irn", "--results", "RESULTS"), "holds results of `study`, not of `irn`"),
        ((STUDY, "--results", "RESULTS", "--results", "RESULTS"), "two folders hold results at scale quick"),
        ((STUDY, "--results", "RESULTS", "--out", "there"), "there: is there already; choose another --out"),
    ],
)
def test_what_cannot_be_packed_is_refused_and_leaves_nothing(cli, results, tmp_path, argv, why):
    (tmp_path / "there").mkdir()
    said = cli("pack", *(results if a == "RESULTS" else a for a in argv))
    assert said.code == 2 and why in said.err
    assert [p.name for p in tmp_path.iterdir()] == ["there"] and not list((tmp_path / "there").iterdir())


def test_the_packages_of_the_environment_are_the_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [re.match(r"[\w-]+", d)[0] for d in project["dependencies"]] == list(_crate.PACKAGES)


def test_readers_of_crates_read_it(crate):
    rocrate = pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed: pip install rocrate")
    found = rocrate.ROCrate(crate)
    assert found.root_dataset["name"].startswith("study: HPCC") and found.get("digests.csv").type == "File"


@pytest.mark.parametrize(
    ("license", "address"),
    [
        ("mit", "https://spdx.org/licenses/MIT"),
        ("Apache-2.0", "https://spdx.org/licenses/Apache-2.0"),
        ("https://example.org/mine.txt", "https://example.org/mine.txt"),
        ("EUPL-1.1", "https://spdx.org/licenses/EUPL-1.1"),
        ("APL-1.0", "https://spdx.org/licenses/APL-1.0"),
        ("CC-BY-SA-3.0", "https://spdx.org/licenses/CC-BY-SA-3.0"),
    ],
)
def test_a_license_is_an_address_or_an_identifier_in_the_letters_of_the_list(license, address):
    assert address_of(license) == address


@pytest.mark.parametrize(
    ("license", "why"),
    [
        ("Foo Bar", "is not an SPDX identifier"),
        ("CC BY 4.0", "did you mean `CC-BY-4.0`"),
        ("", "is not an SPDX identifier"),
        ("MIT OR Apache-2.0", "one name"),
        ("http://", "not an address"),
        ("https://example.org/my license", "not an address"),
        ("CC-BY-4", "did you mean `CC-BY-4.0`"),
        ("Apche-2.0", "did you mean `Apache-2.0`"),
        ("GPL-3.0", "`GPL-3.0-only` or `GPL-3.0-or-later`"),
        ("../../x", "is not an SPDX identifier"),
    ],
)
def test_what_is_no_license_is_refused_and_nothing_is_written(license, why, results, tmp_path, cli):
    with pytest.raises(ScenarioError, match=re.escape(why)):
        papers.pack(str(STUDY), [results], tmp_path / "crate", license=license)
    said = cli("pack", STUDY, "--results", results, "--out", tmp_path / "crate", "--license", license)
    assert said.code == 2 and why in said.err and not (tmp_path / "crate").exists()
