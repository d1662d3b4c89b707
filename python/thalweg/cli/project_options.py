"""Arguments of the commands about files and projects of one's own: `new`, `migrate`, `pack`."""

from __future__ import annotations

from collections.abc import Callable


def projects(command: Callable, lazy: Callable, parser: type, plugins: Callable) -> None:
    """Adds them to the command line."""
    p = command("migrate", "migrating:migrate", "write the names of earlier versions in scenario files as they are now")
    p.add_argument("files", nargs="+", metavar="FILE", help="scenario file (TOML); comments and order stay")
    p.add_argument("--dry-run", action="store_true", help="print what would change as a diff, and write nothing")
    plugins(p)
