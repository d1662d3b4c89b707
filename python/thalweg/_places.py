"""Where results may be written. Nothing that thalweg did not write itself is ever replaced or removed.

A run directory is ours if its `meta.json` says so and lists every file in it; a folder of many runs if its
`thalweg.json` says so; a report or a figure if it carries our mark. Links, devices and pipes never are.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import socket
import stat
import sys
import time
import uuid
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.errors import ScenarioError, refuse

META = "meta.json"
RUN, VERSION = "thalweg run", 1
FOLDER = "thalweg.json"
# In the folder of a sweep: its settings, and where their runs are.
SWEEP = "sweep.json"
# In every report and figure that thalweg writes.
MARK = "made by thalweg"
# In a folder that is being written: its writer holds a lock on it for as long as it lives.
UNFINISHED = ".unfinished.json"
UNDER_WAY = "thalweg unfinished"
# Seconds for which a folder that another machine has begun counts as being written.
ELSEWHERE = 86400.0
# Folders of runs are named by `--out`; files by options of many names.
OTHER_OUT, OTHER_NAME, OTHER_PLACE = "choose another --out", "choose another name", "choose another place"
# Up to so many bytes of a file are looked at to see whether it is as it was written.
LARGE = 1 << 26
# The files of a run.
_PART = re.compile(
    r"(meta|summary)\.json|scenario\.toml|\w+\.parquet|(snapshot|decisions)\.bin|port\d+\.port|\w+\.html"
)
_LEFT = re.compile(r"\.(.+)\.thalweg-([0-9a-f]{12})(\.older)?")


def check_free(path: Path) -> dict[str, Any] | None:
    """Refuses a place that cannot become a run directory; `meta.json` of the older run of ours that would be
    replaced."""
    there = _kind(path)
    if there is not None:
        if there != "folder":
            raise _in_the_way(path, there)
        here = _absolute(path)
        if os.path.ismount(here):
            raise refuse("is a mount point", file=shown(path), hint="name a folder inside it")
        if here == Path.cwd():
            raise refuse("is the current folder", file=shown(path), hint="name a new folder")
        return _older(path)
    make_parents(path)
    return None


def prepare(path: Path, tell: bool) -> None:
    """Before a run: refuses a wrong place early, clears what killed processes left next to it, says what will
    be replaced."""
    older = check_free(path)
    for line in clear_leftovers(_absolute(path).parent):
        if tell:
            say(f"thalweg: {line}")
    if older is not None and tell:
        say(f"thalweg: {shown(path)}: replaces {describe(older)}")


def make_parents(path: Path, way_out: str = OTHER_OUT) -> None:
    """The folder in which `path` is to be, made if need be; refused if nothing can be written there."""
    parent = _absolute(path).parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise refuse(f"cannot be made: {e.strerror}", file=shown(parent)) from None
    if not os.access(parent, os.W_OK | os.X_OK):
        raise refuse("cannot be written", file=shown(parent), hint=way_out)


def _older(path: Path) -> dict[str, Any] | None:
    """What an existing folder's `meta.json` says, if the folder holds a run of ours and nothing else; `None`
    if it is empty."""
    names = _listing(path)
    if not names:
        return None
    listed = _names(names)
    meta = _read(path / META)
    if meta is None or META not in names:
        raise refuse(
            f"this folder holds other things ({listed})", file=shown(path), hint="choose an empty or new --out"
        )
    if meta.get("format") != RUN:
        reason = "this folder's meta.json does not say that thalweg wrote it"
        if {"thalweg", "core", "machine"} <= meta.keys():
            reason = "this run was written by an older thalweg, which did not list its files"
        raise refuse(reason, file=shown(path), hint="move it away or choose another --out")
    if meta.get("version") != VERSION:
        reason = f"this run is of format version {meta.get('version')!r}, this thalweg writes version {VERSION}"
        raise refuse(reason, file=shown(path), hint="choose another --out")
    ours = set(files_of(meta))
    strange = [n for n in names if n not in ours or _kind(path / n) != "file"]
    if strange:
        reason = f"this run's folder also holds what thalweg did not write ({_names(strange)})"
        raise refuse(reason, file=shown(path), hint="move it away or choose another --out")
    return meta


def files_of(meta: dict[str, Any]) -> list[str]:
    """The files that a `meta.json` lists: plain names only."""
    files = meta.get("files")
    if not isinstance(files, list):
        return []
    return files if all(isinstance(f, str) and f and Path(f).name == f for f in files) else []


def listed(folder: Path) -> list[str]:
    """The files of a run directory of ours, as its `meta.json` lists them; of another folder none."""
    meta = _read(folder / META)
    return files_of(meta) if meta is not None and meta.get("format") == RUN else []


def seal(folder: Path, meta: dict[str, Any]) -> None:
    """Writes `meta.json`, last of all: it lists the files, and its presence says that they are complete."""
    files = sorted({*_listing(folder), META} - {UNFINISHED})
    checks = {name: _check(folder / name) for name in files if name != META}
    head = {"format": RUN, "version": VERSION, "files": files, "checks": checks}
    _write(folder / META, _json(head | _without_head(meta)))


def add_file(folder: Path, name: str) -> None:
    """Lists one more file in a run directory of ours."""
    meta = _read(folder / META)
    if meta is not None and meta.get("format") == RUN:
        files = sorted({*files_of(meta), name})
        checks = (meta.get("checks") or {}) | {name: _check(folder / name)}
        _write(folder / META, _json(meta | {"files": files, "checks": checks}))


def _check(file: Path) -> tuple[int, int | None]:
    """What a file is known by later: its size and its CRC-32; of a large one, as recordings are, the size alone."""
    size = file.stat().st_size
    return size, zlib.crc32(file.read_bytes()) if size <= LARGE else None


def damage(folder: Path, spared: Collection[str] = ()) -> str | None:
    """Which file of a run directory of ours is not as it was written, and how; of those `spared`, which may have been
    removed, only those that are there. Runs of earlier versions say nothing of their files."""
    checks = (_read(folder / META) or {}).get("checks")
    for name, written in checks.items() if isinstance(checks, dict) else ():
        try:
            found = _check(folder / name)
        except OSError as e:
            if isinstance(e, FileNotFoundError) and name in spared:
                continue
            return f"{name} is missing" if isinstance(e, FileNotFoundError) else f"{name}: {e.strerror}"
        if list(found) != written:
            cut = isinstance(written, list) and written and isinstance(written[0], int) and found[0] < written[0]
            return f"{name} is cut short" if cut else f"{name} has been changed"
    return None


def clear_wreck(path: Path) -> bool:
    """Removes a run from a folder of ours that keeps many if its `meta.json` cannot be read; false if it can, or if
    other things than runs consist of are there too."""
    names = _listing(path) if _kind(path) == "folder" else []
    keeper = str((_read(_absolute(path).parent / FOLDER) or {}).get("format", ""))
    ours = all(_PART.fullmatch(name) and _kind(path / name) == "file" for name in names)
    if META not in names or _read(path / META) is not None or not keeper.startswith("thalweg ") or not ours:
        return False
    for name in names:
        (path / name).unlink(missing_ok=True)
    path.rmdir()
    return True


def _without_head(meta: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in meta.items() if k not in ("format", "version", "files", "checks")}


def describe(meta: dict[str, Any]) -> str:
    """An older run in a few words."""
    argv = meta.get("argv")
    made = " ".join(map(str, argv[1:])) if isinstance(argv, list) else ""
    return f"an older run (thalweg {made})" if made else "an older run"


@dataclass
class Place:
    """A folder under way, and where it will be (or is, when it did not get the name that was requested)."""

    folder: Path
    path: Path


@contextmanager
def appearing(path: Path) -> Iterator[Place]:
    """A run directory that appears complete or not at all: a temporary folder next to `path` that takes its name at the
    end, replacing an older run of ours. Sealed by the caller. A caller that makes results calls `check_free` before
    making them: here a place that is taken costs only the name."""
    make_parents(path)
    here = _absolute(path)
    token = uuid.uuid4().hex[:12]
    temporary = here.with_name(f".{here.name}.thalweg-{token}")
    try:
        temporary.mkdir()
        held = lock(temporary / UNFINISHED)
    except OSError as e:
        raise refuse(f"cannot be made: {e.strerror}", file=shown(path)) from None
    place = Place(temporary, Path(path))
    try:
        yield place
    except BaseException as e:
        shutil.rmtree(temporary, ignore_errors=True)
        os.close(held)
        _name(e, temporary, path)
        raise
    try:
        place.path = _settle(temporary, Path(path), token)
    except OSError as e:
        hint = f"the finished run is in {shown(temporary)}"
        raise refuse(f"cannot take its name: {e.strerror}", file=shown(path), hint=hint) from None
    finally:
        os.close(held)


def lock(file: Path) -> int:
    """A new file that says, for as long as this process lives, that something is under way."""
    held = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    with suppress(OSError):  # a file system without locks: no process will take it for left behind
        fcntl.flock(held, fcntl.LOCK_EX)
    about = {"format": UNDER_WAY, "version": VERSION, "pid": os.getpid(), "host": socket.gethostname()}
    os.write(held, _json(about))
    return held


def _settle(temporary: Path, path: Path, token: str) -> Path:
    """Gives a finished folder its name. If something else has been put there meanwhile, the next free name."""
    wanted = path
    for n in range(2, 1000):
        try:
            older = check_free(path)
            break
        except ScenarioError as e:
            path = wanted.with_name(f"{_absolute(wanted).name}-{n}")
            say(f"thalweg: {e}: the results go to {shown(path)} instead")
    here = _absolute(path)
    (temporary / UNFINISHED).unlink(missing_ok=True)
    if older is None:
        temporary.rename(here)
        return path
    # Killed between the two, the next run in that folder puts the older one back (see `clear_leftovers`).
    aside = here.with_name(f".{here.name}.thalweg-{token}.older")
    here.rename(aside)
    temporary.rename(here)
    _remove_listed(aside)
    return path


def _remove_listed(folder: Path) -> bool:
    """Removes a run of ours, file by file as it lists them; false if something else is in it, which stays."""
    meta = _read(folder / META)
    if meta is None or meta.get("format") != RUN:
        return False
    for name in [*(f for f in files_of(meta) if f != META), META]:
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def clear_leftovers(parent: Path) -> list[str]:
    """Looks for temporary folders that killed processes left in `parent`: unfinished ones of ours are
    removed, finished ones are named. What was done, one line each."""
    said = []
    try:
        matches = [match for n in _listing(parent) if (match := _LEFT.fullmatch(n)) and _kind(parent / n) == "folder"]
    except OSError:
        return []
    for match in matches:
        name = match.string
        folder = parent / name
        complete = (_read(folder / META) or {}).get("format") == RUN
        if match[3]:
            target, sibling = parent / match[1], parent / name.removesuffix(".older")
            if not complete or is_held(sibling / UNFINISHED):
                continue
            if _kind(target) is None:
                with suppress(OSError):
                    folder.rename(target)
                    said.append(f"{shown(target)}: put back; the process that was replacing it was killed")
            elif _remove_listed(folder):
                said.append(f"{shown(folder)}: removed; a killed process had replaced this run")
        elif is_held(folder / UNFINISHED):
            continue
        elif complete:
            said.append(
                f"{shown(folder)}: a finished run whose process was killed before it got its name; move it or remove it"
            )
        elif (_read(folder / UNFINISHED) or {}).get("format") == UNDER_WAY:
            shutil.rmtree(folder, ignore_errors=True)
            said.append(f"{shown(folder)}: removed; its process was killed while it wrote this")
    return said


def is_held(file: Path) -> bool:
    """Whether the process that locked a file is alive (if this cannot be determined: yes). Locks do not reach across
    machines everywhere: what another one has begun is left alone for a day."""
    try:
        begun = file.stat().st_mtime
        if (_read(file) or {}).get("host", socket.gethostname()) != socket.gethostname():
            return time.time() - begun < ELSEWHERE
        held = os.open(file, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(held)


def is_ours_or_empty(file: Path) -> bool:
    """Whether a file says that something is under way, or nothing: its process may have been killed before."""
    try:
        return file.stat().st_size == 0 or (_read(file) or {}).get("format") == UNDER_WAY
    except OSError:
        return False


def claim(folder: Path, what: str) -> None:
    """Makes `folder` one of ours that keeps many runs (`what`: "sweep", "study"), or refuses it."""
    there = _kind(folder)
    if there not in (None, "folder"):
        raise _in_the_way(folder, there)
    make_parents(folder)
    if there is None:
        folder.mkdir(exist_ok=True)
    form = f"thalweg {what}"
    marker = _read(folder / FOLDER)
    if marker is None:
        names = _listing(folder)
        if names:
            reason = f"this folder holds other things ({_names(names)})"
            raise refuse(reason, file=shown(folder), hint="choose an empty or new --out")
        about = "This folder belongs to thalweg: runs in it are reused, or replaced when they no longer fit."
        _write(folder / FOLDER, _json({"format": form, "version": VERSION, "about": about}))
    elif (marker.get("format"), marker.get("version")) != (form, VERSION):
        reason = f"this folder is for {shown(str(marker.get('format')))}, not for a {form}"
        raise refuse(reason, file=shown(folder), hint="choose another --out")


def check_file(path: Path, mark: str = MARK) -> None:
    """Refuses a place that cannot become a file of ours: only a file that carries the mark is replaced."""
    there = _kind(path)
    if there is None:
        make_parents(path, OTHER_PLACE)
        return
    if there != "file":
        raise _in_the_way(path, there, OTHER_NAME)
    try:
        with path.open("rb") as f:
            begin = f.read(1 << 16)
            f.seek(max(path.stat().st_size - (1 << 16), 0))
            ours = mark.encode() in begin or mark.encode() in f.read()
    except OSError as e:
        raise refuse(e.strerror or str(e), file=shown(path)) from None
    if not ours:
        raise refuse("is in the way: thalweg did not write this file", file=shown(path), hint=OTHER_NAME)


def check_folder(path: Path) -> None:
    """Refuses a place that cannot become a folder in which files of ours are, each for itself."""
    there = _kind(path)
    if there not in (None, "folder"):
        raise _in_the_way(path, there, OTHER_NAME)
    make_parents(path, OTHER_PLACE)


def write_file(path: Path, data: bytes | str, mark: str = MARK) -> Path:
    """Writes a file, complete or not at all, replacing only one of ours. `mark=""`: in a folder of ours, any
    regular file."""
    check_file(path, mark)
    _write(path, data.encode() if isinstance(data, str) else data)
    return path


def write_new(path: Path, text: str) -> Path:
    """A new file, complete or not at all: nothing that is there is replaced, also by the later of two at once."""
    make_parents(path, OTHER_PLACE)
    try:
        if _kind(path) is not None:
            raise FileExistsError
        _write(path, text.encode(), _settle_new)
    except FileExistsError:
        raise refuse("is there already", file=shown(path), hint="name another file") from None
    return path


def _settle_new(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: between the question and the answer is a moment
        if path.exists():
            raise FileExistsError from None
        temporary.replace(path)
    else:
        temporary.unlink()


def write_json(path: Path, value: object) -> Path:
    """A JSON file in a folder of ours."""
    return write_file(path, _json(value), mark="")


def replace(path: Path, text: str) -> None:
    """Writes a file that belongs to the user, such as kept verdicts, complete or not at all."""
    _write(path, text.encode())


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """One process at a time: what is read from a file in this folder, added to and written again is not lost
    to another that does the same. Waits; a file system without locks lets everyone in."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object in a folder of ours; `None` if it is not there or damaged."""
    return _read(path)


