"""Exams: known numbers of one situation, controllers that misbehave, errors, what is run again."""

import importlib
import json
import math
import re
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

import polars as pl
import pytest

import thalweg
from thalweg import _core, controllers
from thalweg.cli import main
from thalweg.cli.examining import bars
from thalweg.exams import Exam, candidate, file_name, pictures
from thalweg.exams.marks import COLUMNS
from thalweg.exams.situations import all_situations, chosen

# One packet of 1500 B over 1 Gb/s, 24 Mb/s, 1 Gb/s, its ACK of 52 B back, and 20 ms each way.
TRIP_MS = 40 + 2 * (1500 + 52) * 8e-6 + (1500 + 52) * 8 / 24e3


@thalweg.controller("test-silent")
class Silent:
    """Sends one packet and then, at a bit per second, nothing."""

    def __init__(self, flow):
        self.window, self.pace = flow.mss, 1

    def on_ack(self, ack): ...

    on_loss = on_timeout = on_ack


@thalweg.controller("test-raises")
class Raises(Silent):
    def __init__(self, flow):
        self.window = flow.initial_window

    def on_ack(self, ack):
        raise ValueError("no idea")


def test_a_fixed_window_uses_what_a_window_per_round_trip_is_of_the_link():
    exam = thalweg.exam(
        "fixed", only=["steady"], against=[], set={"transport.initial_window": "10pkts"}, progress=False
    )
    marks = exam.marks["steady", "fixed"]
    assert marks.utilisation == pytest.approx(10 * 1500 * 8 / (24e3 * TRIP_MS), rel=5e-3)
    assert (marks.delay_ms, marks.loss, marks.settled_s) == (0.0, 0.0, math.inf)


def test_a_window_of_two_products_waits_for_one_and_uses_everything():
    window = round(2 * 24e3 * TRIP_MS / 8 / 1500)
    exam = thalweg.exam(
        "fixed", only=["deep-buffer"], against=[], set={"transport.initial_window": f"{window}pkts"}, progress=False
    )
    marks = exam.marks["deep-buffer", "fixed"]
    assert marks.utilisation == pytest.approx(1.0, abs=3e-3)
    assert marks.delay_ms == pytest.approx(window * 0.5 - TRIP_MS, abs=0.51)  # a packet takes 0.5 ms
    assert marks.settled_s == 0.0


def test_no_more_than_the_rate_and_one_burst_passes_the_policer():
    exam = thalweg.exam("fixed", only=["policer"], against=[], progress=False)
    marks = exam.marks["policer", "fixed"]
    assert marks.loss == 0.0, "ten packets per 40 ms are 3 Mb/s"
    exam = thalweg.exam(
        "fixed", only=["policer"], against=[], set={"transport.initial_window": "300pkts"}, progress=False
    )
    marks = exam.marks["policer", "fixed"]
    assert marks.utilisation == pytest.approx(0.24 + 100e3 / (20 * 100e6 / 8), abs=2e-3)
    assert marks.loss > 0.1


def test_two_fixed_windows_share_in_the_ratio_of_round_trips():
    exam = thalweg.exam("fixed", only=["unequal-rtts"], against=[], progress=False)
    x, y = 1 / 21, 1 / 121  # windows of ten packets, no queue
    assert exam.marks["unequal-rtts", "fixed"].fairness == pytest.approx((x + y) ** 2 / (2 * (x * x + y * y)), abs=5e-3)


def test_a_controller_that_sends_nothing_gets_the_marks_for_it():
    exam = thalweg.exam(Silent, only=["steady", "vs-cubic", "step-down", "downloads"], against=[], progress=False)
    marks = exam.marks["steady", "test-silent"]
    assert (marks.utilisation, marks.delay_ms, marks.loss) == (1500 / (20 * 24e6 / 8), 0.0, 0.0)
    assert exam.marks["vs-cubic", "test-silent"].share < 1e-4
    assert math.isnan(exam.marks["vs-cubic", "test-silent"].delay_ms), "it counts from five seconds on"
    assert exam.marks["downloads", "test-silent"].settled_s == math.inf
    exam.picture("steady")
    exam.plot()
    assert exam.frame["delay_ms"].null_count() == 1 and not exam.failures
    assert exam.frame["failed"].null_count() == 4, "nothing failed: null, not an empty text"


def test_a_controller_that_raises_fails_by_name_and_the_others_go_on(tmp_path, capsys):
    words = ["--only", "steady", "--against", "fixed", "--out", str(tmp_path / "exam")]
    assert main(["exam", "test-raises", *words]) == 1
    (page,) = (p.read_text() for p in (tmp_path / "exam").glob("*.html"))
    assert re.search(r"<td colspan=6 class='fail'>[^<]*no idea", page)
    said = capsys.readouterr()
    assert said.err.startswith("thalweg exam: steady: ") and said.err.count("\n") == 1
    assert "controller `test-raises`, flow 0" in said.err and "no idea" in said.err
    assert said.out.count("failed") == 6
    exam = thalweg.exam("test-raises", only=["steady"], against=["fixed"], progress=False)
    assert exam.marks["steady", "fixed"].utilisation > 0.1
    assert "no idea" in str(pictures.rows(exam, exam.situations[0]))


