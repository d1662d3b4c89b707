"""Writes the reference into the tree: `python docs/reference.py`.

Whole pages in docs/reference/: every scenario key from the JSON Schema, the catalogue from `thalweg list`, the columns
of every table. Parts of other pages, between `<!-- generated: NAME -->` and `<!-- /generated -->`: a
module's documentation, a source file, the studies, the verdicts of a study. tests/python/test_reference_pages.py
compares both with what this program would write."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import thalweg
from thalweg import _core, controllers, papers, testing
from thalweg.papers._claims import CAUSES
from thalweg.papers._markdown import table as verdict_table
from thalweg.papers._outcome import line as outcome_line
from thalweg.papers._verdicts import kept as kept_verdicts

DOCS = Path(__file__).parent
ROOT = DOCS.parent
WIDTH = 110
CATALOGUES = {
    "schedulers": ("Schedulers", "switch.scheduler", "What `switch.scheduler` and `nic.scheduler` may be."),
    "markings": ("Marking", "switch.marking", "What `switch.marking` and `nic.marking` may be."),
    "sharings": (
        "Shared memory",
        "switch.shared_buffer.sharing",
        "What `switch.shared_buffer.sharing` may be: who is admitted to the memory that ports share, and who makes room.",
    ),
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


def wrapped(text: str) -> list[str]:
    """A paragraph as lines. No line begins with what Markdown would take for a list, a heading or a quotation."""
    lines: list[str] = []
    for word in text.split():
        starts_something = re.match(r"(?:[-+*>|]|#+|\d+[.)])$", word)
        if lines and (starts_something or len(lines[-1]) + 1 + len(word) <= WIDTH):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def reflowed(text: str) -> str:
    """Text with its paragraphs and items wrapped; tables and what is indented stay as they are."""
    lines: list[str] = []
    for block in re.split(r"\n(?=- )|\n(?=\n)|(?<=\n)\n", text):
        first = block.lstrip("\n")
        if first.startswith(("    ", "|", "<", "```")) or max(map(len, block.splitlines()), default=0) <= WIDTH:
            lines += block.split("\n")
            continue
        lines += [""] * (len(block) - len(first))
        item = first.startswith("- ")
        one, *more = wrapped(first)
        lines += [one, *((" " * 2 * item) + line for line in more)]
    return "\n".join(lines)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


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
                # `true`: a key of every kind, described next to the kinds.
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
        for table in (b["$ref"].rsplit("/", 1)[-1] for b in self.branches(node) if "$ref" in b):
            return f"text or [table](#{slug(table)})"  # a name, or what it would stand for
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
        return slug(self.seen.get(self.signature(node), at))

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
        self.lines += ["#" * min(level, 5) + f" `{at}`", "", *wrapped(self.describe(node)), ""]
        own, kinds = self.properties(node), self.kinds(node)
        short = [w for b in self.branches(node) for w in b.get("enum", []) if isinstance(w, str)] if kinds else []
        if short:
            names = ", ".join(f"`{s}`" for s in short)
            self.lines += [*wrapped(f'Short form: the name alone, as in `"{short[0]}"`, for {names}.'), ""]
        self.note(own, at)
        self.keys(own, self.required(node), at)
        self.below(own, at, level + 1)
        # Kinds that mean different things by one key (`congestion` of tcp and of rdma): the later one's has
        # the kind in its name.
        places, taken = {}, {}
        for name, variant in kinds:
            keys = {k: self.signature(v) for k, v in variant.get("properties", {}).items() if self.signature(v)}
            clash = any(taken.setdefault(k, v) != v for k, v in keys.items())
            places[name] = f"{at}.{name}" if clash else at
        for name, variant in kinds:
            self.lines += [*wrapped(f'**`kind = "{name}"`**: {variant.get("description", "")}'), ""]
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
                about = (
                    f"{node['description']} `[transports.NAME]` has the keys of [`transport`](#transport); "
                    'a `[[traffic]]` section picks one with `transport = "NAME"`.'
                )
                self.lines += ["## `transports`", "", *wrapped(about), ""]
                continue
            self.section(name, node, 2)
        return "\n".join(self.lines)


def generated(title: str, about: str) -> list[str]:
    return [f"# {title}", "", *wrapped(f"{about} Written by `docs/reference.py`."), ""]


def keys_page() -> str:
    head = generated(
        "Every scenario key", "From the JSON Schema (`thalweg schema`). One key at a time: `thalweg explain KEY`."
    )
    body = Reference(json.loads(_core.schema())).page()
    anchors = re.findall(r"^#+ `(.*)`$", body, flags=re.MULTILINE)
    assert len({slug(a) for a in anchors}) == len(anchors), "two headings have one anchor"
    missing = set(re.findall(r"\]\(#([^)]*)\)", body)) - {slug(a) for a in anchors}
    assert not missing, f"links lead nowhere: {missing}"
    return "\n".join(head) + "\n" + body


def catalogue_page() -> str:
    lines = generated("Catalogue", "What there is to choose from, with sources. The same lists: `thalweg list`.")
    for kind, (title, _, intro) in CATALOGUES.items():
        entries = [e for e in _core.catalogue(kind) or [] if e[0] not in controllers.names()]
        lines += [f"## {title}", "", intro, ""]
        lines += table(("name", "what it is", "source"), [(f"`{n}`", d, s or "–") for n, d, s in entries])
    unknown = set(_core.kinds()) - CATALOGUES.keys()
    assert not unknown, f"the catalogue has lists that the documentation does not show: {unknown}"
    return "\n".join(lines)


def columns_page() -> str:
    about = "Every table of runs, and every column that it may have. In a program: `results.columns(TABLE)`."
    lines = generated("Tables and their columns", about)
    for name, doc, columns in _core.table_layouts():
        lines += [f"## `{name}`", "", *wrapped(doc), ""]
        rows = [(f"`{c}`", unit or "–", meaning) for c, unit, meaning in columns]
        lines += table(("column", "unit", "meaning"), rows)
    lines += ["## Columns of controllers' own", ""]
    lines += wrapped(
        "What controllers report of themselves stands in `controllers` after what all have, where they are sampled."
    )
    rows = [(f"`{name}`", f"`{c}`", unit or "–", meaning) for name in MARKED for c, unit, meaning in own_columns(name)]
    lines += ["", *table(("controller", "column", "unit", "meaning"), rows)]
    return "\n".join(lines)


# Controllers that have columns of their own, with the marking of the switches that they need.
MARKED = {
    "abc": "abc",
    "bbr": "none",
    "copa": "none",
    "dctcp": {"kind": "step", "threshold": "10pkts"},
    "nimbus": "none",
    "vegas": "none",
}


OWN = """
name = "own"
topology = { kind = "star", hosts = 3 }
run = { until = "1ms" }
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "100KB"
"""


def own_columns(name: str) -> list[tuple[str, str, str]]:
    """What a controller declares beside what all have."""

    def sampled(controller, marking) -> list[tuple[str, str, str]]:
        set = {"transport.congestion": controller, "switch.marking": marking, "measure.controllers": {"every": "10us"}}
        scenario = thalweg.Scenario.from_toml(OWN)
        return thalweg.run(scenario, set=set, progress=False).columns("controllers")

    common = {c for c, *_ in sampled("newreno", "none")}
    return [row for row in sampled(name, MARKED[name]) if row[0] not in common]


PAGES: dict[str, Callable[[], str]] = {"keys.md": keys_page, "catalogue.md": catalogue_page, "columns.md": columns_page}


def documentation(module) -> str:
    return reflowed(inspect.getdoc(module) or "")


def source(what: str) -> str:
    """A file as a block of code, without the tests at its end; `PATH 1-3,17-19`: those lines of it."""
    path, _, ranges = what.partition(" ")
    text = (ROOT / path).read_text(encoding="utf-8").split("#[cfg(test)]")[0].rstrip()
    if ranges:
        lines = text.splitlines()
        spans = [[int(n) for n in span.split("-")] for span in ranges.split(",")]
        text = "\n".join(line for first, last in spans for line in lines[first - 1 : last])
    language = {".py": "python", ".rs": "rust", ".toml": "toml"}.get(Path(path).suffix, "text")
    return f"```{language}\n{text}\n```"


def worlds(_: str) -> str:
    """The study of three worlds: a line per path, a column per sender."""
    paper = papers.find(str(ROOT / "papers" / "worlds"))
    study, kept = paper.module("study"), kept_verdicts(paper, "full")
    senders = paper.module("settings").NAMES

    def cell(path: str, sender: str) -> str:
        found = kept.get(f"WORLDS-{path}-{sender}")
        if found is None or found.measured is None:
            return "–"
        rate, simulated, emulated = (
            found.measured[k] for k in ("rate, emulated / simulated", "simulated ms", "emulated ms")
        )
        text = f"{100 * (rate - 1):+.1f} %, {simulated:.3g} / {emulated:.3g}"
        return text if found.status == "pass" else f"**{text}**"

    paths = dict.fromkeys(path for path, _ in (*study.CELLS.values(), *study.cellular.CELLS.values()))
    rows = [(path, *(cell(path, sender) for sender in senders)) for path in paths]
    return "\n".join(table(("path", *senders.values()), rows)).strip()


def studies(_: str) -> str:
    """A list for readers of the file, and a table of contents for the site."""
    pages = [p for p in sorted((DOCS / "papers").glob("*.md")) if p.stem != "index"]
    titles = [p.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ") for p in pages]
    names = [f"- [{title}]({p.name})" for p, title in zip(pages, titles, strict=True)]
    toctree = ["```{toctree}", ":hidden:", ":maxdepth: 1", "", *(p.stem for p in pages), "```"]
    return "\n".join([*names, "", *toctree])


def scenario(page: str, name: str) -> thalweg.Scenario:
    """A scenario that a page's commands write into a file, by its name."""
    files = re.findall(r"<<'END'\n(.*?)END\n", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    return thalweg.Scenario.from_toml(next(text for text in files if text.startswith(f'name = "{name}"\n')))


def shares(what: str) -> str:
    """What three flows get of a bottleneck, first come first served and by fair queueing."""
    base = scenario(*what.split())
    rows = []
    for title, scheduler in (("FIFO", "fifo"), ("FQ-CoDel", "fq-codel")):
        endless = thalweg.run(base.with_({"switch.scheduler": scheduler}), progress=False)
        rates = endless.flows["delivered"] * 8e-6 / endless.summary["simulated_seconds"]
        rows.append((title, *(f"{rate:.1f}" for rate in rates), f"{endless.summary['endless']['jain']:.2f}"))
    return "\n".join(table(("Mb/s", "CUBIC", "BBR", "Copa", "Jain's index"), rows)).strip()


def verdicts(name: str) -> str:
    """A study's claims: by figure, what does not hold with its cause, what is left open, each with its verdicts."""
    return reflowed(verdict_table(papers.find(name)))


def causes(_: str) -> str:
    """Why a claim may fail: what `claims.toml` has, and what pages say."""
    return "\n".join(table(("`cause`", "the reason"), [(f"`{c}`", s) for c, s in CAUSES.items()])).strip()


def outcome(name: str) -> str:
    """The line that a study's page begins with."""
    return reflowed(outcome_line(papers.find(name)))


# What may stand in a page: the word behind `generated:`, and from what follows it to the text.
PARTS: dict[str, Callable[[str], str]] = {
    "causes": causes,
    "controllers": lambda _: documentation(controllers),
    "testing": lambda _: documentation(testing),
    "outcome": outcome,
    "papers": lambda _: documentation(papers),
    "shares": shares,
    "source": source,
    "studies": studies,
    "verdicts": verdicts,
    "worlds": worlds,
}
PART = re.compile(r"(<!-- generated: (\w+)(?: ([^\n]*))? -->\n).*?(\n<!-- /generated -->)", flags=re.DOTALL)


def filled(page: str) -> str:
    """A page with its generated parts written anew."""

    def part(m: re.Match) -> str:
        text = PARTS[m[2]](m[3] or "").strip()
        return f"{m[1]}\n{text}\n{m[4]}"

    return PART.sub(part, page)


def written() -> dict[Path, str]:
    """Every file that this program writes, and what belongs into it."""
    found = {DOCS / "reference" / name: page().rstrip() + "\n" for name, page in PAGES.items()}
    for page in (ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("papers/*.md")):
        text = page.read_text(encoding="utf-8")
        if PART.search(text):
            found[page] = filled(text)
    return found


def main() -> int:
    for path, text in written().items():
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
