"""One run on several threads: the same files, and what stays on one says why."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import thalweg
from thalweg import Scenario, ScenarioError
from thalweg.cli import main
from thalweg.errors import ControllerError

LEAVES = """
name = "leaves"
transport = { congestion = "dctcp" }
switch = { buffer = "100KB", marking = { kind = "step", threshold = "30KB" } }
[measure]
queues = { every = "20us" }
links = { every = "50us" }
controllers = { every = "30us" }
delays = true
decisions = true
round_trips = true
[topology]
kind = "leaf-spine"
leaves = 4
spines = 2
hosts_per_leaf = 4
host_rate = "10Gbps"
spine_rate = "10Gbps"
delay = "2us"
[[traffic]]
kind = "permutation"
size = "300KB"
jitter = "10us"
[[traffic]]
kind = "incast"
fan_in = 9
receiver = 0
size = "20KB"
"""


def files(folder: Path) -> dict[str, str]:
    """What a run has left, but for when and how it was made."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "meta.json"
    }


def test_every_file_is_the_same_on_any_number_of_threads(tmp_path):
    kept = {}
    for threads in (1, 2, 3, 4):
        run = thalweg.run(Scenario.from_toml(LEAVES), out=tmp_path / str(threads), progress=False, threads=threads)
        assert run.meta["threads"] == threads
        kept[threads] = files(tmp_path / str(threads))
    assert {"summary.json", "flows.parquet"} <= kept[1].keys()
    assert all(other == kept[1] for other in kept.values())


@pytest.mark.parametrize("scheme", ["roce+voq-pfc", "irn-dcqcn+pfc", "hpcc+voq", "roce+bfc"])
def test_remote_memory_access_and_its_pauses_are_the_same_too(tmp_path, scheme):
    """NICs pull packets from flows, switches write telemetry, and a pause in one part has its cause in another."""
    plain = LEAVES.replace('transport = { congestion = "dctcp" }\n', f'scheme = "{scheme}"\n')
    plain = plain.replace('switch = { buffer = "100KB", marking = { kind = "step", threshold = "30KB" } }\n', "")
    scenario = Scenario.from_toml(plain).with_({"measure.pauses": "pfc" in scheme, "traffic.1.size": "200KB"})
    kept = {}
    for threads in (1, 2, 4):
        run = thalweg.run(scenario, out=tmp_path / str(threads), progress=False, threads=threads)
        assert run.meta["threads"] == threads
        kept[threads] = files(tmp_path / str(threads))
    if scheme == "roce+voq-pfc":
        assert (run.tables["pauses"]["cause"].drop_nulls() >= 0).any()
    assert all(other == kept[1] for other in kept.values())


def test_a_run_that_ends_as_a_transmission_ends_is_the_same_too():
    """At 1 ms a port with a queue of flows has just become free, and nothing joins it at this instant."""
    fair = LEAVES.replace('transport = { congestion = "dctcp" }\n', 'scheme = "tcp+fq"\n')
    fair = fair.replace('switch = { buffer = "100KB", marking = { kind = "step", threshold = "30KB" } }\n', "")
    fair += """[[traffic]]
kind = "poisson"
load = 0.3
sizes = "web-search"
until = "1ms"
"""
    scenario = Scenario.from_toml(fair).with_({"run.until": "1ms"})
    one, two = (thalweg.run(scenario, progress=False, threads=threads) for threads in (1, 2))
    assert two.meta["threads"] == 2
    assert one.tables["ports"].equals(two.tables["ports"]) and one.summary == two.summary


AGENTS = """
scheme = "{scheme}"
topology = {{ kind = "leaf-spine", leaves = 3, spines = 2, hosts_per_leaf = 2, host_rate = "100Gbps", spine_rate = "100Gbps" }}
run = {{ until = "20ms" }}
[[traffic]]
kind = "all-to-all"
size = "{size}"
iterations = {iterations}
"""


