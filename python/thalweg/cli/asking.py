"""Commands that run nothing, or only look."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _places
from thalweg.cli import FOUND, OK
from thalweg.cli.running import load_plugins
from thalweg.errors import ControllerError, nearest, refuse

if TYPE_CHECKING:
    from thalweg.scenario import Scenario


def _rows(rows: list[tuple[str, str, str]]) -> None:
    from thalweg._lines import wrapped

    wide = max((len(name) for name, _, _ in rows), default=0)
    for name, summary, source in rows:
        print(wrapped(summary + (f"  [{source}]" if source else ""), wide + 2, f"{name:{wide}}  "))


# Of each kind the index shows so many names.
MOST_NAMES = 6


def _index(wanted: list[str]) -> None:
    """What can be listed: of each kind how many there are, and a few."""
    from thalweg._lines import wrapped

    wide = max(map(len, wanted))
    for kind in wanted:
        names = [name for name, *_ in entries(kind)]
        some = names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], "…"]
        print(wrapped(", ".join(some), wide + 8, f"{kind:{wide}}  {len(names):>4}  "))
    print("\nthalweg list KIND     all of a kind, and what each is")
    print("thalweg explain NAME  more of one, and its keys")
    print("thalweg list --all    everything")


def entries(kind: str) -> list[tuple[str, str, str]]:
    """`(name, summary, source)` of everything of a kind."""
    from thalweg import _core

    if kind == "papers":
        from thalweg.papers import Paper, discover

        found = []
        for name, folder in discover().items():
            paper = Paper.load(folder).about
            found.append((name, str(paper.get("title", "")), str(paper.get("venue", ""))))
        return found
    known = _core.catalogue(kind)
    if known is None:
        raise refuse(f"thalweg list: no kind is called `{kind}`", hint=nearest(kind, [*kinds(), "claims"]))
    if kind == "controllers":
        from thalweg import controllers, installed, libraries

        failed = installed.load_all()
        known = [e for e in _core.catalogue(kind) or () if e[0] not in controllers.names()]
        for name in controllers.names():
            try:
                written = "in a library" if libraries.file_of(name) else "written in Python"
                about = f"{written}; {controllers.cost_per_ack(name):.0f} ns per ACK here"
            except ControllerError as e:
                # Values that a class holds may be long words.
                words = (word if len(word) <= 60 else f"{word[:57]}..." for word in str(e).split())
                about = f"{written}; fails: {' '.join(words)}"
            package = installed.declared(installed.CONTROLLERS).get(name)
            known.append((name, about, package[0].package if package else "this process"))
        for name, why in failed.items():
            known.append((name, f"cannot be used: {why}", installed.declared(installed.CONTROLLERS)[name][0].package))
    return known


def list_claims(args: Namespace) -> int:
    """The claims of a paper: id, statement, section."""
    from thalweg.papers import discover, find

    if not args.of:
        raise refuse("thalweg list claims: of which paper?", hint=nearest("", discover()))
    claims = find(args.of).claims
    if args.json:
        keys = ("id", "statement", "section", "published", "unchecked")
        print(
            json.dumps(
                [{k: getattr(c, k) for k in keys} | {"bound": c.bound_text()} for c in claims], ensure_ascii=False
            )
        )
        return OK
    _rows([(c.id, c.statement + (" (not checkable)" if c.unchecked else ""), f"§{c.section}") for c in claims])
    return OK


def list_(args: Namespace) -> int:
    load_plugins(args)
    if args.kind == "claims":
        return list_claims(args)
    if args.of:
        raise refuse(f"thalweg list: what is `{args.of}`?", hint="only `claims` are of a paper")
    wanted = [args.kind] if args.kind else kinds()
    if not (args.kind or args.json or args.all):
        _index(wanted)
        return OK
    if args.json:
        listed = {k: [dict(zip(("name", "summary", "source"), e, strict=True)) for e in entries(k)] for k in wanted}
        print(json.dumps(listed[args.kind] if args.kind else listed, ensure_ascii=False))
        return OK
    for kind in wanted:
        if not args.kind:
            print(f"{kind}:")
        _rows([(name if args.kind else f"  {name}", what, source) for name, what, source in entries(kind)])
    return OK


def kinds() -> list[str]:
    """Everything that can be listed."""
    from thalweg import _core

    return [*_core.kinds(), "papers"]


def _scenario(args: Namespace) -> Scenario:
    from thalweg.scenario import as_scenario

    load_plugins(args)
    return as_scenario(args.scenario, dict(args.set))


def show(args: Namespace) -> int:
    scenario = _scenario(args)
    if args.json:
        print(json.dumps(scenario.to_dict(), ensure_ascii=False))
        return OK
    text = scenario.to_toml().rstrip("\n")
    # What is piped somewhere may be run there: it stays whole.
    print(text if args.full or not sys.stdout.isatty() else folded(text))
    return OK


def folded(text: str) -> str:
    """A resolved scenario for reading: of `[transports.NAME]` only what differs from `[transport]`."""
    parts = text.split("\n[")
    parts = [parts[0], *("[" + part for part in parts[1:])]
    tables = {part.split("]")[0].lstrip("[") + ("]" if part.startswith("[[") else ""): part for part in parts}
    out, left = [], 0
    for part in parts:
        name = part.split("]")[0].lstrip("[")
        main = None
        if name.startswith("transports."):
            rest = name.split(".", 2)[2:]
            main = tables.get(".".join(["transport", *rest]))
        if main is None or part.startswith("[["):
            out.append(part)
            continue
        head, *lines = part.rstrip("\n").split("\n")
        same = set(main.split("\n")[1:])
        kept = [line for line in lines if line not in same]
        left += len([line for line in lines if line in same and line.strip()])
        if kept or "." not in name.removeprefix("transports."):
            out.append("\n".join([f"{head}  # what is not here is as in [transport]", *kept]) + "\n")
    note = f"\n# {left} lines that are as in [transport] are left out here: `thalweg show --full`" if left else ""
    return "\n".join(out).rstrip("\n") + note


def explain(args: Namespace) -> int:
    from thalweg._lines import wrapped

    if Path(args.key).is_dir():
        from thalweg.cli.explaining import explain_run

        return explain_run(args)
    extra = [
        *args.flow_given,
        *args.flow,
        *(f"--{flag}" for flag in ("slowest", "by", "every", "csv", "json") if getattr(args, flag)),
    ]
    if extra:
        raise refuse(
            f"thalweg explain: what is `{extra[0]}`?", hint=f"`{args.key}` is not a run directory: flows are of runs"
        )
    parts = meanings(args.key)
    if not parts:
        hint = nearest(args.key, every_name())
        raise refuse(f"thalweg explain: nothing is called `{args.key}`, no key, choice, scheme or metric", hint=hint)
    lines = "\n\n".join(text.rstrip("\n") for text in parts).split("\n")
    for line in lines:
        label = line.split(": ")[0] + ": "
        indent = 2 if len(label) > 12 else len(label)
        print(wrapped(line.removeprefix(label), indent, label) if ": " in line and indent > 2 else wrapped(line, 0))
    return OK


def meanings(word: str) -> list[str]:
    """All that a word means: a key, the end of some, a choice, a scheme, a number of a run's summary, a study."""
    from thalweg import _core
    from thalweg.papers import discover

    if word == "kind":
        return _kinds_said()
    if word.endswith(".kind") and (of := meanings(word.removesuffix(".kind"))):
        table = word.removesuffix(".kind")
        return [f"Which of its tables `{table}` is; `thalweg explain {table}.KIND` has the keys of one.", *of]
    exact = _core.explain(word)
    out = [exact] if exact is not None else []
    if exact is None:
        # The end of a key will do, and positions in lists may be left out.
        asked = _names(word)
        for key in schema_keys():
            if asked and _names(key)[-len(asked) :] == asked and (text := _core.explain(key)):
                out.append(f"{key}: {text}")
    for keys, text in _core.choices(word):
        if text != exact:
            out.append(f"{word}, a choice of {_listed(keys)}: {text}")
    if (scheme := _core.explain_scheme(word)) is not None:
        kind = "a scheme" if "+" in word else "the host's part of schemes"
        out.append(f"{word}, {kind} (`scheme = …`): {scheme}")
    out += _metric_said(word)
    if word in discover():
        out.append(f"{word}, a study: run it with `thalweg reproduce {word}`")
    return out


