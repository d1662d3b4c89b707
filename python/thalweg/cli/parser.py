"""Arguments. Every command imports what it needs when it runs, so that the start stays quick."""

from __future__ import annotations

import argparse
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module

from thalweg.cli.estimate_options import estimates
from thalweg.cli.policy_options import policies
from thalweg.cli.project_options import projects
from thalweg.cli.sweep_options import jobs, places, sweeps
from thalweg.cli.values import Change, Once, count, positive_int, setting
from thalweg.errors import Diagnostic, nearest

TYPE_CHECKING = False  # importing `typing` for it would slow every command down
if TYPE_CHECKING:
    from typing import Any, NoReturn

SHELLS = ("bash", "zsh", "fish")
# As the engine has them; written out because loading it would slow every command down.
WIRES = ("packet", "xdp")
REPLAYERS = ("lstf", "edf", "priority", "omniscient")


class Parser(argparse.ArgumentParser):
    """One-line errors that name the nearest valid choice."""

    def __init__(self, *args: Any, **kw: Any):
        super().__init__(*args, **kw)
        self.register("action", None, Once)
        self.register("action", "store", Once)

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"unrecognized arguments: (-\S+)", message)
        choice = re.match(r"argument (\S+): invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if unknown:
            flag = unknown[1].split("=")[0]
            message = str(Diagnostic(f"no option is called `{flag}`", hint=nearest(flag, self._flags())))
        elif choice:
            where = f"{choice[1]}: " if choice[1].startswith("-") else ""
            known = [c.strip(" '") for c in choice[3].split(",")]
            message = str(Diagnostic(f"{where}nothing is called `{choice[2]}`", hint=nearest(choice[2], known)))
        print(f"{self.prog}: {message}", file=sys.stderr)
        self.exit(2)

    def _flags(self) -> list[str]:
        return [s for a in self._actions for s in a.option_strings if s.startswith("--")]

    # (Overloaded in the library: by the kind of namespace, of which there is one here.)
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        if self.get_default("words") is not None and args is not None and "--" in args:
            # What follows is another program's.
            split = args.index("--")
            found, extra = self.parse_known_args(args[:split], namespace)
            found.words = args[split + 1 :]
            return found, extra
        # A sub-command reports its own unknown options: it knows which ones it has.
        found, extra = super().parse_known_args(args, namespace)
        if extra and self._subparsers is None:
            self.error(f"unrecognized arguments: {extra[0]}" if extra[0].startswith("-") else f"what is `{extra[0]}`?")
        return found, extra


def _lazy(function: str) -> Callable[..., Any]:
    def command(args: Namespace) -> int:
        module, name = function.split(":")
        return getattr(import_module(f"thalweg.cli.{module}"), name)(args)

    return command


def share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a share above zero, at most 1")
    return value


def port_number(text: str) -> int:
    return _number(text, "port")


def some_flows(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) < 1 << 32:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of flows; RUN comes first: RUN --slowest 5")
    return int(text)


def flow_number(text: str) -> int:
    return _number(text, "flow")


def _number(text: str, of: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"`{text}` is not the number of a {of}")
    return int(text)


def positive_seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds above zero")
    return value


def bits_per_second(text: str) -> float:
    parts = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kMGT]?)bps", text)
    if not parts or not float(parts[1]) > 0:
        raise argparse.ArgumentTypeError(f"`{text}` is not a rate such as 100Mbps")
    return float(parts[1]) * 1000 ** " kMGT".index(parts[2] or " ")


