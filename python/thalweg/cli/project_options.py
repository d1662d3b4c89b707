"""Arguments of the commands about files and projects of one's own: `new`, `migrate`, `pack`."""

from __future__ import annotations

from collections.abc import Callable


def projects(command: Callable, plugins: Callable, voice: Callable) -> None:
    """Adds them to the command line."""
    p = command("new", "creating:new", "write a project of your own: a controller or a study, with tests that pass")
    p.add_argument("what", choices=("controller", "study"), help="controller, or study: claims as executable tests")
    p.add_argument("new", metavar="NAME", help="what scenarios or `thalweg reproduce` will call it, such as author-cc")
    p.add_argument(
        "--python",
        dest="language",
        action="store_const",
        const="python",
        help="a controller in Python, as a package with an entry point (default)",
    )
    p.add_argument("--out", metavar="DIR", help="folder to write, which must not be there (default: NAME)")

    p = command("migrate", "migrating:migrate", "write the names of earlier versions in scenario files as they are now")
    p.add_argument("files", nargs="+", metavar="FILE", help="scenario file (TOML); comments and order stay")
    p.add_argument("--dry-run", action="store_true", help="print what would change as a diff, and write nothing")
    plugins(p)

    p = command("pack", "packing:pack", "write a study and its results as an RO-Crate, to be deposited")
    p.add_argument("study", metavar="STUDY", help="see `thalweg list papers`; or a folder with claims.toml")
    p.add_argument(
        "--results",
        action="append",
        default=[],
        metavar="DIR",
        help="output folder of `thalweg reproduce` (repeatable; default: out/STUDY-SCALE)",
    )
    p.add_argument("--out", metavar="PLACE", help="folder, or archive if it ends in .zip (default: STUDY-crate)")
    p.add_argument("--license", metavar="NAME", help="of the crate: an SPDX name such as CC-BY-4.0, or an address")
    voice(p, "print the crate's place as one JSON object")
