"""Kinds of arguments that several commands take."""

from __future__ import annotations

import argparse


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
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a whole number above zero")
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
