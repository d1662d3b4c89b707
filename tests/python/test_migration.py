"""Names of earlier versions are written as they are now, and nothing else of a file changes."""

import json
import re
from pathlib import Path

import pytest

import thalweg
from thalweg.migration import _replaced, migrated

ROOT = Path(__file__).parents[2]
# Every name that the engine knows as an earlier version's is here, once.
OLD = """\
# bottleneck_delay, ramp and told are names of old.
name = "bottleneck_delay"   # a text that is the same word

[topology]
kind = 'dumbbell'
pairs = 2
bottleneck_rate  = "50Mbps"
"bottleneck_delay"="5ms"  # one way

[nic]
order = "circle"

[switch]
marking = { kind = "ramp", min = "5KB", max = "200KB" }

[transport]
kind = "rdma"
recovery = "told" # ramp
congestion = { kind = "timely", first_counts = true, forgets = false }

[[traffic]]
name = "told"
kind = "backlogged"
src = 0
dst = 2

[[traffic]]
kind = "backlogged"
src = 1
dst = 3
transport = { kind = "rdma", congestion.kind = "timely", congestion.forgets = true }
"""
NEW = (
    OLD.replace('"bottleneck_delay"=', '"delay"=')
    .replace('"circle"', '"hpcc-simulator"')
    .replace('"ramp"', '"red-ecn"')
    .replace('recovery = "told"', 'recovery = "drop-notified"')
    .replace("first_counts", "use_first_sample")
    .replace("forgets", "reset_after_idle")
)


def test_only_the_names_change():
    found = migrated(OLD, "old.toml")
    assert found.text == NEW
    assert [(r.line, r.old, r.new) for r in found.renamed] == [
        (8, "bottleneck_delay", "delay"),
        (11, "circle", "hpcc-simulator"),
        (14, "ramp", "red-ecn"),
        (18, "told", "drop-notified"),
        (19, "first_counts", "use_first_sample"),
        (19, "forgets", "reset_after_idle"),
        (31, "forgets", "reset_after_idle"),
    ]
    assert migrated(NEW, "new.toml").renamed == []


def test_files_were_once_paths():
    text = '[topology]\nkind = "file"\n  path = "links.csv"\nformat = "links-csv"\n'
    assert migrated(text).text == text.replace("path", "file")


def test_every_name_that_the_engine_knows_as_old_is_replaced():
    sources = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "crates").glob("*/src/**/*.rs"))
    tables = re.findall(r'"x-renamed(?:-kinds)?"(?: =|\.into\(\), serde_json::json!\() (\{.*?\})', sources)
    tables += re.findall(r'"x-renamed-kinds"\.into\(\), serde_json::json!\((\{.*?\})\)', sources)
    known = {old for table in tables for old in json.loads(table)}
    assert known == {r.old for r in migrated(OLD).renamed}


def test_ends_of_lines_marks_and_rights_stay(cli, tmp_path):
    old, link = tmp_path / "old.toml", tmp_path / "link.toml"
    old.write_bytes(b"\xef\xbb\xbf" + OLD.replace("\n", "\r\n").encode())
    old.chmod(0o600)
    link.symlink_to(old)
    cli("migrate", link)
    assert old.read_bytes() == b"\xef\xbb\xbf" + NEW.replace("\n", "\r\n").encode()
    assert old.stat().st_mode & 0o777 == 0o600 and link.is_symlink()


def test_a_dry_run_shows_a_diff_and_writes_nothing(cli, tmp_path):
    (tmp_path / "old.toml").write_text(OLD)
    said = cli("migrate", "old.toml", "--dry-run")
    assert (tmp_path / "old.toml").read_text() == OLD
    changed = [line for line in said.out.splitlines() if line.startswith(("+", "-"))]
    assert changed[:2] == ["--- old.toml", "+++ old.toml (migrated)"] and len(changed) == 2 + 2 * 6
    assert '+"delay"="5ms"  # one way' in changed


def test_what_else_is_wrong_is_said_and_the_names_are_written(cli, tmp_path):
    (tmp_path / "old.toml").write_text(OLD.replace("pairs", "pears"))
    said = cli("migrate", "old.toml")
    assert said.code == 1 and "old.toml:6: `topology.pears`: unknown key; known: " in said.err
    assert (tmp_path / "old.toml").read_text() == NEW.replace("pairs", "pears")


def test_no_file_is_written_if_one_cannot_be_read(cli, tmp_path):
    (tmp_path / "old.toml").write_text(OLD)
    (tmp_path / "bad.toml").write_text("x = [\n")
    said = cli("migrate", "old.toml", "bad.toml")
    assert said.code == 2 and said.err.startswith("bad.toml: is no TOML: ")
    said = cli("migrate", "old.toml", "old.tml")
    assert (said.code, said.err) == (2, "old.tml: no such file\n")
    assert (tmp_path / "old.toml").read_text() == OLD


def test_a_file_of_today_stays_as_it_is(cli, file):
    def written():
        seen = file.stat()
        return seen.st_ino, seen.st_mtime_ns, seen.st_size

    before = written()
    said = cli("migrate", file)
    assert (said.code, said.out) == (0, f"{file}: 0 names replaced\n") and written() == before


def test_a_name_that_cannot_be_replaced_safely_is_left_to_the_user():
    """The new key is there already."""
    text = 'topology = { kind = "dumbbell", pairs = 1, bottleneck_delay = "1ms", delay = "2ms" }\n[[traffic]]\n'
    text += 'kind = "flow"\nsrc = 0\ndst = 1\nsize = "1KB"\n'
    with pytest.raises(thalweg.ScenarioError) as e:
        migrated(text, "two.toml")
    assert str(e.value) == (
        "two.toml:1: `topology.bottleneck_delay`: `bottleneck_delay` cannot be replaced safely; write `delay` there by "
        "hand"
    )


def test_a_place_that_is_too_early_finds_the_right_word():
    """The same word as a value, in a comment, as another table's key: the file must read as before but for one name."""
    text = 'name = "forgets" # forgets\n[other]\nforgetsful = 1\nx = { y = "forgets" }\n[c]\nforgets = "forgets"\n'
    wrong = thalweg.Diagnostic("unknown key", "f.toml", 1, 1, "c.forgets", "it is called `reset` now")
    assert _replaced(text, wrong, "forgets", "reset") == text.replace("\nforgets =", "\nreset =")
