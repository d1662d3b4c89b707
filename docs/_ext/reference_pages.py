"""Pages that are written by the program they describe, so that they cannot drift: every scenario key from the
JSON Schema, the catalogues from `thalweg list`, the columns of every table from a small run."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import thalweg
from thalweg import _core, controllers, papers
from thalweg.papers._verdicts import table as verdict_table

CATALOGUES = {
    "schedulers": ("Schedulers", "switch.scheduler", "What `switch.scheduler` and `nic.scheduler` may be."),
    "markings": ("Marking", "switch.marking", "What `switch.marking` and `nic.marking` may be."),
    "controllers": (
        "Congestion controllers",
        "transport.congestion",
        "What `transport.congestion` may be, for transports of kind `tcp`, `rdma` or both.",
    ),
    "transports": ("Transports", "transport", "What `transport.kind` may be."),
    "topologies": ("Topologies", "topology", "What `topology.kind` may be."),
    "routings": ("Routing", "routing", "What `routing.kind` may be."),
    "workloads": ("Workloads", "traffic.sizes", "Distributions of flow sizes: what `sizes` of Poisson traffic may be."),
    "traffic": ("Traffic", "traffic", "What the `kind` of a `[[traffic]]` section may be."),
    "schemes": ("Schemes", "scheme", "Named combinations of transport, controller and scheduler for `scheme`."),
    "congestion-points": (
        "Congestion points",
        "congestion-point",
        "`switch.congestion_point`: what ports write to the sources of flows.",
    ),
    "reliefs": (
        "Relief",
        "relief",
        "`switch.relief`: what switches do about packets that wait behind a pause.",
    ),
    "slacks": ("Slack", "slack", "What `slack.kind` may be: what NICs write into the slack header."),
    "links": ("Links", "link.transmitter", "What `transmitter` of a `[[link]]` section may be: when packets leave."),
    "losses": ("Losses", "link.loss", "What `loss` of a `[[link]]` section may be: what does not arrive."),
    "jitters": ("Jitter", "link.jitter", "What `jitter` of a `[[link]]` section may be: what is added to delays."),
    "incidents": ("Incidents", "incident", "What the `kind` of an `[[incident]]` section may be: what breaks."),
    "edges": ("Edge", "edge", "What `edge.kind` may be: queue management at the receiving edge."),
    "topology-formats": ("Graph files", "topology", 'What `topology.format` may be with `kind = "file"`.'),
    "flow-formats": (
        "Flow lists",
        "traffic",
        'What `format` may be with `kind = "list"`, and what `thalweg export-flows` writes.',
    ),
}
SECTIONS = [
    "topology",
    "link",
    "routing",
    "switch",
    "nic",
    "slack",
    "edge",
    "transport",
    "transports",
    "traffic",
    "incident",
    "measure",
    "run",
]

# Everything that can be sampled, on a network small enough to run while the page is written.
EVERYTHING = """
name = "columns"
[topology]
kind = "star"
hosts = 3
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "100KB"
[measure]
queues = { every = "10us" }
links = { every = "10us" }
controllers = { every = "10us" }
round_trips = true
pauses = true
memory = true
[switch]
scheduler = "ads"
inputs = { memory = "240KB" }
pfc = {}
[measure.priority_histogram]
[run]
until = "10ms"
"""


def cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


def code(value) -> str:
    if isinstance(value, dict):
        value = {k: v for k, v in value.items() if v is not None}
        if value.keys() == {"kind"}:
            value = value["kind"]
    return f"`{cell(json.dumps(value, ensure_ascii=False))}`"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(cell(c) for c in row) + " |" for row in rows), ""]


class Reference:
    """Walks the schema; one heading per table that has keys or kinds of its own."""

    def __init__(self, schema: dict):
        self.schema, self.seen, self.lines = schema, {}, []
        self.written: set[str] = set()
        self.tables: dict[str, dict] = {}

    @staticmethod
    def branches(node: dict) -> list[dict]:
        """A node and what it may be besides null and short forms."""
        found, todo = [], [node]
        while todo:
            one = todo.pop(0)
            found.append(one)
            todo += [b for b in one.get("anyOf", []) if b.get("type") != "null"]
        return found

    def kinds(self, node: dict) -> list[tuple[str, dict]]:
        for one in self.branches(node):
            named = [
                (v["properties"]["kind"]["const"], v) for v in one.get("oneOf", []) if "kind" in v.get("properties", {})
            ]
            if named:
                # `true`: a key of every kind, described beside the kinds.
                return [
                    (name, v | {"properties": {k: p for k, p in v["properties"].items() if p is not True}})
                    for name, v in named
                ]
        return []

    def words(self, node: dict) -> list[tuple[str, str]]:
        for one in self.branches(node):
            named = [(v["const"], v.get("description", "")) for v in one.get("oneOf", []) if "const" in v]
            if named:
                return named
            if "enum" in one and not self.kinds(node):
                return [(w, "") for w in one["enum"] if w is not None]
        return []

    def properties(self, node: dict) -> dict:
        return next((b["properties"] for b in self.branches(node) if b.get("properties")), {})

    def required(self, node: dict) -> set:
        return {k for b in self.branches(node) for k in b.get("required", [])}

    def describe(self, node: dict) -> str:
        return next((b["description"] for b in self.branches(node) if b.get("description")), "")

    def value(self, node: dict, at: str) -> str:
        if self.kinds(node):
            return f"table with [`kind`](#{self.anchor(at, node)})"
        if self.words(node):
            return " or ".join(f'`"{w}"`' for w, _ in self.words(node))
        if self.properties(node):
            return f"[table](#{self.anchor(at, node)})"
        one = next((b for b in self.branches(node) if b.get("x-quantity") or b.get("type")), {})
        kind = one.get("type")
        if isinstance(kind, list) and {"integer", "string"} <= set(kind):
            return "number or name of a node"
        kind = next((t for t in kind if t != "null"), "") if isinstance(kind, list) else kind
        if kind == "array":
            return "list of " + self.value(one["items"], at)
        if kind == "string":
            return {
                "capacity": 'size, packets, bdp or `"unlimited"`',
                "length": "size, packets or bdp",
                "room": "size or bdp",
            }.get(one.get("x-quantity"), one.get("x-quantity", "text"))
        low, high = one.get("minimum", one.get("exclusiveMinimum")), one.get("maximum")
        limits = (
            f", {low if low is not None else ''} to {high if high is not None else '…'}" if high is not None else ""
        )
        return {"integer": "whole number", "number": "number", "boolean": "true or false"}.get(
            kind, "anything"
        ) + limits

    def default(self, node: dict, needed: bool) -> str:
        if needed:
            return "**required**"
        for one in self.branches(node):
            if one.get("default") is not None:
                one = one["default"]
                return "see there" if isinstance(one, dict) and len(one) > 3 else code(one)
        return "–"

    def signature(self, node: dict) -> str | None:
        """The same list of kinds elsewhere (`nic.scheduler`, `switch.scheduler`) is described once."""
        names = [k for k, _ in self.kinds(node)]
        return json.dumps(names) if len(names) > 1 else None

    def anchor(self, at: str, node: dict) -> str:
        where = self.seen.get(self.signature(node), at)
        return "key-" + re.sub(r"[^a-z0-9]+", "-", where.lower()).strip("-")

    def keys(self, properties: dict, needed: set, at: str) -> None:
        rows = []
        for key, node in properties.items():
            if key == "kind":
                continue
            meaning = self.describe(node)
            meanings = [f'`"{w}"`: {d}' for w, d in self.words(node) if d]
            if meanings:
                meaning += " " + " ".join(meanings)
            rows.append((f"`{key}`", self.value(node, f"{at}.{key}"), self.default(node, key in needed), meaning))
        if rows:
            self.lines += table(("key", "value", "default", "meaning"), rows)

    def note(self, properties: dict, at: str) -> None:
        # A list of kinds is described at its own level rather than inside a key that comes before it.
        for key, node in properties.items():
            if key != "kind" and self.signature(node):
                self.seen.setdefault(self.signature(node), f"{at}.{key}")

    def below(self, properties: dict, at: str, level: int) -> None:
        self.note(properties, at)
        for key, node in properties.items():
            if key == "kind":
                continue
            if self.kinds(node) or self.properties(node):
                self.section(f"{at}.{key}", node, level)
            for items in (b["items"] for b in self.branches(node) if "items" in b):
                if self.properties(items):  # a list of tables
                    self.section(f"{at}.{key}", items | {"description": self.describe(items)}, level)

    def section(self, at: str, node: dict, level: int) -> None:
        signature = self.signature(node)
        if signature and (self.seen.setdefault(signature, at) != at or at in self.written):
            return
        if at in self.tables and self.tables[at] == self.properties(node):
            return  # two kinds have the same list of tables: it is described once
        self.tables[at] = self.properties(node)
        self.written.add(at)
        self.lines += [f"({self.anchor(at, node)})=", "#" * min(level, 5) + f" `{at}`", "", self.describe(node), ""]
        own, kinds = self.properties(node), self.kinds(node)
        short = [w for b in self.branches(node) for w in b.get("enum", []) if isinstance(w, str)] if kinds else []
        if short:
            self.lines += [
                f'Short form: the name alone, as in `"{short[0]}"`, for {", ".join(f"`{s}`" for s in short)}.',
                "",
            ]
        self.keys(own, self.required(node), at)
        self.below(own, at, level + 1)
        # Kinds that mean different things by one key (`congestion` of tcp and of rdma): the later one's has the kind in its name.
        places, taken = {}, {}
        for name, variant in kinds:
            keys = {k: self.signature(v) for k, v in variant.get("properties", {}).items() if self.signature(v)}
            clash = any(taken.setdefault(k, v) != v for k, v in keys.items())
            places[name] = f"{at}.{name}" if clash else at
        for name, variant in kinds:
            self.lines += [f'**`kind = "{name}"`**: {variant.get("description", "")}', ""]
            self.note(variant.get("properties", {}), places[name])
            self.keys(variant.get("properties", {}), set(variant.get("required", [])), places[name])
        for name, variant in kinds:
            self.below(variant.get("properties", {}), places[name], level + 1)

    def page(self) -> str:
        top = self.schema["properties"]
        simple = {k: v for k, v in top.items() if k not in SECTIONS}
        self.keys(simple, set(self.schema["required"]), "")
        for name in SECTIONS:
            node = top[name]
            if "items" in node:  # [[link]], [[traffic]], [[incident]]
                node = node["items"] | {"description": node.get("description", "")}
            if name == "transports":
                self.lines += ["(key-transports)=", "## `transports`", "", node["description"], ""]
                self.lines += [
                    "`[transports.NAME]` has the keys of [`transport`](#key-transport); a `[[traffic]]` section picks one with "
                    '`transport = "NAME"`.',
                    "",
                ]
                continue
            self.section(name, node, 2)
        return "\n".join(self.lines)


def catalogue_page() -> str:
    lines = [
        "# Catalogue",
        "",
        "What there is to choose from, with sources. The same lists: `thalweg list`. Generated from the program.",
        "",
    ]
    for kind, (title, _, intro) in CATALOGUES.items():
        entries = _core.catalogue(kind) or []
        lines += [f"## {title}", "", intro, ""]
        lines += table(("name", "what it is", "source"), [(f"`{n}`", d, s or "–") for n, d, s in entries])
    unknown = set(_core.kinds()) - CATALOGUES.keys()
    assert not unknown, f"the catalogue has lists that the documentation does not show: {unknown}"
    return "\n".join(lines)


def columns_page() -> str:
    results = thalweg.run(thalweg.Scenario.from_toml(EVERYTHING), progress=False)
    lines = []
    for name in results.tables:
        about = {k.decode(): v.decode() for k, v in (results.tables.arrow(name).schema.metadata or {}).items()}
        lines += [f"### `{name}`", "", about.get("doc", ""), ""]
        rows = [(f"`{c}`", unit or "–", meaning) for c, unit, meaning in results.columns(name)]
        lines += table(("column", "unit", "meaning"), rows)
    return "\n".join(lines)


def studies_toctree(source: Path) -> str:
    """A toctree with `:glob:` warns when it finds nothing; this one may be empty."""
    pages = sorted(f"/papers/{p.stem}" for p in (source / "papers").glob("*.md") if p.stem != "index")
    return "\n".join(["```{toctree}", ":maxdepth: 1", "", *pages, "```", ""]) if pages else ""


def write(app) -> None:
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    keys = "# Every scenario key\n\nGenerated from the JSON Schema (`thalweg schema`). One key at a time: `thalweg explain KEY`.\n\n"
    pages = {
        "controllers.inc": inspect.getdoc(controllers),
        "studies.inc": studies_toctree(Path(app.srcdir)),
        "papers.inc": inspect.getdoc(papers),
        "keys.md": keys + Reference(json.loads(_core.schema())).page(),
        "catalogue.md": catalogue_page(),
        "columns.inc": columns_page(),
    }
    for name in papers.discover():
        pages[f"verdicts-{name}.inc"] = verdict_table(papers.find(name))
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write)
    return {"version": "1", "parallel_read_safe": True}
