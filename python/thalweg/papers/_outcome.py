"""How a study came out: in a line, with the causes of what does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from thalweg.papers import _choosing, _swept, _verdicts
from thalweg.papers._paper import Paper
from thalweg.papers._swept import Standing


def word(found: Iterable[Standing]) -> str:
    """Whether the claims that were decided lie within their bounds: all, some, or none."""
    within = {s.within for s in found if s.within is not None}
    if not within:
        return "Not judged"
    if len(within) > 1:
        return "Partly reproduced"
    return "Reproduced" if within == {True} else "Not reproduced"


def sentence(found: Mapping[str, Standing]) -> str:
    """What follows the word: how many claims hold, and how they stand.

    `Of 55 claims judged 41 lie within their bounds, 14 do not. By cause: 18 robust, ..`"""
    hold, fail = (sum(s.within is is_within for s in found.values()) for is_within in (True, False))
    if not found:
        return "No claims."
    judged = f"Of {hold + fail} claims judged {hold} lie within their bounds, {fail} do not." if hold + fail else ""
    return f"{judged} By cause: {_swept.counted(found)}.".strip()


def deciding(paper: Paper) -> dict[str, tuple[str, _verdicts.Verdict]]:
    """Of every claim that was judged: the scale that decides it, the full one where it was run, and its verdict."""
    quick, full = (_verdicts.kept(paper, scale) for scale in ("quick", "full"))
    return {i: ("quick", v) for i, v in quick.items()} | {i: ("full", v) for i, v in full.items()}


def standings(paper: Paper) -> dict[str, Standing]:
    """Each claim's, by the verdict that decides it and the sweeps that the study's folder keeps: of a choice that was
    swept at full scale that one."""
    table = _choosing.swept(paper, "quick") | _choosing.swept(paper, "full")
    verdicts = deciding(paper)
    return {
        c.id: _swept.standing(c, verdicts[c.id][1] if c.id in verdicts else None, paper.choices, table)
        for c in paper.claims
    }


def line(paper: Paper) -> str:
    """Markdown: the line that a study's page begins with."""
    found = standings(paper)
    scales = {scale for scale, _ in deciding(paper).values()}
    where = " The full scale decides where it was run, `--scale quick` elsewhere." if len(scales) == 2 else ""
    return f"**{word(found.values())}.** {sentence(found)}{where}"
