"""`quic`, `attach`: real connections under the controllers of simulations."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from thalweg import _core, _format
from thalweg.cli import OK, say
from thalweg.cli.running import load_plugins
from thalweg.errors import ScenarioError, refuse

if TYPE_CHECKING:
    from rich.progress import Progress

# Seconds between looks at progress and Ctrl-C.
LOOK_EVERY = 0.1
P = ParamSpec("P")
T = TypeVar("T")
HOW_TO_BUILD = {
    "quic": "in the source tree: `maturin develop --profile quick --features quic`",
    "kernel": "in the source tree, with clang, libelf-dev and zlib1g-dev: `maturin develop --profile quick --features kernel`",
}
# Where a controller's table is read and checked. What it derives from its path, if it derives anything, is of this one.
STAGE = """
name = "connection"
topology = { kind = "dumbbell", pairs = 1, bottleneck_rate = "100Mbps", delay = "10ms" }
traffic = [{ kind = "backlogged", src = 0, dst = 1 }]
run = { until = "1s", stop_when_done = false }
"""
# What marks on that stage: controllers that want marks are refused where there are none, or others.
MARKINGS: tuple[dict[str, Any], ...] = (
    {},
    {"switch.marking": {"kind": "step", "threshold": "15pkts"}},
    {"switch.marking": "abc"},
)


def demand(what: str, command: str) -> None:
    """Builds without it say how to get it."""
    if what not in _core.CONNECTS:
        raise refuse(f"thalweg {command}: this build has no `{what}`", hint=HOW_TO_BUILD[what])


def staged(args: Namespace, check: Callable[[str], None]) -> _core.Scenario:
    """The controller that was asked for, as a scenario with it; refused where the datapath cannot run it."""
    from thalweg import exams
    from thalweg.scenario import Scenario

    load_plugins(args)
    chosen = exams.candidate(args.congestion)
    kind = chosen.spec if isinstance(chosen.spec, str) else str(chosen.spec.get("kind", ""))
    _refused(check, kind)
    found: list[list[str]] = []
    for marking in MARKINGS:
        try:
            return Scenario(STAGE, "controller", ".", {"transport.congestion": chosen.spec} | marking)._core
        except ScenarioError as e:
            found.append([d.reason for d in e.diagnostics])
    fewest: list[str] = min(found, key=len)
    # Where the marks are the right ones, what is left is wrong with the controller.
    raise refuse(f"`{chosen.name}`: {'; '.join(fewest)}")


def _refused(function: Callable[P, T], *args: P.args, **kw: P.kwargs) -> T:
    """Its result; a `ValueError` is what the user wrote."""
    try:
        return function(*args, **kw)
    except ScenarioError:
        raise
    except ValueError as e:
        raise refuse(str(e)) from None


def resolved(text: str, key: str) -> str:
    """`HOST:PORT` with a number for a host."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise refuse(f"`{text}` is not of the form HOST:PORT", key=key)
    try:
        found = socket.getaddrinfo(host.strip("[]") or None, int(port), type=socket.SOCK_DGRAM)
    except OSError as e:
        raise refuse(f"`{host}`: {e.strerror}", key=key) from None
    address, number = (str(part) for part in found[0][4][:2])
    return f"[{address}]:{number}" if ":" in address else f"{address}:{number}"


class Bar:
    """How much of how much, on a terminal."""

    def __init__(self, show: bool):
        self.bar: Progress | None = None
        if show and sys.stderr.isatty():
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

            from thalweg._console import console

            columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TextColumn("{task.description}"))
            self.bar = Progress(*columns, console=console(stderr=True), transient=True)
            self.task = self.bar.add_task("")

    def __enter__(self) -> Bar:
        if self.bar is not None:
            self.bar.start()
        return self

    def show(self, done: int, total: int, text: str = "") -> None:
        if self.bar is not None:
            self.bar.update(self.task, completed=done, total=total or None, description=text)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def quic_send(args: Namespace) -> int:
    demand("quic", "quic send")
    _free(args.record)
    scenario = staged(args, _core.quic_check)
    to = resolved(args.to, "--to")
    sending = _refused(
        _core.QuicSending, args.file, to, args.fingerprint, scenario, int(args.line_rate), bool(args.record)
    )
    with Bar(not args.quiet) as bar:
        while not _refused(sending.step, LOOK_EVERY):
            s = sending.statistics()
            bar.show(s["written"], s["size"], f"rtt {1e3 * s['rtt_s']:.1f} ms")
    s = sending.statistics()
    _keep(args.record, sending)
    if args.json:
        print(json.dumps(s | {"to": to, "congestion": args.congestion}))
    elif not args.quiet:
        from thalweg._lines import print_rows

        print_rows(sent_rows(s))
    return OK


def _free(file: str | None) -> None:
    """Refuses a place that cannot become a record, before anything is sent."""
    from thalweg import _places, decisions

    if file is not None:
        _places.check_file(Path(file), mark=decisions.MAGIC.decode())


def _keep(file: str | None, connected: _core.QuicSending | _core.KernelAttached) -> None:
    """Writes what controllers have decided, for `thalweg decisions`, `diff` and `export-qlog`."""
    from thalweg import _places, decisions

    if file is not None:
        _places.write_file(Path(file), bytes(connected.take_decisions()), mark=decisions.MAGIC.decode())


