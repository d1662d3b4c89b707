"""CONTRIBUTING's tables quote the code, and comments cite: what is quoted must stand there, what is cited
must exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([^`]+)` \| .* \| `([^`]+)` \|$", TEXT, flags=re.MULTILINE)


def test_there_are_quotations():
    assert len(ROWS) >= 15


@pytest.mark.parametrize(("file", "quoted"), ROWS)
def test_what_is_quoted_stands_there(file, quoted):
    assert quoted in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "file", sorted(set(re.findall(r"`((?:crates|tests|papers|docs|python)/[\w/.-]+\.\w+)`", TEXT)))
)
def test_what_is_named_exists(file):
    assert (ROOT / file).is_file()


ENGINE = [
    path
    for crate in ("units", "wire", "machines", "net", "scenario", "sim", "lab", "python")
    for path in sorted((ROOT / "crates" / crate / "src").rglob("*.rs"))
    if not any(part.endswith("tests") for part in path.parts)
    and not path.stem.startswith("test")
    and not path.stem.endswith("tests")
]
# Where a list stands, what its enum is called, and who else may name a member: machines that are made of
# others, and those who name their default.
RELIEVED = ("crates/scenario/src/network/queues.rs", "crates/scenario/src/validate/pauses.rs")
LISTS = {
    "A congestion controller": (
        "crates/machines/src/congestion",
        r"congestion::(?:\w+::)*{module}\b|ControllerSpec::{name}\b",
        {
            "newreno": {"crates/scenario/src/schema/tcp.rs"},
            "fixed": {"crates/scenario/src/schema/rdma.rs"},
            # Its ends and its routers must mean the same by the same codepoints.
            "abc": {"crates/scenario/src/validate/marking.rs"},
            # The point may compute the rate that the controller would: one law, kept with the controller.
            "rocc": {"crates/machines/src/point/rocc.rs"},
        },
    ),
    "A scheduler": (
        "crates/machines/src/schedule",
        r"schedule::(?:\w+::)*{module}::|super::{module}::|OrderSpec::{name}\b|OrderSpec::{module}\(|Scheduler::{name}\b",
        {
            # A replay chooses between two orders, and hosts have the plain one; two queues of one port are two of it.
            "fifo": {
                "crates/lab/src/replay.rs",
                "crates/machines/src/schedule/parity.rs",
                "crates/machines/src/schedule/structures/two_queues.rs",
                *RELIEVED,
            },
            "lifo": {"crates/machines/src/schedule/parity.rs"},
            "random": {"crates/machines/src/schedule/parity.rs"},
            "pifo": {"crates/machines/src/schedule/lstf.rs"},
            "round_robin": {"crates/machines/src/schedule/fq_codel.rs"},
            # Relief lifts packets out of the queues of this order, which it puts in the place of the plain one.
            "liftable": {
                *RELIEVED,
                "crates/machines/src/egress/port.rs",
                "crates/sim/src/fabric/relief.rs",
                "crates/sim/src/fabric/relief_checks.rs",
                "crates/sim/src/fabric/reliefs.rs",
            },
            # A policy that cannot go on ends the run: the package reports it.
            "policy": {"crates/python/src/failures.rs"},
            # Backpressure pauses the queues of this order and no other's, and sets how far its neighbours are.
            "bfc": {"crates/scenario/src/resolve/lossless.rs", "crates/scenario/src/validate/pauses.rs"},
            # The transport of that name needs its credits metered, and nothing else does.
            "expresspass": {"crates/scenario/src/validate/receivers.rs"},
        },
    ),
    "A header stage": (
        "crates/machines/src/stage",
        r"stage::(?:\w+::)*{module}::|super::{module}::|StageSpec::{name}\b|StageSpec::{module}\(|Marking::{name}\b",
        {
            # Nothing is marked or dropped in a replay; CoDel's law is also one of an edge and of an order.
            "tail_drop": {"crates/lab/src/replay.rs"},
            # A controller that reads telemetry puts it at every port: no scenario writes it by itself.
            "int": {"crates/scenario/src/network/mod.rs"},
            # Its codepoints are its senders' too, and its window that of what a scheduler allots to it.
            "abc": {
                "crates/scenario/src/validate/marking.rs",
                "crates/machines/src/congestion/abc.rs",
                "crates/machines/src/schedule/structures/two_queues.rs",
            },
            "codel": {
                "crates/machines/src/stage/edge.rs",
                "crates/machines/src/schedule/fq_codel.rs",
                "crates/machines/src/schedule/structures/bins.rs",
                "crates/scenario/src/validate/slack.rs",
            },
            # DCQCN's thresholds follow the hosts' rate where a scheme sets them.
            "red_ecn": {"crates/scenario/src/resolve/mod.rs"},
        },
    ),
    "A congestion point": ("crates/machines/src/point", r"point::(?:\w+::)*{module}::|PointSpec::{name}\b", {}),
    "A routing rule": (
        "crates/machines/src/route",
        r"route::(?:\w+::)*{module}::|super::{module}::|RouteSpec::{name}\b|RouteSpec::{module}\("
        r"|RouteMachine::{name}\b",
        # Paths that are written down for every flow are a specification's own.
        # Adaptive switches hash what is small.
        {"pinned": {"crates/net/src/spec/routing.rs"}, "entropy": {"crates/machines/src/route/adaptive.rs"}},
    ),
    "A way to share memory": (
        "crates/machines/src/sharing",
        r"sharing::(?:\w+::)*{module}::|super::{module}::|SharingSpec::{name}\b|SharingMachine::{name}\b",
        {},
    ),
    "An order of NICs": ("crates/machines/src/nic", r"nic::(?:\w+::)*{module}::|NicOrder::{name}\b", {}),
    "A relief": (
        "crates/machines/src/relief",
        r"relief::(?:\w+::)*{module}::|ReliefSpec::{name}\b|ReliefMachine::{name}\b",
        {},
    ),
    "A pause policy": (
        "crates/machines/src/pause",
        r"pause::(?:\w+::)*{module}::|super::{module}::|PauseSpec::{name}\b|PauseMachine::{name}\b",
        {},
    ),
    "A topology": ("crates/scenario/src/topology", r"topology::(?:\w+::)*{module}::|Shape::{name}\b", {}),
    "A traffic family": ("crates/scenario/src/traffic", r"traffic::(?:\w+::)*{module}::|Pattern::{name}\b", {}),
}


def listed_in(folder: str) -> list[tuple[str, str]]:
    """Modules and names of a list's entries."""
    text = (ROOT / folder / "mod.rs").read_text(encoding="utf-8")
    return re.findall(r"^ {4,12}(\w+): (\w+)(?:\(.*\))?, \".*\";$", text, re.M)


