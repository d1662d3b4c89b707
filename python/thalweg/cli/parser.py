"""Arguments. Every command imports what it needs when it runs, so that the start stays quick."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from importlib import import_module

from thalweg.cli.estimate_options import estimates
from thalweg.cli.policy_options import policies
from thalweg.cli.project_options import projects
from thalweg.cli.sweep_options import jobs, places, sweeps
from thalweg.cli.values import Change, Once, count, positive_int, setting
from thalweg.errors import Diagnostic, nearest

# Options of older versions, and what to write instead.
RENAMED = {
    "--beside": "it is called `--against` now",
    "--no-plot": "a picture is drawn only where `--plot FILE` names one",
}
SHELLS = ("bash", "zsh", "fish")
# As the engine has them; written out because loading it would slow every command down.
WIRES = ("packet", "xdp")
REPLAYERS = ("lstf", "edf", "priority", "omniscient")


class Parser(argparse.ArgumentParser):
    """One-line errors that name the nearest valid choice."""

    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.register("action", None, Once)
        self.register("action", "store", Once)

    def error(self, message: str):
        unknown = re.match(r"unrecognized arguments: (-\S+)", message)
        choice = re.match(r"argument (\S+): invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if unknown:
            flag = unknown[1].split("=")[0]
            hint = RENAMED.get(flag) or nearest(flag, self._flags())
            message = str(Diagnostic(f"no option is called `{flag}`", hint=hint))
        elif choice:
            where = f"{choice[1]}: " if choice[1].startswith("-") else ""
            known = [c.strip(" '") for c in choice[3].split(",")]
            message = str(Diagnostic(f"{where}nothing is called `{choice[2]}`", hint=nearest(choice[2], known)))
        print(f"{self.prog}: {message}", file=sys.stderr)
        self.exit(2)

    def _flags(self) -> list[str]:
        return [s for a in self._actions for s in a.option_strings if s.startswith("--")]

    def parse_known_args(self, args=None, namespace=None):
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


def _lazy(function: str) -> Callable:
    def command(args) -> int:
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
        raise argparse.ArgumentTypeError(f"`{text}` is no number of flows; RUN comes first: RUN --slowest 5")
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
    parser.set_defaults(command=lambda args: parser.print_help() or 0)

    def command(name: str, function: str, text: str, **kw) -> Parser:
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
        help="change a dotted key (repeatable)",
    )
    p.add_argument(
        "--unset",
        dest="set",
        action=Change,
        type=lambda key: (key, None),
        metavar="KEY",
        help="take a dotted key out, as if it were not written (repeatable)",
    )
    plugins(p)


def plugins(p: Parser) -> None:
    p.add_argument(
        "--import",
        action="append",
        dest="imports",
        default=[],
        metavar="MODULE",
        help="a module or .py file with Python controllers, or a library with one (.so; repeatable)",
    )


def voice(p: Parser, what: str) -> None:
    p.add_argument("--quiet", action="store_true", help="say nothing but errors")
    p.add_argument("--json", action="store_true", help=what)


def tables(p: Parser, what: str) -> None:
    p.add_argument("--latex", metavar="FILE", help=f"also write {what} here, as LaTeX (booktabs)")
    p.add_argument("--csv", metavar="FILE", help=f"also write {what} here, as CSV")


def forced(p: Parser) -> None:
    p.add_argument("--force", action="store_true", help="run also what needs more memory than is free")


def _run(command: Callable) -> None:
    """A run."""
    p = command("run", "running:run", "run a scenario")
    p.add_argument("scenario", nargs="?", metavar="FILE", help="scenario file (TOML)")
    p.add_argument(
        "--out", metavar="DIR", help="run directory to write (default: runs/NAME); only an older run is ever replaced"
    )
    p.add_argument("--no-out", action="store_true", help="keep no results on disk")
    sets(p)
    voice(p, "print the summary as one JSON object")
    p.add_argument("--check", action="store_true", help="check the engine's invariants all along (slower)")
    forced(p)
    p.add_argument("--resume", metavar="DIR", help="continue a partial run")
    p.add_argument("--report", action="store_true", help="write report.html into the run directory")
    p.add_argument(
        "--threads",
        type=positive_int,
        metavar="N",
        help="for this run (default: one per core for a large network that can be cut); the results are the same",
    )
    p.add_argument("--record", action="store_true", help="record every packet, for `thalweg replay`")
    p.add_argument(
        "--record-hops", action="store_true", help="record when every packet came to and left every switch port, too"
    )
    p.add_argument("--pcap", metavar="FILE", help="record with hops, and write the packets as pcapng here")
    p.add_argument("--qlog", metavar="DIR", help="record decisions, and write them as qlog into this folder")
    p.add_argument(
        "--max-seconds",
        type=positive_seconds,
        metavar="S",
        help="stop after so much wall-clock time; the result is partial",
    )


def _exam(command: Callable) -> None:
    """The exam of controllers."""
    p = command("exam", "examining:exam", "run a controller through some thirty situations, against others")
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
        help="folder of page, table, picture and all runs, which are not run twice (default: runs/exam)",
    )
    p.add_argument("--no-report", action="store_true", help="write no page, table and picture")
    voice(p, "print the marks as one JSON array")


def _replay(command: Callable) -> None:
    """A recorded run under another scheduler."""
    p = command("replay", "replaying:replay", "run a recorded run's packets again, under another scheduler")
    p.add_argument("run", metavar="RUN", help="run directory of a recorded run (`thalweg run --record`)")
    p.add_argument(
        "--scheduler",
        choices=REPLAYERS,
        default="lstf",
        help="what headers hold and switch ports do with them (default: lstf)",
    )
    p.add_argument("--preemptive", action="store_true", help="a more urgent packet interrupts a transmission")
    p.add_argument("--bucket", metavar="TIME", help="sort only so finely, as a calendar queue does (default: exactly)")
    p.add_argument(
        "--threshold",
        metavar="TIME",
        help="also count packets later than this (default: a packet time on the slowest link used)",
    )
    p.add_argument("--out", metavar="DIR", help="directory to write (default: RUN-SCHEDULER)")
    p.add_argument("--no-out", action="store_true", help="keep no results on disk")
    voice(p, "print the summary as one JSON object")
    p.add_argument("--report", action="store_true", help="write report.html into the directory")


def _shell(command: Callable) -> None:
    """Emulated paths, and what their ports recorded."""
    p = command("shell", "shelling:shell", "run a command, or a shell, on an emulated path with real packets (Linux)")
    p.set_defaults(words=[])
    p.usage = "%(prog)s [SCENARIO] [options] [-- COMMAND ...]"
    p.add_argument(
        "scenario",
        nargs="?",
        metavar="SCENARIO",
        help="scenario whose link, or chain of links, is emulated, instead of options",
    )
    p.add_argument(
        "--port",
        metavar="FROM:TO",
        help="which link of a scenario: two nodes, or more for a chain of ports, such as switch0:switch1:switch2 (default: its bottleneck)",
    )
    p.add_argument("--rate", metavar="RATE", help="of both directions, such as 100Mbps")
    p.add_argument("--delay", metavar="TIME", help="each way, such as 20ms (default: 0ms)")
    p.add_argument("--queue", metavar="NAME", help="a scheduler or a marking, such as fq-codel, pie (default: fifo)")
    p.add_argument("--policy", metavar="FILE", help="a policy of the OpenQueue language as the queue, such as fifo.oq")
    p.add_argument("--buffer", metavar="SIZE", help="of each direction, such as 100KB, 1bdp (default: 500KB)")
    p.add_argument("--loss", type=share, metavar="P", help="each way, of every packet, such as 0.001")
    p.add_argument("--up", metavar="TRACE", help="towards the far end: a trace file of Mahimahi, or a rate")
    p.add_argument("--down", metavar="TRACE", help="and back")
    sets(p)
    p.add_argument(
        "--at-both-ends",
        metavar="COMMAND",
        help="run this at the far end meanwhile, such as 'iperf3 -s'; in COMMAND, {peer} is the far end's address, {peer6} of IPv6",
    )
    p.add_argument(
        "--outside",
        action="store_true",
        help="the far end leads on to this machine's network, by slirp4netns: for commands such as curl https://...",
    )
    p.add_argument(
        "--record", metavar="DIR", help="record what passes the ports, a file each, for `thalweg replay-port`"
    )
    p.add_argument("--pcap", metavar="DIR", help="capture what passes the ports: up.pcapng, down.pcapng")
    p.add_argument("--wire", choices=WIRES, help="how frames get in and out (default: packet)")
    p.add_argument("--out", metavar="DIR", help="folder of numbers and picture (default: runs/shell, runs/NAME-shell)")
    p.add_argument("--no-out", action="store_true", help="keep no numbers and no picture")
    p.add_argument("--print-scenario", action="store_true", help="print the scenario that the options make, and stop")
    voice(p, "print the outcome as one JSON object, on stderr")

    p = command("replay-port", "shelling:replay_port", "run what ports recorded through the same ports, offline")
    p.add_argument(
        "record",
        metavar="RECORD",
        help="run directory (`measure.port_records`), folder of `shell --record`, or a .port file in one",
    )
    voice(p, "print what was found as one JSON object")


def _drawing(command: Callable) -> None:
    """The page and the figures of a run that is there."""
    p = command("report", "drawing:report", "write the page of a run that is there: summary, figures, tables")
    p.add_argument("run", metavar="RUN", help="run directory, also one of a sweep's")
    p.add_argument("--out", metavar="FILE", help="page to write (default: report.html in the run directory)")
    tables(p, "the summary's tables")

    p = command("plot", "drawing:plot", "write the figures of a run that is there")
    p.add_argument("run", metavar="RUN", help="run directory, also one of a sweep's")
    p.add_argument("figures", nargs="*", metavar="FIGURE", help="which ones (default: all that it has data for)")
    p.add_argument("--list", action="store_true", help="print which there are")
    p.add_argument("--format", action="append", choices=("png", "svg", "pdf"), help="(repeatable; default: all three)")
    p.add_argument("--out", metavar="DIR", help="folder to write (default: RUN-figures)")


def _reproduce(command: Callable) -> None:
    """A study and its claims."""
    p = command("reproduce", "reproducing:reproduce", "run a paper's study and judge its claims")
    p.add_argument("paper", metavar="NAME", help="see `thalweg list papers`; or a folder with claims.toml")
    p.add_argument(
        "--claim",
        action="append",
        metavar="ID",
        help="only this claim (`IRN-F4a` or just `F4a`; or those that a pattern such as 'F4*' matches), its figures and the runs they need (repeatable)",
    )
    p.add_argument(
        "--handful",
        action="store_true",
        help="only the few claims that the study names for quick looks, a minute at most, and the figures that their runs suffice for",
    )
    forced(p)
    p.add_argument(
        "--no-figures", action="store_true", help="draw no figures: of --claim only what the claims need is run"
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
    p.add_argument("--check", action="store_true", help="check the engine's invariants all along (slower)")
    p.add_argument(
        "--strict",
        action="store_true",
        help="exit code 1 also if a claim fails (not if this scale does not decide it)",
    )
    p.add_argument(
        "--keep-verdicts",
        action="store_true",
        help="write the verdicts into the study's folder, SCALE/verdicts.json, next to those that are there",
    )
    p.add_argument(
        "--choices",
        action="store_true",
        help="run nothing: list what the paper leaves open, what the study chose, and what sweeps of it found",
    )
    p.add_argument(
        "--choice",
        action="append",
        metavar="CHOICE",
        help="judge the claims that this choice may decide under each of its values (or those that a pattern such as '*' matches; repeatable); --keep-verdicts writes SCALE/choices.json",
    )
    p.add_argument(
        "--kept-rows",
        action="store_true",
        help="a claim about several others takes those that are not requested from there instead of running them",
    )


def _demo(command: Callable) -> None:
    """What there is to see."""
    p = command("demo", "demo:demo", "what there is to see in the first minute: an incast, a handful of a study")
    jobs(p)
    p.add_argument("--out", metavar="DIR", default="out/demo", help="output folder (default: out/demo)")


def _asking(command: Callable) -> None:
    """What there is, and what it means; without a run."""
    p = command("list", "asking:list_", "what there is to choose from")
    p.add_argument(
        "kind",
        nargs="?",
        metavar="KIND",
        help="schemes, topologies, workloads, schedulers, controllers, papers, claims, …",
    )
    p.add_argument("of", nargs="?", metavar="PAPER", help="whose claims")
    p.add_argument("--all", action="store_true", help="everything of every kind")
    p.add_argument("--json", action="store_true", help="print one JSON array")
    plugins(p)

    p = command("show", "asking:show", "print the resolved scenario, every default written out")
    p.add_argument("scenario", metavar="SCENARIO", help="scenario file or run directory")
    sets(p)
    p.add_argument("--json", action="store_true", help="as one JSON object")
    p.add_argument("--full", action="store_true", help="on a terminal, too: of several transports also what they share")

    p = command(
        "explain",
        "asking:explain",
        "what a key, choice or scheme means; of a run, why a flow took so long, or why all stands still",
    )
    p.usage = (
        "%(prog)s NAME\n       %(prog)s RUN --slowest [N] [--by slowdown|time] [--json]\n"
        "       %(prog)s RUN [--flow N] [--every] [--csv FILE] [--json]"
    )
    p.epilog = (
        "NAME is a key (or the end of one), a choice, a scheme, a metric or a study: `thalweg explain cubic`. "
        "RUN is a run directory: with --flow the completion time is taken apart, into what the flow takes alone, "
        "waits behind whose packets, pauses, losses and timeouts; they add up to the picosecond. A run whose packets "
        "were not recorded with their hops is run again for that, into a temporary folder. --slowest lists the flows "
        "that were late. Without either: which ports wait for each other, and whose packets."
    )
    p.add_argument("key", metavar="NAME|RUN", help="what is explained: a name, or a run directory")
    p.add_argument("flow_given", nargs="*", metavar="FLOW", help="of a run: the same as --flow")
    p.add_argument("--flow", action="append", default=[], metavar="N", help="of a run: this flow (repeatable)")
    p.add_argument(
        "--slowest",
        nargs="?",
        const=5,
        type=some_flows,
        metavar="N",
        help="of a run: the N flows with the greatest slowdown (5), and those that have not completed",
    )
    p.add_argument("--by", metavar="WHAT", help="of --slowest: rank by `slowdown` (default) or `time`, which they took")
    p.add_argument("--every", action="store_true", help="of a flow: also every interval, from its start on")
    p.add_argument("--csv", metavar="FILE", help="of flows: write every interval as a row here")
    p.add_argument("--json", action="store_true", help="of flows: print one JSON array; with --slowest one object")
    plugins(p)

    p = command("check", "checking:check", "look for what could go wrong in a network, without a run")
    p.add_argument("what", choices=("deadlock",), help="deadlock: whether pauses can wait for each other in a circle")
    p.add_argument(
        "network",
        metavar="NETWORK",
        help="a scenario file, run directory, graph file (CSV, GraphML, ..) or kind of topology (`thalweg list topologies`)",
    )
    sets(p)
    voice(p, "print what was found as one JSON object")

    command("schema", "asking:schema", "print the JSON Schema of scenarios, for editors")


def _exporting(command: Callable) -> None:
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

    p = command("export-qlog", "exporting:qlog", "write recorded decisions as qlog, a file per flow, for qvis")
    p.add_argument("record", metavar="RECORD", help="run directory (`measure.decisions`), or record of decisions")
    p.add_argument("folder", metavar="DIR", help="folder to write into")
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
        "--port", type=port_number, metavar="N", help="which direction of a link, if several have different ones"
    )


def _comparing(command: Callable) -> None:
    """Two runs next to each other; decisions."""
    p = command(
        "compare",
        "asking:compare",
        "two runs, or two sweeps, side by side: keys, throughput, delay, losses, pauses, FCT",
    )
    p.add_argument("a", metavar="RUN", help="run directory, or a sweep's folder")
    p.add_argument("b", metavar="RUN")
    p.add_argument(
        "--metric", action="append", default=[], metavar="COLUMN", help="of two sweeps: what is compared (repeatable)"
    )
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument("--plot", metavar="FILE", help="draw both distributions here (.png, .svg or .pdf)")
    tables(p, "the printed tables")

    p = command("diff", "asking:diff", "name the first event, or decision, in which two runs differ")
    p.add_argument("a", metavar="A", help="scenario file, run directory, or record of decisions")
    p.add_argument("b", metavar="B", help="the same")
    plugins(p)

    p = command("decisions", "asking:decide", "replay what congestion controllers decided, in whatever world")
    p.add_argument("record", metavar="RECORD", help="run directory, or record of decisions (decisions.bin)")
    p.add_argument("--csv", metavar="FILE", help="also write every call as a row here")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    plugins(p)


def _installation(command: Callable) -> None:
    """The engine here, and the shell around it."""
    p = command("bench", "running:bench", "measure the engine's speed on fixed workloads")
    p.add_argument("workloads", nargs="*", metavar="W", help="W0, W1, …; a prefix takes all (default: all)")
    p.add_argument("--json", action="store_true", help="print one JSON object per workload and line")
    p.add_argument("--quick", action="store_true", help="smaller workloads, each once")
    p.add_argument("--repeat", type=count, metavar="N", help="the fastest of so many runs (default: 3)")
    p.add_argument("--threads", type=positive_int, metavar="N", help="for each run, where its network can be cut")

    p = command("doctor", "asking:doctor", "check this installation")
    p.add_argument("--json", action="store_true", help="print one JSON object")

    p = command("completion", "completion:completion", "print a shell's completion script")
    p.add_argument("shell", choices=SHELLS)


def connections(command: Callable, plugins: Callable) -> None:
    """Real connections."""
    line = {"type": bits_per_second, "default": 10e9, "metavar": "RATE"}
    most = "the most that a pace may be (default: 10Gbps)"
    record = "record what controllers decide here, for `thalweg decisions`, `diff`, `export-qlog`"
    table = "a name (`thalweg list controllers`), FILE.py:CLASS, MODULE:CLASS, or a table such as '{ kind = \"copa\", delta = 0.1 }'"

    quic = command("quic", "connecting:quic_send", "move a file over QUIC, under any controller that QUIC can carry")
    ends = quic.add_subparsers(title="ends", metavar="END", parser_class=Parser, required=True)

    p = ends.add_parser("send", help="send a file", description="send a file")
    p.set_defaults(command=_lazy("connecting:quic_send"))
    p.add_argument("file", metavar="FILE", help="the file")
    p.add_argument("--to", required=True, metavar="HOST:PORT", help="where `thalweg quic receive` listens")
    p.add_argument("--fingerprint", required=True, metavar="HEX", help="of the receiver: it prints its own")
    p.add_argument("--congestion", default="cubic", metavar="CONTROLLER", help=f"{table} (default: cubic)")
    p.add_argument("--line-rate", help=most, **line)
    p.add_argument("--record", metavar="FILE", help=record)
    p.add_argument("--quiet", action="store_true", help="say nothing but errors")
    p.add_argument("--json", action="store_true", help="print the statistics as one JSON object")
    plugins(p)

    p = ends.add_parser("receive", help="receive files", description="receive files, until Ctrl-C")
    p.set_defaults(command=_lazy("connecting:quic_receive"))
    p.add_argument("--listen", default="[::]:4433", metavar="ADDRESS:PORT", help="(default: [::]:4433)")
    p.add_argument("--out", required=True, metavar="DIR", help="folder for the files; none that is there is replaced")
    p.add_argument("--files", type=positive_int, metavar="N", help="end after so many")
    p.add_argument("--quiet", action="store_true", help="say where it listens and nothing else but errors")

    p = command(
        "attach", "connecting:attach", "run a command whose TCP connections are under a controller (Linux, root)"
    )
    p.add_argument("congestion", metavar="CONTROLLER", help=table)
    p.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command and its arguments")
    p.add_argument("--line-rate", help=most, **line)
    p.add_argument("--record", metavar="FILE", help=record)
    p.add_argument("--quiet", action="store_true", help="say nothing but errors")
    p.add_argument("--json", action="store_true", help="print the statistics as one JSON object")
    plugins(p)


class _Version(argparse.Action):
    def __call__(self, parser, *_):
        from thalweg import _core

        print(f"thalweg {_core.VERSION}")
        parser.exit(0)
