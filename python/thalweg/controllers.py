"""Congestion controllers written in Python.

    @thalweg.controller("my-aimd", params={"gain": 0.5})
    class Aimd:
        def __init__(self, flow):
            self.mss, self.window, self.gain = flow.mss, flow.initial_window, flow.params["gain"]

        def on_ack(self, ack):
            if not ack.in_recovery:
                self.window += self.mss * ack.acked / self.window

        def on_loss(self, loss):
            self.window = max(self.window * self.gain, self.mss)

        def on_timeout(self, loss):
            self.window = self.mss

A scenario then says `transport.congestion = { kind = "custom", name = "my-aimd", params = { gain = 0.7 } }`.
After every call the attributes `window` (payload bytes), and if the class has them `pace` (bit/s or None) and
`wake_ps` (when `on_tick(now_ps)` is wanted, or None; never in the past, nor in `__init__`, which does not
know the time), are what the flow may do; an attribute `threshold`, the slow-start threshold (payload bytes, or None),
is what `transport.pacing` goes by, and a column of the table `controllers`; a method `permit()` that returns a window
or `(window, pace, wake_ps)` is the other way to say so. A new pace holds from the next departure that is planned: one
that is planned already is not moved (of 1500 bytes at 1 kb/s it is 12 s away). With a window below a segment a flow
sends one segment per round trip.

`params` declares the parameters with their defaults; a scenario that writes another name, or a value of
another type, is refused. `ecn=True` lets packets be marked, and `ack.marked` reports it, unless
the scenario says otherwise. `telemetry=True` has switches write what they know into packets (in-band
telemetry, as HPCC wants it), and receivers send it back.

`flow`: `number`, `mss`, `initial_window`, `max_window`, `line_rate` (bit/s), `base_rtt_ps`, `initial_threshold` (None:
none), `params` (the defaults with what the scenario wrote). `ack`: `now_ps`, `rtt_ps` (None for retransmitted data),
`acked`, `sacked`, `in_flight`, `acked_to`, `sent_to`, `marked`, `in_recovery`, `app_limited`, `cwnd_limited` (the
window was used up meanwhile: only then a window should grow), and how fast data is delivered: `delivered` since the
newest segment acknowledged here was sent, in `interval_ps`, with `lost` meanwhile (None without a sample); and
`telemetry`, a list with a record of every switch on the way: `at_ps`, `tx_bytes`, `queue`, `rate` (bit/s) of the port
that the packet left by (None unless it was requested), with `path`, a number that is the same as long as these are the
same ports: records of two paths cannot be compared. `loss`: `now_ps`, `in_flight`, `acked_to`, `sent_to`. Bytes are
payload. A class that has `on_sent(self, sent)` is called with the tuple `(now_ps, bytes, in_flight)` after each
transmission; one that has `on_restart(self, silence)` with `(now_ps, idle_ps)` when data comes after a silence: nothing
to send, nothing in the network; one that has `restart_from(self, left)`, over TCP where `transport.restart` says so,
with `(now_ps, window, keeps_threshold)` after a silence longer than the retransmission timeout: the window is to be
`window` at most (RFC 5681 §4.1), and the threshold three quarters of what the window was at least, if it is kept (RFC
2861). Without that method `transport.restart` is refused.

A class that has a dictionary `columns`, `{"gain": ("", "what it is")}` with the unit and the meaning of attributes that
are numbers or None, has them as columns of the table `controllers`, where `measure.controllers` samples it.

State is data: an instance is saved as the plain values of its attributes. These may be numbers, texts, lists,
tuples, dictionaries, `collections.deque`, `random.Random` and the `flow` itself, each held once; of anything
else make such values in `__getstate__`, and take them back in `__setstate__`. Reading a saved run executes
nothing that it holds. Chance must come from a seed that the scenario gives
(`random.Random(flow.params["seed"] + flow.number)`), or runs stop being repeatable.

Whatever goes wrong in a controller ends the run with a `thalweg.ControllerError` that names controller, flow
and instant.

For annotations and for tests without a network, `Flow`, `Ack`, `Loss` and `Hop` of `thalweg.controllers` are the types
of what a controller is given: `def on_ack(self, ack: Ack) -> None`.
"""

