"""What can be wrong with what the user wrote."""

from __future__ import annotations

from dataclasses import dataclass


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

    def __init__(self, diagnostics):
        self.diagnostics = tuple(d if isinstance(d, Diagnostic) else Diagnostic(**d) for d in diagnostics)
        super().__init__("\n".join(str(d) for d in self.diagnostics))

    def __reduce__(self):
        return type(self), (self.diagnostics,)


class ControllerError(RuntimeError):
    """A Python controller that failed: which one, for which flow (`None`: while its state was read), at what simulated time.

    What it raised, if it did, is the `__cause__`.
    """

    def __init__(self, why: str, controller: str = "", flow: int | None = None, now_ps: int | None = None):
        super().__init__(why)
        self.controller, self.flow, self.now_ps = controller, flow, now_ps


def refuse(reason: str, *, file: object = "", key: str = "", hint: str | None = None) -> ScenarioError:
    """A `ScenarioError` of one line."""
    return ScenarioError([Diagnostic(reason=reason, file=str(file), key=key, hint=hint)])


def nearest(word: str, known) -> str | None:
    """ "did you mean …? (known: …)" for a word that is not among the known ones."""
    import difflib

    known = sorted(map(str, known))
    if not known:
        return None
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    listed = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return (f"did you mean `{close[0]}`? " if close else "") + f"(known: {listed})"
