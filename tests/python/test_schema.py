"""The JSON Schema accepts every scenario that this repository shows, refuses what the engine refuses for its
form, and reads quantities as the engine does: an editor's red line means something."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

import thalweg
from thalweg import _core

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads(_core.schema())
# With the formats asserted, as editors do: a name that means something else there (`time`) is found out.
VALID = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


def shown() -> dict[str, str]:
    """Every scenario in a file or on a page, by its place."""
    folders = ("examples", "papers", "benches/scenarios", "tests/reference", "python/thalweg")
    files = {path for folder in folders for path in (ROOT / folder).rglob("*.toml")}
    found = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(files)}
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for i, text in enumerate(re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)):
            found[f"{page.relative_to(ROOT)}#{i}"] = text
    return {place: text for place, text in found.items() if "[[traffic]]" in text and "[topology]" in text}


SHOWN = shown()


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert len(SHOWN) > 25


@pytest.mark.parametrize("place", SHOWN)
def test_every_scenario_shown_here_is_valid(place):
    errors = [f"{e.json_path}: {e.message[:200]}" for e in VALID.iter_errors(tomllib.loads(SHOWN[place]))]
    assert errors == []


def tables(node, path=()):
    """Every table in a document, by its path."""
    if isinstance(node, dict):
        yield path
        for key, value in node.items():
            yield from tables(value, (*path, key))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from tables(value, (*path, i))


# One table of every sort; `params` is the only one that may hold anything.
FULL = tomllib.loads("""
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2 }
routing = { kind = "ecmp" }
slack = { kind = "constant", value = "1ms" }
edge = { kind = "codel" }
nic = { scheduler = { kind = "drr" }, marking = { kind = "none" } }
[switch]
scheduler = { kind = "drr", quantum = "1500B" }
marking = { kind = "step", threshold = "30KB" }
inputs = { memory = "240KB" }
pfc = { threshold = { kind = "static", xoff = "100KB" } }
mix = { scheduler = { kind = "fifo" }, nodes = { kind = "odd" } }
[transport]
kind = "tcp"
congestion = { kind = "dctcp", gain = 0.5 }
rto = { kind = "fixed", value = "1ms" }
rank = { kind = "remaining" }
[transports.rocev2]
kind = "rdma"
congestion = { kind = "timely" }
recovery = { kind = "irn" }
[[traffic]]
kind = "poisson"
load = 0.5
sizes = { kind = "uniform", min = "1KB" }
of = { kind = "rate", rate = "1Gbps" }
pairs = { kind = "min-links", links = 4 }
arrivals = { kind = "log-normal", sigma = 2.0 }
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1MB"
[[incident]]
kind = "link-failure"
at = "1ms"
link = [0, 4]
[measure]
queues = { every = "1ms" }
links = { every = "1ms" }
packets = { hops = true }
[run]
until = "1s"
""")


def refused(document: dict) -> list[str]:
    """The topmost tables with an error."""
    return [e.json_path for e in VALID.iter_errors(document)]


@pytest.mark.parametrize("path", list(tables(FULL)), ids=lambda path: ".".join(map(str, path)) or "top")
def test_a_misspelt_key_is_refused_in_every_table(path):
    assert refused(FULL) == []
    document = copy.deepcopy(FULL)
    table = document
    for step in path:
        table = table[step]
    table["mispelt"] = 1
    assert refused(document) != []


QUANTITIES = {
    "topology.delay": "1us|1 us|1.5us|.5us|1_000ns| 2ms |0s|1|1m|us|.us|_us|-1us|1..2us|1e3us|1µs|2US|1us us",
    "topology.rate": "10Gbps|10 Gbps|1kbps|1Kbps|10gbps|10GBps|10|10Gb/s|1_0.5Mbps",
    "traffic.0.size": "1bdp|1B|1KB|1kB|1KiB|1.5MB|1 TB|1TiB|1MBps|unlimited|3pkts",
    "switch.buffer": "500KB|300pkts|1 packet|2 packets|unlimited|none|1.5pkts|_3pkts| unlimited |1us|0.5 GB|1bdp|0.5 bdp|.5bdp|bdp|1BDP",
    "switch.shared_buffer.total": "1MB|10bdp|10pkts|unlimited",
    "transport.initial_window": "2bdp|10pkts|1KB|unlimited|10|1.5KB",
}


def test_quantities_are_read_as_the_engine_reads_them():
    base = 'topology = { kind = "star", hosts = 2 }\n[[traffic]]\nkind = "flow"\nsrc = 0\ndst = 1\nsize = "1KB"\n'
    for key, texts in QUANTITIES.items():
        for text in texts.split("|"):
            document = tomllib.loads(base)
            table = document
            *path, last = [int(p) if p.isdigit() else p for p in key.split(".")]
            for step in path:
                table = table[step] if isinstance(step, int) else table.setdefault(step, {})
            table[last] = text
            try:
                thalweg.Scenario.from_toml(base, set={key: json.dumps(text)})
                read = True
            except thalweg.ScenarioError as error:
                read = "is not a" not in str(error)
            assert VALID.is_valid(document) == read, f"{key} = {text!r}"
