"""Controllers in libraries, by way of one in C: known by name, the same runs, failures that name where they were."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import thalweg
from thalweg import controllers, libraries

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "crates" / "plugin" / "examples" / "aimd.c"
COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler (`cc`)")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compiles the example under a name of its own, with changes."""

    def one(name: str, *changes: tuple[str, str]) -> Path:
        folder = tmp_path_factory.mktemp("library")
        text = EXAMPLE.read_text(encoding="utf-8").replace('"c-aimd"', f'"{name}"')
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (folder / "it.c").write_text(text, encoding="utf-8")
        library = folder / f"lib{name}.so"
        flags = ("-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-I", ROOT / "crates" / "plugin", "-o", library)
        subprocess.run([COMPILER, *flags, folder / "it.c", "-lm"], check=True)
        return library

    return one


@pytest.fixture(scope="module")
def library(compiled) -> Path:
    return compiled("c-aimd")


def named(name: str, **params) -> dict:
    return {"transport.congestion": {"kind": "custom", "name": name} | ({"params": params} if params else {})}


def test_its_runs_are_those_of_the_same_controller_in_python(library, scenario):
    from thalweg.examples import aimd  # noqa: F401 (registers `python-aimd`)

    assert libraries.load(library) == "c-aimd"
    ours, theirs = (thalweg.run(scenario.with_(named(name)), progress=False) for name in ("c-aimd", "python-aimd"))
    assert ours.digest == theirs.digest
    assert ours.digest != thalweg.run(scenario, progress=False).digest


def test_it_is_named_on_the_command_line_in_sweeps_and_exams(library, cli, file):
    said = cli("run", file, "--no-out", "--json", "--import", library, "--set", "transport.congestion=c-aimd")
    assert said.code == 0, said.err
    sweep = ("--vary", "transport.congestion=cubic,c-aimd", "--out", "s", "--quiet")
    assert cli("sweep", file, *sweep, "--import", library).code == 0
    said = cli("exam", library, "--only", "step-up", "--against", "", "--json", "--no-report")
    assert said.code == 0 and json.loads(said.out)[0]["controller"] == "c-aimd"
    said = cli("list", "controllers", "--import", library)
    assert "c-aimd" in said.out and "in a library; " in said.out and "ns per ACK" in said.out


def test_a_run_that_is_cut_saved_and_resumed_ends_as_the_straight_one(library, compiled, file, process):
    scenario = ("--import", library, "--set", "transport.congestion=c-aimd")
    stopped = process("run", file, *scenario, "--max-seconds", "1e-9", "--out", "r", "--quiet")
    assert stopped.communicate(timeout=60) and stopped.returncode == 0
    unknown = process("run", "--resume", "r", "--quiet")
    why = unknown.communicate(timeout=60)[1]
    assert why.startswith("r/scenario.toml:") and "no controller is registered as `c-aimd`" in why
    assert "name the file that registers it with `--import FILE`" in why and why.count("\n") == 1
    other = compiled("c-aimd", ("window, threshold; }", "window, threshold, more; }"))
    changed = process("run", "--resume", "r", "--import", other, "--quiet")
    why = changed.communicate(timeout=60)[1]
    assert why.startswith("r: cannot be resumed: the controller `c-aimd` has been changed since; run it again")
    resumed = process("run", "--resume", "r", "--import", library, "--json", "--quiet")
    out, err = resumed.communicate(timeout=60)
    assert resumed.returncode == 0, err
    libraries.load(library)
    whole = thalweg.run(thalweg.Scenario.load(file, named("c-aimd")), progress=False)
    assert json.loads(out)["digest"] == whole.digest


def test_processes_that_run_a_sweep_open_it_too(library, scenario):
    libraries.load(library)
    assert controllers.imported()[str(library)] == controllers.fingerprint("c-aimd")
    over = {"seed": [1, 2]}
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        there = thalweg.sweep(scenario.with_(named("c-aimd")), over, progress=False, executor=executor)
    here = thalweg.sweep(scenario.with_(named("c-aimd")), over, progress=False)
    assert [run.digest for run in there] == [run.digest for run in here]


