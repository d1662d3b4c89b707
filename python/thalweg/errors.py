"""What can be wrong with what the user wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

TYPE_CHECKING = False  # importing `typing` for it would slow every command down
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong: where, what, and the way out. `str()` is the one line that users see."""

    reason: str
    file: str = ""
    line: int = 0
    column: int = 0
    key: str = ""
    hint: str | None = None
    text: str = ""

    def __str__(self) -> str:
        if self.text:
            return self.text
        where = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        key = f"`{self.key}`: " if self.key else ""
        hint = "" if not self.hint else f" {self.hint}" if self.hint.startswith("(") else f"; {self.hint}"
        return f"{where}{key}{self.reason}{hint}"


class ScenarioError(ValueError):
    """A scenario, a file or an argument that cannot be used. Holds one `Diagnostic` per thing found."""

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: ScenarioError | Diagnostic | str | Iterable[Diagnostic | Mapping[str, Any]]):
        # Of a text, or of another of its kind: Gymnasium's workers raise anew what was raised in them.
        if isinstance(diagnostics, ScenarioError):
            self.diagnostics = diagnostics.diagnostics
        elif isinstance(diagnostics, str | Diagnostic):
            self.diagnostics = (diagnostics if isinstance(diagnostics, Diagnostic) else Diagnostic(diagnostics),)
        else:
            self.diagnostics = tuple(d if isinstance(d, Diagnostic) else Diagnostic(**d) for d in diagnostics)
        super().__init__("\n".join(str(d) for d in self.diagnostics))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[tuple[Diagnostic, ...]]]:
        return type(self), (self.diagnostics,)


class ControllerError(RuntimeError):
    """A Python controller that failed: which one, for which flow (`None`: while its state was read), at what
    simulated time.

    What it raised, if it did, is the `__cause__`.
    """

    def __init__(self, why: str, controller: str = "", flow: int | None = None, now_ps: int | None = None):
        super().__init__(why)
        self.controller, self.flow, self.now_ps = controller, flow, now_ps


def of_run(e: BaseException, run: str, after: str) -> BaseException:
    """The same error, which names the run, and says what follows; an exception that is not thalweg's in a note."""
    end = f"; {after}" if after else ""
    if isinstance(e, ScenarioError):
        said = [replace(d, text=f"{run}: {d}") for d in e.diagnostics]
        said[-1] = replace(said[-1], text=f"{said[-1]}{end}")
        return type(e)(said)
    if type(e) is ControllerError:
        made = ControllerError(f"{run}: {e}{end}", e.controller, e.flow, e.now_ps)
        made.__cause__ = e.__cause__
        return made
    e.add_note(f"it was the run {run}{end}")
    return e


def refuse(reason: str, *, file: object = "", key: str = "", hint: str | None = None) -> ScenarioError:
    """A `ScenarioError` of one line: a text that was given in the place of a name is shown by its first."""
    reason = re.sub(r"`([^`]+)`", lambda quoted: f"`{brief(quoted[1])}`", reason)
    return ScenarioError([Diagnostic(reason=reason, file=str(file), key=key, hint=hint)])


def brief(given: object, most: int = 200) -> str:
    """What was given, as a message quotes it: a text of several lines, or a long one, by how it begins."""
    shown = given if isinstance(given, str) else repr(given)
    if "\n" not in shown.strip() and len(shown) <= most:
        return shown
    first = next((line for line in shown.splitlines() if line.strip()), "")
    return f"{first[:60]} …"


# So many names are listed in full.
LISTED = 12


def nearest(word: object, known: Iterable[object]) -> str | None:
    """ "did you mean …? (known: …)" for a word that is not among the known ones: all of them, or, of many, those that
    are near."""
    word, known = str(word), sorted(set(map(str, known)))
    if not known:
        return None
    close = near(word, known)
    said = f"did you mean `{close[0]}`? " if close else ""
    if len(known) <= LISTED:
        return f"{said}(known: {', '.join(known)})"
    others = close[1:] or ([] if close else known[:LISTED])
    more = f"{len(known)} are known" + (f", near: {', '.join(others)}" if close and others else "")
    return f"{said}({more})" if close else f"(known: {', '.join(others)}, …)"


def near(word: str, known: Iterable[str], most: int = 6) -> list[str]:
    """The names that a word may have been meant for, nearest first: names it begins with (`bbrv1`), names that begin
    with it, names like it, and dotted names whose parts are like it."""
    import difflib

    word = word.lower().replace("_", "-")
    plain = {name: name.lower().replace("_", "-") for name in known}

    def likeness(name: str) -> float:
        ratio = difflib.SequenceMatcher(None, word, name).ratio()
        if len(name) >= 3 and word.startswith(name):
            return max(ratio, 0.85 + 0.05 * len(name) / len(word))
        if len(word) >= 3 and name.startswith(word):
            return max(ratio, 0.85 + 0.05 * len(word) / len(name))
        return ratio

    def score(name: str) -> float:
        parts = name.split(".")
        # The whole counts more than the end of a dotted name.
        return max(likeness(name), *(0.85 * likeness(".".join(parts[n:])) for n in range(1, len(parts))), 0.0)

    scores = {name: score(p) for name, p in plain.items()}
    found = sorted((name for name in scores if scores[name] >= 0.6), key=lambda n: (-scores[n], len(n), n))
    return found[:most]