def _listed(keys: list[str], most: int = 4) -> str:
    keys = sorted(keys, key=lambda key: (key.count("."), key.startswith("nic")))
    shown = ", ".join(f"`{key}`" for key in keys[:most])
    return shown + (f" and {len(keys) - most} more" if len(keys) > most else "")


def _kinds_said() -> list[str]:
    """`kind` is a key of many tables: which kinds each can be."""
    from thalweg import _core

    by_kinds: dict[tuple[str, ...], list[str]] = {}
    for key, kinds in _core.kinds_of_tables():
        by_kinds.setdefault(tuple(kinds), []).append(key)
    head = "Which of several tables this one is; `thalweg explain KEY.KIND` has its keys, such as `topology.dumbbell`."
    return [head, "\n".join(f"{_listed(keys, 2)}: {', '.join(kinds)}" for kinds, keys in by_kinds.items())]


def _metric_said(word: str) -> list[str]:
    """A number of a run's summary."""
    from thalweg.comparison import NUMBERS
    from thalweg.sweepfigure import axis_label

    if word not in {column for _, column, _ in NUMBERS}:
        return []
    return [f"{word}, a number of a run's summary, for `--metric` and `runs.frame`: {axis_label(word)}"]


def every_name() -> list[str]:
    """Everything that `explain` knows: keys, whole and their ends, choices, schemes, metrics, studies."""
    from thalweg import _core
    from thalweg.comparison import NUMBERS
    from thalweg.papers import discover

    keys = schema_keys()
    schemes = [name for name, *_ in _core.catalogue("schemes") or ()]
    names = {*keys, *(k.rsplit(".", 1)[-1] for k in keys), *_core.choice_names(), *schemes, *discover()}
    return sorted(names | {column for _, column, _ in NUMBERS})


