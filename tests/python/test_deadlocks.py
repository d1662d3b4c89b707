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
        ({"switch.pfc": None}, "it relieves paused ports"),
        ({"switch.scheduler": "drr"}, "out of the middle of a queue"),
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


def flows(*listed):
    return "".join(
        f'[[traffic]]\nkind = "flow"\nsrc = {src}\ndst = {dst}\nsize = "{kb}KB"\nstart = "{start}"\n'
        for src, dst, kb, start in listed
    )


def around(tmp_path, hosts, paths, text, traffic):
    """A ring of three switches, 5 us apart."""
    links = [f"{h},{hosts + h % 3},40Gbps,1us" for h in range(hosts)]
    links += [f"{hosts + s},{hosts + (s + 1) % 3},40Gbps,5us" for s in range(3)]
    (tmp_path / "ring.csv").write_text("\n".join(["a,b,rate,delay", *links]) + "\n")
    back = (f"{n},{path},{'-'.join(reversed(path.split('-')))}" for n, path in enumerate(paths))
    (tmp_path / "paths.csv").write_text("\n".join(["id,data_path,ack_path", *back]) + "\n")
    head = RING[: RING.index("[[traffic]]")]
    for old, new in text.items():
        assert old in head
        head = head.replace(old, new)
    (tmp_path / "ring.toml").write_text(head + flows(*traffic))
    return thalweg.run(tmp_path / "ring.toml", progress=False)


STATIC = {
    'until = "2ms"': 'until = "10ms", stop_when_done = false',
    'memory = "200KB"': 'memory = "1MB"',
    'xoff = "60KB", xon = "30KB"': 'xoff = "30KB"',
}
FOUR = ("7-8-6", "8-6-7", "6-7-8", "7-8")


def test_what_was_on_the_wire_as_the_last_pause_came_may_be_what_closes_a_deadlock(tmp_path):
    starts = ((1, 0, 1000, "11us"), (2, 1, 1000, "21us"), (0, 2, 1000, "36us"), (4, 5, 200, "59us"))
    run = around(tmp_path, 6, FOUR, STATIC, starts)
    (found,) = run.summary["pauses"]["deadlocks"]
    assert found["ended_us"] is None and set(found["ports"]) >= {12, 14, 16}
    assert run.flows["end"].to_list()[:3] == ["failed"] * 3
    assert all("deadlock" in reason for reason in run.flows["reason"][:3])


def test_a_deadlock_through_which_an_old_xon_passes_is_one(tmp_path):
    starts = ((1, 0, 1000, "0us"), (2, 1, 1000, "10us"), (0, 2, 1000, "25us"), (4, 5, 200, "48us"))
    (found,) = around(tmp_path, 6, FOUR, STATIC, starts).summary["pauses"]["deadlocks"]
    assert found["at_us"] == pytest.approx(403.45, abs=0.01) and found["ended_us"] is None


def test_under_a_dynamic_threshold_what_could_go_on_is_no_deadlock(tmp_path):
    shared = STATIC | {
        'memory = "200KB"': 'shared = "3000KB"',
        'kind = "static", xoff = "60KB", xon = "30KB"': 'kind = "dynamic", alpha = 0.05',
    }
    del shared['xoff = "60KB", xon = "30KB"']
    starts = ((4, 2, 3000, "20us"), (1, 5, 1000, "56us"), (0, 4, 1000, "196us"), (2, 0, 1000, "216us"))
    run = around(tmp_path, 6, ("7-8", "7-8", "6-7", "8-6"), shared, starts)
    assert run.summary["pauses"]["frames"] and run.flows["end"].to_list() == ["completed"] * 4
    assert run.summary["pauses"]["deadlocks"] == []