from __future__ import annotations

import ast
import hashlib
import json
import random
import runpy
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, ClassVar, Protocol, TypeGuard, TypeVar

from thalweg import _clashes, _core, _faults, _registered, libraries
from thalweg._core import Ack as Ack
from thalweg._core import Flow as Flow
from thalweg._core import Hop as Hop
from thalweg._core import Loss as Loss
from thalweg._format import simulated
from thalweg.errors import ControllerError, Diagnostic, nearest, refuse

C = TypeVar("C", bound=type)


class Registered(Protocol):
    """What `controller` makes of a class: how the engine and the others here find it."""

    thalweg_name: ClassVar[str]
    thalweg_params: ClassVar[dict[str, Any]]
    thalweg_ecn: ClassVar[bool]
    thalweg_telemetry: ClassVar[bool]

    def on_ack(self, ack: _core.Ack, /) -> None: ...


_REQUIRED = ("on_ack", "on_loss", "on_timeout")
_PLAIN = (type(None), bool, int, float, str)
_FLOW = ("number", "mss", "initial_window", "max_window", "line_rate", "base_rtt_ps", "params", "initial_threshold")
_VERSION = 1
# A class whose state has been saved once refers to itself by this name.
_SAVED = "thalweg_saved"
_CLASSES: dict[str, type[Registered]] = {}
# What each was written in, as it was registered: see `fingerprint`.
_PRINTS: dict[str, str] = {}
# The plug-ins that were imported, files by their whole names, with a hash of what was in them.
_IMPORTED: dict[str, str] = {}


def controller(
    name: str, *, ecn: bool = False, telemetry: bool = False, params: Mapping[str, Any] | None = None
) -> Callable[[C], C]:
    """Class decorator: makes the class available to scenarios under `name`.

    `ecn`: it wants to be notified of marks. `telemetry`: and of what switches write into packets. `params`: its
    parameters with their defaults.
    """
    if not isinstance(name, str) or not name:
        raise TypeError('a controller needs a name: @thalweg.controller("my-controller")')
    for option, value in (("ecn", ecn), ("telemetry", telemetry)):
        if not isinstance(value, bool):
            raise TypeError(f"controller {name!r}: `{option}` is {value!r}, not True or False")
    defaults = dict(params or {})
    for key, value in defaults.items():
        if not isinstance(key, str) or not isinstance(value, (*_PLAIN, list, dict)):
            raise TypeError(
                f"controller {name!r}: the parameter {key!r} has the default {value!r}, which no scenario can write"
            )

    def register(cls: C) -> C:
        missing = [m for m in _REQUIRED if not callable(getattr(cls, m, None))]
        if missing:
            raise TypeError(f"controller {name!r}: {cls.__name__} has no {', '.join(missing)}")
        caller = sys._getframe(1)
        file = caller.f_code.co_filename
        _clashes.check(name, cls, file, caller.f_globals, names())
        marks = {"name": name, "params": defaults, "ecn": ecn, "telemetry": telemetry}
        for mark, value in marks.items():
            setattr(cls, f"thalweg_{mark}", value)
        _core.register_controller(name, cls, ecn, telemetry, list(defaults))
        _CLASSES[name], _registered.PYTHON[name] = _as_registered(cls), file
        _PRINTS[name] = _print_of(cls, file)
        return cls

    return register


def is_registered(what: object) -> TypeGuard[type[Registered]]:
    """Whether this is a class that `controller` was put above (and not one that inherits from such a one)."""
    return isinstance(what, type) and "thalweg_name" in vars(what)


def _as_registered(cls: type) -> type[Registered]:
    assert is_registered(cls)
    return cls