def _names(key: str) -> list[str]:
    return [part for part in key.split(".") if part and not part.isdecimal()]


def schema_keys() -> list[str]:
    """Every dotted key in the schema; lists at position 0."""
    from thalweg import _core

    found: dict[str, None] = {}

    def walk(node: dict[str, Any] | bool, here: str) -> None:
        if not isinstance(node, dict):
            return  # anything goes
        for name, inner in (node.get("properties") or {}).items():
            found[here + name] = None
            walk(inner, f"{here}{name}.")
        if isinstance(node.get("items"), dict):
            walk(node["items"], f"{here}0.")
        for word in ("anyOf", "oneOf", "allOf"):
            for inner in node.get(word, ()):
                walk(inner, here)

    walk(json.loads(_core.schema()), "")
    return sorted(found)


def schema(args: Namespace) -> int:
    from thalweg import _core

    print(json.dumps(json.loads(_core.schema()), indent=2))
    return OK


def export_flows(args: Namespace) -> int:
    scenario = _scenario(args)
    sys.stdout.write(scenario.flows_csv() if args.format == "csv" else scenario.flows_hpcc())
    return OK


def export_trace(args: Namespace) -> int:
    sys.stdout.write(_scenario(args).trace_text(args.port))
    return OK


def compare(args: Namespace) -> int:
    from thalweg import _places
    from thalweg.comparison import Comparison
    from thalweg.comparison import compare as compare_runs

    plot = Path(args.plot) if args.plot else None
    if plot is not None:
        if plot.suffix[1:] not in ("png", "svg", "pdf"):
            raise refuse("the picture must be .png, .svg or .pdf", file=plot)
        _places.check_file(plot)
    found = compare_runs(args.a, args.b, *args.metric)
    drawn = None
    if plot is not None:
        if not isinstance(found, Comparison):
            raise refuse("thalweg compare: --plot draws two runs, not two sweeps")
        drawn = found.figure
    from thalweg.cli.tabling import Tabled

    tabled = Tabled(args, found.tables(), found.plain())
    picture = None
    if plot is not None and drawn is not None:
        from thalweg import plots

        picture = plots.save(drawn(), plot.parent, plot.stem, [plot.suffix[1:]])[0]
    if args.json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        print("\n".join(found.lines()))
        if picture:
            print(f"picture: {picture}")
    tabled.write(quiet=args.json)
    return OK


def diff(args: Namespace) -> int:
    from thalweg import _core, _format, decisions
    from thalweg.scenario import as_scenario

    load_plugins(args)
    records = [decisions.is_record(name) for name in (args.a, args.b)]
    if all(records):
        parted = decisions.compare(args.a, args.b)
        for flow, words in parted.items():
            print(f"flow {flow}: {words}")
        print(f"{_format.plural(len(parted), 'flow')} differ" if parted else "no decision differs")
        return FOUND if parted else OK
    if any(records):
        raise refuse("a record of decisions and something else", hint="name two records, or two scenarios or runs")
    a, b = as_scenario(args.a), as_scenario(args.b)
    found = _core.diff(a._core, b._core)
    print(found if found is not None else "no event differs")
    return OK if found is None else FOUND


def decide(args: Namespace) -> int:
    """Replays records of decisions."""
    from thalweg import decisions, texttables
    from thalweg._lines import print_table

    load_plugins(args)
    if args.csv:
        rows = decisions.table(args.record)
        texttables.free_for_csv(Path(args.csv), rows.columns)
    found = decisions.replay(args.record)
    if args.json:
        print(json.dumps([row._asdict() for row in found]))
    elif not found:
        print("no decision was recorded: no controller was called")
    else:
        head = ["flow", "controller", "decisions", "the same", "digest"]
        print_table(head, [[str(r.flow), r.controller, str(r.decisions), str(r.same), r.digest] for r in found])
        for row in found:
            if row.differs is not None:
                print(f"flow {row.flow}: {row.differs}")
    if args.csv:
        _places.write_file(Path(args.csv), rows.write_csv(), mark=",".join(rows.columns))
    return OK if all(row.differs is None for row in found) else FOUND


def doctor(args: Namespace) -> int:
    from thalweg.cli.doctor import checks

    found = checks()
    if args.json:
        print(json.dumps([{"check": n, "ok": ok, "found": text, "fix": fix} for n, ok, text, fix in found]))
    else:
        for name, ok, text, fix in found:
            print(f"{'ok  ' if ok else 'BAD '} {name}: {text}" + ("" if ok else f"; {fix}"))
    return OK if all(ok for _, ok, _, _ in found) else FOUND
