"""Controllers and studies of installed packages, which these declare as entry points.

    [project.entry-points."thalweg.controllers"]
    author-cc = "author_cc:AuthorCC"        # the class; a module that registers it will do, too

    [project.entry-points."thalweg.studies"]
    author-study = "author_study"           # the package whose folder holds claims.toml

After `pip install author-cc`, `congestion = "author-cc"` works wherever a controller's name does, and `thalweg
reproduce author-study` runs the study. A package is imported when a scenario, a command or an exam names its
controller, not before. A name that is taken, by thalweg, by another package or by what this process has registered,
is refused.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg import _core, _faults, controllers
from thalweg.errors import ScenarioError, refuse

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

CONTROLLERS, STUDIES = "thalweg.controllers", "thalweg.studies"


@dataclass(frozen=True)
class Declared:
    """One entry point: its name, what it leads to, and the package that declares it."""

    name: str
    entry: EntryPoint

    @property
    def package(self) -> str:
        """Name and version, such as `author-cc 0.1.0`."""
        about = self.entry.dist
        return f"{about.name} {about.version}" if about is not None else self.entry.value

    def home(self, module: str) -> Path | None:
        """The folder of a package, or the file of a module that is none, without importing it; `None` if it is not
        there."""
        try:
            found = importlib.util.find_spec(module)
        except (ImportError, ValueError):
            return None
        if found is None:
            return None
        if found.submodule_search_locations:
            return Path(next(iter(found.submodule_search_locations))).resolve()
        return Path(found.origin).resolve() if found.origin else None

    @property
    def study(self) -> Path | None:
        """The folder that holds the claims, if there is one."""
        home = self.home(self.entry.module)
        return home if home is not None and (home / "claims.toml").is_file() else None


@cache
def declared(group: str) -> dict[str, tuple[Declared, ...]]:
    """What installed packages declare, by name; more than one of a name is a clash. Read once."""
    from importlib.metadata import entry_points

    found: dict[str, dict[str, Declared]] = {}
    for entry in entry_points(group=group):
        # The same package may be found twice: in place, and in an environment.
        package = entry.dist.name if entry.dist is not None else ""
        found.setdefault(entry.name, {}).setdefault(package, Declared(entry.name, entry))
    return {name: tuple(of[package] for package in sorted(of)) for name, of in sorted(found.items())}


def only(group: str, name: str) -> Declared:
    """The one package that declares a name. Raises `ScenarioError` if several do."""
    first, *others = declared(group)[name]
    if others:
        listed = ", ".join(one.package for one in (first, *others))
        raise refuse(f"`{name}` is declared by several installed packages: {listed}", hint="uninstall all but one")
    return first


def need(*written: str) -> None:
    """Imports what registers the controllers that a scenario's text, or a value set in it, names."""
    for name in declared(CONTROLLERS):
        if any(name == text or f'"{name}"' in text or f"'{name}'" in text for text in written):
            load(name)


def load(name: str) -> None:
    """Imports the package that declares this controller. Raises `ScenarioError` if it cannot have the name."""
    one = only(CONTROLLERS, name)
    if name in built_in():
        reason = f"`{name}` is a controller of thalweg's, and the installed package {one.package} declares another"
        raise refuse(reason, hint="uninstall it; its authors can rename theirs")
    if name in controllers.names():
        _check_same(one)
        return
    try:
        found = one.entry.load()
    except Exception as e:
        reason = f"the controller `{name}` of {one.package} cannot be imported: {_faults.named(e)}"
        raise refuse(reason, hint=f"it is declared as {one.entry.value}") from None
    registered = getattr(found, "thalweg_name", name)
    if registered != name or name not in controllers.names():
        what = f"registers `{registered}`" if registered != name else "does not register it"
        reason = f"{one.package} declares the controller `{name}`, and {one.entry.value} {what}"
        raise refuse(reason, hint=f'its class needs @thalweg.controller("{name}")')


def _check_same(one: Declared) -> None:
    """What this process registered under the name must be what the package has."""
    where, home = controllers.file_of(one.name), one.home(one.entry.module.partition(".")[0])
    if where is None or home is None or not where.resolve().is_relative_to(home):
        reason = f"`{one.name}` is registered by {where or 'this process'} and declared by the installed package"
        raise refuse(f"{reason} {one.package}", hint="rename one of them, or uninstall the package")


def built_in() -> set[str]:
    """The controllers that thalweg itself has."""
    return {name for name, *_ in _core.catalogue("controllers") or ()} - set(controllers.names())


def load_all() -> dict[str, ScenarioError]:
    """Imports all that declare a controller; why it failed, by name, where it did."""
    failed: dict[str, ScenarioError] = {}
    for name in declared(CONTROLLERS):
        try:
            load(name)
        except ScenarioError as e:
            failed[name] = e
    return failed


def others_known(wrong: ScenarioError) -> bool:
    """Whether a scenario that was refused for a name may be read again, with more names to suggest."""
    if not any("is not a choice" in d.reason for d in wrong.diagnostics):
        return False
    declared.cache_clear()  # a package may have been installed meanwhile
    before = set(controllers.names())
    load_all()
    return set(controllers.names()) != before


def studies() -> Iterable[tuple[str, Declared]]:
    """The studies of installed packages: name, and what declares it. The first of each name."""
    return ((name, of[0]) for name, of in declared(STUDIES).items())


def study(name: str) -> Path:
    """The folder of an installed study. Raises `ScenarioError` if there is none, or several are called so."""
    one = only(STUDIES, name)
    folder = one.study
    if folder is None:
        reason = f"{one.package} declares the study `{name}`, and {one.entry.value} has no claims.toml"
        raise refuse(reason, hint="the entry point names the package whose folder holds it")
    return folder
