"""`policy run --trace`: packets from a CSV file. What does not fit is refused by its line and column."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path

from thalweg import _input, policies
from thalweg.errors import nearest, refuse

# The columns that say when a packet comes, in ps.
TIMES = {"at_ps": 1, "at_ns": 1000}


def read(file: str, policy: policies.Policy) -> dict[str, list[int]]:
    """A CSV file's columns."""
    try:
        text = _input.text(Path(file))
    except UnicodeDecodeError:
        raise refuse("is not UTF-8 text", file=file) from None
    rows = _rows(text, file)
    _, head = next(rows, (1, []))
    time = _time_of(head, f"{file}:1")
    queues = {queue.name: number for number, queue in enumerate(policy.queues)}
    columns: dict[str, list[int]] = {name: [] for name in head}
    before, instants = 0, columns[time]
    for line, row in rows:
        where = f"{file}:{line}"
        if not row:
            continue
        if len(row) != len(head):
            raise refuse(f"{len(row)} values under {len(head)} heads", file=where)
        for name, value in zip(head, row, strict=True):
            columns[name].append(_queue(value, queues, where) if name == "queue" else _value(name, value, where))
        if len(instants) > 1 and instants[-1] < instants[-2]:
            reason = f"`{row[head.index(time)]}` is earlier than the packet of line {before}"
            raise refuse(reason, file=where, key=time, hint="packets stand in the order in which they come")
        before = line
    columns["at_ps"] = columns.pop(time)
    return columns


def _rows(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Lines with their numbers."""
    rows = csv.reader(text.splitlines())
    try:
        for row in rows:
            yield rows.line_num, [cell.strip() for cell in row]
    except csv.Error as e:
        raise refuse(f"is not a row of a CSV file: {e}", file=f"{file}:{rows.line_num}") from None


def _time_of(head: list[str], where: str) -> str:
    """The column of instants. Refuses heads that are not packets'."""
    known = [*policies.FIELDS, *TIMES]
    for name in head:
        if name not in known:
            raise refuse(f"packets have no column `{name}`", file=where, hint=nearest(name, known))
    if len(set(head)) < len(head):
        raise refuse("a column is there twice", file=where)
    times = TIMES.keys() & set(head)
    if "queue" not in head or len(times) != 1:
        raise refuse("a trace has the columns `queue` and one of `at_ns` and `at_ps`", file=where)
    return times.pop()


def _queue(text: str, queues: dict[str, int], where: str) -> int:
    if text in queues:
        return queues[text]
    try:
        number = int(text)
    except ValueError:
        hint = nearest(text, queues)
        raise refuse(f"`{text}` is not a queue of the policy", file=where, key="queue", hint=hint) from None
    if not 0 <= number < len(queues):
        raise refuse(f"the policy has no queue number {number}", file=where, hint=f"0 to {len(queues) - 1}")
    return number


def _value(name: str, text: str, where: str) -> int:
    """A cell's number, exactly; of ns also parts, to the nearest ps."""
    scale = TIMES.get(name, 1)
    least, most = policies.bounds("at_ps" if name in TIMES else name)
    try:
        value = int(text) if scale == 1 else Decimal(text)
    except (ValueError, InvalidOperation):
        what = "a whole number" if scale == 1 else "a number"
        raise refuse(f"`{text}` is not {what}", file=where, key=name) from None
    if isinstance(value, Decimal) and not value.is_finite():
        raise refuse(f"`{text}` is not a number", file=where, key=name)
    if not least <= value <= most // scale:
        raise refuse(f"`{text}` is not between {least} and {most // scale}", file=where, key=name)
    return round(value * scale)
