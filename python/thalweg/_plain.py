"""Python values that a scenario can hold; everything else is refused by its key."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from thalweg.errors import ScenarioError, refuse

# No scenario is nested deeper; a table that holds itself is nested without end.
DEEPEST = 32


def plain(value: Any, key: str = "", file: str = "<dict>", depth: int = 0) -> Any:
    """The value made of Python's own types that TOML has. NumPy scalars count as Python's, paths as text;
    entries of tables that are `None` are left out."""

    def wrong(reason: str, hint: str | None = None) -> ScenarioError:
        return refuse(reason, file=file, key=key, hint=hint)

    if depth > DEEPEST:
        cut = key if len(key) <= 60 else key[:60] + "…"
        raise refuse(f"is nested more than {DEEPEST} deep", file=file, key=cut)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    match value:
        case bool() | datetime.date() | datetime.time():
            return value
        case float():
            return float(value)
        case int():
            if not -(2**63) <= value < 2**63:
                raise wrong("is not an integer of 64 bits")
            return int(value)
        case str():
            return word(value, key, file)
        case PathLike():
            return plain(fspath(value), key, file)
        case Mapping():
            out = {}
            for k, v in value.items():
                if not isinstance(k, str):
                    raise wrong(f"a key is a {type(k).__name__}, not a string")
                k = word(k, key, file)
                if v is not None:
                    out[k] = plain(v, f"{key}.{k}" if key else k, file, depth + 1)
            return out
        case list() | tuple() | range():
            return [plain(v, f"{key}.{n}" if key else str(n), file, depth + 1) for n, v in enumerate(value)]
        case None:
            raise wrong("None cannot be written as TOML", "leave it out")
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
    # (A subclass may call itself differently: an enumeration of texts.)
    return str.__str__(text)