def build() -> Parser:
    """The whole command line."""
    parser = Parser(
        prog="thalweg",
        description="A network laboratory: congestion control, schedulers, switches, packet by packet.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)

    def shown(args: argparse.Namespace) -> int:
        parser.print_help()
        return 0

    parser.set_defaults(command=shown)

    def command(name: str, function: str, text: str, **kw: Any) -> Parser:
        made = commands.add_parser(name, help=text, description=text, **kw)
        made.set_defaults(command=_lazy(function), name=name)
        return made

    _run(command)
    sweeps(command, sets, voice, forced)
    estimates(command, sets, voice, forced, tables)
    _exam(command)
    _replay(command)
    _shell(command)
    _drawing(command)
    _reproduce(command)
    _demo(command)
    _asking(command)
    _exporting(command)
    _comparing(command)
    policies(command, _lazy, Parser, positive_int)
    projects(command, plugins, voice)
    _installation(command)
    connections(command, plugins)
    return parser


def sets(p: Parser) -> None:
    p.add_argument(
        "--set",
        action=Change,
        type=setting,
        default=[],
        metavar="KEY=VALUE",
        help="set a key by its dotted name, such as switch.buffer=1MB (repeatable)",
    )
    p.add_argument(
        "--unset",
        dest="set",
        action=Change,
        type=lambda key: (key, None),
        metavar="KEY",
        help="remove a dotted key, so that its default holds (repeatable)",
    )
    plugins(p)


def plugins(p: Parser) -> None:
    p.add_argument(
        "--import",
        action="append",
        dest="imports",
        default=[],
        metavar="MODULE",
        help="Python module, .py file or library (.so) to load controllers from (repeatable)",
    )


def voice(p: Parser, what: str) -> None:
    p.add_argument("--quiet", action="store_true", help="print nothing but errors")
    p.add_argument("--json", action="store_true", help=what)


def tables(p: Parser, what: str) -> None:
    p.add_argument("--latex", metavar="FILE", help=f"also write {what} to this file, as LaTeX (booktabs)")
    p.add_argument("--csv", metavar="FILE", help=f"also write {what} to this file, as CSV")


def forced(p: Parser) -> None:
    p.add_argument("--force", action="store_true", help="run even if the estimate exceeds free memory")


def _run(command: Callable[..., Any]) -> None:
    """A run."""
    p = command("run", "running:run", "run a scenario")
    p.add_argument("scenario", nargs="?", metavar="FILE", help="scenario file (TOML)")
    p.add_argument(
        "--out", metavar="DIR", help="run directory to write (default: runs/NAME); replaces an older run, nothing else"
    )
    p.add_argument("--no-out", action="store_true", help="keep no results on disk")
    sets(p)
    voice(p, "print the summary as one JSON object")
    p.add_argument("--check", action="store_true", help="check the engine's invariants during the run (slower)")
    forced(p)
    p.add_argument("--resume", metavar="DIR", help="continue a partial run")
    p.add_argument("--report", action="store_true", help="write report.html into the run directory")
    p.add_argument(
        "--threads",
        type=positive_int,
        metavar="N",
        help="threads for this run (default: one per core if the network is large and can be cut into parts, else 1); results do not depend on it",
    )
    p.add_argument("--record", action="store_true", help="record every packet, for `thalweg replay`")
    p.add_argument(
        "--record-hops", action="store_true", help="also record when every packet arrived at and left every switch port"
    )
    p.add_argument("--pcap", metavar="FILE", help="as --record-hops, and write the packets to this file as pcapng")
    p.add_argument("--qlog", metavar="DIR", help="record controllers' decisions, and write them to this folder as qlog")
    p.add_argument(
        "--max-seconds",
        type=positive_seconds,
        metavar="S",
        help="stop after this many seconds of wall-clock time; the result is partial",
    )


def _exam(command: Callable[..., Any]) -> None:
    """The exam of controllers."""
    p = command("exam", "examining:exam", "run a controller through 35 situations and compare it with others")
    p.add_argument(
        "controller",
        nargs="?",
        metavar="CONTROLLER",
        help="a name (`thalweg list controllers`), FILE.py:CLASS, MODULE:CLASS, or a table such as '{ kind = \"copa\", delta = 0.1 }'",
    )
    p.add_argument("--list", action="store_true", help="print the situations")
    p.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="only this situation, or those that a pattern such as 'vs-*' matches (repeatable)",
    )
    p.add_argument(
        "--against", metavar="NAME,NAME,…", help="controllers to compare with ('' for none; default: cubic,bbr,copa)"
    )
    sets(p)
    places(p)
    p.add_argument(
        "--out",
        metavar="DIR",
        help="folder for the page, the table, the picture and all runs; complete runs in it are reused (default: runs/exam)",
    )
    p.add_argument("--no-report", action="store_true", help="write no page, no table and no picture")
    voice(p, "print the marks as one JSON array")


