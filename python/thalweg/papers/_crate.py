"""A study as an RO-Crate 1.1 (https://w3id.org/ro/crate/1.1): what to deposit next to a publication.

    study/                   the study's folder: claims, scenarios, code, README, kept verdicts
    results/SCALE/           claims.json, report.html, figures/, of each run scenario.toml and summary.json
    digests.csv              of every run its digest, by which another's run can be compared, and the engine's
    environment.json         versions of thalweg, its engine, Python and packages; the machine
    ro-crate-metadata.json   what all of it is, for programs

Tables of runs stay behind: `thalweg reproduce` makes them again, and the digests say whether they are the same.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import importlib.metadata
import io
import json
import mimetypes
import shutil
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from thalweg import _input, _places, _rundir
from thalweg.errors import refuse
from thalweg.papers._license import address_of
from thalweg.papers._paper import Paper, find

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
PROFILE = "https://w3id.org/ro/crate/1.1"
METADATA = "ro-crate-metadata.json"
SCALES = ("quick", "full")
# As pyproject.toml has them.
PACKAGES = ("numpy", "pyarrow", "polars", "matplotlib", "rich", "tomli-w")
# What readers of crates are given for the endings that `mimetypes` does not know everywhere.
TYPES = {".toml": "application/toml", ".md": "text/markdown", ".py": "text/x-python", ".csv": "text/csv"}
# The date of files in an archive: the same study packs to the same bytes on the same day.
EPOCH = (1980, 1, 1, 0, 0, 0)


def pack(
    study: str | Paper,
    results: Sequence[str | Path] = (),
    out: str | Path | None = None,
    *,
    license: str | None = None,
) -> Path:
    """Writes a study and what it came to as an RO-Crate, and answers with its place.

    `results`: output folders of `thalweg reproduce` (default: those of `out/NAME-SCALE` that are there). `out`: the
    folder, or the archive if it ends in `.zip` (default: `NAME-crate`); it must not be there yet. `license`: an SPDX
    name, or an address. Raises `ScenarioError`, and then leaves nothing.
    """
    paper = study if isinstance(study, Paper) else find(study)
    license = None if license is None else address_of(license)
    target = _input.maybe(out, "a folder, or an archive") or Path(f"{paper.name}-crate")
    folders = [_input.path(r, "an output folder of `thalweg reproduce`") for r in results] or [
        f for f in _usual(paper) if f.is_dir()
    ]
    if not folders:
        hint = f"run `thalweg reproduce {paper.name}` first, or name its output with --results"
        raise refuse(f"there are no results of `{paper.name}` to pack", hint=hint)
    if target.exists() or target.is_symlink():
        raise refuse("is there already", file=_places.shown(target), hint="choose another --out")
    files, digests = _study_files(paper), []
    judged = {}
    for folder in folders:
        claims = _claims(folder, paper)
        scale = claims["scale"]
        if scale in judged:
            raise refuse(f"two folders hold results at scale {scale}", file=folder, hint="name one of each scale")
        judged[scale] = claims
        found, rows = _result_files(folder, scale)
        files |= found
        digests += rows
    files["digests.csv"] = _csv(digests)
    files["environment.json"] = _json(_environment())
    files[METADATA] = _json({"@context": CONTEXT, "@graph": _graph(paper, judged, files, license)})
    _places.make_parents(target)
    _write(target, files)
    return target


def _usual(paper: Paper) -> list[Path]:
    return [Path("out") / f"{paper.name}-{scale}" for scale in SCALES]


def _study_files(paper: Paper) -> dict[str, bytes]:
    inside = sorted(p for p in paper.folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {f"study/{p.relative_to(paper.folder).as_posix()}": p.read_bytes() for p in inside}


def _claims(folder: Path, paper: Paper) -> dict[str, Any]:
    """The verdicts in an output folder. Refuses another study's."""
    found = _places.read_json(folder / "claims.json")
    if found is None or found.get("scale") not in SCALES:
        raise refuse("holds no results of a study", file=folder, hint="name an output folder of `thalweg reproduce`")
    if found.get("paper") != paper.name:
        raise refuse(f"holds results of `{found.get('paper')}`, not of `{paper.name}`", file=folder)
    return found


