"""Records of decisions: what congestion controllers observed and what they allowed, wherever they ran.

Simulations record them with `measure.decisions = true`; real connections with `--record`. The format is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeVar

from thalweg import _core, _input, installed
from thalweg._arrow import arrow_table, frame
from thalweg.errors import refuse

if TYPE_CHECKING:
    import polars

P = ParamSpec("P")
T = TypeVar("T")
DECISIONS = "decisions.bin"
# How such a file begins.
MAGIC = b"thalweg decided\n"


class Replayed(NamedTuple):
    """What came of one controller's replay."""

    flow: int
    controller: str
    decisions: int
    #: Of these, the same ones up to the first that is not.
    same: int
    #: Sixteen hexadecimal digits of all that it allowed.
    digest: str
    #: The first that is not the same, in words; None: there is none.
    differs: str | None


def is_record(path: str | Path) -> bool:
    """Whether this is a file of decisions."""
    path = _input.path(path, "a record of decisions")
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read(place: bytes | str | Path) -> bytes:
    """The record in a file, or in a run directory.

    Raises:
        ScenarioError: there is none.
    """
    if isinstance(place, bytes):
        return place
    path = _input.path(place, "a record of decisions, or a run directory")
    path = path / DECISIONS if path.is_dir() else path
    if not path.is_file():
        hint = "run it with `--set measure.decisions=true`"
        raise refuse("has no record of decisions", file=place, hint=hint)
    return path.read_bytes()


def table(place: bytes | str | Path) -> polars.DataFrame:
    """One row per call of a controller: `flow`, `at_ps`, `call`, `acked`, `rtt_ps`, `window`, `pace_bps`, …

    Raises:
        ScenarioError: there is no such record, or it is damaged.
    """
    made = _checked(place, _core.decisions_table, read(place))
    return frame(arrow_table(*made))


def replay(place: bytes | str | Path) -> list[Replayed]:
    """Gives each controller anew what it observed, and compares what it allows.

    Raises:
        ScenarioError: there is no such record, it is damaged, or a controller is not known here.
    """
    record = read(place)
    for name in installed.declared(installed.CONTROLLERS):
        if name.encode() in record:
            installed.load(name)
    return [Replayed(*row) for row in _checked(place, _core.decisions_replay, record)]


def compare(a: bytes | str | Path, b: bytes | str | Path) -> dict[int, str]:
    """By flow, the first decision that differs between two records; empty if none does."""
    try:
        return dict(_core.decisions_compare(read(a), read(b)))
    except ValueError:
        for one in (a, b):  # which of them it is
            _checked(one, _core.decisions_table, read(one))
        raise


def _checked(place: bytes | str | Path, function: Callable[P, T], *args: P.args, **kw: P.kwargs) -> T:
    try:
        return function(*args, **kw)
    except ValueError as e:
        raise refuse(str(e), file="the record" if isinstance(place, bytes) else place) from None