def _replay(command: Callable[..., Any]) -> None:
    """A recorded run under another scheduler."""
    p = command("replay", "replaying:replay", "send a recorded run's packets again, under another scheduler")
    p.add_argument("run", metavar="RUN", help="run directory of a recorded run (`thalweg run --record`)")
    p.add_argument(
        "--scheduler",
        choices=REPLAYERS,
        default="lstf",
        help="scheduler of all switch ports (default: lstf)",
    )
    p.add_argument("--preemptive", action="store_true", help="let a more urgent packet interrupt a transmission")
    p.add_argument(
        "--bucket", metavar="TIME", help="sort in buckets of this width, as a calendar queue does (default: exactly)"
    )
    p.add_argument(
        "--threshold",
        metavar="TIME",
        help="also count packets that are later than this (default: a packet time on the slowest link used)",
    )
    p.add_argument("--out", metavar="DIR", help="directory to write (default: RUN-SCHEDULER)")
    p.add_argument("--no-out", action="store_true", help="keep no results on disk")
    voice(p, "print the summary as one JSON object")
    p.add_argument("--report", action="store_true", help="write report.html into the directory")


def _shell(command: Callable[..., Any]) -> None:
    """Emulated paths, and what their ports recorded."""
    p = command("shell", "shelling:shell", "run a command, or a shell, on an emulated path with real packets (Linux)")
    p.set_defaults(words=[])
    p.usage = "%(prog)s [SCENARIO] [options] [-- COMMAND ...]"
    p.add_argument(
        "scenario",
        nargs="?",
        metavar="SCENARIO",
        help="scenario whose link, or chain of links, is emulated; instead of the options below",
    )
    p.add_argument(
        "--port",
        metavar="FROM:TO",
        help="which link of a scenario: two nodes, or more for a chain of ports, such as switch0:switch1:switch2 (default: its bottleneck)",
    )
    p.add_argument("--rate", metavar="RATE", help="rate of both directions, such as 100Mbps")
    p.add_argument("--delay", metavar="TIME", help="one-way delay, such as 20ms (default: 0ms)")
    p.add_argument("--queue", metavar="NAME", help="a scheduler or a marking, such as fq-codel, pie (default: fifo)")
    p.add_argument("--policy", metavar="FILE", help="a policy of the OpenQueue language as the queue, such as fifo.oq")
    p.add_argument("--buffer", metavar="SIZE", help="buffer of each direction, such as 100KB, 1bdp (default: 500KB)")
    p.add_argument(
        "--loss", type=share, metavar="P", help="probability that a packet is lost, in each direction, such as 0.001"
    )
    p.add_argument("--up", metavar="TRACE", help="link towards the far end: a Mahimahi trace file, or a rate")
    p.add_argument("--down", metavar="TRACE", help="link back: a Mahimahi trace file, or a rate")
    sets(p)
    p.add_argument(
        "--at-both-ends",
        metavar="COMMAND",
        help="run this at the far end meanwhile, such as 'iperf3 -s'; in the command, {peer} is the far end's IPv4 address and {peer6} its IPv6 address",
    )
    p.add_argument(
        "--outside",
        action="store_true",
        help="connect the far end to this machine's network with slirp4netns, for commands such as curl https://...",
    )
    p.add_argument(
        "--record", metavar="DIR", help="record what passes the ports, one file per port, for `thalweg replay-port`"
    )
    p.add_argument("--pcap", metavar="DIR", help="capture what passes the ports, as up.pcapng and down.pcapng")
    p.add_argument("--wire", choices=WIRES, help="how frames get in and out (default: packet)")
    p.add_argument(
        "--out", metavar="DIR", help="folder for the numbers and the picture (default: runs/shell, or runs/NAME-shell)"
    )
    p.add_argument("--no-out", action="store_true", help="write no numbers and no picture")
    p.add_argument("--print-scenario", action="store_true", help="print the scenario that the options make, and stop")
    voice(p, "print the outcome as one JSON object, on stderr")

    p = command(
        "replay-port",
        "shelling:replay_port",
        "send recorded arrivals through the same ports again, offline, and compare",
    )
    p.add_argument(
        "record",
        metavar="RECORD",
        help="run directory (`measure.port_records`), folder of `shell --record`, or a .port file in one",
    )
    voice(p, "print what was found as one JSON object")


def _drawing(command: Callable[..., Any]) -> None:
    """The page and the figures of a run that is there."""
    p = command("report", "drawing:report", "write the HTML report of an existing run")
    p.add_argument("run", metavar="RUN", help="run directory, or one in a sweep's folder")
    p.add_argument("--out", metavar="FILE", help="page to write (default: report.html in the run directory)")
    tables(p, "the summary's tables")

    p = command("plot", "drawing:plot", "draw the figures of an existing run")
    p.add_argument("run", metavar="RUN", help="run directory, or one in a sweep's folder")
    p.add_argument(
        "figures", nargs="*", metavar="FIGURE", help="figures to draw (default: all that the run has data for)"
    )
    p.add_argument("--list", action="store_true", help="list the figures")
    p.add_argument(
        "--format", action="append", choices=("png", "svg", "pdf"), help="file format (repeatable; default: all three)"
    )
    p.add_argument("--out", metavar="DIR", help="folder to write to (default: RUN-figures)")


