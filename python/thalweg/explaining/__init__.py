"""Why a flow took so long: `thalweg explain RUN --flow 2`, `results.explain(2)`; and which flows did:
`thalweg explain RUN --slowest`, `results.slowest()`.

The chain of what had to happen before the last byte could arrive is followed back from there to the flow's start. Each
link of the chain is an interval with one cause, so that the intervals add up to the completion time exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.errors import brief, refuse
from thalweg.explaining.evidence import Evidence
from thalweg.explaining.explanation import Explanation
from thalweg.explaining.slowest import Slowest, slowest
from thalweg.explaining.walk import walk

if TYPE_CHECKING:
    from thalweg.results import Results

__all__ = ["Evidence", "Explanation", "Slowest", "explain", "slowest"]


def explain(run: Results, flow: int, *, evidence: Evidence | None = None) -> Explanation:
    """Takes a flow's completion time apart.

    `evidence`: the record to look in, where several flows are explained; else the run's own is opened, and a run
    without one is run again, recorded, into a temporary folder.

    Example: `print(thalweg.Results.load("runs/incast").explain(2))`.

    Raises:
        ScenarioError: there is no such flow; it is not complete; there is no record and the run cannot be made again.
    """
    (flow,) = run.numbers([flow], "flows")
    row = run.named("flows").row(flow, named=True)
    if row["fct_ps"] is None:
        why = row.get("reason") or "it has no end"
        raise refuse(f"flow {flow} has no completion time to take apart: {why}", file=run.path or "this run")
    if not isinstance(evidence, Evidence | None):
        raise refuse(
            f"`{brief(evidence)}` is not a record to look in",
            key="evidence",
            hint="leave it out, or `Evidence.of(run)`",
        )
    evidence = evidence or Evidence.of(run)
    return Explanation(row, walk(evidence.flow(flow)), evidence)
