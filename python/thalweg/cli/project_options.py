"""Arguments of the commands about files and projects of one's own: `new`, `migrate`, `pack`."""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False  # importing `typing` for it would slow every command down
if TYPE_CHECKING:
    from typing import Any


def projects(command: Callable[..., Any], plugins: Callable[..., Any], voice: Callable[..., Any]) -> None:
    """Adds them to the command line."""
    p = command("new", "creating:new", "create a project for a controller or a study of your own, with tests")
    p.add_argument(
        "what", choices=("controller", "study"), help="controller: an algorithm; study: claims as executable tests"
    )
    p.add_argument("new", metavar="NAME", help="its name in scenarios or for `thalweg reproduce`, such as author-cc")
    p.add_argument(
        "--python",
        dest="language",
        action="store_const",
        const="python",
        help="a controller in Python, as a package with an entry point (default)",
    )
    p.add_argument(
        "--rust",
        dest="language",
        action="store_const",
        const="rust",
        help="a controller in Rust, as a library that the engine loads, in a package with an entry point",
    )
    p.add_argument(
        "--checkout", metavar="DIR", help="with --rust: use this source tree of thalweg instead of the published crates"
    )
    p.add_argument("--out", metavar="DIR", help="folder to create (default: NAME)")

    p = command(
        "migrate",
        "migrating:migrate",
        "replace renamed keys in scenario files of earlier versions (since 0.1.0: none, nothing to migrate yet)",
    )
    p.add_argument("files", nargs="+", metavar="FILE", help="scenario file (TOML); comments and order stay")
    p.add_argument("--dry-run", action="store_true", help="print what would change as a diff, and write nothing")
    plugins(p)

    p = command("pack", "packing:pack", "write a study and its results as an RO-Crate, for an archive")
    p.add_argument("study", metavar="STUDY", help="a study (`thalweg list papers`), or a folder with claims.toml")
    p.add_argument(
        "--results",
        action="append",
        default=[],
        metavar="DIR",
        help="output folder of `thalweg reproduce` (repeatable; default: out/STUDY-SCALE)",
    )
    p.add_argument(
        "--out", metavar="PLACE", help="folder to write, or an archive if it ends in .zip (default: STUDY-crate)"
    )
    p.add_argument(
        "--license", metavar="NAME", help="license of the crate: an SPDX identifier such as CC-BY-4.0, or a URL"
    )
    voice(p, "print the crate's place as one JSON object")