@pytest.mark.parametrize(
    "scheme", ["rccc+spray", "uet+spray", "nscc+spray", "ndp+trim", "homa+spray", "homa+priorities"]
)
@pytest.mark.parametrize(("size", "iterations"), [("8KB", 1), ("60KB", 3)])
def test_hosts_agents_do_the_same_in_parts(scheme, size, iterations):
    """What an agent still does for flows that are over it does whenever the other end knows of that."""
    scenario = Scenario.from_toml(AGENTS.format(scheme=scheme, size=size, iterations=iterations))
    runs = [thalweg.run(scenario, progress=False, threads=threads) for threads in (1, 2, 3)]
    assert runs[0].meta["threads"] == 1 and all(r.meta["threads"] > 1 for r in runs[1:])
    assert len({r.digest for r in runs}) == 1


def test_a_run_that_was_stopped_goes_on_with_another_number_of_threads(tmp_path):
    scenario = Scenario.from_toml(LEAVES).with_({"traffic.0.size": "3MB"})
    straight = thalweg.run(scenario, progress=False, threads=1)
    for first, second in ((3, 1), (2, 4), (1, 2)):
        out = tmp_path / f"{first}-{second}"
        begun = thalweg.run(scenario, out=out, progress=False, threads=first, max_seconds=1e-3)
        assert begun.partial
        ended = thalweg.resume(out, progress=False, threads=second)
        assert not ended.partial and ended.digest == straight.digest
        # What was begun in parts stays in these, what was begun whole stays whole.
        assert ended.meta["threads"] == min(first, second)


def test_a_small_network_has_one_thread_unless_more_are_named():
    scenario = Scenario.from_toml(LEAVES)
    assert thalweg.run(scenario, progress=False).meta["threads"] == 1
    assert thalweg.run(scenario.with_({"run.threads": 2}), progress=False).meta["threads"] == 2


REASONS = {
    "limited": ("run.max_events", 1000, "the network cannot be divided: the run ends after a number of events"),
    "topology": ("topology.delay", "0us", "the network cannot be divided: no wire that takes time divides it"),
    "check": ("run.check", True, "`run.check` recounts the whole network"),
}


@pytest.mark.parametrize("what", REASONS)
def test_a_network_that_stays_whole_gives_its_reason(what, capfd):
    key, value, why = REASONS[what]
    plain = LEAVES.replace('transport = { congestion = "dctcp" }\n', "").replace(
        'switch = { buffer = "100KB", marking = { kind = "step", threshold = "30KB" } }\n', ""
    )
    scenario = Scenario.from_toml(plain).with_({key: value, "run.until": "100us"})
    run = thalweg.run(scenario, progress=False, threads=2)
    assert run.meta["threads"] == 1
    assert capfd.readouterr().err == f"thalweg: one thread instead of 2: {why}\n"
    with pytest.raises(ScenarioError, match=r"run\.threads.*cannot take effect") as refused:
        thalweg.run(scenario.with_({"run.threads": 2}), progress=False)
    assert why in str(refused.value)


def test_a_checked_or_whole_run_says_why_it_has_not_the_threads_of_its_scenario(tmp_path, capsys):
    """The scenario names them, and something else than the command takes them away."""
    scenario = Scenario.from_toml(LEAVES).with_({"run.threads": 2})
    checked = thalweg.run(scenario, progress=False, check=True)
    assert (checked.meta["threads"], checked.meta["one_thread"]) == (1, "`run.check` recounts the whole network")
    out = tmp_path / "run"
    begun = thalweg.run(scenario, out=out, progress=False, check=True, max_seconds=0)
    assert begun.partial
    ended = thalweg.resume(out, progress=False)
    assert ended.meta["one_thread"] == "`run.check` recounts the whole network"
    assert "one_thread" not in thalweg.run(scenario, progress=False).meta
    assert "one_thread" not in thalweg.run(scenario, progress=False, check=True, threads=1).meta
    file = tmp_path / "leaves.toml"
    file.write_text(scenario.to_toml())
    capsys.readouterr()
    assert main(["run", str(file), "--no-out", "--check"]) == 0
    assert (
        " on one thread (`run.threads` cannot take effect: `run.check` recounts the whole network), "
        in capsys.readouterr().out
    )