@pytest.mark.parametrize("kind", LISTS)
def test_modules_and_lists_agree(kind):
    """Whatever file declares itself is a module in a plain line, which tools see, and is listed."""
    folder = ROOT / LISTS[kind][0]
    # (Orders of NICs have no parameters.)
    says = r"Order for \w+" if kind == "An order of NICs" else r"(?:Parameters for Params|(?:Family|Traced) for \w+)"
    declared = {
        (path.parent if path.stem == "mod" else path).relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.rs")
        if re.search(rf"^impl {says} \{{", path.read_text(encoding="utf-8"), re.M)
    }
    modules = set(re.findall(r"^(?:pub )?mod (\w+);$", (folder / "mod.rs").read_text(encoding="utf-8"), re.M))
    listed = {module for module, _ in listed_in(LISTS[kind][0])}
    assert declared == listed
    assert listed <= modules


@pytest.mark.parametrize("kind", LISTS)
def test_it_is_one_file_and_its_two_lines_in_one_other(kind):
    """No other file of the engine knows one by name, but those that are about it."""
    section = TEXT.split(f"## {kind}\n")[1].split("\n## ")[0]
    assert len(re.findall(r"^\| `crates/", section, flags=re.MULTILINE)) == 2
    folder, named, others = LISTS[kind]
    listed = listed_in(folder)
    assert len(listed) > 1
    wrong = {}
    for module, name in listed:
        if module == "custom":  # users' own, which lab looks up by their names
            continue
        inside = re.compile(named.format(module=module, name=name))
        # What a neighbour is called is of no interest elsewhere.
        outside = re.compile(named.replace(r"super::{module}::|", "").format(module=module, name=name))
        own = {f"{folder}/{module}.rs", f"{folder}/{module}/mod.rs"}
        naming = {
            path.relative_to(ROOT).as_posix()
            for path in ENGINE
            if (inside if path.is_relative_to(ROOT / folder) else outside).search(
                path.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests")[0]
            )
        }
        naming -= {file for file in naming if file.startswith(f"{folder}/{module}/")}
        if naming - own - others.get(module, set()):
            wrong[module] = naming - own - others.get(module, set())
    assert not wrong


# ---- Citations ----

SOURCES = set(
    re.findall(r"^\| ([A-Za-z][A-Za-z0-9& -]*?) \|", (ROOT / "docs/sources.md").read_text(encoding="utf-8"), flags=re.M)
) - {"name"}
CODE = sorted(f for crate in ("crates", "examples", "benches") for f in (ROOT / crate).rglob("*.rs"))
MARK = re.compile(r"CHOICE(?: ([^:\n]*?))?(?: ?§[^:\n]*| Algorithm \d+| \([^:\n]*)?:")


def unresolved(text: str) -> list[str]:
    """Sources of CHOICE marks that cannot be looked up."""
    names = (m[1] for m in MARK.finditer(text) if m[1])
    return [n for n in names if not re.fullmatch(r"RFC \d+", n.strip(" ,")) and n.strip(" ,") not in SOURCES]


def test_a_mark_that_cites_nothing_published_is_found():
    assert len(SOURCES) >= 12
    assert unresolved("// CHOICE " + "irn M3: x") == ["irn M3"]
    assert not unresolved(
        "// CHOICE: x\n// CHOICE RFC 5681 §3.1: y\n// CHOICE Choudhury & Hahne §III: z\n// CHOICE IRN §4.3.1 (TIMELY): a"
    )


def test_every_choice_names_a_source_that_can_be_looked_up():
    wrong = [f"{f.relative_to(ROOT)}: {name}" for f in CODE for name in unresolved(f.read_text(encoding="utf-8"))]
    assert not wrong, "\n".join(wrong)


def test_files_that_comments_and_documents_name_exist():
    named = re.compile(r"(?<![\w/])(?:papers|docs|crates|tests|benches)/[\w/-]+\.(?:py|toml|md|rs)\b")
    documents = [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "papers").glob("*.md"),
        *(ROOT / "papers").glob("*/*.md"),
    ]
    wrong = [
        f"{f.relative_to(ROOT)}: {name}"
        for f in [*CODE, *documents]
        for name in named.findall(f.read_text(encoding="utf-8"))
        if not any((at / name).is_file() for at in (ROOT, f.parent))
    ]
    assert not wrong, "\n".join(wrong)