def parameters(cls: type[Registered], written: bytes) -> dict[str, Any]:
    """The declared parameters, with what the scenario wrote (called by the engine)."""
    declared = json.loads(json.dumps(cls.thalweg_params))
    given = json.loads(written or b"null") or {}
    for key, value in given.items():
        if key not in declared:
            hint = nearest(key, declared) or "it takes none"
            raise ValueError(str(Diagnostic(f"no parameter `{key}` is declared", hint=hint)))
        wanted, have = _kind(declared[key]), _kind(value)
        if wanted not in ("nothing", have):
            raise ValueError(f"`params.{key}` is {value!r}: {have}, where the default {declared[key]!r} is {wanted}")
    return declared | given


def _kind(value: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}
    return kinds.get(type(value), "nothing")


def make(cls: type, flow: Any) -> Any:
    """One flow's instance (called by the engine)."""
    made = cls(flow)
    if not hasattr(made, "permit") and not hasattr(made, "window"):
        raise TypeError("has neither `window` nor `permit()` after __init__")
    if cls.__dict__.get(_SAVED) is not cls:
        # What cannot be saved is reported before the run, not when it is interrupted.
        save_state(made, flow.number)
        setattr(cls, _SAVED, cls)
    return made


def failure(name: str, flow: int | None, now_ps: int | None, doing: str, e: BaseException) -> BaseException:
    """The error that ends a run (called by the engine)."""
    who = f"controller `{name}`" + ("" if flow is None else f", flow {flow}")
    who += f", at {simulated(now_ps)}" if now_ps is not None else ", at its start" if doing == "__init__" else ""
    where = f"{at}: " if (at := _faults.place(e)) else ""
    if isinstance(e, KeyboardInterrupt):
        return KeyboardInterrupt(f"{where}{who}: interrupted in {doing}, which had not returned")
    if isinstance(e, SystemExit):
        what = _faults.left(e)
    else:
        what = _faults.said(e) if not where and isinstance(e, TypeError | ValueError) else _faults.named(e)
    error = ControllerError(f"{where}{who}: {doing}: {what}", name, flow, now_ps)
    error.__cause__ = e
    return error


def save_state(instance: Any, flow: int = 0) -> bytes:
    """An instance's state as JSON (called by the engine)."""
    held: dict[int, str] = {}
    state = instance.__getstate__()
    if type(state) is tuple and len(state) == 2:  # attributes and slots
        state = {"tuple": [_plain(part, "", held) for part in state]}
    else:
        state = _plain(state, "", held)
    return json.dumps({"version": _VERSION, "flow": flow, "state": state}, separators=(",", ":")).encode()


def load_state(cls: type[Registered], saved: bytes) -> tuple[Any, int]:
    """An instance from its saved state, and its flow's number (called by the engine)."""
    try:
        found = json.loads(saved)
        if not isinstance(found, dict) or found.get("version") != _VERSION or type(found.get("flow")) is not int:
            raise ValueError("written by another version of thalweg")
        state = _back(found["state"])
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as e:
        raise ValueError(f"its saved state cannot be read: {e}") from None
    instance = cls.__new__(cls)
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(state)
        return instance, found["flow"]
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if not isinstance(attributes, dict | None) or not isinstance(slots, dict | None):
        raise ValueError("its saved state cannot be read: it holds no attributes")
    if attributes:
        vars(instance).update(attributes)
    for key, value in (slots or {}).items():
        setattr(instance, key, value)
    return instance, found["flow"]


