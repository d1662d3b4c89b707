"""Scenarios as Python objects: the same schema as the TOML files, and as strict."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from thalweg import _core, _counts, _given, _input, _plain, _toml, installed
from thalweg.errors import ScenarioError, nearest, refuse

if TYPE_CHECKING:
    from thalweg.estimating import Estimate


class Cost(TypedDict):
    """What a run will cost; `memory` has the bytes of each part, the largest first."""

    flows: int
    packets: int
    packet_hops: int
    events: int
    memory_bytes: int
    memory: dict[str, int]
    seconds: float


class Scenario:
    """One experiment, complete: every default is written out. Immutable; `with_` makes variants.

    >>> s = thalweg.Scenario.load("incast.toml", set={"seed": 3})
    >>> s.with_({"switch.scheduler.kind": "srpt"}).estimate()["events"]
    """

    def __init__(
        self, text: str, file: str = "<text>", directory: Path | str = ".", set: Mapping[str, Any] | None = None
    ):
        # A file's name may hold bytes that are not text: they are shown, not lost.
        shown = file.encode("utf-8", "backslashreplace").decode()
        self._text, self._file, self._directory = _plain.word(text, file=shown), shown, Path(directory)
        self._set = {str(k): None if v is None else _setting(str(k), v) for k, v in _given.settings(set).items()}
        changed = [(k, v) for k, v in self._set.items() if v is not None]
        unset = [_plain.word(k, file="--unset") for k, v in self._set.items() if v is None]
        installed.need(text, *(v for _, v in changed))
        try:
            self._core = _core.Scenario.load(text, shown, self._directory, changed, unset)
        except ScenarioError as e:
            if not installed.others_known(e):
                raise
            # Refused again, with the controllers of installed packages among the names that are suggested.
            self._core = _core.Scenario.load(text, shown, self._directory, changed, unset)

    @classmethod
    def load(cls, path: str | Path, set: Mapping[str, Any] | None = None) -> Scenario:
        """Reads a TOML file. Relative paths in it start at its own folder (for the resolved scenario of a run
        directory: at the folder of the file it was made from). Raises `ScenarioError`."""
        path = _input.path(path, "a scenario", "`thalweg.Scenario.from_toml(text)` takes one")
        return cls(read_text(path), str(path), _home(path), set)

    @classmethod
    def from_toml(cls, text: str, set: Mapping[str, Any] | None = None) -> Scenario:
        """Reads TOML text. Raises `ScenarioError`."""
        if not isinstance(text, str):
            hint = "`.decode()` it" if isinstance(text, bytes) else "`Scenario.from_dict` takes a dictionary"
            raise refuse(f"a {type(text).__name__} is not text", file="<text>", hint=hint)
        return cls(text, set=set)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any], set: Mapping[str, Any] | None = None) -> Scenario:
        """Takes nested dictionaries with the keys of a scenario file. Raises `ScenarioError`."""
        return cls(_toml.dumps(_given.settings(table, "")), "<dict>", set=set)

    def with_(self, set: Mapping[str, Any] | None = None, /, **top_level: Any) -> Scenario:
        """A variant: dotted keys and their new values; `None` takes a key out. It starts from what was
        *written*, not from the resolved form, so that defaults follow the changed choice."""
        changed = {**_given.settings(set), **top_level}
        # What only an override had written is gone with it.
        before = {k: v for k, v in self._set.items() if v is None or changed.get(k, v) is not None}
        gone = [k for k, v in changed.items() if v is None and k not in before and k in self._set]
        changed = {k: v for k, v in changed.items() if k not in gone or _written(self._text, k)}
        return type(self)(self._text, self._file, self._directory, {**before, **changed})

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def seed(self) -> int:
        return self._core.seed

    def to_toml(self) -> str:
        """The resolved scenario: can be run again from this text alone."""
        return self._core.to_toml()

    def to_dict(self) -> dict[str, Any]:
        return json.loads(self._core.to_json())

    def estimate(self) -> Cost:
        """What a run will cost: `flows`, `packets`, `packet_hops`, `events`, `memory_bytes`, `memory` (by
        part, largest first), `seconds`. Nothing is drawn to find out."""
        return self._core.estimate()

    def estimate_fct(self, **how: Any) -> Estimate:
        """Completion times estimated from simulations of one link at a time; see `thalweg.estimating.estimate_fct` for
        what may be said of how.

        >>> thalweg.Scenario.load("fabric.toml").estimate_fct(jobs=2).classes
        """
        from thalweg.estimating import estimate_fct

        return estimate_fct(self, **how)

    def flows_csv(self) -> str:
        """The flow list, for other simulators: `id,src,dst,size_bytes,start_ns`, with `after` if some
        follow others."""
        return self._core.flows_csv()

    def flows_hpcc(self) -> str:
        """The flow list in the format of the HPCC ns-3 simulator."""
        return self._core.flows_hpcc()

    def trace_text(self, port: int | None = None) -> str:
        """The delivery opportunities of a link in Mahimahi's format; `port` says which, if links have
        different ones."""
        if port is not None and not (_counts.is_whole(port) and 0 <= port < 1 << 32):
            raise refuse(f"`{port!r}` is not a port", key="port", hint="a whole number, from 0")
        return self._core.trace_text(port)

    def inputs(self) -> dict[str, str]:
        """The files that the scenario reads, as it names them, with a hash of what is in each."""
        found: dict[str, str] = {}
        for name in self._core.files():
            file = self._directory / name
            # (What is gone since the scenario was loaded is no input of it any more.)
            if _is_file(file):
                with file.open("rb") as f:
                    found[name] = hashlib.file_digest(f, "sha256").hexdigest()[:16]
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __repr__(self) -> str:
        return f"<thalweg.Scenario {self.name!r} seed={self.seed} from {self._file}>"

    def _repr_html_(self) -> str:
        """Its kinds and what a run will cost; the resolved text folded."""
        from thalweg import _format
        from thalweg._html import folded, table, titled

        found = self.to_dict()
        switch = found.get("switch") or {}
        try:
            e = self.estimate()
            counts = f"{_format.plural(e['flows'], 'flow')}, {_format.plural(e['packet_hops'], 'packet-hop')}"
            cost = f"{counts}, {_format.wall(e['seconds'])}, {_format.memory(e['memory_bytes'])}"
        except ScenarioError as e:
            cost = str(e)
        rows = [
            ("topology", _kind(found.get("topology", {}))),
            ("traffic", ", ".join(_kind(t) for t in found.get("traffic") or [])),
            ("transport", "; ".join(_transports(found))),
            ("switch scheduler", _kind(switch.get("scheduler", ""))),
            ("about", cost),
        ]
        resolved = folded("resolved: every default written out", f"<pre>{escape(self.to_toml())}</pre>")
        return titled(f"Scenario {self.name}, seed {self.seed}", table(("", ""), rows), resolved)

    def __reduce__(self) -> tuple[type[Scenario], tuple[object, ...]]:
        # Another process may be in another folder.
        return type(self), (self._text, self._file, self._directory.absolute(), self._set)


def _written(text: str, key: str) -> bool:
    """Whether a dotted key stands in a scenario's text."""
    node = tomllib.loads(text)
    for part in key.split("."):
        try:
            node = node[int(part)] if isinstance(node, list) else node[part]
        except (KeyError, IndexError, TypeError, ValueError):
            return False
    return True