def _result_files(folder: Path, scale: str) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """What is packed of an output folder, and the digests of its runs."""
    wanted = [folder / "claims.json", folder / "report.html", *sorted((folder / "figures").glob("*"))]
    rows = []
    for meta in sorted((folder / "runs").glob("*/meta.json")):
        run, about = meta.parent, _places.read_json(meta) or {}
        summary = _places.read_json(run / "summary.json")
        if summary is None:
            raise refuse("its summary cannot be read", file=run, hint="delete it, and reproduce the study again")
        if summary.get("partial"):
            raise refuse("is partial", file=run, hint="the same `thalweg reproduce` goes on from there")
        wanted += [run / "scenario.toml", run / "summary.json"]
        rows.append({"scale": scale, "run": run.name, "digest": summary["digest"], "engine": about.get("core", "")})
    there = [p for p in wanted if p.is_file()]
    return {f"results/{scale}/{p.relative_to(folder).as_posix()}": p.read_bytes() for p in there}, rows


def _environment() -> dict[str, Any]:
    """Versions of everything that a run, its tables and its figures depend on."""
    packages = {name: importlib.metadata.version(name) for name in PACKAGES}
    about = _rundir.provenance()
    return {"thalweg": about["thalweg"], "engine": about["core"], "machine": about["machine"], "packages": packages}


def _csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO()
    made = csv.DictWriter(text, ["scale", "run", "digest", "engine"], lineterminator="\n")
    made.writeheader()
    made.writerows(rows)
    return text.getvalue().encode()


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _graph(
    paper: Paper, judged: Mapping[str, dict[str, Any]], files: Mapping[str, bytes], license: str | None
) -> list[dict[str, Any]]:
    """The crate in words: the dataset, its files, the paper, the software, and what it was run for."""
    title = str(paper.about.get("title", paper.name))
    counts = "; ".join(f"{scale}: {_counted(found)}" for scale, found in judged.items())
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{paper.name}: {title}, claim by claim",
        "description": f"A study for thalweg. Claims at scale {counts}.",
        "datePublished": datetime.date.today().isoformat(),
        "hasPart": [{"@id": name} for name in files if name != METADATA],
        "about": {"@id": "#paper"},
        "mentions": [{"@id": f"#reproduce-{scale}"} for scale in judged],
    }
    if license is not None:
        root["license"] = {"@id": license}
    described: list[dict[str, Any]] = [
        {"@id": METADATA, "@type": "CreativeWork", "conformsTo": {"@id": PROFILE}, "about": {"@id": "./"}},
        root,
        {
            "@id": "#paper",
            "@type": "ScholarlyArticle",
            "name": title,
            **{
                ours: str(paper.about[key])
                for ours, key in (("author", "authors"), ("publisher", "venue"))
                if key in paper.about
            },
        },
        {
            "@id": "#thalweg",
            "@type": "SoftwareApplication",
            "name": "thalweg",
            "version": _rundir.provenance()["thalweg"],
            "identifier": _rundir.core_fingerprint(),
        },
    ]
    for scale in judged:
        made = [name for name in files if name.startswith(f"results/{scale}/")]
        described.append(
            {
                "@id": f"#reproduce-{scale}",
                "@type": "CreateAction",
                "name": f"thalweg reproduce {paper.name} --scale {scale}",
                "instrument": {"@id": "#thalweg"},
                "object": [{"@id": name} for name in files if name.startswith("study/")],
                "result": [{"@id": name} for name in made] + [{"@id": "digests.csv"}],
            }
        )
    return described + [_file(name, data) for name, data in files.items()]


def _counted(found: Mapping[str, Any]) -> str:
    return ", ".join(f"{n} {status}" for status, n in found.get("counts", {}).items() if n)


def _file(name: str, data: bytes) -> dict[str, Any]:
    ending = Path(name).suffix
    kind = TYPES.get(ending) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return {
        "@id": name,
        "@type": "File",
        "name": Path(name).name,
        "encodingFormat": kind,
        "contentSize": str(len(data)),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    """A folder or an archive, whole or not at all."""
    made = target.with_name(f".{target.name}.thalweg-{uuid.uuid4().hex[:12]}")
    try:
        if target.suffix == ".zip":
            with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
                for name in sorted(files):
                    about = zipfile.ZipInfo(name, EPOCH)
                    about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                    archive.writestr(about, files[name])
        else:
            for name, data in files.items():
                file = made / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        made.rename(target)
    except BaseException:
        if made.is_dir():
            shutil.rmtree(made, ignore_errors=True)
        else:
            made.unlink(missing_ok=True)
        raise
