"""`check`."""

from __future__ import annotations

import itertools
import json
import threading
import tomllib
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.cli import FOUND, OK, say
from thalweg.cli.running import load_plugins
from thalweg.errors import nearest, refuse

if TYPE_CHECKING:
    from thalweg.scenario import Scenario

PATIENCE = 2.0  # s without a word
MOST = 16  # ways that are listed
# Formats of graphs by the end of a file's name; `--set topology.format=…` says otherwise.
FORMATS = {
    ".csv": "links-csv",
    ".graphml": "graphml",
    ".gml": "gml",
    ".json": "thalweg-json",
    ".txt": "hpcc",
    ".cch": "rocketfuel",
}


def check(args: Namespace) -> int:
    """Nothing is run. Exit code 1 if what was looked for is there."""
    load_plugins(args)
    waiting = threading.Timer(PATIENCE, say, [f"thalweg check: still looking through {args.network}"])
    waiting.daemon = True
    if not args.quiet:
        waiting.start()
    try:
        found = _network(args.network, dict(args.set))._core.check_deadlock()
    finally:
        waiting.cancel()
    if args.json:
        print(json.dumps(found, ensure_ascii=False))
    elif not args.quiet:
        print("\n".join(lines(found)))
    return FOUND if found["cycle"] and not found["elides"] else OK


def lines(found: Mapping[str, Any]) -> list[str]:
    """What `check deadlock` says."""
    out = [
        f"{found['nodes']} output ports of switches; routes lead from one straight to the next in {found['edges']} ways"
    ]
    cycle: Sequence[str] = found["cycle"]
    if cycle:
        ports = [f"{a} → {b}" for a, b in itertools.pairwise(cycle)]
        waits = "; ".join(f"{a} waits for {b}" for a, b in zip(ports, [*ports[1:], ports[0]], strict=True))
        what = (
            "routes close a cycle of pauses, which elision opens"
            if found["elides"]
            else "a cycle of pauses is possible"
        )
        out.append(f"{what}: {' → '.join(cycle)}")
        out.append(f"  {waits}")
    else:
        out.append("no cycle of pauses is possible: no deadlock (Theorem 2 of BFC, App. D)")
    routed = [f"{a} → {b} → {c}" for a, b, c in found["routed"]]
    what = "of layers, what comes from a higher one and returns to one" if found["layered"] else "without layers"
    if not found["exempt"]:
        out.append("nothing to elide")
        return out
    has = "exempts" if found["elides"] else "would exempt"
    out.append(
        f'`switch.backpressure.elide = "cycles"` {has} {found["exempt"]} ways through a switch (a network {what}), '
        f"{len(routed)} of them on a route"
    )
    out += [f"  {way}" for way in routed[:MOST]]
    if len(routed) > MOST:
        out.append(f"  … and {len(routed) - MOST} more (--json lists all)")
    return out


def _network(what: str, set: dict[str, str]) -> Scenario:
    """A scenario file, a run directory, a file with a graph, or a kind of topology."""
    from thalweg import _core
    from thalweg.scenario import as_scenario

    path = Path(what)
    kinds = [name for name, _, _ in _core.catalogue("topologies") or ()]
    if path.is_file():
        kind = _graph_format(path)
        if kind is None:
            return as_scenario(path, set)
        return _bare({"kind": "file", "file": what, "format": kind}, what, set)
    if path.exists() or path.suffix:
        return as_scenario(path, set)
    if what not in kinds:
        raise refuse(
            f"thalweg check deadlock: `{what}` is neither a file nor a kind of topology", hint=nearest(what, kinds)
        )
    return _bare({"kind": what}, what, set)


def _bare(topology: dict[str, Any], what: str, set: dict[str, str]) -> Scenario:
    """A scenario that is a network and little else: routes need no traffic, scenarios do."""
    from thalweg import _toml
    from thalweg.scenario import Scenario

    flow = {"kind": "flow", "src": 0, "dst": 1, "size": "1KB"}
    return Scenario(_toml.dumps({"name": "check", "topology": topology, "traffic": [flow]}), what, set=set)


def _graph_format(path: Path) -> str | None:
    """`None`: it is a scenario."""
    if path.suffix != ".toml":
        return FORMATS.get(path.suffix)
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # loading says what is wrong
    return "thalweg-toml" if "links" in written and "topology" not in written else None
