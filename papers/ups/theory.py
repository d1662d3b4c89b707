"""Appendix A and the laws of LSTF: theorems as properties of random inputs, counter-examples as exact schedules.

They need no runs: the engine checks each on the spot, by definition and, on some of the inputs, in the
production simulator as well.
"""

from __future__ import annotations

from thalweg.study import checked, measure_each

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


@measure_each({claim: claim for claim in CLAIMS})
def by_definition(runs, claim: str):
    return checked(runs, claim, REPORTED)
