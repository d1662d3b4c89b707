"""Nothing has changed that was not meant to: see tests/golden/golden.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))
import golden


def test_the_listed_runs_do_what_they_did():
    wrong = golden.differences(golden.measure())
    hint = "mend it, or say in the CHANGELOG why it moved and run `python tests/golden/golden.py --write`"
    assert not wrong, "\n".join([*wrong[:20], f"{len(wrong)} of the listed runs differ", hint])


def test_all_listed_runs_can_be_run_here():
    left = len(golden.everything()) - len(golden.listed())
    if left:
        pytest.skip(f"{left} listed runs need data that are not here")


def test_a_digest_that_moved_a_run_that_is_new_and_one_that_is_gone_are_named():
    rows = list(golden.listed().values())
    moved = golden.Row(rows[0].name, rows[0].events, rows[0].hops, "0" * 16)
    new = golden.Row("somebody/else", 1, 1, "0" * 16)
    gone = next(r for r in reversed(rows) if not r.name.startswith("reference/"))
    wrong = golden.differences([moved, new, *(r for r in rows[1:] if r != gone)])
    assert len(wrong) == 3
    assert all(any(name in line for line in wrong) for name in (moved.name, new.name, gone.name))
