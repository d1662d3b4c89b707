"""Python controllers that are wrong: each ends with one line that names controller, flow and instant, and
exit code 2."""

import collections
import copy
import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

import thalweg
from conftest import LONG, python_controller
from thalweg import _core, controllers, pool
from thalweg.errors import ControllerError


class Base:
    def __init__(self, flow):
        self.window = flow.initial_window

    def on_ack(self, ack): ...
    def on_loss(self, loss): ...
    def on_timeout(self, loss): ...
    def on_tick(self, now): ...


@pytest.fixture
def default_signals():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def sets(name, **more):
    return [a for k, v in {**python_controller(name), **more}.items() for a in ("--set", f"{k}={v}")]


def leaves(self):
    sys.exit()


def becomes(**attributes):
    return lambda self: vars(self).update(attributes)


WRONG = {
    "sys.exit": (leaves, r"test_controller_errors.py:\d+: {who}: on_ack: called sys.exit\(\)"),
    "raises": (
        lambda self: 1 / 0,
        r"test_controller_errors.py:\d+: {who}: on_ack: ZeroDivisionError: division by zero",
    ),
    "nan": (becomes(window=float("nan")), r"^{who}: on_ack: `window` is nan \(float\), not a number of bytes"),
    "below zero": (becomes(window=-1), r"^{who}: on_ack: `window` is -1 \(int\)"),
    "text": (becomes(window="ten"), r"^{who}: on_ack: `window` is 'ten' \(str\)"),
    "past": (becomes(wake_ps=-5), r"^{who}: on_ack: `wake_ps` is -5 \(int\), not a whole number of picoseconds"),
    "too late": (becomes(wake_ps=7), r"^{who}: on_ack: `wake_ps` is 7 \(int\), not at or after \d+"),
    "fraction": (becomes(wake_ps=1e15), r"^{who}: on_ack: `wake_ps` is 1000000000000000.0 \(float\)"),
    "pace 0": (becomes(pace=0), r"^{who}: on_ack: `pace` is 0 \(int\), not a number of bit/s from 1 on, or None"),
    "pace 0.3": (becomes(pace=0.3), r"^{who}: on_ack: `pace` is 0.3"),
    "pace inf": (becomes(pace=float("inf")), r"^{who}: on_ack: `pace` is inf"),
    "long": (becomes(window="x\n" * 500), r"^{who}: on_ack: `window` is 'x.{{60,90}} \(str\)"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_goes_wrong_in_a_callback_names_controller_flow_and_instant(case, cli, file, tmp_path):
    act, expected = WRONG[case]

    @thalweg.controller("wrong")
    class Wrong(Base):
        wake_ps = pace = None
        acks = 0

        def on_ack(self, ack):
            Wrong.acks += 1
            act(self)

    said = cli("run", file, "--quiet", "--out", "r", *sets("wrong"))
    assert said.code == 2 and said.out == "" and said.err.count("\n") == 1, said
    who = r"controller `wrong`, flow \d+, at [\d.]+ [mun]?s"
    assert re.search(expected.format(who=who), said.err), said.err
    assert Wrong.acks == 1, "Python is called again after its failure"
    assert not (tmp_path / "r").exists()


def test_a_tick_must_name_a_later_one(scenario):
    @thalweg.controller("stuck")
    class Stuck(Base):
        wake_ps = None

        def on_ack(self, ack):
            self.wake_ps = ack.now_ps

    with pytest.raises(ControllerError, match=r"on_tick: `wake_ps` is \d+ \(int\), not at or after") as e:
        thalweg.run(scenario.with_(python_controller("stuck")))
    assert (e.value.controller, type(e.value.flow)) == ("stuck", int) and e.value.now_ps > 0

    @thalweg.controller("early")
    class Early(Base):
        wake_ps = 5

    with pytest.raises(ControllerError, match=r"`early`, flow 0, at its start: .*does not know the time"):
        thalweg.run(scenario.with_(python_controller("early")))


def test_one_that_cannot_be_made_for_a_later_flow_is_no_panic(scenario):
    @thalweg.controller("picky")
    class Picky(Base):
        def __init__(self, flow):
            super().__init__(flow)
            if flow.number >= 3:
                raise RuntimeError("three are enough")

    with pytest.raises(
        ControllerError, match=r"controller `picky`, flow \d+, at its start: __init__: RuntimeError: three"
    ) as e:
        thalweg.run(scenario.with_(python_controller("picky")))
    assert e.value.flow >= 3 and isinstance(e.value.__cause__, RuntimeError)


UNSAVABLE = {
    "a lock": (threading.Lock, "`x` is a lock"),
    "a set": (lambda: {1}, "`x` is a set"),
    "an object": (lambda: [0, object()], r"`x\[1\]` is a object"),
    "a function in a table": (lambda: {"a": print}, r"`x\['a'\]` is a builtin_function_or_method"),
}


@pytest.mark.parametrize("case", UNSAVABLE)
def test_what_cannot_be_saved_is_told_before_the_run(case, scenario):
    value, expected = UNSAVABLE[case]

    @thalweg.controller("unsavable")
    class Unsavable(Base):
        def __init__(self, flow):
            super().__init__(flow)
            self.x = value()

    with pytest.raises(
        ControllerError, match=f"`unsavable`, flow 0, at its start.*the attribute {expected}, which cannot"
    ):
        thalweg.run(scenario.with_(python_controller("unsavable")))


def test_one_that_becomes_unsavable_costs_the_snapshot_only(cli, file, tmp_path):
    @thalweg.controller("late")
    class Late(Base):
        def on_ack(self, ack):
            self.log = print

    said = cli("run", file, "--out", "r", "--max-seconds", "0.01", *sets("late", **LONG))
    assert said.code == 0 and "cannot be continued: controller `late`, flow" in said.err, said
    assert thalweg.Results.load(tmp_path / "r").partial
    again = cli("run", "--resume", "r")
    assert again.code == 2 and "`log` is a builtin_function_or_method" in again.err and again.err.count("\n") == 1


def test_the_state_is_plain_values_that_come_back_the_same():
    class Rich(Base):
        __slots__ = ("slot",)

    rich = Rich.__new__(Rich)
    flow = _core.Flow(7, 1460, 1, 2, 3, 4, {"gain": 0.5})
    rich.window, rich.none, rich.inf, rich.big, rich.flag = 1.5, None, float("inf"), 1 << 90, True
    rich.list, rich.tuple, rich.table = [1, [2.0]], (1, (2,)), {"a": 1, 2: "b", (3, "c"): {"tuple": []}}
    rich.deque, rich.random, rich.flow, rich.slot = collections.deque([1, 2], 5), random.Random(3), flow, "s"
    saved = controllers.save_state(rich, 7)
    assert json.loads(saved)["flow"] == 7
    back, number = controllers.load_state(Rich, saved)
    assert number == 7 and back.slot == "s"
    for name, value in vars(rich).items():
        if name not in ("random", "flow"):
            assert getattr(back, name) == value and type(getattr(back, name)) is type(value), name
    assert back.random.random() == rich.random.random() and back.deque.maxlen == 5
    assert (back.flow.number, back.flow.mss, back.flow.params) == (7, 1460, {"gain": 0.5})
    rich.again = rich.list
    with pytest.raises(TypeError, match="`list` and `again` are one list"):
        controllers.save_state(rich)


class Evil:
    def __reduce__(self):
        return os.mkdir, ("pwned",)


def test_a_snapshot_executes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for saved in (
        pickle.dumps({"window": Evil()}),
        b"",
        b"[]",
        b'{"version":1,"flow":0,"state":{"evil":1}}',
        b'{"version":1,"flow":0,"state":[1]}',
        b'{"version":1,"flow":"0","state":{"dict":[]}}',
        b'{"version":1,"flow":0,"state":{"dict":[[[1],2]]}}',
        b'{"version":1,"flow":0,"state":' + b'{"tuple":' * 5000,
    ):
        with pytest.raises(ValueError, match="cannot be read"):
            controllers.load_state(Base, saved)
    assert not (tmp_path / "pwned").exists()


def test_parameters_are_declared_and_others_refused(cli, file, scenario):
    seen = []

    @thalweg.controller("tuned", params={"gain": 0.5, "mode": "slow"})
    class Tuned(Base):
        def __init__(self, flow):
            super().__init__(flow)
            seen.append(flow.params)

    def with_params(text):
        return {"transport.congestion": f'{{ kind = "custom", name = "tuned", params = {text} }}'}

    thalweg.run(scenario.with_(with_params("{ gain = 2 }")))
    assert seen[0] == {"gain": 2, "mode": "slow"}
    for text, expected in {
        "{ gian = 2 }": "`transport.congestion.params.gian`: the controller `tuned` declares no parameter `gian`; did you mean `gain`",
        "7": "`transport.congestion.params`: it is not a table of parameters",
        '{ gain = "2" }': "`params.gain` is '2': a text, where the default 0.5 is a number",
    }.items():
        (setting,) = (f"{k}={v}" for k, v in with_params(text).items())
        said = cli("run", file, "--set", setting, "--quiet")
        assert said.code == 2 and expected in said.err and said.err.count("\n") == 1, said
    thalweg.controller("plain")(type("Plain", (Base,), {}))
    with pytest.raises(thalweg.ScenarioError, match="it takes none"):
        scenario.with_({"transport.congestion": '{ kind = "custom", name = "plain", params = { a = 1 } }'})
    with pytest.raises(TypeError, match="no scenario can write"):
        thalweg.controller("bad", params={"f": print})
    with pytest.raises(TypeError, match="needs a name"):
        thalweg.controller(Base)


DATES = ["1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00.5+01:00"]


@pytest.mark.parametrize("date", DATES)
def test_a_date_among_parameters_is_refused_by_its_line(scenario, tmp_path, date):
    thalweg.controller("dated", params={"x": None})(type("Dated", (Base,), {}))
    reason = "a date is not a value of any key; write it in quotes to make it a string"
    written = """# 1979-05-27, 07:32:00
name = "of 1979-05-27T07:32:00Z"
topology = { kind = "star", hosts = 2 }
traffic = [{ kind = "flow", src = 0, dst = 1, size = "1KB" }]
run = { until = "1ms" }
[transport.congestion]
kind = "custom"
name = "dated"
params = { x = VALUE }
"""
    for value, key in ((date, "x"), (f"[1, {date}]", "x.1"), (f"{{ a = {date} }}", "x.a")):
        text = written.replace("VALUE", value)
        (tmp_path / "dated.toml").write_text(text)
        with pytest.raises(thalweg.ScenarioError) as e:
            thalweg.Scenario.load(tmp_path / "dated.toml")
        assert str(e.value) == f"{tmp_path}/dated.toml:9: `transport.congestion.params.{key}`: {reason}"
        # What is changed is not there any more.
        changed = thalweg.Scenario.from_toml(text, {"transport.congestion.params.x": 3})
        assert changed.to_dict()["transport"]["congestion"]["params"] == {"x": 3}
    quoted = thalweg.Scenario.from_toml(written.replace("VALUE", f'"{date}"'))
    assert quoted.to_dict()["transport"]["congestion"]["params"] == {"x": date}
    with pytest.raises(thalweg.ScenarioError, match=f"^--set transport.congestion.params.x: .*: {reason}"):
        quoted.with_({"transport.congestion.params.x": date})


def test_one_that_wants_ecn_gets_it_unless_told_otherwise(scenario):
    marked = []

    @thalweg.controller("marked", ecn=True)
    class Marked(Base):
        def on_ack(self, ack):
            marked.append(ack.marked)

    marking = {"switch.marking": '{ kind = "step", threshold = "2pkts" }'}
    mine = scenario.with_(marking | python_controller("marked"))
    assert mine.to_dict()["transport"]["ecn"] == "accurate"
    thalweg.run(mine)
    assert sum(marked) > 0
    off = mine.with_({"transport.ecn": "off"})
    assert off.to_dict()["transport"]["ecn"] == "off"
    with pytest.raises(thalweg.ScenarioError, match="wants ECN marks, but no queue marks packets"):
        scenario.with_(python_controller("marked"))
    scenario.with_(python_controller("marked") | {"transport.ecn": "off"})


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


CALLS = {
    "copy": (lambda: copy.deepcopy(threading.Lock()), "TypeError: cannot pickle"),
    "json": (lambda: json.dumps(object()), "TypeError: Object of type object"),
    "thalweg": (lambda: thalweg.Scenario.load("nowhere.toml"), "nowhere.toml: no such file"),
    "an exception without text": (lambda: raises(Mute()), r"Mute: \(its text cannot be shown: __str__ raises Runtime"),
    "an exit without text": (lambda: sys.exit(Mute()), r"called sys.exit\(…\), whose argument cannot be shown"),
}
HERE = re.escape(__file__)


def raises(e):
    raise e


@pytest.mark.parametrize("case", CALLS)
def test_the_line_named_is_the_controllers_and_not_of_what_it_calls(case, scenario, cli):
    call, said = CALLS[case]

    @thalweg.controller("calls")
    class Calls(Base):
        def on_ack(self, ack):
            call()

    lines = {call.__code__.co_firstlineno, raises.__code__.co_firstlineno + 1}
    with pytest.raises(
        ControllerError, match=rf"^{HERE}:\d+: controller `calls`, flow \d+, at .*: on_ack: {said}"
    ) as e:
        thalweg.run(scenario.with_(python_controller("calls")))
    assert int(str(e.value).removeprefix(f"{__file__}:").split(":")[0]) in lines
    listed = cli("list", "controllers")
    assert listed.code == 0 and "calls" in listed.out


def test_what_an_example_raises_is_at_its_line():
    from thalweg.examples.aimd import Aimd

    with pytest.raises(AttributeError) as e:
        Aimd(None)
    error = controllers.failure("python-aimd", 1, None, "__init__", e.value)
    assert re.match(r"\S+/examples/aimd.py:\d+: controller `python-aimd`, flow 1, at its start: ", str(error)), error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class Mute(Exception):\n    def __str__(self): 1 / 0\nraise Mute\n", "mine.py:3: Mute: (its text cannot be"),
        ("import json\njson.loads('{')\n", "mine.py:2: JSONDecodeError: Expecting"),
        ("import thalweg\nthalweg.Scenario.load('no.toml')\n", "mine.py:2: no.toml: no such file"),
        ("import sys\nclass Mute:\n    def __repr__(self): 1 / 0\nsys.exit(Mute())\n", "mine.py: called sys.exit(…)"),
        ("def f(:\n", "mine.py: SyntaxError: invalid syntax"),
    ],
)
def test_what_a_file_raises_while_it_is_imported_is_at_its_line(cli, file, tmp_path, text, said):
    (tmp_path / "mine.py").write_text(text)
    found = cli("run", file, "--import", "mine.py")
    assert found.code == 2 and found.err.startswith(said) and found.err.count("\n") == 1, found


def press(times, ready, pause=0.15):
    """Ctrl-C so many times, the first as soon as it is `ready`."""

    def run():
        while not ready():
            time.sleep(0.001)
        for _ in range(times):
            time.sleep(pause)  # one signal is lost in another that has not been handled
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=run).start()


