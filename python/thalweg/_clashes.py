"""Names of controllers that cannot be registered: another one would run in the place of the one that was meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thalweg import _core, libraries
from thalweg.errors import refuse

# By name the class, and the globals of the code that registered it: every run of a file has its own.
_REGISTERED: dict[str, tuple[type, str, Mapping[str, Any]]] = {}


def check(name: str, cls: type, file: str, space: Mapping[str, Any], registered: Collection[str]) -> None:
    """Refuses the name of a controller of thalweg's, of a library, and of another class of the same file.

    A file that is imported once more, and a cell of a notebook that is run again, register anew. `registered`: the
    names of controllers that are not thalweg's.
    """
    ways = f"give it another name, such as `my-{name}`"
    if name not in registered and any(name == known for known, *_ in _core.catalogue("controllers") or ()):
        raise refuse(f"`{name}` is a controller of thalweg's", hint=ways)
    library = libraries.file_of(name)
    if library is not None:
        raise refuse(f"`{name}` is registered by {library}", hint="rename one of them")
    before = _REGISTERED.get(name)
    if before is not None and _are_two(cls, file, space, *before):
        reason = f"the classes {before[0].__qualname__} and {cls.__qualname__} are both registered as `{name}`"
        raise refuse(reason, hint="rename one of them")
    _REGISTERED[name] = cls, file, space


def _are_two(
    cls: type, file: str, space: Mapping[str, Any], old: type, old_file: str, old_space: Mapping[str, Any]
) -> bool:
    # A class that a function makes is made as often as it is called, and a prompt is not a file.
    made = any("<locals>" in one.__qualname__ for one in (cls, old))
    return (
        file == old_file
        and space is old_space
        and cls.__qualname__ != old.__qualname__
        and not made
        and not file.startswith("<")
    )


def _place(file: str) -> str:
    return file if file.startswith("<") else str(Path(file).resolve())


class Files:
    """The files that one command imports: of two that register one name the second would run for both."""

    def __init__(self) -> None:
        self._by_name: dict[str, str] = {}

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """While a file is imported. Refuses it if it registers a name that an earlier one has registered."""
        before = dict(_REGISTERED)
        yield
        for name, (cls, file, _) in _REGISTERED.items():
            if name in before and before[name][0] is cls:
                continue
            if _place(self._by_name.setdefault(name, file)) != _place(file):
                reason = f"`{name}` is registered by this file and by {self._by_name[name]}"
                raise refuse(reason, file=file, hint="rename one of them")
