"""Files that users name: regular files only, never more bytes than the limit."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from thalweg import _units
from thalweg.errors import brief, nearest, refuse

# Raises (or lowers) both limits, here and in the engine.
LIMIT = "THALWEG_MAX_INPUT"
# A scenario becomes a tree some hundred times its size; data, as flow lists, do not.
SCENARIO, DATA = 16_000_000, 256_000_000


def path(what: object, kind: str, way_out: str | None = None) -> Path:
    """The path of something that a caller names: of a `kind` such as "a scenario". A text is none; `way_out` says what
    takes one."""
    if not isinstance(what, str | os.PathLike):
        raise refuse(f"`{brief(what)}` names no file: {kind} was expected", hint="a path")
    shown = os.fspath(what)
    if isinstance(shown, bytes):
        return Path(os.fsdecode(shown))
    if not shown.strip():
        raise refuse(f"an empty name: {kind} was expected", hint="a path")
    if "\0" in shown:
        raise refuse("is not a path: it holds a zero byte", file=shown.replace("\0", "\\x00"))
    if "\n" not in shown and _is_too_long(shown):
        raise refuse(f"`{shown[:60]} …` is longer than a name can be: {kind} was expected")
    if "\n" in shown and not os.path.lexists(shown.encode("utf-8", "surrogateescape")[:4000]):
        raise refuse(f"`{brief(shown)}` is a text: the path of {kind} was expected", hint=way_out)
    return Path(what)


def _is_too_long(name: str) -> bool:
    try:
        os.lstat(name)
    except (OSError, ValueError) as e:
        return getattr(e, "errno", None) == errno.ENAMETOOLONG
    return False


def maybe(what: object, kind: str) -> Path | None:
    """The same of what may be left out."""
    return None if what is None else path(what, kind)


def folders_near(path: Path, with_file: str) -> str | None:
    """Those that may have been meant: next to it, with a file by which they are known."""
    try:
        return nearest(path.name, [p.parent.name for p in path.parent.glob(f"*/{with_file}")])
    except OSError:
        return None


def limit(usual: int) -> int:
    """The most bytes that are read."""
    text = os.environ.get(LIMIT)
    if text is None:
        return usual
    found = re.fullmatch(r"\s*(\d+)\s*([A-Za-z]+)\s*", text)
    if not found or found[2] not in _units.BYTES:
        raise refuse(f"{LIMIT} is not a size", hint=f"for example {LIMIT}=2GB in the environment")
    return int(found[1]) * _units.BYTES[found[2]]


def regular(path: Path) -> os.stat_result:
    """What the system says of a file. Refuses pipes and devices: opening them may wait for ever. Raises `OSError`."""
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(path)
    if not stat.S_ISREG(found.st_mode):
        hint = "pipes and devices are not read: copy it to a file"
        raise refuse("is not a regular file", file=path, hint=hint)
    return found


def text(path: Path, usual: int = DATA) -> str:
    """The text of a file, without a byte-order mark. Raises `OSError` and `UnicodeDecodeError`."""
    most = limit(usual)
    size = regular(path).st_size
    with path.open("rb") as f:
        # What the file system says may be wrong (`/proc`), so it is not relied on.
        read = f.read(most + 1) if size <= most else b""
    if size > most or len(read) > most:
        hint = f"split it, or set {LIMIT}={max(2 * size // 10**6, 1)}MB in the environment"
        raise refuse(f"holds more than {most} bytes", file=path, hint=hint)
    return read.decode("utf-8-sig")


def record(path: Path, *keys: str) -> dict[str, Any]:
    """A JSON object that thalweg has written, with at least these keys. Raises `ScenarioError`."""
    try:
        found = json.loads(text(path))
    except (OSError, ValueError, RecursionError) as e:
        why = e.strerror if isinstance(e, OSError) and e.strerror else str(e)
        raise refuse(f"cannot be read: {why}", file=path) from None
    if not isinstance(found, dict):
        raise refuse("is not a JSON object", file=path)
    missing = [key for key in keys if key not in found]
    if missing:
        raise refuse(f"has no `{missing[0]}`", file=path)
    return found
