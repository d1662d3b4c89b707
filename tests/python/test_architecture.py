"""docs/architecture.md names what there is: phases, contracts, owners, floors."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SIM = ROOT / "crates" / "sim" / "src"


def test_the_phases_of_an_instant_are_listed_in_their_order():
    source = (SIM / "events" / "mod.rs").read_text(encoding="utf-8")
    (body,) = re.findall(r"pub enum Phase \{(.*?)\n\}", source, flags=re.DOTALL)
    phases = re.findall(r"^    (\w+),$", body, flags=re.MULTILINE)
    listed = re.findall(r"^\d+\. (.*?):", PAGE, flags=re.MULTILINE)
    assert [name for line in listed for name in re.findall(r"`(\w+)`", line)] == phases


def test_the_contracts_and_owners_are_modules():
    modules = re.findall(r"^\| [\w -]+ \| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    owners = re.findall(r"^\| `\w+` \| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert len(modules) == 13 and len(owners) == 4
    assert all((ROOT / "crates" / "machines" / "src" / name / "mod.rs").is_file() for name in modules)
    assert all((SIM / name / "mod.rs").is_file() for name in owners)


def test_every_file_named_exists():
    files = [p.as_posix() for p in (ROOT / "crates").rglob("*.rs")]
    for name in re.findall(r"`([\w/]+/\w+\.rs)`", PAGE):
        room, _, rest = name.partition("/")
        path = f"{room}/src/{rest}" if room in ("machines", "net", "sim") else name
        assert any(f.endswith(path) for f in files), name


def test_a_room_imports_only_from_floors_below_it():
    rows = re.findall(r"^\| (\d) \| `crates/(\w+)`", PAGE, flags=re.MULTILINE)
    floors = {f"thalweg-{name}": int(floor) for floor, name in rows}
    assert set(floors) == {f"thalweg-{p.parent.name}" for p in (ROOT / "crates").glob("*/Cargo.toml")}
    for name, floor in floors.items():
        manifest = tomllib.loads((ROOT / "crates" / name.removeprefix("thalweg-") / "Cargo.toml").read_text("utf-8"))
        for used in manifest.get("dependencies", {}):
            assert floors.get(used, -1) < floor, f"{name} uses {used}"


def test_only_ids_know_how_ports_are_numbered():
    """The other direction of a link and the link itself are `PortId::reverse` and `PortId::link`, in no arithmetic."""
    spelt = re.compile(r"\^ 1\b(?! <<)|\b(?:port|id)\b[\w.()]*(?: as usize)? / 2\b|links\[[^\]]* / 2\]")
    crates = (ROOT / "crates" / name for name in ("net", "scenario", "sim", "lab", "exam", "playground", "python"))
    files = [path for crate in crates for path in sorted((crate / "src").rglob("*.rs"))]
    found = [
        f"{path.relative_to(ROOT)}:{n}: {line.strip()}"
        for path in files
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if spelt.search(line)
    ]
    assert files and found == []
    written = ["ports[id ^ 1]", "PortId(from.0 ^ 1)", "port.at() / 2", "port as usize / 2", "links[*port / 2]"]
    assert all(spelt.search(line) for line in written) and not spelt.search("rank as u64 ^ 1 << 63")


def test_what_decides_a_run_is_in_the_name_of_the_engine():
    """Runs that are kept are used again by builds of the same sources: of every crate that a run depends on."""
    source = (ROOT / "crates" / "python" / "build.rs").read_text(encoding="utf-8")
    (listed,) = re.findall(r"const CRATES: [^=]*=\s*\[(.*?)\];", source)
    hashed = set(re.findall(r'"(\w+)"', listed))
    wanted, found = {"lab", "theory"}, set()
    while wanted:
        name = wanted.pop()
        found.add(name)
        manifest = tomllib.loads((ROOT / "crates" / name / "Cargo.toml").read_text("utf-8"))
        used = {d.removeprefix("thalweg-") for d in manifest["dependencies"] if d.startswith("thalweg-")}
        wanted |= used - found
    assert hashed == found | {"python"}


def test_only_errands_enter_the_interpreter():
    """A thread that is left behind inside the interpreter aborts the process at its end: `errands` keeps it out."""
    sources = (ROOT / "crates" / "python" / "src").rglob("*.rs")
    enters = re.compile(r"Python::(?:attach|with_gil|try_attach)")
    assert {p.name for p in sources if enters.search(p.read_text(encoding="utf-8"))} == {"errands.rs"}
