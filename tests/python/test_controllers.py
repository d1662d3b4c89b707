"""Congestion controllers written in Python."""

import os
import signal
from typing import ClassVar

import pytest

import thalweg
from conftest import python_controller
from thalweg import _core, controllers
from thalweg.examples import aimd
from thalweg.examples import hpcc as python_hpcc


class Base:
    def __init__(self, flow):
        self.window = flow.initial_window

    def on_ack(self, ack): ...
    def on_loss(self, loss): ...
    def on_timeout(self, loss): ...


def test_the_example_runs_in_a_scenario_and_reports_its_cost(scenario):
    mine = scenario.with_(python_controller(aimd.Aimd.thalweg_name))
    results = thalweg.run(mine)
    assert results.digest == thalweg.run(mine).digest != thalweg.run(scenario).digest
    cost = results.meta["python_controllers"]["python-aimd"]
    assert cost["acks"] > 0 and 0 < cost["ns_per_ack"] < 1e6


def test_the_example_is_twenty_lines():
    from inspect import getsource

    lines = [line for line in getsource(aimd.Aimd).splitlines() if line.strip()]
    assert len(lines) <= 20


def test_its_state_is_data(scenario):
    mine = scenario.with_(python_controller("python-aimd"))
    straight = thalweg.run(mine)
    simulation = _core.Simulation(mine._core)
    simulation.step(50_000)
    again = _core.Simulation.load(simulation.save())
    while again.step(10_000):
        pass
    assert f"{again.digest():016x}" == straight.digest


def test_ctrl_c_inside_a_controller_spoils_nothing(scenario, tmp_path):
    # Tests that run in the background have the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _ctrl_c_inside_a_controller(scenario, tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)


def _ctrl_c_inside_a_controller(scenario, tmp_path):
    class Counted(Base):
        kill = False

        def on_ack(self, ack):
            self.window += 1
            if Counted.kill:
                Counted.kill = False
                os.kill(os.getpid(), signal.SIGINT)
            self.window += 1

    thalweg.controller("counted")(Counted)
    mine = scenario.with_({"traffic.0.until": "200ms", "run.until": "300ms"}).with_(python_controller("counted"))
    straight = thalweg.run(mine)
    Counted.kill = True
    with pytest.raises(thalweg.Interrupted):
        thalweg.run(mine, out=tmp_path / "r")
    assert thalweg.Results.load(tmp_path / "r").partial
    assert thalweg.resume(tmp_path / "r").digest == straight.digest


def test_it_is_listed_with_its_cost(cli):
    said = cli("list", "controllers", "--import", "thalweg.examples.aimd")
    (line,) = [x for x in said.out.splitlines() if x.startswith("python-aimd")]
    assert "ns per ACK" in line


def test_an_exception_in_it_ends_the_run_as_itself(scenario, tmp_path, cli, file):
    @thalweg.controller("raises")
    class Raises(Base):
        def on_ack(self, ack):
            raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        thalweg.run(scenario.with_(python_controller("raises")))
    arguments = [a for k, v in python_controller("raises").items() for a in ("--set", f"{k}={v}")]
    said = cli("run", file, "--quiet", *arguments)
    assert said.code == 2 and "RuntimeError: not today" in said.err and "test_controllers.py" in said.err


@pytest.mark.parametrize("window", [float("nan"), -1, "ten", None])
def test_a_window_that_is_none_is_refused(scenario, window):
    @thalweg.controller("bad-window")
    class Bad(Base):
        def on_ack(self, ack):
            self.window = window

    with pytest.raises(thalweg.ControllerError, match="bad-window"):
        thalweg.run(scenario.with_(python_controller("bad-window")))


def test_a_pace_and_a_wake_up_count_from_the_call_that_first_sets_them(scenario):
    ticks = []

    @thalweg.controller("late")
    class Late(Base):
        def on_ack(self, ack):
            self.pace, self.wake_ps = 2e6, ack.now_ps + 1_000_000

        def on_tick(self, now_ps):
            ticks.append(now_ps)
            self.wake_ps = None

    @thalweg.controller("early")
    class Early(Late):
        pace = wake_ps = None

    late, early = (thalweg.run(scenario.with_(python_controller(name)), progress=False) for name in ("late", "early"))
    assert late.digest == early.digest and ticks

    @thalweg.controller("no-pace")
    class NoPace(Base):
        def on_ack(self, ack):
            self.pace = 0

    with pytest.raises(thalweg.ControllerError, match="pace"):
        thalweg.run(scenario.with_(python_controller("no-pace")))