def _reproduce(command: Callable[..., Any]) -> None:
    """A study and its claims."""
    p = command("reproduce", "reproducing:reproduce", "run a study of a published paper and judge its claims")
    p.add_argument("paper", metavar="NAME", help="a study (`thalweg list papers`), or a folder with claims.toml")
    p.add_argument(
        "--claim",
        action="append",
        metavar="ID",
        help="judge only this claim (`IRN-F4a` or just `F4a`), or those that a pattern such as 'F4*' matches, with their figures (repeatable)",
    )
    p.add_argument(
        "--handful",
        action="store_true",
        help="judge only the few claims that the study names for a quick look (a minute at most)",
    )
    forced(p)
    p.add_argument(
        "--no-figures", action="store_true", help="draw no figures; with --claim, run only what the claims need"
    )
    p.add_argument(
        "--scale",
        choices=("quick", "full"),
        default="quick",
        help="quick: minutes; full: as published (default: quick)",
    )
    places(p)
    p.add_argument("--out", metavar="DIR", help="output folder, also the cache of runs (default: out/NAME-SCALE)")
    voice(p, "print the verdicts as one JSON object")
    p.add_argument("--check", action="store_true", help="check the engine's invariants during the run (slower)")
    p.add_argument(
        "--strict",
        action="store_true",
        help="exit code 1 if a claim fails (but not if this scale does not decide it)",
    )
    p.add_argument(
        "--keep-verdicts",
        action="store_true",
        help="write the verdicts to SCALE/verdicts.json in the study's folder, keeping those of other claims",
    )
    p.add_argument(
        "--choices",
        action="store_true",
        help="run nothing: list what the paper leaves open, what the study chose, and what other choices gave",
    )
    p.add_argument(
        "--choice",
        action="append",
        metavar="NAME",
        help="judge the claims that depend on this choice under each of its values; NAME may be a pattern such as '*' (repeatable); --keep-verdicts writes SCALE/choices.json",
    )
    p.add_argument(
        "--kept-rows",
        action="store_true",
        help="for a claim about several others, take their verdicts from SCALE/verdicts.json instead of running them",
    )


def _demo(command: Callable[..., Any]) -> None:
    """What there is to see."""
    p = command("demo", "demo:demo", "a first look: an incast, drawn, and a few claims of a study (a minute)")
    jobs(p)
    p.add_argument("--no-study", action="store_true", help="only the incast (seconds)")
    p.add_argument("--out", metavar="DIR", default="out/demo", help="output folder (default: out/demo)")


def _asking(command: Callable[..., Any]) -> None:
    """What there is, and what it means; without a run."""
    p = command("list", "asking:list_", "list what can be chosen: controllers, schedulers, topologies, papers, …")
    p.add_argument(
        "kind",
        nargs="?",
        metavar="KIND",
        help="schemes, topologies, workloads, schedulers, controllers, papers, claims, …",
    )
    p.add_argument("of", nargs="?", metavar="PAPER", help="of `claims`: the study")
    p.add_argument("--all", action="store_true", help="list all kinds in full")
    p.add_argument("--json", action="store_true", help="print one JSON array")
    plugins(p)

    p = command("show", "asking:show", "print the resolved scenario, with every default written out")
    p.add_argument("scenario", metavar="SCENARIO", help="scenario file or run directory")
    sets(p)
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument(
        "--full", action="store_true", help="on a terminal, repeat for each transport also the keys that several share"
    )

    p = command(
        "explain",
        "asking:explain",
        "explain a key, choice or scheme; of a run, why a flow took so long, or a deadlock",
    )
    p.usage = (
        "%(prog)s NAME\n       %(prog)s RUN --slowest [N] [--by slowdown|time] [--json]\n"
        "       %(prog)s RUN [--flow N] [--every] [--csv FILE] [--json]"
    )
    p.epilog = (
        "NAME is a key (or the end of one), a choice, a scheme, a metric or a study: `thalweg explain cubic`. "
        "RUN is a run directory. --flow divides a flow's completion time into intervals with one cause each: the time "
        "that it would take alone, waits behind other packets, pauses, losses and timeouts. They add up exactly. A run "
        "whose hops were not recorded is run again into a temporary folder. --slowest lists the slowest flows. Without "
        "either, the ports that wait for each other in a deadlock are printed."
    )
    p.add_argument("key", metavar="NAME|RUN", help="a name, or a run directory")
    p.add_argument("flow_given", nargs="*", metavar="FLOW", help="of a run: as --flow")
    p.add_argument("--flow", action="append", default=[], metavar="N", help="of a run: explain this flow (repeatable)")
    p.add_argument(
        "--slowest",
        nargs="?",
        const=5,
        type=some_flows,
        metavar="N",
        help="of a run: list the N flows with the greatest slowdown (5), and those that have not completed",
    )
    p.add_argument("--by", metavar="WHAT", help="with --slowest: rank by `slowdown` (default) or by completion `time`")
    p.add_argument("--every", action="store_true", help="of a flow: also print every interval")
    p.add_argument("--csv", metavar="FILE", help="of flows: write every interval as a row to this file")
    p.add_argument("--json", action="store_true", help="of flows: print one JSON array; with --slowest, one object")
    plugins(p)

    p = command("check", "checking:check", "look for possible deadlocks in a network, without a run")
    p.add_argument("what", choices=("deadlock",), help="deadlock: can pauses wait for each other in a cycle?")
    p.add_argument(
        "network",
        metavar="NETWORK",
        help="a scenario file, run directory, graph file (CSV, GraphML, ..) or kind of topology (`thalweg list topologies`)",
    )
    sets(p)
    voice(p, "print what was found as one JSON object")

    command("schema", "asking:schema", "print the JSON Schema of scenarios, for editors")


