"""`migrate`."""

from __future__ import annotations

import difflib
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from thalweg.cli import FOUND, OK, say
from thalweg.cli.running import load_plugins


def migrate(args: Namespace) -> int:
    """Every file is read and renamed before the first is written. Exit code 1 if one is wrong in other ways, too."""
    load_plugins(args)
    from thalweg import _format, _places
    from thalweg.migration import migrated

    files = {file: _read(Path(file)) for file in dict.fromkeys(args.files)}
    found = {file: migrated(text, file, Path(file).parent) for file, (_, text) in files.items()}
    for file, done in found.items():
        mark, text = files[file]
        if args.dry_run:
            sys.stdout.writelines(_diff(text, done.text, file))
        else:
            if done.renamed:
                # The file itself, not a link that leads to it.
                _places.replace(Path(file).resolve(), mark + done.text)
            print(f"{file}: {_format.plural(len(done.renamed), 'name')} replaced")
            print("".join(f"  {one}\n" for one in done.renamed), end="")
        for wrong in done.left:
            say(str(wrong).replace("\n", " "))
    return FOUND if any(done.left for done in found.values()) else OK


def _read(path: Path) -> tuple[str, str]:
    """A byte-order mark, if there is one, and the text behind it with its ends of lines."""
    from thalweg.scenario import read_text

    read_text(path)  # refuses what is not a file, too large, or no text
    text = path.read_bytes().decode("utf-8")
    bare = text.removeprefix("\ufeff")
    return text[: len(text) - len(bare)], bare


def _diff(before: str, after: str, file: str) -> Iterator[str]:
    lines = (before.splitlines(keepends=True), after.splitlines(keepends=True))
    for line in difflib.unified_diff(*lines, fromfile=file, tofile=f"{file} (migrated)"):
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