WRONG = {
    ("nosuch",): "no controller is called `nosuch`",
    ("cubik",): "did you mean `cubic`?",
    ("vegas", "--only", "stedy"): "no situation is called `stedy`; did you mean `steady`?",
    ("vegas", "--against", "foo"): "no controller is called `foo`",
    ("none.py",): "none.py: no such file",
    ("thalweg.examples.aimd:Aimx",): "no controller class is called `Aimx`; did you mean `Aimd`?",
    ("{ kind = 1",): "is not a table",
    ("{ delta = 0.1 }",): "has no `kind`",
    ("dctcp",): "`dctcp` cannot take the situation `steady`",
    (): "give a controller, or --list",
}


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_what_is_wrong_is_said_in_one_line(words, tmp_path, capsys):
    assert main(["exam", *words, "--out", str(tmp_path / "exam")]) == 2
    said = capsys.readouterr().err
    assert WRONG[words] in said and said.count("\n") == 1
    assert not (tmp_path / "exam").exists()


def test_the_same_numbers_from_one_worker_and_two_and_nothing_is_run_twice(tmp_path):
    only, made, before = ["steady", "policer"], [], []
    for jobs, folder in ((1, "a"), (2, "b"), (2, "b")):
        done = thalweg.exam("fixed", only=only, against=["vegas"], jobs=jobs, progress=False, out=tmp_path / folder)
        made.append(done.frame.write_csv())
        stamps = sorted((p.name, p.stat().st_mtime_ns) for p in (tmp_path / folder).glob("*/meta.json"))
        assert len(stamps) == 4
        if len(made) == 3:
            assert stamps == before
        before = stamps
    assert made[0] == made[1] == made[2]


def test_a_file_that_was_changed_is_run_again(tmp_path):
    text = Path(thalweg.__file__).with_name("examples").joinpath("aimd.py").read_text()
    file, folders = tmp_path / "mine.py", []
    for n, changed in enumerate((text, text, text + "# another\n")):
        file.write_text(changed.replace("python-aimd", "test-mine").replace("class Aimd", f"class Aimd{n}"))
        thalweg.exam(f"{file}:Aimd{n}", only=["incast"], against=[], progress=False, out=tmp_path / "exam")
        folders.append({p.parent for p in (tmp_path / "exam").glob("*/meta.json")})
    assert [len(f) for f in folders] == [1, 2, 3]  # the name of its class is in the file, too
    thalweg.exam(f"{file}:Aimd2", only=["incast"], against=[], progress=False, out=tmp_path / "exam")
    assert {p.parent for p in (tmp_path / "exam").glob("*/meta.json")} == folders[-1]


BASE = """
def half(window):
    return window / 2


class Base:
    def __init__(self, flow):
        self.window, self.mss = float(flow.initial_window), flow.mss

    def on_ack(self, ack):
        self.window += self.mss * ack.acked / self.window

    def on_loss(self, loss):
        self.window = max(half(self.window), self.mss)

    on_timeout = on_loss
"""


