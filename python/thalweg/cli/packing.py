"""`pack`."""

from __future__ import annotations

import json
from argparse import Namespace

from thalweg.cli import OK


def pack(args: Namespace) -> int:
    """Writes the crate and says what is in it."""
    from thalweg import papers

    place = papers.pack(args.study, args.results, args.out, license=args.license)
    if args.json:
        print(json.dumps({"crate": str(place)}))
    elif not args.quiet:
        print(f"crate: {place} (ro-crate-metadata.json describes it)")
    return OK