def _json(value: object) -> bytes:
    # Bytes of a command line that are not text stay halves of surrogates, as JSON writes them.
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode(errors="backslashreplace")


def _write(path: Path, data: bytes, settle: Callable[[Path, Path], object] = Path.replace) -> None:
    with under_way(path, settle) as temporary, temporary.open("xb") as f:
        f.write(data)


@contextmanager
def under_way(path: Path, settle: Callable[[Path, Path], object] = Path.replace) -> Iterator[Path]:
    """A file that appears complete or not at all: the caller writes it under a temporary name next to `path`, which no
    other writer has, and it takes its own at the end."""
    # A long name leaves no room for more.
    temporary = path.with_name(f".{path.name[:40]}.{uuid.uuid4().hex[:12]}")
    try:
        yield temporary
        with suppress(OSError):  # it keeps the rights of what it replaces
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        settle(temporary, path)
    except BaseException as e:
        temporary.unlink(missing_ok=True)
        _name(e, temporary, path)
        raise


def _name(e: BaseException, temporary: Path, path: Path) -> None:
    """Gives a failure to write the name that the user knows: a full disk says none, others the temporary one."""
    if not isinstance(e, OSError) or e.errno is None:
        return
    if e.filename is None or str(e.filename).startswith(str(temporary)):
        e.strerror, e.filename = os.strerror(e.errno), shown(path)