def _plain(value: Any, where: str, held: dict[int, str]) -> Any:
    """A value as JSON: what JSON has no word for becomes `{"its name": …}`. Anything that could not be read
    back the same is refused."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is _core.Flow:
        return {"flow": [_plain(getattr(value, k), f"{where}.{k}", held) for k in _FLOW]}
    if kind is tuple:
        return {"tuple": [_plain(v, f"{where}[{n}]", held) for n, v in enumerate(value)]}
    if kind not in (list, dict, deque, random.Random):
        hint = "numbers, texts, lists, tuples, dictionaries, deques and random.Random can be; see `__getstate__`"
        raise TypeError(f"the attribute `{where}` is a {kind.__name__}, which cannot be saved: {hint}")
    if id(value) in held:
        raise TypeError(
            f"the attributes `{held[id(value)]}` and `{where}` are one {kind.__name__}; "
            "read back they would be two: hold it once"
        )
    held[id(value)] = where
    if kind is list:
        return [_plain(v, f"{where}[{n}]", held) for n, v in enumerate(value)]
    if kind is deque:
        return {"deque": [_plain(v, f"{where}[{n}]", held) for n, v in enumerate(value)], "maxlen": value.maxlen}
    if kind is random.Random:
        return {"random": _plain(value.getstate(), where, held)}
    name = (lambda k: str(k)) if not where else (lambda k: f"{where}[{k!r}]")
    return {"dict": [[_plain(k, where, held), _plain(v, name(k), held)] for k, v in value.items()]}


def _back(value: Any) -> Any:
    """The inverse of `_plain`: makes containers of plain values and nothing else."""
    if type(value) is list:
        return [_back(v) for v in value]
    if type(value) is not dict:
        return value
    match value:
        case {"tuple": items}:
            return tuple(_back(items))
        case {"dict": pairs}:
            return {_back(k): _back(v) for k, v in pairs}
        case {"deque": items, "maxlen": maxlen}:
            return deque(_back(items), maxlen)
        case {"random": state}:
            made = random.Random()
            made.setstate(_back(state))
            return made
        case {"flow": fields}:
            return _core.Flow(*_back(fields))
    raise ValueError("an unknown kind of value")


def cost_per_ack(name: str, acks: int = 5000) -> float:
    """Nanoseconds that one ACK costs in a registered Python controller, here and now."""
    _core.exercise_controller(name, acks // 10)
    begun = time.perf_counter_ns()
    _core.exercise_controller(name, acks)
    return (time.perf_counter_ns() - begun) / acks


def names() -> list[str]:
    """The controllers registered in this process: those in Python, and those of libraries."""
    return _registered.names()


def named(where: str) -> str:
    """The name under which `FILE.so`, `FILE.py:Class`, `MODULE:Class` or the only controller of `FILE.py` is
    registered, after importing it."""
    place, _, wanted = where.partition(":")
    if libraries.is_library(place):
        return libraries.load(place)
    found = import_plugins(place)
    classes = {c.__name__: c for c in found.values() if is_registered(c)}
    if not classes:
        raise refuse("registers no controller", file=place, hint='write @thalweg.controller("a-name") above its class')
    if wanted and wanted not in classes:
        raise refuse(f"no controller class is called `{wanted}`", file=place, hint=nearest(wanted, classes))
    if not wanted and len(classes) > 1:
        raise refuse("registers several controllers", file=place, hint=f"write {place}:CLASS {nearest('', classes)}")
    return (classes[wanted] if wanted else next(iter(classes.values()))).thalweg_name


def file_of(name: str) -> Path | None:
    """The file that registered a controller, or its library; `None` for a built-in one."""
    return _registered.file_of(name)


def fingerprint(name: str) -> str:
    """A hash of what a registered controller is written in, or of its library; empty for any other.

    A class is written in the files of its methods, inherited ones too, in the file that registers it, and in what
    these import from that file's folder; in a notebook, in the code of its methods.
    """
    if name in _PRINTS:
        return _PRINTS[name]
    try:
        library = libraries.file_of(name)
        return "" if library is None else hashlib.sha256(library.read_bytes()).hexdigest()
    except OSError:
        return ""


def fingerprints(text: str) -> dict[str, str]:
    """Of the controllers of one's own that a scenario's text names."""
    return {name: fingerprint(name) for name in sorted(names()) if f'"{name}"' in text}


def _print_of(cls: type, registered: str) -> str:
    methods = [f for one in cls.__mro__ for f in _methods(one)]
    found = hashlib.sha256()
    for place in sorted({registered, *_sources(methods, Path(registered).absolute().parent)}):
        if Path(place).is_file():
            found.update(Path(place).read_bytes())
    for code in (f.__code__ for f in methods):
        if not Path(code.co_filename).is_file():
            found.update(code.co_code + repr([c for c in code.co_consts if not isinstance(c, CodeType)]).encode())
    return found.hexdigest()


def _methods(cls: type) -> list[FunctionType]:
    """A class' own."""
    plain = (getattr(member, "__func__", getattr(member, "fget", member)) for member in vars(cls).values())
    return [member for member in plain if isinstance(member, FunctionType)]


