"""What type checkers read: the stub of the compiled module has what the module has (`make lint` runs mypy); what they
alone need is not imported."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import thalweg
from thalweg import _core
from thalweg.examples import incast
from thalweg.scenario import Cost

STUB = Path(__file__).parents[2] / "python" / "thalweg" / "_core.pyi"
# What builds have only with a feature, by its name in `_core.CONNECTS`.
OF_FEATURES = {
    "QuicSending": "quic",
    "QuicReceiving": "quic",
    "quic_check": "quic",
    "KernelAttached": "kernel",
    "kernel_check": "kernel",
}
# `_core.Buffer` has no such method below Python 3.12, and is one.
PROTOCOLS = {"__buffer__", "__init__"}


def stubbed() -> dict[str, ast.stmt]:
    """By name what the stub says of the module. Names of types alone are not the module's."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return {name: node for name, node in found.items() if OF_FEATURES.get(name) in (None, *_core.CONNECTS)}


STUBBED = stubbed()
CLASSES = {name: node for name, node in STUBBED.items() if isinstance(node, ast.ClassDef)}
FUNCTIONS = {name: node for name, node in STUBBED.items() if isinstance(node, ast.FunctionDef)}


def of_class(node: ast.ClassDef) -> dict[str, ast.stmt]:
    """Methods and attributes by name."""
    found: dict[str, ast.stmt] = {}
    for part in node.body:
        if isinstance(part, ast.FunctionDef):
            found[part.name] = part
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            found[part.target.id] = part
    return found


def named(node: ast.FunctionDef, like: list[str]) -> list[str]:
    """Its parameters but for `self`, with `?` if they may be left out. Those that are given by their places only are
    called as in `like`: Rust may call one by a word that Python keeps for itself."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    left_out = len(node.args.defaults) + sum(d is not None for d in node.args.kw_defaults)
    found = [a.arg + ("?" if n >= len(given) - left_out else "") for n, a in enumerate(given)]
    is_method = found[:1] == ["self"]
    by_place = like[: max(len(node.args.posonlyargs) - is_method, 0)]
    return by_place + found[is_method + len(by_place) :]


def there(function: object) -> list[str]:
    """The same of what is compiled."""
    text = getattr(function, "__text_signature__", None) or "()"
    parts = [part.strip() for part in text.strip("()").split(",")]
    parts = [part for part in parts if part not in ("", "/", "*", "$self")]
    return [name + ("?" if default else "") for name, default, _ in (part.partition("=") for part in parts)]


def test_the_stub_has_the_names_of_the_module():
    assert set(STUBBED) == {name for name in dir(_core) if not name.startswith("_")}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_has_its_parameters(name):
    compiled = there(getattr(_core, name))
    assert named(FUNCTIONS[name], compiled) == compiled


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_class_has_its_methods_and_attributes(name):
    cls, listed = getattr(_core, name), of_class(CLASSES[name])
    public = {attribute for attribute in vars(cls) if not attribute.startswith("_")}
    assert public == set(listed) - PROTOCOLS
    for method in public:
        node = listed[method]
        assert callable(getattr(cls, method)) == isinstance(node, ast.FunctionDef), method
        if isinstance(node, ast.FunctionDef):
            is_static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
            assert is_static == isinstance(vars(cls)[method], staticmethod), method
            compiled = there(getattr(cls, method))
            assert named(node, compiled) == compiled, method
    begin = listed.get("__init__")
    assert (named(begin, there(cls)) if isinstance(begin, ast.FunctionDef) else []) == there(cls)


def test_a_command_starts_without_typing():
    """It takes as long to import as the command line itself."""
    others = "import argparse, collections.abc, dataclasses, difflib, importlib, re, sys"
    code = (
        f"{others}; had = 'typing' in sys.modules; import thalweg.cli.parser; print(had or 'typing' not in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_what_a_run_will_cost_has_the_keys_of_its_type():
    cost = thalweg.Scenario.from_toml(incast.SCENARIO).estimate()
    assert list(cost) == list(Cost.__annotations__)
    kinds = {"memory": dict, "seconds": float}
    assert all(isinstance(value, kinds.get(key, int)) for key, value in cost.items())
