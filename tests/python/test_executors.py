"""Runs on other executors: the same files whatever makes them, and nothing lost with a worker."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import signal
import threading
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import thalweg
from conftest import LOAD, SCENARIO, SEED, contents, python_controller
from thalweg import engine, pool
from thalweg.cli.sweeping import write
from thalweg.executors import driving, tasks
from thalweg.results import Results
from thalweg.scenario import Scenario

# Of other packages they are theirs.
pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::FutureWarning")
OVER = {LOAD: [0.3, 0.6], SEED: [1, 2]}


@pytest.fixture
def short(scenario):
    return scenario.with_({"traffic.0.until": "5ms"})


@pytest.fixture
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool_:
        # Both processes are there. Its thread begins to wait before `submit` starts the second one: that this one has
        # died would be seen only when the first has a result.
        list(pool_.map(time.sleep, (0.2, 0.2)))
        yield pool_


def whole(scenario, over, folder: Path, draw: bool = False, **how) -> dict[str, bytes]:
    """A sweep with its table (and its figure, which takes seconds to draw), file by file."""
    runs = thalweg.sweep(scenario, over, out=folder, progress=False, **how)
    if draw:
        write(runs, [runs.metric], folder)
    return contents(folder) | {"sweep.csv": runs.frame.write_csv().encode()}


def test_local_dask_and_submitit_make_the_same_files(short, tmp_path, cluster):
    submitit = pytest.importorskip("submitit", reason="submitit is not installed: pip install 'thalweg[slurm]'")
    local = whole(short, OVER, tmp_path / "local", draw=True)
    assert {"sweep.csv", "sweep.svg", "sweep.json"} < local.keys() and len(local) > 4 * 4
    with cluster.get_executor() as executor:
        assert whole(short, OVER, tmp_path / "dask", draw=True, executor=executor) == local
    local = {name: data for name, data in local.items() if name == "sweep.csv" or "sweep." not in name}
    local["sweep.json"] = (tmp_path / "local" / "sweep.json").read_bytes()
    assert whole(short, OVER, tmp_path / "client", executor=cluster) == local
    executor = submitit.AutoExecutor(tmp_path / "jobs", cluster="local")
    assert whole(short, OVER, tmp_path / "submitit", executor=executor) == local


@pytest.fixture(scope="module")
def cluster():
    """Two processes with a thread each."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'thalweg[dask]'")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield client


def test_a_pool_of_processes_and_one_of_threads_make_the_same(short, tmp_path, processes):
    local = whole(short, OVER, tmp_path / "local")
    assert whole(short, OVER, tmp_path / "processes", executor=processes) == local
    with ThreadPoolExecutor(2) as threads:
        assert whole(short, OVER, tmp_path / "threads", executor=threads) == local
    digests = [r.digest for r in thalweg.sweep(short, OVER, progress=False)]
    kept_nowhere = thalweg.sweep(short, OVER, progress=False, executor=processes)
    assert [r.digest for r in kept_nowhere] == digests and kept_nowhere.flows.height > 0


# All of it by hand: THALWEG_RUNS=200 THALWEG_KILLS=10 pytest tests/python/test_executors.py -k random_kills
RUNS, KILLS = int(os.environ.get("THALWEG_RUNS", "10")), int(os.environ.get("THALWEG_KILLS", "3"))


def test_a_sweep_on_two_dask_workers_loses_nothing_under_random_kills(scenario, tmp_path, cluster):
    base = scenario.with_({"traffic.0.until": "150ms", "run.until": "200ms"})
    over = {SEED: range(RUNS)}
    local = whole(base, over, tmp_path / "local")
    chance, killed, made = random.Random(7), [], threading.Event()

    def kill():
        folder = tmp_path / "dask"
        while len(killed) < KILLS and not made.is_set():
            done = len(list(folder.glob("seed=*/meta.json")))
            # Spread over the sweep, and in the middle of runs.
            if done * (KILLS + 1) >= RUNS * len(killed):
                workers = {w["pid"] for w in cluster.scheduler_info(n_workers=-1)["workers"].values() if "pid" in w}
                workers = workers or set(cluster.run(os.getpid).values())
                victim = chance.choice(sorted(workers))
                time.sleep(chance.uniform(0.0, 0.1))
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
                # The process that replaces it must have come.
                until = time.monotonic() + 30
                while time.monotonic() < until and not made.is_set():
                    now = set(cluster.run(os.getpid, on_error="ignore").values())
                    if len(now) == 2 and victim not in now:
                        break
                    time.sleep(0.1)
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with cluster.get_executor() as executor:
            found = whole(base, over, tmp_path / "dask", executor=executor)
    finally:
        made.set()
        killer.join()
    assert len(killed) == KILLS
    assert found == local
    assert not list((tmp_path / "dask").glob(".*")), "what killed workers had begun stays behind"
    print(f"{RUNS} runs, {KILLS} kills: nothing lost")


