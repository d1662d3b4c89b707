"""Files of the package import what is below them: there is no circle, but for the few that are opened on request."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "thalweg"
# What a method for convenience, or a choice by name, imports from above when it is called: `results.plot` draws.
UPWARD = {
    "thalweg.scenario": {"thalweg.estimating"},
    "thalweg.results": {"thalweg.explaining", "thalweg.report"},
    "thalweg.tracing": {"thalweg.tracing.drawing"},
    "thalweg.pool": {"thalweg.executors"},
    "thalweg.executors.named": {"thalweg.executors.dask", "thalweg.executors.slurm"},
}


def packages_of(module: str) -> set[str]:
    """Those that a module is in."""
    parts = module.split(".")
    return {".".join(parts[:n]) for n in range(1, len(parts))}


def module_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# (Below `papers/data` are studies.)
FILES = {module_of(p): p for p in sorted(PACKAGE.rglob("*.py")) if "data" not in p.relative_to(PACKAGE).parts}


def statements(node: ast.AST, in_functions: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that are carried out: not those that only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        elif in_functions or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from statements(child, in_functions)


@cache
def imports(module: str, in_functions: bool) -> frozenset[str]:
    """The files that a file imports, and the packages that these are in, which are imported with them."""
    found: set[str] = set()
    for one in statements(ast.parse(FILES[module].read_text(encoding="utf-8")), in_functions):
        if isinstance(one, ast.Import):
            found |= {alias.name for alias in one.names}
            continue
        parents = [*module.split("."), *(["__init__"] if FILES[module].stem == "__init__" else [])]
        base = ".".join([*parents[: len(parents) - one.level], one.module or ""]) if one.level else one.module or ""
        for alias in one.names:
            of_file = f"{base}.{alias.name}".lstrip(".")
            found.add(of_file if of_file in FILES else base.strip("."))
    packages = {package for name in found for package in packages_of(name)} - packages_of(module)
    return frozenset(name for name in found | packages if name in FILES and name != module)


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The files of one circle, in order; none if there is none."""
    done: set[str] = set()

    def follow(module: str, way: list[str]) -> list[str]:
        if module in way:
            return [*way[way.index(module) :], module]
        if module not in done:
            for used in sorted(graph[module]):
                if found := follow(used, [*way, module]):
                    return found
            done.add(module)
        return []

    return next((found for module in graph if (found := follow(module, []))), [])


def test_no_file_imports_itself_by_way_of_others():
    assert len(FILES) > 150
    assert circle({module: set(imports(module, False)) for module in FILES}) == []


def test_nor_do_functions_but_for_those_that_are_listed():
    graph = {module: set(imports(module, True)) for module in FILES}
    for module, above in UPWARD.items():
        assert above <= graph[module] - imports(module, False), f"{module}: import it in a function, or not at all"
        graph[module] -= above
    assert circle(graph) == []
    for module, above in UPWARD.items():
        for one in above:
            assert circle(graph | {module: graph[module] | {one}}), f"{module} may import {one}: it is not above"


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
