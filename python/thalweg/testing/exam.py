"""The exam as tests, one per situation: `pytest --pyargs thalweg.testing.exam --controller NAME`.

There is no grade here either: a controller passes a situation if its run comes to its end and something arrives. What
else is right depends on what the controller is for; see `thalweg.testing`.
"""

from __future__ import annotations

from thalweg.exams.marks import Marks


def test_situation(thalweg_marks: Marks) -> None:
    """The run comes to its end, and the controller gets something through."""
    assert not thalweg_marks.failed
    assert not thalweg_marks.utilisation <= 0, "nothing was carried"
