"""What the decomposition cannot carry: each with the reason and the way out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from thalweg.errors import Diagnostic, ScenarioError
from thalweg.scenario import Scenario, transport_of

# Rules that choose a flow's path as it starts.
PER_FLOW = ("ecmp", "ecmp-pairs", "ecmp-symmetric", "lowest", "modulo", "dimension-order", "pinned")
# Orders that look at their own port alone, and at nothing that another port has written.
LOCAL = (
    "fifo", "drr", "fq", "priority", "sjf", "srpt", "ads", "lifo", "random", "pifo", "round-robin", "fq-codel",
    "dualpi2",
)  # fmt: skip
# Transports whose sources decide by what their own ACKs say.
CARRIED = ("tcp", "rdma")
# Traffic whose flows start when others have ended.
FOLLOWING = (
    "request-response", "rpc",
    "ring-all-reduce", "ring-all-gather", "halving-doubling-all-reduce", "hierarchical-all-reduce", "tree-all-reduce",
    "goal", "chakra", "simai",
)  # fmt: skip
RUN = "run the whole scenario (`thalweg run`)"

# Tables of `switch` that tie a port to others: why.
_TIES = {
    "pfc": "a pause reaches back over links, which are simulated one by one",
    "gfc": "its frames reach back over links, which are simulated one by one",
    "backpressure": "its pauses reach back over links, which are simulated one by one",
    "inputs": "memory by input ties the ports of a switch together, which are simulated one by one",
    "shared_buffer": "shared memory ties the ports of a switch together, which are simulated one by one",
    "relief": "it reaches back over links, which are simulated one by one",
    "congestion_point": "its messages name one link of the path; of links on their own each would slow a flow down",
    "mix": "switches differ by their place, which a link on its own does not have",
}
# Tables of the scenario.
_WHOLE = {
    "slack": "slack is spent along the whole path, which no link has on its own",
    "edge": "the receiving edge goes by the delay of the whole path, which no link has on its own",
    "incident": "a link that fails moves flows to other links",
}


def check(scenario: Scenario) -> None:
    """Raises `ScenarioError` that names all keys which the decomposition cannot carry."""
    found = [*_network(scenario.to_dict()), *_flows(scenario.to_dict())]
    if not found and "after" in scenario.flows_csv().split("\n", 1)[0].split(","):
        reason = "flows that follow others (`after`) start when these have ended, which no link knows"
        found = [_no("traffic", reason, f"take the column out, or {RUN}")]
    if found:
        raise ScenarioError(found)


def _network(about: Mapping[str, Any]) -> Iterator[Diagnostic]:
    rule = about["routing"]["kind"]
    if rule not in PER_FLOW:
        reason = f"`{rule}` sends the packets of one flow over several paths: it has no links to sum up"
        yield _no("routing", reason, f"--set routing=ecmp, or {RUN}")
    switch, nic = about.get("switch") or {}, about.get("nic") or {}
    for key, why in _TIES.items():
        if switch.get(key):
            yield _no(f"switch.{key}", why, f"--unset switch.{key}, or {RUN}")
    for key, why in _WHOLE.items():
        if about.get(key):
            yield _no(key, why, f"--unset {key}, or {RUN}")
    if switch.get("cut_through", "0B") != "0B":
        reason = "a packet is on several links at once, which are simulated one by one"
        yield _no("switch.cut_through", reason, "--unset switch.cut_through")
    for where, part in (("switch", switch), ("nic", nic)):
        kind = _kind(part.get("scheduler", "fifo"))
        if kind not in LOCAL:
            reason = f"`{kind}` depends on what other ports or hosts do"
            yield _no(f"{where}.scheduler", reason, f"one of {', '.join(LOCAL)}")
    for n, link in enumerate(about.get("link") or ()):
        for key in ("loss", "jitter"):
            if link.get(key):
                yield _no(f"link.{n}.{key}", "chance on links is not part of the reduced networks", RUN)
        if (kind := _kind(link.get("transmitter", "fixed"))) != "fixed":
            yield _no(f"link.{n}.transmitter", f"`{kind}` has no rate that a link on its own could keep", RUN)


def _flows(about: Mapping[str, Any]) -> Iterator[Diagnostic]:
    for n, section in enumerate(about["traffic"]):
        key = f"traffic.{n}"
        kind, transport = section["kind"], transport_of(about, section)
        if kind != "udp" and transport["kind"] not in CARRIED:
            reason = f"`{transport['kind']}` {_why(transport['kind'])}"
            yield _no(f"{key}.transport", reason, f"one of {', '.join(CARRIED)}, or {RUN}")
        if section.get("connection", "fresh") != "fresh":
            reason = "flows of one connection wait for each other, on whatever link that is"
            yield _no(f"{key}.connection", reason, f"--set {key}.connection=fresh, or {RUN}")
        for name in ("writes", "video"):
            if transport.get(name):
                yield _no(f"{key}.transport.{name}", "its flows wait for what is not a link", RUN)
        if kind in ("backlogged", "udp"):
            yield _no(f"{key}.kind", f"`{kind}` has no end, and so no completion time", RUN)
        elif kind in FOLLOWING or section.get("iterations", 1) > 1 or section.get("exchange") == "pairwise":
            yield _no(f"{key}.kind", f"flows of `{kind}` start when others have ended, which no link knows", RUN)


def _why(kind: str) -> str:
    if kind == "udp":
        return "has no acknowledgements: losses leave its flows without an end"
    return "is driven by receivers, whose packets share out links that are simulated one by one"


def _kind(part: Any) -> str:
    return part["kind"] if isinstance(part, Mapping) else part


def _no(key: str, reason: str, hint: str) -> Diagnostic:
    return Diagnostic(reason=f"cannot be estimated link by link: {reason}", key=key, hint=hint)
