"""What exceptions of users' code say, and where they come from. Their classes are users' code, too: showing one may
raise."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path

from thalweg.errors import ScenarioError

_OURS = Path(__file__).parent
# Installed packages lie inside the standard library's folder, and are none of it.
_INSTALLED = {"site-packages", "dist-packages"}


def said(e: BaseException) -> str:
    """Its text, on one line."""
    try:
        return " ".join(str(e).split())
    except (Exception, SystemExit) as inner:
        return f"(its text cannot be shown: __str__ raises {type(inner).__name__})"


def named(e: BaseException) -> str:
    """Its class and its text; of what thalweg refuses the text alone."""
    return said(e) if isinstance(e, ScenarioError) else f"{type(e).__name__}: {said(e)}"


def left(e: SystemExit) -> str:
    """What a call of `sys.exit` was."""
    try:
        return f"called sys.exit({'' if e.code is None else repr(e.code)})"
    except (Exception, SystemExit) as inner:
        return f"called sys.exit(…), whose argument cannot be shown: __repr__ raises {type(inner).__name__}"


def place(e: BaseException) -> str:
    """`file:line` of the innermost line of users' code; nothing if none was under way.

    What that code calls (`copy`, `json`, thalweg itself), and the handler of a signal that interrupted it, lie
    further inside.
    """
    found, trace = "", e.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not _is_ours(file):
            found = f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


@cache
def _is_ours(file: str) -> bool:
    """Whether code is thalweg's, or the standard library's. Examples are as if users had written them."""
    if file.startswith("<frozen "):
        return True
    path = Path(file).absolute()
    if path.is_relative_to(_OURS):
        return not path.is_relative_to(_OURS / "examples")
    for folder in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}:
        if path.is_relative_to(folder):
            return not _INSTALLED & set(path.relative_to(folder).parts)
    return False
