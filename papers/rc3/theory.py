"""What is exact: the worked example, levels, properties of the transport, the analytical model."""

from __future__ import annotations

from itertools import pairwise

from thalweg.study import checked, measure, measure_each

from . import model

REPORTED = {
    "instances": "flows",
    "packets": "packets",
    "violations": "violations",
    "schedule_differences": "packets that differ from TCP's",
    "found": "cases",
}
EXACT = ("RC3-F3-a", "RC3-F3-b", "RC3-F1-a", "RC3-F1-b", "RC3-F2-a", "RC3-F4-d", "RC3-F18-b", "RC3-P-a")


@measure_each({claim: claim for claim in EXACT})
def packet_by_packet(runs, claim: str):
    return checked(runs, claim, REPORTED)


NETWORKS = {"500 KB": (0.7e8, 0.040), "5 MB": (0.7e9, 0.040), "50 MB": (0.7e9, 0.400)}


@measure("RC3-F4-a", needs=[])
def shape_of_the_gain(runs):
    rate, rtt = NETWORKS["5 MB"]
    sizes = [n for n, _ in model.curve(rate, rtt)]
    curve = [(n, model.idealised(n, rate=rate, rtt=rtt)) for n in sizes]
    top = max(range(len(curve)), key=lambda k: curve[k][1])
    falls = sum(b[1] < a[1] for a, b in pairwise(curve[: top + 1]))
    rises = sum(b[1] > a[1] for a, b in pairwise(curve[top:]))
    pipe = rate * rtt / model.PACKET
    return {
        "largest gain below the window": max(g for n, g in curve if n <= 4),
        "falls before the peak": falls,
        "rises after it": rises,
        "peak / (A·RTT)": curve[top][0] / pipe,
        "peak / (A·RTT), form of the bars": model.peak(rate, rtt)[0] / pipe,
    }


@measure("RC3-F4-b", needs=[])
def larger_initial_windows(runs):
    worst = -1.0
    for i in (10, 50):
        for n, _ in model.curve(*NETWORKS["5 MB"]):
            rc3, tcp = model.completion(n, i=i)
            worst = max(worst, rc3 - tcp)
    return {"largest FCT_RC3 - FCT_TCP(i') (s)": worst, "sizes": len(model.curve(*NETWORKS["5 MB"]))}


@measure("RC3-F4-c", needs=[])
def larger_pipes(runs):
    peaks = [model.peak(*network) for network in NETWORKS.values()]
    return {
        "smallest step of the peak (points)": min(b[1] - a[1] for a, b in pairwise(peaks)),
        "smallest ratio of its sizes": min(b[0] / a[0] for a, b in pairwise(peaks)),
    }


@measure("RC3-F7-e", needs=[])
def bars_of_the_model(runs):
    off = {size: abs(model.gain(size // model.PAYLOAD) - gain) for size, gain in model.PUBLISHED.items()}
    return {"largest difference (points)": max(off.values()), "sizes": len(off)}
