"""The playground in a headless Chromium: its engine gives the bytes of the package's, and its page works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import chromium
import thalweg
from thalweg import animation

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "web" / "dist" / "index.html"
READY = sorted((Path(thalweg.__file__).parent / "examples" / "scenarios").glob("*.toml"))

pytestmark = [
    pytest.mark.skipif(not chromium.found(), reason="no Chromium: apt-get install chromium"),
    pytest.mark.skipif(not BUILT.is_file(), reason="the playground is not built: make playground"),
]


@pytest.fixture(scope="module")
def page():
    with chromium.Page() as page:
        page.open(BUILT.as_uri())
        page.until("window.thalweg?.last()")
        yield page
        assert page.problems == []


def test_it_weighs_little():
    assert BUILT.stat().st_size < 5e6


def test_it_begins_with_an_incast_of_32_hosts_quickly(page):
    engine, shown = page.value("(({engine, shown}) => [engine, shown])(thalweg.last())")
    print(f"\nincast of 32 hosts: {engine:.2f} s in the engine, shown after {shown:.2f} s")
    assert shown < 10
    assert json.loads(page.value("thalweg.last().json"))["summary"]["flows"]["completed"] == 32
    names = page.value("thalweg.names")
    assert names == [file.stem[3:] for file in READY]


@pytest.mark.parametrize("file", READY, ids=lambda file: file.stem)
def test_its_engine_gives_the_same_bytes(page, file):
    text = file.read_text(encoding="utf-8")
    found = json.loads(page.value(f"thalweg.run({json.dumps(text)})"))
    here = thalweg.run(thalweg.Scenario.from_toml(text), progress=False)
    wanted = animation.drawn(here)
    assert found["summary"]["digest"] == here.digest
    assert found["tables"] == wanted["tables"]
    assert found == wanted


def test_the_slider_moves_what_is_drawn(page):
    moved = "(s => (s.value = {}, s.oninput(), [document.querySelector('.tw-now').value, document.querySelector('.tw-mark').style.left]))(document.querySelector('.tw-time'))"
    first, last = (page.value(moved.format(n)) for n in ("0", "s.max"))
    assert first[0] == "0 s" and last[0] == "13.15 ms"
    assert float(first[1][:-2]) < 1 < 100 < float(last[1][:-2])


def test_it_plays(page):
    page.value("document.querySelector('.tw-time').value = 0; document.querySelector('.tw-time').oninput()")
    page.value("document.querySelector('.tw-play').onclick()")
    page.until("Number(document.querySelector('.tw-time').value) > 3")
    page.value("document.querySelector('.tw-play').onclick()")


def test_an_error_is_the_line_of_the_command(page):
    text = READY[0].read_text(encoding="utf-8").replace('kind = "star"', 'kind = "stra"')
    (error,) = json.loads(page.value(f"thalweg.run({json.dumps(text)})"))["errors"]
    with pytest.raises(thalweg.ScenarioError) as refused:
        thalweg.Scenario(text, "scenario.toml")
    assert error["text"] == str(refused.value).removeprefix("ScenarioError: ")
    assert error["line"] == text.split("\n").index('kind = "stra"') + 1 and error["key"] == "topology"


def test_a_run_is_cancelled_and_another_follows(page):
    endless = READY[4].read_text(encoding="utf-8").replace('until = "30s"', 'until = "30000s"')
    page.value(f"window.endless = thalweg.run({json.dumps(endless)}); 0")
    page.value("document.getElementById('stop').onclick()")
    assert page.value("endless") is None
    page.value("document.getElementById('run').onclick()")
    page.until("document.getElementById('state').textContent.startsWith('ran in')")
