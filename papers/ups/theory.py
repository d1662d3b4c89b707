"""Appendix A and the laws of LSTF: theorems as properties of random inputs, counter-examples as exact schedules.

They need no runs: the engine checks each on the spot, by definition and, on some of the inputs, in the
production simulator as well.
"""

from __future__ import annotations

from thalweg import _core
from thalweg.study import measure

# What is reported of each check; what is judged is in claims.toml.
REPORTED = {
    "instances": "inputs",
    "packets": "packets",
    "violations": "violations",
    "overdue": "overdue packets",
    "found": "cases",
    "engine_runs": "replays run by the simulator too",
    "schedule_differences": "schedule differences",
}
CLAIMS = (
    "UPS-TH3a",
    "UPS-F7a",
    "UPS-F7b",
    "UPS-TH5a",
    "UPS-TH5b",
    "UPS-TH4a",
    "UPS-TH4b",
    "UPS-F8a",
    "UPS-TH3c",
    "UPS-TH2a",
    "UPS-TH1a",
    "UPS-TH6a",
    "UPS-TH9a",
    "UPS-TH10a",
    "UPS-F3z",
    "UPS-H1a",
    "UPS-L1",
    "UPS-L2",
    "UPS-L3",
)


def claim(name: str) -> None:
    @measure(name, needs=[])
    def measured(runs):
        found = _core.theory_run(name, runs.scale == "quick", 1)
        return {text: found[key] for key, text in REPORTED.items()}


for _name in CLAIMS:
    claim(_name)