# A dose of 13 ends the process as soon as a run with a dose of 2, which takes its time, is under way somewhere.
POISONED = """\
import os
import signal
import time
from pathlib import Path
import thalweg

READY, THERE = (Path(__file__).with_name(name) for name in ("ready", "there"))

@thalweg.controller("poisoned", params={"dose": 0})
class Poisoned:
    def __init__(self, flow):
        self.window, self.slow = flow.initial_window, flow.params["dose"] == 2 and flow.number == 0
        if flow.params["dose"] == 13:
            READY.touch()
            while not THERE.exists():
                time.sleep(0.01)
            os._exit(1)

    def on_ack(self, ack):
        if self.slow:
            while not READY.exists():
                time.sleep(0.01)
            if not THERE.exists():
                THERE.touch()
                signal.pause()  # until the pool, which the other's death breaks, ends this process, too
            self.slow = False

    def on_loss(self, loss): ...
    def on_timeout(self, loss): ...
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    from thalweg import controllers

    monkeypatch.setattr(controllers, "_IMPORTED", {})
    file = tmp_path / "poisoned.py"
    file.write_text(POISONED)
    controllers.import_plugins(str(file))
    return file


def poisoned(dose: int) -> dict:
    return {"transport.congestion": f'{{ kind = "custom", name = "poisoned", params = {{ dose = {dose} }} }}'}


def test_a_run_that_takes_its_worker_along_is_named_and_the_others_go_on(short, tmp_path, plugin, processes, capsys):
    over = {"variant": {f"dose {n}": poisoned(n) for n in (1, 13, 3)}}
    # This one is under way whenever the poisoned one is: it dies with it, until that one runs alone. Being recorded it
    # has a folder from its beginning, which the dead process leaves.
    over["variant"]["long"] = poisoned(2) | {"traffic.0.until": "20ms", "measure.packets": {}}
    # What is estimated to take longest begins first.
    over["variant"]["dose 13"] |= {"traffic.0.until": "10ms"}
    with pytest.raises(thalweg.ScenarioError) as e:
        thalweg.sweep(short, over, out=tmp_path / "s", progress=True, executor=processes)
    (line,) = str(e.value).splitlines()
    assert "dose-13" in line and "lost with its worker 4 times: BrokenProcessPool" in line and "same command" in line
    assert len(list((tmp_path / "s").glob("variant=*/meta.json"))) == 3
    assert not list((tmp_path / "s").glob(".*"))
    said = capsys.readouterr().err
    assert said.count("dose-13: lost with its worker") == 3 and "it is begun again" in said
    assert said.count("variant=long: lost with its worker") == 1
    with pytest.raises(thalweg.ScenarioError, match="the executor is broken"):
        thalweg.sweep(short, OVER, out=tmp_path / "t", progress=False, executor=_Broken())


class _Through(Executor):
    """Runs what it is given in this process, and changes it before."""

    def __init__(self, change=lambda task: task):
        self.change, self.inner, self.calls = change, ThreadPoolExecutor(1), 0

    def submit(self, function, task):
        self.calls += 1
        return self.inner.submit(function, self.change(pickle.loads(pickle.dumps(task))))


class _Broken(Executor):
    def submit(self, *_):
        from concurrent.futures import BrokenExecutor

        raise BrokenExecutor("gone")


class _LosesTheFirst(Executor):
    """The others end when the first is there again."""

    def __init__(self):
        self.inner, self.calls, self.again, self.waited = ThreadPoolExecutor(4), 0, threading.Event(), []

    def submit(self, function, task):
        self.calls += 1
        if self.calls == 1:
            return self.inner.submit(lambda: 1 // 0)
        if self.calls == 5:
            self.again.set()

        def wait():
            self.waited.append(self.again.wait(10))
            return function(task)

        return self.inner.submit(wait)


def test_a_lost_run_is_begun_again_while_the_others_go_on(short, tmp_path):
    executor = _LosesTheFirst()
    assert len(thalweg.sweep(short, OVER, out=tmp_path / "s", progress=False, executor=executor)) == 4
    assert executor.calls == 5 and executor.waited == [True] * 4


def test_a_worker_with_another_engine_refuses(short, tmp_path):
    other = _Through(lambda task: replace(task, engine="0123456789abcdef"))
    with pytest.raises(thalweg.ScenarioError) as e:
        thalweg.sweep(short, OVER, out=tmp_path / "s", progress=False, executor=other)
    line = str(e.value)
    assert "has another engine: " in line and "these runs are of 0123456789abcdef" in line and "\n" not in line
    assert "install the same thalweg there" in line
    # Also where a failed run is an answer like others.
    with pytest.raises(thalweg.ScenarioError, match="another engine"):
        pool.perform_all([pool.Job("a", short)], progress=False, keep_going=True, executor=other)
    assert not list((tmp_path / "s").glob("load*"))


def test_a_worker_that_does_not_see_the_folder_sends_its_results(short, tmp_path):
    local = whole(short, OVER, tmp_path / "local")
    far = _Through(lambda task: replace(task, sign=tmp_path / "elsewhere"))
    assert whole(short, OVER, tmp_path / "far", executor=far) == local
    recorded = short.with_({"measure.packets": {}})
    with pytest.raises(thalweg.ScenarioError, match=r"records packets, and the worker on .* does not see"):
        thalweg.sweep(recorded, OVER, out=tmp_path / "r", progress=False, executor=far)


def test_a_worker_with_other_files_refuses(tmp_path, plugin):
    (tmp_path / "sizes.cdf").write_text("1000 0.5\n2000 1.0\n")
    file = tmp_path / "tiny.toml"
    file.write_text(SCENARIO.replace('"heavy-tailed"', '{ kind = "file", file = "sizes.cdf" }'))
    scenario = Scenario.load(file, {"traffic.0.until": "1ms"})
    assert len(thalweg.sweep(scenario, {SEED: [1]}, progress=False, executor=_Through())) == 1

    def rewritten(task):
        (tmp_path / "sizes.cdf").write_text("1000 0.6\n2000 1.0\n")
        return task

    with pytest.raises(thalweg.ScenarioError, match=r"has another file `sizes.cdf`"):
        thalweg.sweep(scenario, {SEED: [1]}, progress=False, executor=_Through(rewritten))
    other = _Through(lambda task: replace(task, plugins={str(plugin): "0" * 64}))
    with pytest.raises(thalweg.ScenarioError, match=r"has another .*poisoned.py"):
        thalweg.sweep(scenario, {SEED: [1]}, progress=False, executor=other)


def test_what_is_complete_is_not_handed_over(short, tmp_path):
    first, again = _Through(), _Through()
    thalweg.sweep(short, OVER, out=tmp_path / "s", progress=False, executor=first)
    thalweg.sweep(short, {LOAD: [0.3, 0.6], SEED: [1, 2, 3]}, out=tmp_path / "s", progress=False, executor=again)
    assert (first.calls, again.calls) == (4, 2)
    assert not list((tmp_path / "s").glob(".*")), "the file that shows the folder stays behind"


def test_an_error_of_a_run_is_the_error_of_the_sweep_and_an_answer_of_a_study(short, tmp_path, plugin, processes):
    wrong = short.with_(python_controller("poisoned"))
    plugin.write_text(POISONED.replace("if self.slow:", "if 1 / 0:"))
    from thalweg import controllers

    controllers.import_plugins(str(plugin))
    with pytest.raises(thalweg.ControllerError, match="ZeroDivisionError"):
        thalweg.sweep(wrong, {SEED: [1, 2]}, progress=False, executor=processes)
    jobs = [pool.Job("good", short), pool.Job("bad", wrong)]
    found = pool.perform_all(jobs, progress=False, keep_going=True, executor=processes)
    assert isinstance(found["good"], Results) and "ZeroDivisionError" in str(found["bad"])


def test_replays_are_made_where_their_run_is(short, tmp_path, processes):
    def work(folder: Path) -> list[pool.Job]:
        replays = [pool.Replay("again", folder / "again")]
        recorded = short.with_({"traffic.0.until": "2ms", "measure.packets": {}, "switch.buffer": "unlimited"})
        return [pool.Job("run", recorded, folder / "run", replays=replays, keep_recording=False)]

    local = pool.perform_all(work(tmp_path / "local"), progress=False)
    there = pool.perform_all(work(tmp_path / "there"), progress=False, executor=processes)
    assert there.keys() == local.keys() == {"run", "again"}
    assert all(there[key].digest == local[key].digest for key in local)
    tables = lambda folder: {n: data for n, data in contents(folder).items() if n.endswith(".parquet")}  # noqa: E731
    assert tables(tmp_path / "there") == tables(tmp_path / "local")
    third = _Through()
    assert pool.perform_all(work(tmp_path / "there"), progress=False, executor=third).keys() == local.keys()
    assert third.calls == 0


def test_a_preempted_job_keeps_a_snapshot_and_goes_on_from_it(scenario, tmp_path):
    pytest.importorskip("submitit", reason="submitit is not installed: pip install 'thalweg[slurm]'")
    longer = scenario.with_({"traffic.0.until": "400ms", "run.until": "500ms"})
    straight = thalweg.run(longer, progress=False)
    (tmp_path / "s").mkdir()
    job = pool.Job("a", longer, tmp_path / "s" / "a")
    sign = tmp_path / "s" / ".sign"
    sign.touch()
    task = tasks.task_of(job, sign, False)
    perform, receipts = tasks.Perform(), []
    running = threading.Thread(target=lambda: receipts.append(perform(task)))
    running.start()
    while not hasattr(perform, "_thread") or perform._thread.ident not in engine._driving:
        time.sleep(0.001)
    again = perform.checkpoint(task)
    running.join()
    assert receipts[0].stopped and Results.load(job.out).partial
    receipt = again.function(*again.args)
    assert receipt.made == {"a": job.out} and not receipt.stopped
    assert Results.load(job.out).digest == straight.digest


def test_a_job_requests_the_memory_that_it_is_estimated_to_need(short, tmp_path):
    from thalweg.executors.slurm import gigabytes

    # 1.25 · 1 GiB and 0.75 GiB of interpreter make 2 GiB; a byte more makes four.
    assert [gigabytes(n << 30) for n in (0, 1, 2, 16)] == [1, 2, 4, 32]
    assert gigabytes((1 << 30) + 8) == 4


def test_memory_is_shared_out_among_dask_workers_that_declare_it(short, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'thalweg[dask]'")
    from thalweg.executors.dask import MEMORY, DaskWorkers

    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=4,
            processes=False,
            dashboard_address=":0",
            silence_logs=50,
            resources={MEMORY: 1e9},
        ) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        workers = DaskWorkers(client, None, force=False)
        job = pool.Job("large", short)
        job.memory = 2_000_000_000
        assert "it needs about 1.86 GiB of memory; the largest worker has" in str(workers.refusal(job))
        assert DaskWorkers(client, None, force=True).refusal(job) is None
        # Two of 0.6 GB do not fit at once: the second begins when the first has ended.
        sent = [replace(tasks.task_of(pool.Job(k, short), None, False), memory=600_000_000) for k in "ab"]
        futures = workers.submit(sent)
        assert all(f.result(60).made for f in futures)


def test_an_exam_on_an_executor(tmp_path):
    how = {"only": ["vs-mice"], "against": ["copa"], "progress": False}
    local, there = thalweg.exam("vegas", **how), _Through()
    assert thalweg.exam("vegas", **how, out=tmp_path / "e", executor=there).frame.equals(local.frame)
    assert there.calls == 2


def test_the_listing_of_a_slow_file_system_is_waited_for(short, tmp_path, monkeypatch):
    monkeypatch.setattr(driving, "APPEARS_WITHIN", 0.0)
    with pytest.raises(thalweg.ScenarioError, match="has written this run, and it is not seen here"):
        driving._arrived(tmp_path / "gone", "node7")