def test_a_window_without_limit_sends_what_a_connection_can_number(scenario):
    @thalweg.controller("endless-window")
    class Endless(Base):
        def on_ack(self, ack):
            self.window = float("inf")

    run = thalweg.run(scenario.with_(python_controller("endless-window")), progress=False)
    assert run.summary["measured"]["completed"]


def test_a_class_without_the_required_methods_is_refused():
    with pytest.raises(TypeError, match="on_loss"):

        @thalweg.controller("half")
        class Half:
            def on_ack(self, ack): ...


def test_permit_may_be_a_method_and_slots_are_saved(scenario):
    @thalweg.controller("slotted")
    class Slotted:
        __slots__ = ("acks",)

        def __init__(self, flow):
            self.acks = 0
            assert flow.mss > 0 and flow.base_rtt_ps > 0 and isinstance(flow.params, dict)

        def on_ack(self, ack):
            self.acks += 1
            assert ack.now_ps >= 0

        def on_loss(self, loss): ...
        def on_timeout(self, loss): ...
        def permit(self):
            return (14_600 + self.acks, 1e9, None)

    one = thalweg.run(scenario.with_(python_controller("slotted")))
    simulation = _core.Simulation(scenario.with_(python_controller("slotted"))._core)
    simulation.step(50_000)
    again = _core.Simulation.load(simulation.save())
    while again.step(100_000):
        pass
    assert f"{again.digest():016x}" == one.digest


def test_a_dict_of_attributes_survives():
    one = Base.__new__(Base)
    one.window, one.more = 3, {"a": [1]}
    two, _ = controllers.load_state(Base, controllers.save_state(one))
    assert vars(two) == vars(one)


@pytest.fixture
def hpcc(tmp_path):
    path = tmp_path / "hpcc.toml"
    path.write_text(
        'name = "hpcc"\nscheme = "hpcc+voq"\n'
        'topology = { kind = "star", hosts = 6, rate = "10Gbps", delay = "2us" }\n'
        'traffic = [{ kind = "incast", fan_in = 4, size = "300KB" }]\n'
    )
    return thalweg.Scenario.load(path)


def test_a_controller_reads_what_switches_write_and_is_hpcc_then(hpcc):
    """The published algorithm in Python, bit for bit what the built-in does with the same T."""
    mine = hpcc.with_({"transport.congestion": {"kind": "custom", "name": python_hpcc.Hpcc.thalweg_name}})
    assert mine.to_dict()["transport"]["telemetry"] == "42B", "room in the headers, as for HPCC"
    assert thalweg.run(mine).digest == thalweg.run(hpcc).digest


def test_who_does_not_ask_for_telemetry_is_told_none(hpcc):
    told = []

    @thalweg.controller("told-nothing")
    class Told(Base):
        def on_ack(self, ack):
            told.append(ack.telemetry)

    thalweg.run(hpcc.with_({"transport.congestion": {"kind": "custom", "name": "told-nothing"}}))
    assert told and set(told) == {None}


@pytest.fixture
def columns(scenario):
    """A scenario whose flows run a controller that has columns of its own, sampled every 100 us."""

    @controllers.controller("with-columns")
    class Counts(Base):
        columns: ClassVar = {"acks": ("", "ACKs so far"), "rtt_us": ("us", "the last round trip; null: none yet")}

        def __init__(self, flow):
            super().__init__(flow)
            self.acks, self.rtt_us = 0, None

        def on_ack(self, ack):
            self.acks += 1
            self.rtt_us = ack.rtt_ps and ack.rtt_ps * 1e-6

    sampled = {"measure.controllers": {"every": "100us"}}
    return scenario.with_(python_controller("with-columns") | sampled)


def test_what_a_class_declares_is_a_column(columns):
    results = thalweg.run(columns, progress=False)
    table = results.tables["controllers"].sort("time_ps")
    of = {name: (unit, doc) for name, unit, doc in results.columns("controllers")}
    assert of["acks"] == ("", "ACKs so far") and of["rtt_us"][0] == "us"
    acks = table.filter(table["flow"] == table["flow"][0])["acks"].to_list()
    assert len(acks) > 1 and acks == sorted(acks) and acks[-1] > acks[0]
    assert table["rtt_us"].max() > 0