def test_the_second_ctrl_c_gets_out_of_a_callback_that_never_returns(scenario, tmp_path, default_signals):
    @thalweg.controller("loops")
    class Loops(Base):
        inside, on = set(), True

        def on_ack(self, ack):
            Loops.inside.add(threading.get_ident())
            while Loops.on:
                pass

    line = rf"(?:{(first := Loops.on_ack.__code__.co_firstlineno + 2)}|{first + 1})"
    mine = scenario.with_(python_controller("loops"))
    try:
        press(2, lambda: len(Loops.inside) == 1)
        with pytest.raises(
            thalweg.Interrupted, match=rf"^{HERE}:{line}: controller `loops`, flow \d+, at .*: interrupted in on_ack"
        ) as e:
            thalweg.run(mine, out=tmp_path / "r")
        assert e.value.results is None and list(tmp_path.iterdir()) == []
        # In threads, which no signal reaches.
        Loops.inside.clear()
        press(2, lambda: len(Loops.inside) == 2)
        with pytest.raises(thalweg.Interrupted):
            pool.perform_all([pool.Job("a", mine), pool.Job("b", mine)], 2)
    finally:
        Loops.on = False


NEVER_MADE = """
import os, signal, sys, time

signal.signal(signal.SIGINT, signal.default_int_handler)
import thalweg
from thalweg import _core

@thalweg.controller("never-made")
class NeverMade:
    on_ack = on_loss = on_timeout = lambda self, given: None

    def __init__(self, flow):
        os.kill(os.getpid(), signal.SIGINT)
        {waits}

text = '''
topology = {{ kind = "star", hosts = 4 }}
transport.congestion = {{ kind = "custom", name = "never-made" }}
run = {{ until = "1ms" }}
traffic = [{{ kind = "incast", fan_in = 3, receiver = 0, size = "20000B" }}]
'''
def scenario(seed):
    return thalweg.Scenario(text + f"seed = {{seed}}", "s.toml", ".")

try:
    {does}
except KeyboardInterrupt as e:
    assert "interrupted in __init__" in str(e), e
else:
    sys.exit("not interrupted")
"""
LOADING = {
    "comparing two runs": "_core.diff(scenario(1)._core, scenario(2)._core)",
    "the start of an episode": "_core.Start.of(scenario(1)._core)",
    "a run": "_core.Simulation(scenario(1)._core).step(1000)",
}


@pytest.mark.parametrize("waits", ["time.sleep(3600)", "while True: pass"])
@pytest.mark.parametrize("does", LOADING)
def test_ctrl_c_in_an_init_that_never_returns_ends_it_and_the_process_ends_well(waits, does):
    """The thread that loads is left behind: were it inside the interpreter, its end would abort the process."""
    code = NEVER_MADE.format(waits=waits, does=LOADING[does])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done
