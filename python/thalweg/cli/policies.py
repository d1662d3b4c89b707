"""`policy`: check, show, compile, bench, run, list, copy."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg import _places
from thalweg.cli import FOUND, OK, UNUSABLE, say
from thalweg.errors import nearest, refuse

if TYPE_CHECKING:
    import numpy as np

    from thalweg.policies import Policy, Ran


def check(args: Namespace) -> int:
    """Exit code 2 if it is wrong."""
    from thalweg import _core, policies

    written, name = policies.text(args.policy)
    wrong = policies.mistakes(written, name)
    if args.json:
        keys = ("line", "column", "reason")
        rows = [{k: getattr(m, k) for k in keys} | {"class": m.key, "way_out": m.hint} for m in wrong]
        print(json.dumps({"file": name, "ok": not wrong, "mistakes": rows}, ensure_ascii=False))
    elif wrong and args.context:
        say(_core.policy_check(written, name)[1])
    else:
        for mistake in wrong:
            say(str(mistake))
    if not wrong and not (args.json or args.quiet):
        policy = policies.Policy(written, name)
        queues, ports = len(policy.queues), len(policy.ports)
        print(f"{name}: right: {_several(queues, 'queue')}, {_several(ports, 'port')}")
    return UNUSABLE if wrong else OK


def _several(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def show(args: Namespace) -> int:
    from thalweg import policies

    print(policies.load(args.policy).show(), end="")
    return OK


def compile(args: Namespace) -> int:
    """Exit code 2 if the target cannot keep the policy; 1 if it could, and no code for it is generated yet."""
    from thalweg import policies

    policy = policies.load(args.policy)
    refused = policy.refusals(args.target)
    for part, reason, out in refused:
        say(f"{policy.name}: {args.target}: {part}: {reason}: {out}")
    if refused:
        return UNUSABLE
    if not policies.targets()[args.target][1]:
        say(
            f"{policy.name}: {args.target} can keep it, but no code for {args.target} is generated yet (for rust it is)"
        )
        return FOUND
    if args.out is None:
        print(policy.code(args.target), end="")
        return OK
    _places.write_new(Path(args.out), policy.code(args.target))
    print(f"{args.out}: {'Rust' if args.target == 'rust' else 'C'} of {policy.name}")
    return OK


def list_(args: Namespace) -> int:
    from thalweg import policies
    from thalweg._lines import wrapped

    rows = [(name, policies.about(name)) for name in policies.names()]
    if args.json:
        print(json.dumps([{"name": name, "about": about} for name, about in rows], ensure_ascii=False))
        return OK
    wide = max(len(name) for name, _ in rows)
    for name, about in rows:
        print(wrapped(about, wide + 2, f"{name:{wide}}  "))
    return OK


def copy(args: Namespace) -> int:
    """A policy of the library, as it is."""
    from thalweg import policies

    if args.policy not in policies.names():
        raise refuse(f"no policy of the library is called `{args.policy}`", hint=nearest(args.policy, policies.names()))
    path = Path(args.to or f"{args.policy}.oq")
    if path.is_dir():
        path = path / f"{args.policy}.oq"
    written, _ = policies.text(args.policy)
    _places.write_new(path, written)
    print(f"{path}: `thalweg policy show {path}` says what it comes to")
    return OK


def bench(args: Namespace) -> int:
    """ns for a packet that comes and one that leaves: the fastest of several laps."""
    from thalweg import policies
    from thalweg._lines import print_table

    policy = policies.load(args.policy)
    packets = policy.traffic(65_536, tos=range(256), processing=1_000_000, values=(0, 1_000_000))
    wanted = args.engine or policies.ENGINES
    if args.engine and "generated" in args.engine and not policy.is_built_in:
        raise refuse("no Rust of it is built in", file=policy.name, hint="of the library's policies it is")
    rows, seen = [], set()
    for engine in wanted:
        for resident in args.resident:
            found = _measured(policy, packets, engine, resident, args.rounds)
            if found is None or (engine, found[0]) in seen:
                continue
            seen.add((engine, found[0]))
            rows.append({"engine": engine, "waiting": found[0], "ns_per_packet": round(found[1], 1)})
    if args.json:
        print(json.dumps(rows))
        return OK
    print_table(("engine", "waiting", "ns per packet"), [list(row.values()) for row in rows])
    most = max(row["waiting"] for row in rows)
    if most < max(args.resident):
        print(f"it holds {most} packets: where it is full, one is given up for each that comes")
    return OK


def _measured(
    policy: Policy, packets: Mapping[str, Any], engine: str, resident: int, rounds: int | None
) -> tuple[int, float] | None:
    # The oracle searches its lists: a lap of it takes as long with fewer rounds.
    usual = max(min(2_000_000 // resident, 20_000), 100) if engine == "interpreter" else 100_000
    found = policy.bench(packets, engine=engine, resident=resident, rounds=rounds or usual)
    if found is None:
        return None
    waiting, laps = found
    return waiting, min(lap.ns / lap.arrived for lap in laps)


def run(args: Namespace) -> int:
    from thalweg import policies
    from thalweg.cli import policy_trace

    policy = policies.load(args.policy)
    _check_together(args, policy)
    link = policies.bps(args.link or "10Gbps")
    cycle = None if args.cycle is None else _above_zero(args.cycle, "--cycle")
    packets = policy_trace.read(args.trace, policy) if args.trace else _random(args, policy, link, cycle)
    core = None
    if args.core is not None:
        cost = _above_zero(args.core, "--core")
        core = policies.Core(cost, cost)
    changes = [(policies.ps(when), policies.load(file)) for file, when in args.change]
    if [at for at, _ in changes] != sorted(at for at, _ in changes):
        raise refuse("changes are not in the order of their instants", hint="the earliest --change first")
    ran = policy.run(
        packets,
        link=link,
        cycle=cycle,
        core=core,
        changes=changes,
        engine=args.engine,
        until=args.until,
        seed=args.seed,
    )
    if args.out:
        _places.write_new(Path(args.out), ran.frame.write_csv())
    if args.json:
        print(json.dumps(_object(policy, ran), ensure_ascii=False))
    elif not args.quiet:
        _print(ran, bool(args.core))
        if args.out:
            print(f"packets: {args.out}")
    return OK


def _check_together(args: Namespace, policy: Policy) -> None:
    """Settings that cannot take effect are errors."""
    if args.trace and (args.packets or args.load):
        which = "--packets" if args.packets else "--load"
        raise refuse(f"{which} is of random packets, and --trace has its own", hint="leave one of them out")
    if args.cycle and args.link:
        raise refuse("--link is where ports send, and with --cycle they work", hint="leave one of them out")
    if args.cycle and args.core:
        raise refuse("--core has costs where ports send, not in cycles", hint="leave one of them out")
    if args.link and not any(port.share for port in policy.ports):
        hint = "leave it out, or write the ports' rates in %"
        raise refuse("--link has no effect: every port has a rate of its own", file=policy.name, hint=hint)


def _above_zero(time: str, option: str) -> int:
    from thalweg import policies

    found = policies.ps(time)
    if found < 1:
        raise refuse(f"{option}: `{time}` is not a time above zero")
    return found


MEAN_SIZE = (64 + 1500) / 2
MEAN_WORK = (1 + 4) / 2


def _random(args: Namespace, policy: Policy, link: int, cycle: int | None) -> dict[str, np.ndarray]:
    """As much as the ports that packets leave by can do together, times the load."""
    exits = [port for port in policy.ports if port.is_exit]
    rate = sum(port.bps(link) for port in exits)
    packet = MEAN_SIZE * 8e12 / rate if cycle is None else MEAN_WORK * cycle / len(exits)
    gap = max(round(packet / (args.load or 1.2)), 1)
    return policy.traffic(args.packets or 1000, gap=gap, tos=range(64), seed=args.seed)


def _object(policy: Policy, ran: Ran) -> dict[str, Any]:
    from dataclasses import asdict

    from thalweg import policies

    return {
        "policy": policy.name,
        "packets": len(ran.fate),
        **{fate: ran.count(fate) for fate in policies.FATES},
        "marked": int(ran.marked.sum()),
        "seconds": ran.lasted_ps * 1e-12,
        "bits_per_second": ran.throughput() * 8,
        "queues": [asdict(one) for one in ran.counters],
    }


def _print(ran: Ran, one_core: bool) -> None:
    import numpy as np

    from thalweg import _format, _units, policies
    from thalweg._lines import print_rows, print_table

    fates = [f"{ran.count(fate)} {fate}" for fate in policies.FATES[1:] if ran.count(fate)]
    waiting = ran.count("waiting")
    said = ", ".join([*fates, *([f"{waiting} waiting"] if waiting else [])])
    rows = [
        ("packets", f"{len(ran.fate)}: {said}" if said else "0"),
        ("lasted", _format.simulated(ran.lasted_ps)),
        ("sent", _units.quantity(ran.throughput() * 8, "b/s")),
    ]
    delays = ran.delays_ps
    if len(delays):
        parts = [("mean", float(delays.mean())), ("p99", float(np.percentile(delays, 99, method="inverted_cdf")))]
        rows.append(("delay", _units.several(parts, "ps")))
    if ran.marked.any():
        rows.append(("marked", str(int(ran.marked.sum()))))
    if one_core:
        rows.append(("core at work", f"{100 * ran.busy_ps / max(ran.lasted_ps, 1):.0f} %"))
    print_rows(rows)
    print()
    head = ("queue", "max", "current", "dropped", "total", "sent", "peak", "mean")
    table = []
    for one in ran.counters:
        most = f"{one.max} {'pkts' if one.in_packets else 'B'}"
        table.append((one.queue, most, one.current, one.dropped, one.total, one.sent, one.peak, float(one.mean)))
    print_table(head, table)