def test_a_column_that_is_no_number_ends_the_run(columns):
    @controllers.controller("with-columns")
    class Words(Base):
        columns: ClassVar = {"mood": ("", "")}
        mood = "fine"

    with pytest.raises(thalweg.ControllerError, match=r"column `mood` is 'fine' .*, not a number or None"):
        thalweg.run(columns, progress=False)


@thalweg.controller("test-newreno")
class NewReno:
    """The built-in one, number by number (RFC 5681, RFC 6582)."""

    def __init__(self, flow):
        self.mss, self.most = flow.mss, max(flow.max_window, flow.mss)
        self.window = min(max(flow.initial_window, flow.mss), self.most)
        self.threshold = flow.initial_threshold
        self.credit = self.cut_to = self.timed_out = 0

    def halve(self, flight):
        self.threshold, self.credit = max(min(flight, self.window) // 2, 2 * self.mss), 0

    def on_ack(self, ack):
        if ack.in_recovery or ack.marked or not ack.cwnd_limited:
            return
        if self.threshold is None or self.window < self.threshold:
            self.window += min(ack.acked, self.mss)
        else:
            before = self.window
            self.credit += self.mss * min(ack.acked, before)
            self.window += self.credit // before
            self.credit %= self.window
        self.window = min(self.window, self.most)

    def on_loss(self, loss):
        if loss.acked_to >= self.cut_to:
            self.halve(loss.in_flight)
            self.window, self.cut_to = min(self.threshold, self.most), loss.sent_to

    def on_timeout(self, loss):
        if self.timed_out != loss.acked_to + 1:
            self.halve(loss.in_flight)
        self.timed_out, self.window, self.cut_to = loss.acked_to + 1, self.mss, loss.sent_to

    def restart_from(self, left):
        _, window, keeps_threshold = left
        if keeps_threshold and self.threshold is not None:
            self.threshold = max(self.threshold, self.window // 4 * 3)
        self.window, self.credit = max(min(self.window, window), self.mss), 0


@thalweg.controller("test-silent-restarts")
class NoRestarts:
    """It has no `restart_from`."""

    __init__, on_ack, on_loss, on_timeout = NewReno.__init__, NewReno.on_ack, NewReno.on_loss, NewReno.on_timeout


PATH = {"kind": "dumbbell", "pairs": 1, "bottleneck_rate": "20Mbps", "host_rate": "1Gbps", "base_rtt": "20ms"}
WRITES = {"writes": {"first": "150KB", "chunk": "150KB", "every": "1s"}}


def run_newreno(congestion, endless, **transport):
    flow = {"kind": "backlogged"} if endless else {"kind": "flow", "size": "500KB"}
    about = {
        "topology": PATH, "switch": {"buffer": "40pkts"}, "transport": {"congestion": congestion, **transport},
        "traffic": [flow | {"src": 0, "dst": 1}], "run": {"until": "8s"},
    }  # fmt: skip
    return thalweg.run(about, progress=False)


@pytest.mark.parametrize(
    "transport",
    [
        {},
        WRITES | {"restart": "rfc5681"},
        WRITES | {"restart": "linux"},
        {"initial_threshold": "20pkts"},
        {"pacing": True},
    ],
)
def test_what_a_transport_does_to_windows_it_does_to_a_users(transport):
    ours = {"kind": "custom", "name": "test-newreno"}
    endless = "writes" in transport or "pacing" in transport
    built_in, python = (run_newreno(c, endless, **transport) for c in ("newreno", ours))
    assert python.digest == built_in.digest
    plain = WRITES | {"restart": "keep"} if "writes" in transport else {}
    assert not transport or run_newreno(ours, endless, **plain).digest != python.digest, "the key does something"


def test_a_restart_without_effect_is_refused():
    with pytest.raises(thalweg.ScenarioError, match=r"transport\.restart.*no effect"):
        run_newreno({"kind": "custom", "name": "test-silent-restarts"}, True, **WRITES, restart="linux")


def test_a_threshold_that_is_none_is_refused():
    @thalweg.controller("test-odd-threshold")
    class Odd(NewReno):
        def __init__(self, flow):
            super().__init__(flow)
            self.threshold = "low"

    with pytest.raises(thalweg.ControllerError, match=r"`threshold` is 'low'.*slow-start"):
        run_newreno({"kind": "custom", "name": "test-odd-threshold"}, False)
