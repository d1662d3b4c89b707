"""What a study's page in the documentation shows of its verdicts: figure by figure, then what does not hold with its
cause, then every claim, folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from thalweg.papers import _choosing, _outcome
from thalweg.papers._answer import places
from thalweg.papers._claims import Claim
from thalweg.papers._paper import Paper
from thalweg.papers._verdicts import DECIDED, SHORTEST, Verdict, kept

SHOWN = ("hold", "do not", "not decided", "not checkable")


def table(paper: Paper) -> str:
    """All of it. The page's first line is `_outcome.line`."""
    parts = [_counts(kept(paper, "quick"), kept(paper, "full")), _by_figure(paper)]
    parts += [_failing(paper), _unchecked(paper), _choosing.markdown(paper), _every(paper)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(x.replace("|", r"\|").replace("\n", " ") for x in cells) + " |"


def _by_figure(paper: Paper) -> str:
    """How many claims of each figure or table hold, at the scale that decides them."""
    standing = _outcome.standings(paper)
    found: dict[str, Counter[str]] = {}
    for i, place in places(paper.claims).items():
        within = standing[i].within
        if within is None:
            said = "not checkable" if standing[i].word == "not checkable" else "not decided"
        else:
            said = "hold" if within else "do not"
        found.setdefault(place or "elsewhere", Counter())[said] += 1
    shown = [s for s in SHOWN if any(c[s] for c in found.values())]
    lines = [_row(("figure or table", "claims", *shown)), "|---" * (len(shown) + 2) + "|"]
    lines += [_row((p, str(c.total()), *(str(c[s] or "") for s in shown))) for p, c in found.items()]
    return "\n".join(lines)


def _failing(paper: Paper) -> str:
    """What lies outside its bounds at a scale, or is not decided: published, measured, the cause, and the
    experiment that showed it."""
    quick, full, standing = kept(paper, "quick"), kept(paper, "full"), _outcome.standings(paper)
    deciding, lines = _outcome.deciding(paper), []
    for c in paper.claims:
        if not _wanting(c, quick, full):
            continue
        scale, verdict = deciding[c.id]
        measured = f"Measured at {scale} scale: {verdict.judged_text(c)}"
        why = "; ".join(x for x in (c.known, c.short) if x) or "No experiment explains it yet"
        head = f"- **{c.id}**: {c.statement}. Published: {c.published}. {measured}."
        lines.append(f"{head} *{_first(standing[c.id].why())}.* {_first(why)}.")
    return "\n".join(["Why some do not hold:", "", *lines]) if lines else ""


def _first(text: str) -> str:
    """A sentence's beginning: the names further on keep their letters."""
    return text[:1].upper() + text[1:]


def _wanting(claim: Claim, *scales: Mapping[str, Verdict]) -> bool:
    found = [verdicts[claim.id] for verdicts in scales if claim.id in verdicts]
    return any(not v.within_bounds or v.status == "not-decided" for v in found)


def _unchecked(paper: Paper) -> str:
    lines = [f"- **{c.id}**: {c.unchecked}." for c in paper.claims if c.unchecked]
    return "\n".join(["Not checkable:", "", *lines]) if lines else ""


def _every(paper: Paper) -> str:
    """Every claim with the verdicts of both scales, behind a title that opens it."""
    quick, full = kept(paper, "quick"), kept(paper, "full")
    lines = ["| claim | what | published | quick | | full | |", "|---|---|---|---|---|---|---|"]
    for c in paper.claims:
        cells = [c.id, c.statement, c.published]
        for found in (quick.get(c.id), full.get(c.id)):
            status = found.status if found else "not-checkable" if c.unchecked else "–"
            cells += [found.judged_text(c) if found else "", _emphasised(status)]
        lines.append(_row(cells))
    title = f"<summary>Every claim: {len(paper.claims)}, published and measured at both scales</summary>"
    return "\n".join(["<details>", title, "", *lines, "", "</details>"])


def _emphasised(status: str) -> str:
    return f"*{SHORTEST[status]}*" if status == "not-decided" else SHORTEST.get(status, status)


def _counts(quick: Mapping[str, Verdict], full: Mapping[str, Verdict]) -> str:
    def said(scale: str, found: Mapping[str, Verdict]) -> str:
        if not found:
            return f"`--scale {scale}`: nothing kept"
        passed, failed, open_ = (sum(v.status == s for v in found.values()) for s in (*DECIDED, "not-decided"))
        undecided = f", {open_} are not decided at this scale" if open_ else ""
        return f"`--scale {scale}`: of {len(found)} claims judged {passed} hold, {failed} do not{undecided}"

    text = f"{said('quick', quick)}; {said('full', full)}."
    if any(v.status == "not-decided" for v in quick.values()):
        text += " Where both scales were judged and differ, quick decides nothing (*not decided*) and the full scale counts."
    return text
