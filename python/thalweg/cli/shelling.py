"""`shell`, `replay-port`."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.cli import FOUND, OK, say
from thalweg.errors import ScenarioError, refuse

if TYPE_CHECKING:
    from thalweg.scenario import Scenario


def shell(args: Namespace) -> int:
    """Runs a command, or the user's shell, on an emulated path. The exit code is the command's."""
    from thalweg import _core, _places, emulation

    link = {f.name: value for f in fields(emulation.Link) if (value := getattr(args, f.name)) is not None}
    scenario, between = _path(args, link)
    if args.print_scenario:
        print(scenario.to_toml() if args.scenario else _text(link, args), end="")
        return OK
    ports = _ports(scenario, between, args.port) if args.scenario else emulation.Link(**link).ports(scenario)
    if why := _core.emulate_refusal(args.outside):
        raise refuse(f"thalweg shell: {why}")
    folder = None
    if not args.no_out:
        folder = Path(args.out) if args.out else Path("runs") / _default(scenario.name, args.scenario)
        _places.claim(folder, "shell")
    record = Path(args.record).absolute() if args.record else None
    if record is not None:
        _places.claim(record, "record")
        # An older record may be of other ports, which the replay of the folder would take for this one's.
        for older in record.glob("*.port"):
            if not older.is_dir():
                older.unlink()
    capture = Path(args.pcap).absolute() if args.pcap else None
    if capture is not None:
        _places.claim(capture, "capture")
    command, environment = (args.words, {}) if args.words else _login(ports[0])
    peer = ["sh", "-c", args.at_both_ends] if args.at_both_ends else None
    environment = {"THALWEG_LEVEL": "{level}", "THALWEG_PEER": "{peer}", "THALWEG_PEER6": "{peer6}"} | environment
    outcome = emulation.run(
        scenario,
        command,
        between=between,
        peer=peer,
        environment=environment,
        record=record,
        capture=capture,
        wire=args.wire,
        outside=args.outside,
    )
    if folder is not None:
        emulation.keep(outcome, scenario, folder)
    if args.json:
        say(json.dumps(outcome))
    elif not args.quiet:
        report(outcome, folder, record)
    return outcome["status"]["code"]


def _default(name: str, file: str | None) -> str:
    return "shell" if file is None else f"{name or Path(file).stem}-shell"


def _path(args: Namespace, link: dict[str, Any]) -> tuple[Scenario, tuple[str, ...] | None]:
    """The scenario, and the nodes along the path to be emulated, or `None`: its bottleneck."""
    from thalweg import emulation
    from thalweg.cli.running import load_plugins
    from thalweg.scenario import as_scenario

    load_plugins(args)
    if args.scenario is None:
        if args.port:
            raise refuse("thalweg shell: --port picks a link of a scenario: without one it cannot take effect")
        return emulation.Link(**link).scenario(dict(args.set)), emulation.BETWEEN
    if link:
        options = ", ".join(f"--{name}" for name in link)
        hint = "change the scenario's keys with --set, or leave the scenario out"
        raise refuse(f"thalweg shell: the scenario describes the link: {options} cannot take effect", hint=hint)
    between = None
    if args.port:
        between = tuple(args.port.split(":"))
        if len(between) < 2 or not all(between):
            raise refuse(
                f"--port: `{args.port}` is not of the form FROM:TO, or FROM:VIA:TO",
                hint="two or more nodes, by name or number, each the neighbour of the one before",
            )
    return as_scenario(args.scenario, dict(args.set)), between


def _ports(scenario: Scenario, between: tuple[str, ...] | None, option: str | None) -> list[dict[str, Any]]:
    """The ports, towards the far end and back. What is wrong with the nodes themselves is of the option, not of the
    scenario."""
    from thalweg import emulation

    try:
        return emulation.ports(scenario, between)
    except ScenarioError as e:
        if option is None:
            raise
        found = [d if d.key else replace(d, reason=f"--port {option}: {d.reason}", text="") for d in e.diagnostics]
        raise ScenarioError(found) from None


def _text(link: dict[str, Any], args: Namespace) -> str:
    """The scenario that the options make, as one would write it."""
    from thalweg import _toml, emulation

    if args.set or args.policy:
        return emulation.Link(**link).scenario(dict(args.set)).to_toml()
    return _toml.dumps(emulation.Link(**link).fitted()[0])


def _login(port: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """The user's shell, with a prompt that says where one is."""
    from thalweg import emulation

    program = os.environ.get("SHELL") or "/bin/sh"
    where = f"[{emulation._rate(port['bps'])} {emulation._time(port['delay_ns'])} level {{level}}]"
    if Path(program).name == "bash":
        # After its start-up files, which set prompts of their own.
        return [program], {"PROMPT_COMMAND": f'PS1="{where} $PS1"; unset PROMPT_COMMAND'}
    return [program], {"PS1": f"{where} $ "}


def report(outcome: Mapping[str, Any], folder: Path | None, record: Path | None) -> None:
    """What passed, on stderr: stdout is the command's."""
    from thalweg import emulation

    table = [("", "up", "down"), *emulation.rows(outcome)]
    widths = [max(len(row[n]) for row in table) for n in (0, 1)]
    for what, up, down in table:
        say(f"{what:{widths[0]}}  {up:{widths[1]}}  {down}".rstrip())
    if ports := emulation.hops(outcome):
        widths = [max(map(len, column)) for column in zip(*ports, strict=True)]
        for row in ports:
            say("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    for line in emulation.warnings(outcome):
        say(f"thalweg: {line}")
    kept = " · ".join(
        [f"{outcome['seconds']:.1f} s"]
        + ([f"picture and numbers in {folder}"] if folder else [])
        + ([f"records in {record}: thalweg replay-port {record}"] if record else [])
    )
    say(kept)


def replay_port(args: Namespace) -> int:
    """Records of ports, emulated or simulated, through the same ports, offline. Exit code 1 if a decision differs."""
    from thalweg import emulation

    where = Path(args.record)
    files = sorted(where.glob("*.port")) if where.is_dir() else [where]
    if not files:
        raise refuse(
            "holds no records",
            file=where,
            hint="`thalweg shell --record DIR` and runs with `measure.port_records` write a .port file per port",
        )
    found = {str(file): emulation.replay(file) for file in files}
    if args.json:
        print(json.dumps(found))
    elif not args.quiet:
        for file, one in found.items():
            print(f"{file}: {line(one)}")
    sys.stdout.flush()
    return FOUND if any(one["difference"] for one in found.values()) else OK


def line(found: Mapping[str, Any]) -> str:
    """What a replay found, in words."""
    counted = (
        f"{found['arrived']} packets; {found['sent']} departures ({found['marked']} marked, {found['lost']} lost), "
        f"{found['dropped']} drops" + (f", {found['trimmed']} trimmed" if found["trimmed"] else "")
    )
    end = "" if found["whole"] else " (the record has no end)"
    if found["difference"]:
        recorded, replayed = found["difference"]
        return f"{counted} are the same, then: recorded {recorded}; replayed {replayed}{end}"
    return f"{counted}: all the same, digest {found['digest']}{end}"
