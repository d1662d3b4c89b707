"""Names of controllers: of two that have one, the wrong one would run and nothing would say so."""

import importlib
import sys

import pytest

import thalweg
from thalweg import controllers, installed

CLASS = """
@thalweg.controller("{name}")
class {cls}:
    def __init__(self, flow):
        self.window = flow.initial_window

    def on_ack(self, ack): ...
    def on_loss(self, loss): ...
    def on_timeout(self, loss): ...
"""


def written(*classes, start="import thalweg\n"):
    return start + "".join(CLASS.format(name=name, cls=cls) for name, cls in classes)


def test_a_name_of_thalwegs_is_refused(cli, file, tmp_path):
    (tmp_path / "mine.py").write_text(written(("cubic", "Cubic")))
    for argv in (
        ["run", file, "--import", "mine.py"],
        ["exam", "mine.py"],
        ["list", "controllers", "--import", "mine.py"],
    ):
        said = cli(*argv)
        expected = "mine.py:3: `cubic` is a controller of thalweg's; give it another name, such as `my-cubic`\n"
        assert (said.code, said.out, said.err.removeprefix(f"{tmp_path}/")) == (2, "", expected), argv
    assert "cubic" not in controllers.names() and "cubic" in installed.built_in()
    with pytest.raises(thalweg.ScenarioError, match="`external` is a controller of thalweg's"):
        thalweg.controller("external")(type("Mine", (Plain,), {}))


class Plain:
    def __init__(self, flow):
        self.window = flow.initial_window

    def on_ack(self, ack): ...
    def on_loss(self, loss): ...
    def on_timeout(self, loss): ...


def test_two_classes_of_a_file_that_have_one_name_are_refused(cli, file, tmp_path):
    (tmp_path / "two.py").write_text(written(("twice-in-two", "A"), ("twice-in-two", "B")))
    for argv in (["run", file, "--import", "two.py"], ["exam", "two.py:A"]):
        said = cli(*argv)
        reason = "two.py:12: the classes A and B are both registered as `twice-in-two`; rename one of them\n"
        assert (said.code, said.out, said.err.removeprefix(f"{tmp_path}/")) == (2, "", reason)


def test_a_file_may_be_imported_again_changed_or_not(tmp_path, monkeypatch):
    place = tmp_path / "again_and_again.py"
    for cls in ("A", "A", "B", "A"):
        place.write_text(written(("again-and-again", cls)))
        controllers.import_plugins(str(place))
        assert controllers.named(f"{place}:{cls}") == "again-and-again"
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(place.stem)
    importlib.reload(module)
    sys.modules.pop(place.stem)


def test_a_cell_may_be_run_again_and_a_function_may_make_many():
    space = {"thalweg": thalweg, "__name__": "cells"}
    # A notebook names each version of a cell as it likes.
    for cell, cls in (("1", "A"), ("1", "A"), ("2", "B"), ("1", "A")):
        exec(compile(written(("of-cells", cls)), f"/tmp/ipykernel_7/{cell}.py", "exec"), space)
    for _ in range(2):
        thalweg.controller("made-in-a-function")(type("X", (Plain,), {"__qualname__": "f.<locals>.X"}))
        thalweg.controller("made-in-a-function")(type("Y", (Plain,), {"__qualname__": "f.<locals>.Y"}))
    assert [controllers.names().count(name) for name in ("of-cells", "made-in-a-function")] == [1, 1]


def test_two_files_of_one_command_that_register_one_name_are_refused(cli, file, tmp_path):
    (tmp_path / "a.py").write_text(written(("of-two-files", "A")))
    (tmp_path / "b.py").write_text(written(("of-two-files", "A")))
    for argv in (["run", file, "--import", "a.py", "--import", "b.py"], ["exam", "a.py", "--against", "b.py"]):
        said = cli(*argv)
        assert said.code == 2 and said.out == "" and said.err.count("\n") == 1
        assert "b.py: `of-two-files` is registered by this file and by " in said.err and "a.py; rename one" in said.err
    # Of the same file there is one, however often it is imported.
    (tmp_path / "c.py").write_text(written(("of-another", "C"), start="import thalweg, a\n"))
    said = cli("run", file, "--import", "a.py", "--import", "c.py", "--import", "a.py", "--quiet")
    assert said.code == 0, said
    sys.modules.pop("a", None)