LEAVES = """
name = "leaves"
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2, spine_rate = "10Gbps", delay = "2us" }
switch = { buffer = "50KB" }
[[traffic]]
kind = "permutation"
size = "300KB"
stride = 2
"""


def test_it_is_called_from_any_thread(library):
    libraries.load(library)
    scenario = thalweg.Scenario.from_toml(LEAVES).with_(named("c-aimd"))
    one, two = (thalweg.run(scenario, progress=False, threads=threads) for threads in (1, 2))
    assert (one.meta["threads"], two.meta["threads"]) == (1, 2) and one.digest == two.digest


def test_a_failure_names_controller_flow_and_instant(compiled, cli, file):
    late = (
        'if (ack->now_ps > 2000000000) { error.write(error.to, (const uint8_t *)"tired", 5); return 1; } return 0;\n}'
    )
    broken = compiled(
        "c-tired",
        ("(void)error;\n    if (!(ack", "if (!(ack"),
        ("/ c->window;\n    return 0;\n}", f"/ c->window;\n    {late}"),
    )
    said = cli("run", file, "--no-out", "--quiet", "--import", broken, "--set", "transport.congestion=c-tired")
    assert said.code == 2
    assert (
        said.err.startswith("controller `c-tired`, flow ") and " at 2.0" in said.err and ": on_ack: tired" in said.err
    )
    with pytest.raises(thalweg.ControllerError) as e:
        thalweg.run(thalweg.Scenario.load(file, named("c-tired")), progress=False)
    assert e.value.controller == "c-tired" and e.value.flow is not None and e.value.now_ps > 2_000_000_000


def test_a_parameter_that_is_not_declared_is_refused_with_its_key(library, cli, file):
    said = cli(
        *("run", file, "--no-out", "--import", library),
        *("--set", 'transport.congestion={ kind = "custom", name = "c-aimd", params = { gain = 1 } }'),
    )
    assert said.code == 2 and "`transport.congestion.params.gain`" in said.err


@pytest.mark.parametrize(
    ("name", "changes", "why"),
    [
        (
            "c-new",
            [("THALWEG_VERSION, .size", "7, .size")],
            "is made for version 7 of the interface, and this is version 1",
        ),
        ("c-short", [(".on_loss = on_loss, ", "")], "lacks the function `on_loss`"),
        ("cubic", [], "`cubic` is a controller of thalweg's; give it another name"),
        ("python-aimd", [], "is registered by"),
    ],
)
def test_a_library_that_cannot_be_used_is_refused(compiled, cli, file, name, changes, why):
    from thalweg.examples import aimd  # noqa: F401 (registers `python-aimd`)

    library = compiled(name, *changes)
    said = cli("run", file, "--no-out", "--import", library)
    assert said.code == 2 and said.err.startswith(f"{library}: ") and why in said.err and said.err.count("\n") == 1
    assert cli("run", file, "--no-out", "--quiet", "--set", "transport.congestion=cubic").code == 0


def test_what_is_no_library_is_refused(cli, file, tmp_path):
    (tmp_path / "no.so").write_text("text")
    said = cli("run", file, "--no-out", "--import", "no.so")
    assert said.code == 2 and "no.so: cannot be opened: " in said.err
    said = cli("exam", "nowhere.so")
    assert (said.code, said.err) == (
        2,
        "nowhere.so: no such file; build it: `cargo build --release` writes target/release/\n",
    )


def test_its_file_is_part_of_what_an_exam_ran(library):
    libraries.load(library)
    assert "c-aimd" in controllers.names() and len(controllers.fingerprint("c-aimd")) == 64
    assert controllers.file_of("c-aimd") == library
