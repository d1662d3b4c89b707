"""Kinds of arguments that several commands take."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False  # importing `typing` for it would slow every command down
if TYPE_CHECKING:
    from typing import Any


class Once(argparse.Action):
    """Stores a value, as argparse does; given a second time the first would have no effect."""

    used = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if self.used and option_string:
            raise argparse.ArgumentError(self, "it is given twice")
        self.used = True
        setattr(namespace, self.dest, values)


class Change(argparse._AppendAction):
    """Appends the change of a key; of two changes of one key the first would have no effect."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if values[0] in dict(getattr(namespace, self.dest) or []):
            raise argparse.ArgumentError(self, f"`{values[0]}` is changed twice")
        super().__call__(parser, namespace, values, option_string)


def setting(text: str) -> tuple[str, str]:
    """`key=value`."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form key=value")
    return key.strip(), value.strip()


def listing(text: str) -> tuple[str, str]:
    """`key=value,value`."""
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise argparse.ArgumentTypeError(f"`{text}` is not of the form key=value,value")
    return key.strip(), values.strip()


def positive_int(text: str) -> int:
    return _positive(text, (1 << 32) - 1)


def count(text: str) -> int:
    """So many things that are all made, or kept in memory."""
    return _positive(text, 1_000_000)


def _positive(text: str, most: int) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a whole number above zero")
    if int(text) > most:
        raise argparse.ArgumentTypeError(f"`{text}` is too large; at most {most}")
    return int(text)


def whole_number(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 32:
        raise argparse.ArgumentTypeError(f"`{text}` is not a whole number")
    return int(text)


def part(text: str) -> str:
    """`3/40`."""
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"`{text}` is not a part such as 3/40, from 1/40 to 40/40")
    return text
