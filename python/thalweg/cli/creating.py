"""`new`."""

from __future__ import annotations

import shlex
from argparse import Namespace

from thalweg.cli import OK
from thalweg.errors import refuse


def new(args: Namespace) -> int:
    """Writes a project and says how to go on."""
    if args.what == "study" and args.language is not None:
        raise refuse(f"thalweg new study: --{args.language} cannot take effect", hint="studies are in Python")
    if args.checkout is not None and args.language != "rust":
        raise refuse("thalweg new: --checkout cannot take effect", hint="only --rust has crates to be found")
    from thalweg import projects

    kind = "study" if args.what == "study" else args.language or "python"
    folder = projects.new(kind, args.new, out=args.out, checkout=args.checkout)
    print(f"{folder}: {len([p for p in folder.rglob('*') if p.is_file()])} files; then")
    test = f"thalweg reproduce {args.new}" if args.what == "study" else f"thalweg exam {args.new}"
    install = "cargo test\n  pip install '.[test]'" if kind == "rust" else "pip install -e '.[test]'"
    print(f"  cd {shlex.quote(str(folder))}\n  {install}\n  pytest\n  {test}")
    return OK
