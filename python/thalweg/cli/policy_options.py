"""Arguments of `thalweg policy`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

TYPE_CHECKING = False  # importing `typing` for it would slow every command down
if TYPE_CHECKING:
    from typing import Any

FILE = "a policy (.oq), or a name of the library (`thalweg policy list`)"
# As the engine has them; written out because loading it would slow every command down.
ENGINES = ("interpreter", "bytecode", "generated")
TARGETS = ("rust", "bpf-qdisc", "tc-bpf", "p4")


def change(text: str) -> tuple[str, str]:
    """`FILE@TIME`."""
    file, at, when = text.rpartition("@")
    if not at or not file or not when:
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form FILE@TIME, such as new.oq@5us")
    return file, when


def load(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1000:
        raise argparse.ArgumentTypeError(f"`{text}` is not a load above zero, such as 1.2")
    return value


def counts(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isdecimal() and 0 < int(part) <= 10_000_000 for part in parts):
        raise argparse.ArgumentTypeError(f"`{text}` is not a list of whole numbers above zero, such as 64,1024")
    return [int(part) for part in parts]


def policies(
    command: Callable[..., Any], lazy: Callable[..., Any], parser: type, positive_int: Callable[..., Any]
) -> None:
    """The sub-commands."""
    whole = command(
        "policy", "policies:check", "check, run and compile OpenQueue policies of queues, buffers and ports"
    )
    parts = whole.add_subparsers(title="parts", metavar="PART", parser_class=parser, required=True)

    def part(name: str, text: str, file: bool = True) -> argparse.ArgumentParser:
        made = parts.add_parser(name, help=text, description=text)
        made.set_defaults(command=lazy(f"policies:{name.replace('list', 'list_')}"))
        if file:
            made.add_argument("policy", metavar="FILE", help=FILE)
        return made

    p = part("check", "check a policy, and print its errors")
    p.add_argument("--context", action="store_true", help="also print the lines that have errors")
    p.add_argument("--quiet", action="store_true", help="print nothing but errors")
    p.add_argument("--json", action="store_true", help="print what was found as one JSON object")

    part("show", "print a policy in normal form, with the data structures chosen for its orders")

    p = part("compile", "print a policy as Rust, or as C for the kernel, or what the target cannot express of it")
    p.add_argument("--target", choices=TARGETS, default="rust", help="target (default: rust)")
    p.add_argument("--out", metavar="FILE", help="file to write (default: print it)")

    p = part("bench", "measure the time per packet, by engine and by queue length")
    p.add_argument("--engine", action="append", choices=ENGINES, help="measure this engine (repeatable; default: all)")
    p.add_argument(
        "--resident",
        type=counts,
        default=[64, 1024, 16384],
        metavar="N,N",
        help="numbers of waiting packets (default: 64,1024,16384)",
    )
    p.add_argument("--rounds", type=positive_int, metavar="N", help="arrivals and departures per lap (default: 100000)")
    p.add_argument("--json", action="store_true", help="print one JSON array")

    p = part("run", "run packets through a policy, in virtual time")
    p.add_argument("--trace", metavar="FILE", help="packets to send (CSV): at_ns or at_ps, queue, and further fields")
    p.add_argument(
        "--packets", type=positive_int, metavar="N", help="number of random packets, without --trace (default: 1000)"
    )
    p.add_argument(
        "--load",
        type=load,
        metavar="X",
        help="load of the random packets, relative to what the ports can send (default: 1.2)",
    )
    p.add_argument(
        "--seed", type=positive_int, metavar="N", default=1, help="seed of the packets and of random draws (default: 1)"
    )
    p.add_argument("--link", metavar="RATE", help="rate of the link behind every port (default: 10Gbps)")
    p.add_argument(
        "--cycle", metavar="TIME", help="instead of a link: the time that a port works on a packet per cycle"
    )
    p.add_argument(
        "--core", metavar="TIME", help="let one core do all work, and take this long for each arrival and departure"
    )
    p.add_argument("--engine", choices=ENGINES, default="bytecode", help="engine (default: bytecode)")
    p.add_argument(
        "--change",
        type=change,
        action="append",
        default=[],
        metavar="FILE@TIME",
        help="switch to another policy at this time (repeatable)",
    )
    p.add_argument("--until", metavar="TIME", help="stop at this time (default: when all packets have left)")
    p.add_argument("--out", metavar="FILE", help="write the fate of each packet to this file (CSV)")
    p.add_argument("--quiet", action="store_true", help="print nothing but errors")
    p.add_argument("--json", action="store_true", help="print counters as one JSON object")

    p = part("list", "list the policies of the library", file=False)
    p.add_argument("--json", action="store_true", help="print one JSON array")

    p = part("copy", "copy a policy of the library to a file, to change it")
    p.add_argument("to", nargs="?", metavar="TO", help="file or folder to write (default: NAME.oq here)")
