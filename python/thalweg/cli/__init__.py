"""The command `thalweg`: arguments in, exit code out. Never a traceback for what the user wrote.

Exit codes: 0 done; 1 something requested was found wanting (a claim in error, a difference, a failed check of
`doctor`); 2 a scenario, file or argument that cannot be used; 70 an internal error; 130 interrupted; 141 the
reader of our output left.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Sequence

TYPE_CHECKING = False  # importing `typing` for it would slow every command down
if TYPE_CHECKING:
    from typing import TextIO

OK, FOUND, UNUSABLE, INTERNAL, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 70, 130, 141


def entry() -> None:
    """The console script. A polite kill and a closed terminal are interrupts: what there is gets saved."""
    import signal

    import thalweg.cli.parser  # noqa: F401 (what takes time is done before Ctrl-C raises)

    polite = [s for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(s) != signal.SIG_IGN]
    try:
        for s in polite:
            signal.signal(s, signal.default_int_handler)
        code = main()
        for s in polite:  # nothing is left to save, and an interpreter that ends has no good answer
            signal.signal(s, signal.SIG_IGN)
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and answers with its exit code."""
    _open_closed()
    try:
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader is gone (`thalweg list | head`): nothing can be reported, not even at exit.
        code = BROKEN_PIPE
        _to_nobody(sys.stdout)
    try:
        sys.stderr.flush()
    except OSError:
        _to_nobody(sys.stderr)
    return code


def _open_closed() -> None:
    """Streams with which we were started closed (`thalweg run FILE >&-`) lead nowhere, lest a result file gets their
    number."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123


def _to_nobody(stream: TextIO) -> None:
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, stream.fileno())
    os.close(devnull)


def _run(argv: Sequence[str] | None) -> int:
    from thalweg.errors import ControllerError, ScenarioError

    try:
        from thalweg.cli.parser import build

        _refuse_bytes(sys.argv[1:] if argv is None else argv)
        try:
            args = build().parse_args(argv)
        except SystemExit as e:
            return int(e.code or 0)
        return args.command(args)
    except ScenarioError as e:
        for diagnostic in e.diagnostics:
            say(str(diagnostic).replace("\n", " "))
        return UNUSABLE
    except ControllerError as e:
        say(" ".join(str(e).split()))
        return UNUSABLE
    except KeyboardInterrupt as e:
        say("thalweg: " + (str(e) or "interrupted"))
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as e:
        say(f"thalweg: {e.filename or ''}: {e.strerror or e}".replace(": :", ":"))
        _say_notes(e)
        return UNUSABLE
    except BaseException as e:
        code = _internal(e)
        _say_notes(e)
        return code


def _say_notes(e: BaseException) -> None:
    """What was added to it on its way here, such as which run of a sweep it is of."""
    for note in getattr(e, "__notes__", ()):
        say(f"thalweg: {' '.join(note.split())}")


def _refuse_bytes(words: Sequence[str]) -> None:
    """What is not text cannot be written into a result, nor shown. (What follows `--` is another program's.)"""
    from thalweg.errors import refuse

    for word in itertools.takewhile(lambda word: word != "--", map(str, words)):
        try:
            word.encode()
        except UnicodeEncodeError:
            raw = word.encode(errors="surrogateescape")
            try:
                shown, way = raw.decode(), "set PYTHONUTF8=1, or a locale such as C.UTF-8"
            except UnicodeDecodeError:
                shown, way = raw.decode(errors="replace"), "names of files and keys are UTF-8"
            raise refuse(f"`{shown}` is not text here", hint=way) from None


def _interrupted(e: BaseException | None) -> bool:
    """Whether Ctrl-C is at the bottom of it: libraries written in C make other exceptions of one that hits
    their import."""
    return e is not None and (isinstance(e, KeyboardInterrupt) or _interrupted(e.__cause__ or e.__context__))


def _internal(e: BaseException) -> int:
    from thalweg import _faults

    if _interrupted(e):
        say("thalweg: interrupted")
        return INTERRUPTED
    if isinstance(e, SystemExit):
        say(f"{_users_code(e) or 'thalweg'}: {_faults.left(e)}")
        return UNUSABLE
    if os.environ.get("THALWEG_TRACEBACK"):
        import traceback

        traceback.print_exc()
    text = _faults.said(e)
    if type(e).__name__ == "PanicException":
        from thalweg import _core

        text = _core.take_panic() or text
    else:
        user = _users_code(e)
        if user:
            say(f"{user}: {type(e).__name__}: {text}")
            return UNUSABLE
        if isinstance(e, MemoryError):
            way = "`thalweg estimate FILE` says what a run needs; fewer jobs, samples or records need less"
            say(f"thalweg: there is not enough memory; {way}")
            return UNUSABLE
        text = f"{type(e).__name__}: {text}"
    say(f"thalweg: internal error: {text}; please report this, with the scenario (THALWEG_TRACEBACK=1 shows more)")
    return INTERNAL


def _users_code(e: BaseException) -> str | None:
    """`file:line` if the exception comes from code that is not ours, such as a Python controller."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    examples = os.path.join(ours, "examples")  # noqa: PTH118
    last = None
    trace = e.__traceback__
    while trace is not None:
        last = trace
        trace = trace.tb_next
    if last is None:
        return None
    file = last.tb_frame.f_code.co_filename
    inside = file.startswith((ours, sys.prefix, sys.base_prefix, "<")) and not file.startswith(examples)
    return None if inside else f"{file}:{last.tb_lineno}"


def say(line: str) -> None:
    """One line on stderr, if it is still read."""
    from thalweg._places import say

    say(line)