def _exporting(command: Callable[..., Any]) -> None:
    """Runs and scenarios as files of other tools."""
    p = command("export-pcap", "exporting:pcap", "write a recorded run's packets as pcapng, for Wireshark")
    p.add_argument("run", metavar="RUN", help="run directory (`thalweg run --record-hops`)")
    p.add_argument("file", metavar="FILE", help="file to write (.pcapng)")
    p.add_argument(
        "--flow", type=flow_number, action="append", default=[], metavar="N", help="only this flow (repeatable)"
    )
    p.add_argument(
        "--port", type=port_number, action="append", default=[], metavar="N", help="only this port (repeatable)"
    )

    p = command(
        "export-qlog", "exporting:qlog", "write recorded controller decisions as qlog, one file per flow, for qvis"
    )
    p.add_argument("record", metavar="RECORD", help="run directory (`measure.decisions`), or record of decisions")
    p.add_argument("folder", metavar="DIR", help="folder to write to")
    p.add_argument(
        "--flow", type=flow_number, action="append", default=[], metavar="N", help="only this flow (repeatable)"
    )

    p = command("trace", "exporting:trace", "write what a run recorded as a timeline, for Perfetto")
    p.add_argument("run", metavar="RUN", help="run directory (`thalweg run --record-hops`)")
    p.add_argument("-o", "--out", metavar="FILE", help="file to write (default: RUN.pftrace)")
    p.add_argument(
        "--flow", type=flow_number, action="append", default=[], metavar="N", help="only this flow (repeatable)"
    )
    p.add_argument(
        "--port", type=port_number, action="append", default=[], metavar="N", help="only this port (repeatable)"
    )

    p = command("export-flows", "asking:export_flows", "print a scenario's flow list, for other simulators")
    p.add_argument("scenario", metavar="SCENARIO", help="scenario file or run directory")
    sets(p)
    p.add_argument(
        "--format", choices=("csv", "hpcc"), default="csv", help="hpcc: flow file of the HPCC ns-3 simulator"
    )

    p = command(
        "export-trace", "asking:export_trace", "print the delivery opportunities of a scenario's link, for Mahimahi"
    )
    p.add_argument("scenario", metavar="SCENARIO", help="scenario file or run directory")
    sets(p)
    p.add_argument(
        "--port", type=port_number, metavar="N", help="port number of the direction, if directions of links differ"
    )


