"""Ports that wait for each other are named, by `explain` and in reports; relief breaks the circle."""

import pytest

import thalweg
from thalweg import deadlocks
from thalweg.cli import main

LINKS = (
    "a,b,rate,delay\n"
    + "".join(f"{h},{h + 3},40Gbps,1us\n" for h in range(3))
    + "3,4,40Gbps,1us\n4,5,40Gbps,1us\n5,3,40Gbps,1us\n"
)
PATHS = "id,data_path,ack_path\n0,3-4-5,5-4-3\n1,4-5-3,3-5-4\n2,5-3-4,4-3-5\n"
RING = """
topology = { kind = "file", file = "ring.csv", format = "links-csv" }
routing = { kind = "pinned", file = "paths.csv" }
nic = { order = "round-robin" }
run = { until = "2ms" }
[switch]
inputs = { memory = "200KB" }
pfc = { threshold = { kind = "static", xoff = "60KB", xon = "30KB" } }
control_first = true
[transport]
kind = "rdma"
recovery = "go-back-n"
acks = "per-packet"
[[traffic]]
kind = "backlogged"
src = 0
dst = 2
[[traffic]]
kind = "backlogged"
src = 1
dst = 0
[[traffic]]
kind = "backlogged"
src = 2
dst = 1
"""


@pytest.fixture
def ring(tmp_path):
    (tmp_path / "ring.csv").write_text(LINKS)
    (tmp_path / "paths.csv").write_text(PATHS)
    file = tmp_path / "ring.toml"
    file.write_text(RING)
    return file


def test_explain_names_the_circle_of_a_run_and_the_report_draws_it(ring, tmp_path, capsys):
    results = thalweg.run(ring)
    (line,) = deadlocks.lines(results)
    assert (
        "ports 6, 8, 10 wait for each other and never go on: switch0 -> switch1 -> switch2 -> switch0; flows 0, 1, 2"
        in line
    )
    folder = results.save(tmp_path / "run")
    assert main(["explain", str(folder)]) == 0
    assert capsys.readouterr().out.strip() == line
    page = results.report(tmp_path / "report.html").read_text()
    assert "Deadlocks" in page and "switch0 -&gt; switch1" in page


def test_escape_breaks_the_circle(ring, tmp_path, capsys):
    results = thalweg.run(ring, set={"switch.relief": "escape"})
    found = results.summary["pauses"]
    assert found["relief"]["lifted"] > 0 and found["relief"]["reordered"] == 0
    # One that has just closed may still stand as the run ends.
    assert all(d["ended_us"] is not None or d["at_us"] > 1500 for d in found["deadlocks"])


def test_a_circle_is_found_among_ports_that_only_lead_into_it():
    waits = [{"port": p, "from_node": a, "to_node": b, "flows": []} for p, a, b in [(1, 9, 3), (2, 3, 4), (3, 4, 3)]]
    assert [w["port"] for w in deadlocks.cycle({"waits": waits})] == [2, 3]
    assert deadlocks.cycle({"waits": []}) == []


@pytest.mark.parametrize(
    ("set", "said"),
    [
        ({"switch.pfc": None}, "there are no pauses"),
        ({"switch.scheduler": "drr"}, "lifted out of the middle"),
        ({"switch.relief": {"kind": "escape", "pool": 0}}, "pool"),
        ({"switch.gfc": {"first": "60KB", "last": "50KB"}}, "`switch.pfc` pauses whole ports"),
    ],
)
def test_what_relief_cannot_stand_beside_is_refused(ring, set, said):
    changed = {"switch.relief": "escape"} | {key: value for key, value in set.items() if value is not None}
    if set.get("switch.pfc", 0) is None:
        ring.write_text(RING.replace("pfc = {", "# pfc = {"))
    with pytest.raises(thalweg.ScenarioError, match=said):
        thalweg.run(ring, set=changed)
