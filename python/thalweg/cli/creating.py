"""`new`."""

from __future__ import annotations

from thalweg.cli import OK
from thalweg.errors import refuse


def new(args) -> int:
    """Writes a project and says how to go on."""
    if args.what == "study" and args.language is not None:
        raise refuse(f"thalweg new study: --{args.language} cannot take effect", hint="studies are in Python")
    from thalweg import projects

    folder = projects.new("study" if args.what == "study" else args.language or "python", args.new, args.out)
    print(f"{folder}: {len([p for p in folder.rglob('*') if p.is_file()])} files; then")
    test = f"thalweg reproduce {args.new}" if args.what == "study" else f"thalweg exam {args.new}"
    print(f"  cd {folder}\n  pip install -e '.[test]'\n  pytest\n  {test}")
    return OK