def _comparing(command: Callable[..., Any]) -> None:
    """Two runs next to each other; decisions."""
    p = command(
        "compare",
        "asking:compare",
        "compare two runs, or two sweeps: keys, throughput, delay, losses, pauses, FCT",
    )
    p.add_argument("a", metavar="RUN", help="run directory, or a sweep's folder")
    p.add_argument("b", metavar="RUN")
    p.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="COLUMN",
        help="of two sweeps: the number to compare (repeatable)",
    )
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument("--plot", metavar="FILE", help="draw both distributions to this file (.png, .svg or .pdf)")
    tables(p, "the printed tables")

    p = command("diff", "asking:diff", "find the first event, or decision, in which two runs differ")
    p.add_argument("a", metavar="A", help="scenario file, run directory, or record of decisions")
    p.add_argument("b", metavar="B", help="the same")
    plugins(p)

    p = command("decisions", "asking:decide", "replay recorded decisions of congestion controllers, and compare")
    p.add_argument("record", metavar="RECORD", help="run directory, or record of decisions (decisions.bin)")
    p.add_argument("--csv", metavar="FILE", help="also write every call as a row to this file")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    plugins(p)


def _installation(command: Callable[..., Any]) -> None:
    """The engine here, and the shell around it."""
    p = command("bench", "running:bench", "measure the engine's speed on fixed workloads")
    p.add_argument("workloads", nargs="*", metavar="W", help="workloads by name or prefix: W0, W1, … (default: all)")
    p.add_argument("--json", action="store_true", help="print one JSON object per workload and line")
    p.add_argument("--quick", action="store_true", help="smaller workloads, one run each")
    p.add_argument("--repeat", type=count, metavar="N", help="report the fastest of N runs (default: 3)")
    p.add_argument(
        "--threads", type=positive_int, metavar="N", help="threads for each run whose network can be cut into parts"
    )

    p = command("doctor", "asking:doctor", "check this installation")
    p.add_argument("--json", action="store_true", help="print one JSON object")

    p = command("completion", "completion:completion", "print a shell's completion script")
    p.add_argument("shell", choices=SHELLS)


def connections(command: Callable[..., Any], plugins: Callable[..., Any]) -> None:
    """Real connections."""
    line = {"type": bits_per_second, "default": 10e9, "metavar": "RATE"}
    most = "upper bound of the pace (default: 10Gbps)"
    record = "record the controllers' decisions to this file, for `thalweg decisions`, `diff`, `export-qlog`"
    table = "a name (`thalweg list controllers`), FILE.py:CLASS, MODULE:CLASS, or a table such as '{ kind = \"copa\", delta = 0.1 }'"

    quic = command("quic", "connecting:quic_send", "send a file over QUIC, under any controller that QUIC can carry")
    ends = quic.add_subparsers(title="ends", metavar="END", parser_class=Parser, required=True)

    p = ends.add_parser("send", help="send a file", description="send a file")
    p.set_defaults(command=_lazy("connecting:quic_send"))
    p.add_argument("file", metavar="FILE", help="the file")
    p.add_argument("--to", required=True, metavar="HOST:PORT", help="where `thalweg quic receive` listens")
    p.add_argument(
        "--fingerprint", required=True, metavar="HEX", help="the receiver's fingerprint, which it prints when it starts"
    )
    p.add_argument("--congestion", default="cubic", metavar="CONTROLLER", help=f"{table} (default: cubic)")
    p.add_argument("--line-rate", help=most, **line)
    p.add_argument("--record", metavar="FILE", help=record)
    p.add_argument("--quiet", action="store_true", help="print nothing but errors")
    p.add_argument("--json", action="store_true", help="print the statistics as one JSON object")
    plugins(p)

    p = ends.add_parser("receive", help="receive files", description="receive files until Ctrl-C")
    p.set_defaults(command=_lazy("connecting:quic_receive"))
    p.add_argument(
        "--listen",
        default="[::]:4433",
        metavar="ADDRESS:PORT",
        help="address and port to listen on (default: [::]:4433)",
    )
    p.add_argument("--out", required=True, metavar="DIR", help="folder for the files; existing files are not replaced")
    p.add_argument("--files", type=positive_int, metavar="N", help="stop after N files")
    p.add_argument("--quiet", action="store_true", help="print nothing but the address and errors")

    p = command(
        "attach", "connecting:attach", "run a command with its TCP connections under a controller (Linux, root)"
    )
    p.add_argument("congestion", metavar="CONTROLLER", help=table)
    p.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command and its arguments")
    p.add_argument("--line-rate", help=most, **line)
    p.add_argument("--record", metavar="FILE", help=record)
    p.add_argument("--quiet", action="store_true", help="print nothing but errors")
    p.add_argument("--json", action="store_true", help="print the statistics as one JSON object")
    plugins(p)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from thalweg import _core

        print(f"thalweg {_core.VERSION}")
        parser.exit(0)