def transport_of(document: Mapping[str, Any], section: Mapping[str, Any]) -> Mapping[str, Any]:
    """The table of a section's transport in a resolved scenario. A section of kind `udp` is one itself."""
    if section.get("kind") == "udp":
        return {"kind": "udp"}
    used = section.get("transport", "default")
    if isinstance(used, Mapping):
        return {**document["transport"], **used}
    named = document.get("transports") or {}
    return named[used] if used in named else document["transport"]


def _transports(found: dict[str, Any]) -> Iterator[str]:
    """The transports that traffic uses, each once: kind, controller, and its name if it has one."""
    named = found.get("transports") or {}
    used = []
    for section in found.get("traffic") or [{}]:
        if (name := section.get("transport") or "default") not in used:
            used.append(name)
    for name in used:
        if isinstance(name, dict):
            about, name = name, "default"
        else:
            about = named.get(name) or found.get("transport") or {}
        words = [_kind(about), _kind(about.get("congestion", ""))]
        yield (f"{name}: " if name in named else "") + ", ".join(filter(None, words))


def _kind(part: object) -> str:
    return str(part.get("kind", "")) if isinstance(part, dict) else str(part)


def _setting(key: str, value: object) -> str:
    """An override as the engine takes it."""
    where = f"--set {key.encode('utf-8', 'backslashreplace').decode()}"
    return _toml.override(value, _plain.word(key, file=where), where)


def _home(path: Path) -> Path:
    """Where a scenario file's relative paths start."""
    meta = path.parent / "meta.json"
    if path.name == "scenario.toml" and meta.is_file():
        try:
            return Path(json.loads(_input.text(meta))["directory"])
        except (ValueError, KeyError, TypeError, OSError):
            pass
    return path.parent


def read_text(path: Path) -> str:
    """A text file, or a `ScenarioError` that says what is there instead."""
    try:
        return _input.text(path, _input.SCENARIO)
    except FileNotFoundError:
        try:
            there = [p.name for p in path.parent.iterdir() if p.suffix == path.suffix and p.is_file()]
        except OSError:
            there = []
        raise refuse("no such file", file=path, hint=nearest(path.name, there)) from None
    except IsADirectoryError:
        hint = "a run directory: use its scenario.toml" if (path / "scenario.toml").exists() else None
        raise refuse("is a directory, not a scenario file", file=path, hint=hint) from None
    except UnicodeDecodeError as e:
        raise refuse(f"is not UTF-8 text (byte {e.start})", file=path) from None
    except OSError as e:
        raise refuse(e.strerror or str(e), file=path) from None


def as_scenario(what: Scenario | str | Path | Mapping[str, Any], set: Mapping[str, Any] | None = None) -> Scenario:
    """A scenario from whatever names one: itself, a path, a run directory, a dictionary."""
    if isinstance(what, Scenario):
        return what.with_(set) if set else what
    if isinstance(what, Mapping):
        return Scenario.from_dict(what, set)
    path = _input.path(what, "a scenario", "`thalweg.Scenario.from_toml(text)` takes one")
    if (path / "scenario.toml").is_file():
        path = path / "scenario.toml"
    return Scenario.load(path, set)


def _is_file(path: Path) -> bool:
    """Whether there is such a file; a text that cannot be a file's name, such as a policy's, is none."""
    try:
        return path.is_file()
    except OSError:
        return False