def test_a_controller_is_what_it_inherits_and_imports(tmp_path, monkeypatch):
    """What was made with other code is not used again, by sweeps either."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    file, base = tmp_path / "mine.py", tmp_path / "fingerprint_base.py"
    header = "import thalweg\nfrom fingerprint_base import Base\n"
    file.write_text(header + '@thalweg.controller("test-fp")\nclass Mine(Base):\n    """As it was."""\n')
    prints, digests, made = [], [], []
    for text in (BASE, BASE, BASE.replace("window / 2", "window / 50")):
        base.write_text(text)
        sys.modules.pop("fingerprint_base", None)
        importlib.invalidate_caches()
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        controllers.import_plugins(str(file))
        prints.append(controllers.fingerprint("test-fp"))
        scenario = chosen(["incast"])[0].scenario({"kind": "custom", "name": "test-fp"})
        runs = thalweg.sweep(scenario, {"seed": [1]}, out=tmp_path / "sweep", progress=False)
        digests += [r.digest for r in runs]
        made += [p.stat().st_mtime_ns for p in (tmp_path / "sweep").glob("*/meta.json")]
    assert prints[0] == prints[1] != prints[2] and digests[0] == digests[1] != digests[2]
    assert made[0] == made[1] != made[2]


def test_a_constant_of_another_file_counts(tmp_path, monkeypatch):
    """A number does not say which file it is from."""
    (tmp_path / "parts").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    mine = BASE.replace("class Base", "@thalweg.controller('test-fp2')\nclass Mine")
    late = "\n    def on_tick(self, now):\n        from parts import fp_late\n"
    (tmp_path / "mine.py").write_text("import thalweg\nfrom fp_gains import GAIN\n" + mine + late)
    prints = []
    for gain, late in ((1, 1), (1, 1), (2, 1), (2, 2)):
        (tmp_path / "fp_gains.py").write_text(f"GAIN = {gain}\n")
        (tmp_path / "parts" / "fp_late.py").write_text(f"LATE = {late}\n")
        sys.modules.pop("fp_gains", None)
        importlib.invalidate_caches()
        controllers.import_plugins(str(tmp_path / "mine.py"))
        prints.append(controllers.fingerprint("test-fp2"))
    assert prints[0] == prints[1] and len(set(prints)) == 3


class Late:
    """Two segments in flight until 18.6 of 20 seconds."""

    def __init__(self, flow):
        self.mss = flow.mss
        self.window = 2 * flow.mss

    def on_ack(self, ack):
        self.window = (2 if ack.now_ps < 18_600_000_000_000 else 200) * self.mss

    def on_loss(self, loss):
        pass

    on_timeout = on_loss


def test_what_does_not_last_for_three_windows_has_not_settled():
    thalweg.controller("test-late")(Late)
    found = thalweg.exam("test-late", only=["steady"], against=[], progress=False).frame
    assert found["settled_s"].to_list() == [float("inf")], found


def test_the_command_prints_a_table_and_writes_page_table_and_picture(tmp_path, capsys):
    out = tmp_path / "exam"
    words = ["exam", "vegas", "--only", "start-up", "--only", "incast", "--against", "fixed", "--out", str(out)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "start-up" in said and "vegas; bars: vegas, fixed" in said
    assert {p.name for p in out.iterdir() if p.is_file()} == {"thalweg.json", "vegas.csv", "vegas.html", "vegas.png"}
    whole = (out / "vegas.csv").read_bytes()
    assert main([*words[:2], *words[4:], "--quiet"]) == 0
    assert (out / "vegas.csv").read_bytes() == whole, "an exam of fewer situations has files of its own"
    assert (out / "vegas-incast.html").exists() and main([*words, "--quiet"]) == 0 and (out / "vegas.csv").exists()
    assert main([*words, "--json", "--no-report"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(r["situation"], r["controller"]) for r in rows[:2]] == [("start-up", "vegas"), ("start-up", "fixed")]
    assert main(["exam", "--list"]) == 0
    assert capsys.readouterr().out.count("\n") == len(all_situations())


def test_marks_are_those_that_are_kept_for_both_languages():
    """The crate's own tests hold the same file against the exam in Rust (`crates/exam/tests/all/exams.rs`)."""
    kept = pl.read_csv(Path(__file__).parents[2] / "crates" / "exam" / "tests" / "kept.csv", infer_schema_length=None)
    only = kept["situation"].unique().to_list()
    found = thalweg.exam("cubic", only=only, against=["bbr"], progress=False).frame
    assert found["failed"].null_count() == len(found) == 2 * len(only) >= 6
    names = ["situation", "controller", "utilisation", "delay_ms", "loss", "fairness", "share", "settled_s"]
    assert found.select(names).rows() == kept.select(names).rows(), "the same floats, to the last bit"


def test_columns_that_do_not_fit_together_are_refused():
    import numpy as np

    columns = {f"{t}.{name}": np.zeros(1, d) for t, of in COLUMNS.items() for name, d in of.items()}
    situation = asdict(all_situations()[0])
    marks, curves = _core.exam_marks(situation, columns, [0], 0.0)
    assert math.isnan(marks["loss"]) and len(np.frombuffer(curves["seconds"])) == 0
    columns["links.bytes"] = np.zeros(2, np.uint64)
    with pytest.raises(ValueError, match="different lengths"):
        _core.exam_marks(situation, columns, [0], 0.0)
    with pytest.raises(ValueError, match="settles by `nosuch`"):
        _core.exam_marks({**situation, "settles": "nosuch"}, columns, [0], 0.0)


def test_every_situation_has_what_it_looks_at():
    names = [s.name for s in all_situations()]
    assert len(names) >= 30 and len(set(names)) == len(names) and all(file_name(n) == n for n in names)
    for s in all_situations():
        scenario = s.scenario("cubic")  # raises if anything in it is wrong or has no effect
        assert s.from_ < float(scenario.to_dict()["run"]["until"].removesuffix("s"))
        assert s.settles in ("", "link", "share", "delay", "done")
    assert {s.name for s in chosen(["vs-*"])} == {n for n in names if n.startswith("vs-")}


def test_controllers_are_named_in_every_way():
    assert candidate("copa").spec == "copa"
    assert candidate(Silent).spec == {"kind": "custom", "name": "test-silent"} == candidate("test-silent").spec
    assert candidate({"kind": "copa", "delta": 0.1}).name == "copa(delta=0.1)"
    twice = thalweg.exam(
        "fixed", only=["incast"], against=["fixed"], set={"transport.initial_window": "2pkts"}, progress=False
    )
    assert isinstance(twice, Exam) and twice.names == ["fixed*", "fixed"]
    assert bars([0.0, 0.5, 1.0, math.nan, math.inf]) == "▁▅█·∞"
