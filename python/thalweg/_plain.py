"""Python values that a scenario can hold; everything else is refused by its key."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from os import PathLike, fspath

from thalweg.errors import refuse

# No scenario is nested deeper; a table that holds itself is nested without end.
DEEPEST = 32


def plain(value, key: str = "", file: str = "<dict>", depth: int = 0):
    """The value made of Python's own types. NumPy scalars count as Python's."""

    def wrong(reason: str, hint: str | None = None):
        return refuse(reason, file=file, key=key, hint=hint)

    if depth > DEEPEST:
        cut = key if len(key) <= 60 else key[:60] + "…"
        raise refuse(f"is nested more than {DEEPEST} deep", file=file, key=cut)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    match value:
        case None | bool() | float() | datetime.date() | datetime.time():
            return value
        case int():
            if not -(2**63) <= value < 2**63:
                raise wrong("is not an integer of 64 bits")
            return value
        case str():
            return word(value, key, file)
        case PathLike():
            return word(fspath(value), key, file)
        case Mapping():
            out = {}
            for k, v in value.items():
                if not isinstance(k, str):
                    raise wrong(f"a key is a {type(k).__name__}, not a string")
                inside = f"{key}.{word(k, key, file)}" if key else word(k, key, file)
                out[k] = plain(v, inside, file, depth + 1)
            return out
        case list() | tuple():
            return [plain(v, f"{key}.{n}" if key else str(n), file, depth + 1) for n, v in enumerate(value)]
    name = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    lists = next((m for m in ("tolist", "to_list") if hasattr(value, m)), None)
    raise wrong(f"{name} cannot be written as TOML", f"write it as a list: `.{lists}()`" if lists else None)


def word(text: str, key: str = "", file: str = "<dict>") -> str:
    """Text that can be encoded: half a surrogate pair is none."""
    try:
        text.encode()
    except UnicodeEncodeError as e:
        where = key.encode("ascii", "backslashreplace").decode()
        reason = f"is not text: character {e.start} is half a surrogate pair (U+{ord(text[e.start]):04X})"
        raise refuse(reason, file=file, key=where) from None
    return text