def _sources(methods: list[FunctionType], folder: Path) -> set[str]:
    """The files of methods, and of all in `folder` that these import, at their head or in a function."""
    files, todo = set(), {f.__code__.co_filename for f in methods}
    while todo:
        file = todo.pop()
        files.add(file)
        todo |= {f for f in _imports(file, folder) if _is_own(Path(f).absolute(), folder)} - files
    return files


def _is_own(file: Path, folder: Path) -> bool:
    """In that folder, and not in an environment of packages that lies there."""
    return file.is_relative_to(folder) and not {"site-packages", "dist-packages"} & set(file.relative_to(folder).parts)


def _imports(file: str, folder: Path) -> set[str]:
    """The files of the modules that a file imports; a name that is imported may be a module, too. (Looking at what was
    imported would miss constants: they do not say where they are from.)"""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    here = next((m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == file), None)
    package = getattr(here, "__package__", None) or ""
    wanted: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wanted |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            name = ".".join(filter(None, [*parents, node.module]))
            wanted |= {name, *(f"{name}.{alias.name}" for alias in node.names)}
    found: set[str] = set()
    for name in wanted:
        # With the packages that it is in, which are imported with it.
        parts = name.split(".")
        for n in range(1, len(parts) + 1):
            known = getattr(sys.modules.get(".".join(parts[:n])), "__file__", None)
            beneath = folder.joinpath(*parts[:n]).with_suffix(".py")
            found |= {known} if known else {str(beneath)} if beneath.is_file() else set()
    return found


def imported() -> dict[str, str]:
    """The plug-ins and libraries that this process has imported, and a hash of what was in their files."""
    return _IMPORTED | libraries.opened()


def defined_elsewhere(text: str) -> tuple[type[Registered], ...]:
    """The controllers that a scenario's text names and no plug-in has defined: those of a script, or a notebook."""
    files = {where for where in _IMPORTED if where.endswith(".py")}
    return tuple(
        cls
        for name, cls in _CLASSES.items()
        if f'"{name}"' in text and not cls.__module__.startswith("thalweg.") and _written_in(cls) not in files
    )


def _written_in(cls: type[Registered]) -> str:
    return str(Path(getattr(getattr(cls.on_ack, "__code__", None), "co_filename", "")).absolute())


def have(cls: type[Registered]) -> None:
    """Makes a controller that came from another process available here."""
    if _CLASSES.get(cls.thalweg_name) is not cls:
        make = controller(
            cls.thalweg_name, ecn=cls.thalweg_ecn, telemetry=cls.thalweg_telemetry, params=cls.thalweg_params
        )
        make(cls)


def import_plugins(where: str) -> dict[str, Any]:
    """Imports a module, runs a Python file or opens a library, whose controllers are wanted; answers with what it
    defines."""
    if libraries.is_library(where):
        return {"thalweg_name": libraries.load(where)}
    found = _import(where)
    file = Path(where).absolute() if where.endswith(".py") else None
    _IMPORTED[str(file or where)] = hashlib.sha256(file.read_bytes()).hexdigest() if file else ""
    return found


def _import(where: str) -> dict[str, Any]:
    if "\n" in where:
        raise refuse(f"`{where}` is a text: a module or a file was expected", hint="`MODULE`, `FILE.py`")
    if where.endswith(".py"):
        if not Path(where).is_file():
            raise refuse("no such file", file=where)
        sys.path.insert(0, str(Path(where).parent.absolute()))
        try:
            return runpy.run_path(where, run_name=Path(where).stem)
        except SystemExit as e:
            raise refuse(_faults.left(e), file=where) from None
        except Exception as e:
            raise refuse(_faults.named(e), file=_faults.place(e) or where) from None
    try:
        return vars(import_module(where))
    except SystemExit as e:
        raise refuse(_faults.left(e), file=where) from None
    except Exception as e:
        raise refuse(f"cannot be imported: {_faults.named(e)}", file=where) from None
