"""What is said during a run."""

import pytest

from thalweg import progress
from thalweg.progress import Many, Pace, Plain


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only if told to."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def seen(now_ps: int, done: int) -> dict:
    """Counts of a run of a second at most, of which 7168 flows are measured."""
    flows = {"flows_done": done, "flows_total": 7168, "measured_done": done, "measured_total": 7168}
    return {"now_ps": now_ps, "until_ps": 10**12, "events": 1000 * done} | flows


def test_how_long_a_run_goes_on_is_said_once_enough_of_it_is_done(clock):
    pace = Pace(seen(0, 0))
    clock[0] = 1.0
    assert pace.text(seen(999_800, 0)) == "999.8 ns simulated · 0 events/s · 0/7168 flows"
    assert pace.text(seen(999_800, 1792)).endswith(" · 1792/7168 flows · ETA 3.0 s")


def test_a_resumed_run_is_judged_by_what_it_has_done_since(clock):
    pace = Pace(seen(0, 3584))
    clock[0] = 1.0
    assert "ETA" not in pace.text(seen(0, 3585))
    assert pace.text(seen(0, 5376)).endswith("ETA 1.0 s")


def test_lines_of_logs_and_of_many_runs_do_the_same(clock, capsys):
    one, many = Plain(), Many(True, 4)
    one.start(seen(0, 0))
    for at, done in ((6.0, 0), (12.0, 3584)):
        clock[0] = at
        one.update(seen(10**6, done))
        many.update({"a": seen(10**6, done)}, done / 7168)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4 and ["ETA" in line for line in lines] == [False, False, True, True], lines
    assert "0/4 runs · ETA 12.0 s · a 50 %" in lines[3] and "0/4 runs · a 0 %" in lines[1]
