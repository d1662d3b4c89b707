"""Files by which workers know that they see the same folder as the process that hands them its runs."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from thalweg import _places

_SIGN = re.compile(r"\.thalweg-[0-9a-f]{12}")


@contextmanager
def shown(folders: Sequence[Path]) -> Iterator[dict[Path, Path]]:
    """A file in each folder, for as long as workers may look for it. A lock on it says that this process lives."""
    signs: dict[Path, Path] = {}
    locks: list[int] = []
    try:
        for folder in folders:
            _places.make_parents(folder / "run")
            signs[folder] = folder / f".thalweg-{uuid.uuid4().hex[:12]}"
            locks.append(_places.lock(signs[folder]))
        yield signs
    finally:
        for sign in signs.values():
            with suppress(OSError):
                sign.unlink(missing_ok=True)
        for lock in locks:
            os.close(lock)


def clear(folder: Path) -> None:
    """Removes those of processes that were killed."""
    try:
        found = [Path(entry.path) for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)]
    except OSError:
        return
    for sign in found:
        if _SIGN.fullmatch(sign.name) and _places.is_ours_or_empty(sign) and not _places.is_held(sign):
            with suppress(OSError):
                sign.unlink(missing_ok=True)
