"""ABC in both ECN codepoints (§2.4.2): the same packets as in one, and what marks of other routers do (§2.6)."""

from __future__ import annotations

from thalweg.study import RunSpec, measure

from .many import starts
from .outcome import utilisation
from .settings import DOWN, NO_HYSTART, SINGLE, Cell, need_traces, wired

DUAL = {"kind": "abc"}
ROUTER = {"kind": "abc", "encoding": "full"}
MARKED = {"kind": "random-ecn", "probability": 0.05}
# On fixed links, so that the pairs can be had without traces.
PAIRS = {"single": (SINGLE, 1), "both-windows": (DUAL, 1), "many": (SINGLE, 8), "many:both-windows": (DUAL, 8)}


def encoded(what: str, encoding: str) -> RunSpec:
    controller, count = PAIRS[what]
    return wired(
        f"{encoding}:{what}",
        name="encoded",
        traffic=starts(count),
        transport__congestion=controller | {"encoding": encoding},
        switch__marking={"kind": "abc", "encoding": encoding},
        run__until="20s",
    )


def marked(what: str, controller: dict, router, **set) -> Cell:
    """The sender's own NIC stands for a router that marks one packet in twenty for reasons of its own."""
    keys = {"transport.congestion": controller, "switch.marking": router, "nic.marking": MARKED}
    return Cell("abc", DOWN, what, keys | set)


ALONE = marked("marked:single", SINGLE | {"encoding": "full"}, ROUTER)
BOTH = marked("marked:both-windows", DUAL | {"encoding": "full"}, ROUTER)
CUBIC = marked("marked:cubic", NO_HYSTART, "none", **{"transport.ecn": "accurate"})


def runs(scale: str) -> list:
    pairs = [encoded(what, encoding) for what in PAIRS for encoding in ("proxy", "full")]
    return [*pairs, *(c.spec() for c in (ALONE, BOTH, CUBIC))]


@measure("ABC-D11", needs=[f"wired:{e}:{what}" for what in PAIRS for e in ("proxy", "full")])
def encodings_are_alike(runs):
    """Event by event."""
    differ = sum(runs[f"wired:proxy:{what}"].digest != runs[f"wired:full:{what}"].digest for what in PAIRS)
    return {"pairs of runs that differ": differ, "pairs": len(PAIRS)}


@measure("ABC-D7", needs=[Cell().key, *(c.key for c in (ALONE, BOTH, CUBIC))])
def foreign_marks(runs):
    need_traces()
    alone, both, cubic, plain = (utilisation(runs[c.key]) for c in (ALONE, BOTH, CUBIC, Cell()))
    return {
        "utilisation lost, ABC window alone": plain - alone,
        "throughput with both windows / CUBIC's": both / cubic,
        "utilisation with both windows": both,
    }
