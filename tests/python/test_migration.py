"""Renamed keys and choices get their new names, and nothing else of a file changes.

No name has changed since 0.1.0: an engine that has renamed some keys and choices stands in for the real one, which
reports them in the same words.
"""

import re

import pytest

import thalweg
from thalweg import migration
from thalweg.migration import _replaced, migrated

# Where an old name stands, its key, what it is called now, and what refuses it: a key, a choice, or a table's kind.
RENAMED = (
    (r'(?m)^"?(wire_delay)"?(?= *=)', "topology.wire_delay", "delay", "key"),
    (r"order = .(circle).", "nic.order", "hpcc-simulator", "choice"),
    (r"marking = \{ kind = .(ramp).", "switch.marking", "red-ecn", "kind"),
    (r"recovery = .(dropped).", "transport.recovery", "drop-notified", "choice"),
    (r"(first_counts)(?= =)", "transport.congestion.first_counts", "use_first_sample", "key"),
    (r"(forgets)(?= =)", "transport.congestion.forgets", "reset_after_idle", "key"),
)


def refusals(text: str, file: str) -> list[thalweg.Diagnostic]:
    found = []
    for pattern, key, now, what in RENAMED:
        for match in re.finditer(pattern, text):
            before = text[: match.start(1)].split("\n")
            reason = "unknown key" if what == "key" else f"`{match[1]}` is not a choice"
            hint = f"`{match[1]}` is now called `{now}`" if what == "kind" else f"it is called `{now}` now"
            found.append(thalweg.Diagnostic(reason, file, len(before), len(before[-1]) + 1, key, hint))
    return found


@pytest.fixture(autouse=True)
def an_engine_that_has_renamed_some(monkeypatch):
    def scenario(text: str, file: str = "<text>", *rest):
        if found := refusals(text, file):
            raise thalweg.ScenarioError(found)
        return thalweg.Scenario(text, file, *rest)

    monkeypatch.setattr(migration, "Scenario", scenario)


OLD = """\
# wire_delay, ramp and dropped are old names.
name = "wire_delay"   # a text that is the same word

[topology]
kind = 'dumbbell'
pairs = 2
bottleneck_rate  = "50Mbps"
"wire_delay"="5ms"  # one way

[nic]
order = "circle"

[switch]
marking = { kind = "ramp", min = "5KB", max = "200KB" }

[transport]
kind = "rdma"
recovery = "dropped" # ramp
congestion = { kind = "timely", first_counts = true, forgets = false }

[[traffic]]
name = "dropped"
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
    OLD.replace('"wire_delay"=', '"delay"=')
    .replace('"circle"', '"hpcc-simulator"')
    .replace('"ramp"', '"red-ecn"')
    .replace('recovery = "dropped"', 'recovery = "drop-notified"')
    .replace("first_counts", "use_first_sample")
    .replace("forgets", "reset_after_idle")
)


def test_only_the_names_change():
    found = migrated(OLD, "old.toml")
    assert found.text == NEW
    assert [(r.line, r.old, r.new) for r in found.renamed] == [
        (8, "wire_delay", "delay"),
        (11, "circle", "hpcc-simulator"),
        (14, "ramp", "red-ecn"),
        (18, "dropped", "drop-notified"),
        (19, "first_counts", "use_first_sample"),
        (19, "forgets", "reset_after_idle"),
        (31, "forgets", "reset_after_idle"),
    ]
    assert migrated(NEW, "new.toml").renamed == []


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
    assert said.code == 2 and said.err.startswith("bad.toml: is not TOML: ")
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
    text = '[topology]\nkind = "dumbbell"\npairs = 1\nwire_delay = "1ms"\ndelay = "2ms"\n[[traffic]]\n'
    text += 'kind = "flow"\nsrc = 0\ndst = 1\nsize = "1KB"\n'
    with pytest.raises(thalweg.ScenarioError) as e:
        migrated(text, "two.toml")
    assert str(e.value) == (
        "two.toml:4: `topology.wire_delay`: `wire_delay` cannot be replaced safely; write `delay` there by hand"
    )


def test_a_place_that_is_too_early_finds_the_right_word():
    """The same word as a value, in a comment, as another table's key: the file must read as before but for one name."""
    text = 'name = "forgets" # forgets\n[other]\nforgetsful = 1\nx = { y = "forgets" }\n[c]\nforgets = "forgets"\n'
    wrong = thalweg.Diagnostic("unknown key", "f.toml", 1, 1, "c.forgets", "it is called `reset` now")
    assert _replaced(text, wrong, "forgets", "reset") == text.replace("\nforgets =", "\nreset =")