def _read(path: Path) -> dict[str, Any] | None:
    """A small JSON object in a regular file, else `None`."""
    try:
        if _kind(path) != "file" or path.stat().st_size > 1 << 24:
            return None
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, ScenarioError):
        return None
    return found if isinstance(found, dict) else None


def _listing(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 (`resolve` would follow links)


def _kind(path: Path) -> str | None:
    """What a path is, without following a link; `None` if nothing is there."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    except OSError as e:
        raise refuse(e.strerror or str(e), file=shown(path)) from None
    except ValueError:
        raise refuse("is not a path: it holds a zero byte", file=shown(path)) from None
    kinds = {
        stat.S_IFREG: "file",
        stat.S_IFDIR: "folder",
        stat.S_IFLNK: "symbolic link",
        stat.S_IFIFO: "pipe",
        stat.S_IFSOCK: "socket",
    }
    return kinds.get(stat.S_IFMT(mode), "device")


def _in_the_way(path: Path, kind: str, way_out: str = OTHER_OUT) -> ScenarioError:
    hint = f"name what it leads to, or {way_out}" if kind == "symbolic link" else way_out
    return refuse(f"a {kind} of this name is in the way", file=shown(path), hint=hint)


def _names(names: Iterable[str]) -> str:
    names = [shown(n) for n in names]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def shown(path: object) -> str:
    """A name as it can be printed on one line."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(path))


def say(line: str) -> None:
    """One line on stderr, if it is still read."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)