def test_the_command_names_its_threads(tmp_path, capsys):
    file = tmp_path / "leaves.toml"
    file.write_text(LEAVES)
    assert main(["run", str(file), "--no-out", "--threads", "2"]) == 0
    assert " on 2 threads, " in capsys.readouterr().out
    assert main(["run", str(file), "--no-out"]) == 0
    assert "threads" not in capsys.readouterr().out


def test_a_sweep_has_no_more_threads_than_cores(tmp_path, monkeypatch):
    from thalweg import pool

    given = []
    conclude = pool.conclude
    monkeypatch.setattr(pool, "conclude", lambda *a, **k: given.append(k["cores"]) or conclude(*a, **k))
    monkeypatch.setattr(pool._counts, "cores", lambda: 6)
    scenario = Scenario.from_toml(LEAVES)
    jobs = [pool.Job(str(n), scenario.with_({"seed": n}), tmp_path / str(n)) for n in (1, 2)]
    pool.perform_all(jobs, progress=False)
    assert given == [3, 3]
    made = []
    monkeypatch.setattr(pool, "ThreadPoolExecutor", lambda n, **k: made.append(n) or ThreadPoolExecutor(n, **k))
    jobs = [pool.Job(str(n), scenario.with_({"seed": n, "run.threads": 4}), tmp_path / str(n)) for n in (3, 4)]
    pool.perform_all(jobs, progress=False)
    assert made == [1] and given[2:] == [6, 6]


@pytest.fixture
def own():
    """A controller in Python that counts in its own attributes, and how often one was made."""
    made = []

    @thalweg.controller("own")
    class Own:
        def __init__(self, flow):
            made.append(flow.number)
            self.window, self.mss = flow.initial_window, flow.mss

        def on_ack(self, ack):
            self.window += self.mss * ack.acked // self.window

        def on_loss(self, loss):
            self.window = max(self.window // 2, 2 * self.mss)

        def on_timeout(self, loss):
            self.window = self.mss

        def on_tick(self, now): ...

    return made


OWN = LEAVES.replace('{ congestion = "dctcp" }', '{ congestion = { kind = "custom", name = "own" } }').replace(
    ', marking = { kind = "step", threshold = "30KB" }', ""
)


def test_controllers_in_python_are_called_from_any_thread(own, tmp_path):
    kept = {}
    for threads in (1, 2, 4):
        own.clear()
        run = thalweg.run(Scenario.from_toml(OWN), out=tmp_path / str(threads), progress=False, threads=threads)
        assert run.meta["threads"] == threads
        # One more is made before anything happens, to see whether it can be.
        assert sorted(own) == [0, *range(run.tables["flows"].height)]
        kept[threads] = files(tmp_path / str(threads))
    assert run.tables["ports"]["dropped"].sum() > 0 and all(other == kept[1] for other in kept.values())


def test_a_run_with_controllers_in_python_goes_on_with_another_number_of_threads(own, tmp_path):
    scenario = Scenario.from_toml(OWN)
    straight = thalweg.run(scenario, progress=False, threads=1)
    begun = thalweg.run(scenario, out=tmp_path / "r", progress=False, threads=3, max_seconds=1e-3)
    assert begun.partial
    ended = thalweg.resume(tmp_path / "r", progress=False, threads=2)
    assert not ended.partial and ended.digest == straight.digest


def test_what_a_controller_raises_in_any_thread_ends_the_run_and_the_first_is_named():
    @thalweg.controller("tired")
    class Tired:
        def __init__(self, flow):
            self.window, self.number = flow.initial_window, flow.number

        def on_ack(self, ack):
            if ack.now_ps > 150_000_000 + 1_000_000 * self.number:
                raise RuntimeError(f"flow {self.number} is tired")

        def on_loss(self, loss): ...
        def on_timeout(self, loss): ...
        def on_tick(self, now): ...

    scenario = Scenario.from_toml(OWN).with_({"transport.congestion.name": "tired"})
    seen = set()
    for threads in (1, 2, 4):
        with pytest.raises(ControllerError, match=r"`tired`, flow \d+, at .*: on_ack: RuntimeError") as e:
            thalweg.run(scenario, progress=False, threads=threads)
        seen.add((e.value.flow, e.value.now_ps))
    assert len(seen) == 1
