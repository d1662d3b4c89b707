"""What a port did when: which flow's packets it sent, and when it had to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

# What a part of a wait was: a packet of a flow was being sent, the port was paused, or neither.
BUSY, PAUSED, IDLE = "busy", "paused", "idle"


class PortLog:
    """Transmissions of one port, in order, and its pauses.

    `name`: its ends; `far`: the node there, which pauses it. `starts`, `ends`, `flows`: of each transmission; `stops`:
    when each pause began and ended (None: it stands). Times in picoseconds.
    """

    def __init__(
        self,
        name: str,
        far: str,
        starts: np.ndarray,
        ends: np.ndarray,
        flows: np.ndarray,
        stops: Sequence[tuple[int, int | None]] = (),
    ):
        self.name, self.far = name, far
        self._starts, self._ends, self._flows = starts, ends, flows
        self._stops = [(began, ended if ended is not None else 2**62) for began, ended in stops]

    def parts(self, since: int, until: int) -> dict[tuple[str, int | None], int]:
        """How an interval was spent: (BUSY, flow), (PAUSED, None) and (IDLE, None), with picoseconds that add up to it.

        While a packet is on its way out of a paused port, the port is busy.
        """
        found: dict[tuple[str, int | None], int] = {}

        def add(key: tuple[str, int | None], ps: int) -> None:
            if ps > 0:
                found[key] = found.get(key, 0) + ps

        at = since
        first = max(int(np.searchsorted(self._starts, since, side="right")) - 1, 0)
        for n in range(first, len(self._starts)):
            begin, end = int(self._starts[n]), min(int(self._ends[n]), until)
            if begin >= until:
                break
            if end <= at:
                continue
            if begin > at:
                self._gap(at, begin, add)
                at = begin
            add((BUSY, int(self._flows[n])), end - at)
            at = end
        self._gap(at, until, add)
        return found

    def _gap(self, since: int, until: int, add: Callable[[tuple[str, int | None], int], None]) -> None:
        if until <= since:
            return
        paused = 0
        at = since
        for began, ended in self._stops:
            if began >= until:
                break
            paused += max(min(ended, until) - max(began, at), 0)
            at = max(at, min(ended, until))
        add((PAUSED, None), paused)
        add((IDLE, None), until - since - paused)

    def busy_since(self, until: int) -> int:
        """When the period without an idle instant began that ended at `until`; `until`: it was idle just before."""
        at = until
        n = int(np.searchsorted(self._starts, until, side="left")) - 1
        while True:
            if n >= 0 and self._ends[n] >= at:
                at = min(at, int(self._starts[n]))
                n -= 1
                continue
            stopped = next((began for began, ended in self._stops if began < at <= ended), None)
            if stopped is None:
                return at
            # Busy until the last bit of what was on its way as the pause began.
            at = max(stopped, int(self._ends[n])) if n >= 0 and self._ends[n] > stopped else stopped
