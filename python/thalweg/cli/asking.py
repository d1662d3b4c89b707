"""Commands that run nothing, or only look."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from thalweg.cli import FOUND, OK
from thalweg.cli.running import load_plugins
from thalweg.errors import ControllerError, nearest, refuse


def _rows(rows: list[tuple[str, str, str]]) -> None:
    wide = max((len(name) for name, _, _ in rows), default=0)
    for name, summary, source in rows:
        print(f"{name:{wide}}  {summary}" + (f"  [{source}]" if source else ""))


def entries(kind: str) -> list[tuple[str, str, str]]:
    """`(name, summary, source)` of everything of a kind."""
    from thalweg import _core

    if kind == "papers":
        from thalweg.papers import Paper, discover

        found = []
        for name, folder in discover().items():
            about = Paper.load(folder).about
            found.append((name, str(about.get("title", "")), str(about.get("venue", ""))))
        return found
    known = _core.catalogue(kind)
    if known is None:
        raise refuse(f"thalweg list: no kind is called `{kind}`", hint=nearest(kind, [*kinds(), "claims"]))
    if kind == "controllers":
        from thalweg import controllers

        known = [e for e in known if e[0] not in controllers.names()]
        for name in controllers.names():
            try:
                about = f"written in Python; {controllers.cost_per_ack(name):.0f} ns per ACK here"
            except ControllerError as e:
                about = f"written in Python; fails: {' '.join(str(e).split())}"
            known.append((name, about, "this process"))
    return known


def list_claims(args) -> int:
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


def list_(args) -> int:
    load_plugins(args)
    if args.kind == "claims":
        return list_claims(args)
    if args.of:
        raise refuse(f"thalweg list: what is `{args.of}`?", hint="only `claims` are of a paper")
    wanted = [args.kind] if args.kind else kinds()
    if args.json:
        listed = {k: [dict(zip(("name", "summary", "source"), e, strict=True)) for e in entries(k)] for k in wanted}
        print(json.dumps(listed[args.kind] if args.kind else listed, ensure_ascii=False))
        return OK
    for kind in wanted:
        if not args.kind:
            print(f"{kind}:")
        _rows([(name if args.kind else f"  {name}", *rest) for name, *rest in entries(kind)])
    return OK


def kinds() -> list[str]:
    """Everything that can be listed."""
    from thalweg import _core

    return [*_core.kinds(), "papers"]


def _scenario(args):
    from thalweg.scenario import as_scenario

    load_plugins(args)
    return as_scenario(args.scenario, dict(args.set))


def show(args) -> int:
    scenario = _scenario(args)
    print(json.dumps(scenario.to_dict(), ensure_ascii=False) if args.json else scenario.to_toml().rstrip("\n"))
    return OK


def explain(args) -> int:
    from thalweg import _core

    if Path(args.key).is_dir():
        return _explain_run(args.key)
    text = _core.explain(args.key)
    if text is not None:
        print(text.rstrip("\n"))
        return OK
    known = schema_keys()
    # The end of a key will do, and positions in lists may be left out.
    asked = _names(args.key)
    found = [k for k in known if asked and _names(k)[-len(asked) :] == asked and _core.explain(k)]
    if not found:
        words = {*known, *(k.rsplit(".", 1)[-1] for k in known)}
        raise refuse(f"thalweg explain: no scenario key is called `{args.key}`", hint=nearest(args.key, words))
    for n, key in enumerate(found):
        print(("\n" if n else "") + f"{key}: " + _core.explain(key).rstrip("\n"))
    return OK


def _explain_run(folder: str) -> int:
    """Why a run stands still, if it does."""
    from thalweg import deadlocks
    from thalweg.results import Results

    found = deadlocks.lines(Results.load(folder))
    print("\n".join(found) if found else "no port of this run has ever waited for itself")
    return OK


def _names(key: str) -> list[str]:
    return [part for part in key.split(".") if part and not part.isdecimal()]


def schema_keys() -> list[str]:
    """Every dotted key in the schema; lists at position 0."""
    from thalweg import _core

    found: dict[str, None] = {}

    def walk(node: dict | bool, here: str) -> None:
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


def schema(args) -> int:
    from thalweg import _core

    print(json.dumps(json.loads(_core.schema()), indent=2))
    return OK


def export_flows(args) -> int:
    scenario = _scenario(args)
    sys.stdout.write(scenario.flows_csv() if args.format == "csv" else scenario.flows_hpcc())
    return OK


def export_trace(args) -> int:
    sys.stdout.write(_scenario(args).trace_text(args.port))
    return OK


def compare(args) -> int:
    from thalweg import _places
    from thalweg._format import number
    from thalweg.comparison import STATISTICS
    from thalweg.comparison import compare as compare_runs

    plot = Path(args.plot) if args.plot else Path("compare.svg")
    if plot.suffix[1:] not in ("png", "svg", "pdf"):
        raise refuse("the picture must be .png, .svg or .pdf", file=plot)
    drawn = not args.no_plot and (args.plot or not args.json)
    if drawn:
        _places.check_file(plot)
    found = compare_runs(args.a, args.b)
    picture = None
    if drawn:
        from thalweg import plots

        picture = plots.save(found.figure(), plot.parent, plot.stem, [plot.suffix[1:]])[0]
    if args.json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
        return OK
    from rich.table import Table

    from thalweg._console import console

    table = Table(title=f"FCT in us: A = {args.a}, B = {args.b}", title_justify="left")
    for head in ("size", "flows", "", "A", "B", "B against A", "KS"):
        table.add_column(head, justify="left" if head in ("size", "") else "right")
    for row in found.rows:
        flows = " → ".join(dict.fromkeys(str(row[k]) for k in ("flows_a", "flows_b")))
        ks = "–" if row["ks"] is None else f"{row['ks']:.3f}"
        for n, s in enumerate(STATISTICS):
            times = [None if row[k] is None else row[k] * 1e6 for k in (f"{s}_a", f"{s}_b")]
            change = row[f"{s}_percent"]
            first = (row["class"], flows) if n == 0 else ("", "")
            cells = (*map(number, times), "–" if change is None else f"{change:+.1f} %")
            table.add_row(*first, s, *cells, "" if n else ks, end_section=s == STATISTICS[-1])
    console().print(table)
    if picture:
        print(f"picture: {picture}")
    return OK


def diff(args) -> int:
    from thalweg import _core
    from thalweg.scenario import as_scenario

    load_plugins(args)
    a, b = as_scenario(args.a), as_scenario(args.b)
    found = _core.diff(a._core, b._core)
    print(found if found is not None else "no event differs")
    return OK if found is None else FOUND


def doctor(args) -> int:
    from thalweg.cli.doctor import checks

    found = checks()
    if args.json:
        print(json.dumps([{"check": n, "ok": ok, "found": text, "fix": fix} for n, ok, text, fix in found]))
    else:
        for name, ok, text, fix in found:
            print(f"{'ok  ' if ok else 'BAD '} {name}: {text}" + ("" if ok else f"; {fix}"))
    return OK if all(ok for _, ok, _, _ in found) else FOUND