def sent_rows(s: dict[str, Any]) -> list[tuple[str, str]]:
    """What is said at the end."""
    lost, sent = s["lost_packets"], s["sent_packets"]
    rows = [
        (
            "goodput",
            f"{_format.si(s['goodput_bps'], 'b/s')} ({_format.si(s['size'], 'B')} in {_format.wall(s['seconds'])})",
        ),
        ("round trip", f"{1e3 * s['rtt_s']:.2f} ms at the end, {1e3 * s['min_rtt_s']:.2f} ms at least"),
        ("losses", f"{lost} of {sent} packets ({100 * lost / max(sent, 1):.2f} %), {s['congestion_events']} events"),
    ]
    if s["window"] is not None:
        pace = "" if s["pace_bps"] is None else f", pace {_format.si(s['pace_bps'], 'b/s')}"
        rows.append(("permit at the end", f"window {_format.si(s['window'], 'B')}{pace}"))
    return rows


def quic_receive(args: Namespace) -> int:
    demand("quic", "quic receive")
    folder = Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    receiving = _refused(_core.QuicReceiving, resolved(args.listen, "--listen"), folder)
    # First of all, and at once: senders need it.
    print(f"listening on {receiving.address}\nfingerprint {receiving.fingerprint}", flush=True)
    left = args.files
    with Bar(not args.quiet) as bar:
        while left is None or left > 0:
            for path, size, source, seconds in receiving.step(LOOK_EVERY):
                if not args.quiet:
                    say(f"{path} · {_format.si(size, 'B')} from {source} in {_format.wall(seconds)}")
                left = None if left is None else left - 1
            bar.show(*receiving.progress())
    # What was answered last may be on its way still.
    receiving.step(2 * LOOK_EVERY)
    return OK


def attach(args: Namespace) -> int:
    demand("kernel", "attach")
    _free(args.record)
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if words is args.words and words and words[0].startswith("-"):
        raise refuse(f"thalweg attach: `{words[0]}` is not a command", hint="options stand before the controller")
    if not words:
        raise refuse("thalweg attach: give a command after `--`", hint="thalweg attach cubic -- iperf3 -c HOST")
    attached = _refused(_core.KernelAttached, staged(args, _core.kernel_check), int(args.line_rate), bool(args.record))
    realtime = _hurry()
    if not args.quiet:
        say(f"{args.congestion} is `{attached.name}` in the kernel" + ("" if realtime else "; not in real time"))
    try:
        code = _steer(attached, attached.command(words))
    finally:
        if realtime:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    s = attached.statistics()
    _keep(args.record, attached)
    if args.json:
        print(json.dumps(s | {"congestion": args.congestion, "command": words, "exit": code}))
    elif not args.quiet:
        for line in attached_lines(s):
            say(line)
    return code


def _steer(attached: _core.KernelAttached, command: list[str]) -> int:
    """The command's exit code, as a shell has it."""
    child = subprocess.Popen(command)
    interrupted = False
    while child.poll() is None:
        try:
            _refused(attached.step, LOOK_EVERY)
        except KeyboardInterrupt:
            # A terminal has sent it to the command, too: its connections are steered until it is done.
            if interrupted:
                child.kill()
            elif not sys.stdin.isatty():
                child.send_signal(signal.SIGINT)
            interrupted = True
    _refused(attached.step, LOOK_EVERY)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _hurry() -> bool:
    """Real-time priority for this thread, which sleeps between samples, and not for the command."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        return False
    return True


# Connections that are listed; of more, those with the most bytes.
LISTED = 20


def attached_lines(s: dict[str, Any]) -> list[str]:
    """What is said at the end."""
    latency = (
        "none"
        if s["latency_p50_s"] is None
        else f"p50 {1e6 * s['latency_p50_s']:.1f} us, p99 {1e6 * s['latency_p99_s']:.1f} us"
    )
    lines = [
        f"{s['samples']} samples of {_format.plural(s['connections'], 'connection')}, {s['lost_samples']} lost; "
        f"sample to decision: {latency}"
    ]
    if not s["connections"]:
        lines.append("the command has made no TCP connection")
    most = sorted(s["per_connection"], key=lambda c: -c["acked"])[:LISTED]
    for c in sorted(most, key=lambda c: c["connection"]):
        rate = 8 * c["acked"] / c["seconds"] if c["seconds"] > 0 else 0
        pace = "" if c["pace_bps"] is None else f", pace {_format.si(c['pace_bps'], 'b/s')}"
        aimd = f", {c['unfollowed']} ACKs without us" if c["unfollowed"] else ""
        marked = f", {c['marked_segments']} marked" if c["marked_segments"] else ""
        deaf = ", the other end does not speak ECN" if s["marks"] and not c["ecn"] else ""
        lines.append(
            f"  {c['connection']}: {_format.si(c['acked'], 'B')} acknowledged, {_format.si(rate, 'b/s')}, "
            f"rtt {1e3 * c['rtt_s']:.2f} ms, {c['lost_segments']} segments lost{marked}, {c['decisions']} decisions, "
            f"window {_format.si(c['window'], 'B')}{pace}{aimd}{deaf}"
        )
    return lines
