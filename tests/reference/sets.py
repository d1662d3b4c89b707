"""The comparisons: which scenario replays which list of which peer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from peer_hpcc import RATES, hpcc_long, hpcc_pfc, hpcc_rdma, hpcc_star, rdma_fat_tree, rdma_lone
from peer_htsim import HTSIM, htsim, htsim_model
from peer_mahimahi import EMULATED, LTE, mahimahi
from peer_ns3 import AS_THERE, ns3_cubic, ns3_kind, ns3_long, ns3_model_short, ns3_newreno, ns3_short
from peer_pfabric import pfabric, pfabric_lone
from replay import Outcome


def all_sets() -> dict[str, Callable[[], Outcome]]:
    sets: dict[str, Callable[[], Outcome]] = {"pfabric/lone": pfabric_lone}
    for flows in ("aditya_60", "aditya_80", "dctcp_60", "dctcp_80"):
        for mode in ("pfabric_hash", "pfabric_spray"):
            sets[f"pfabric/{flows}/{mode}"] = partial(pfabric, flows, mode)
    for flows in ("aditya_60", "aditya_80", "dctcp_60", "dctcp_80"):
        sets[f"pfabric/{flows}/phost_hash"] = partial(pfabric, flows, "phost_hash")
    for flows in ("aditya_60", "aditya_80"):
        sets[f"pfabric/{flows}/phost_spray"] = partial(pfabric, flows, "phost_spray")
    sets["pfabric/aditya_60/mintcp_hash"] = partial(pfabric, "aditya_60", "mintcp_hash")
    for flows in ("lone", "websearch", "hadoop"):
        sets[f"hpcc-star/{flows}"] = partial(hpcc_star, flows)
    sets["hpcc-incast/pfc"] = hpcc_pfc
    sets["hpcc-incast/two"] = partial(hpcc_long, "two", 10)
    sets["hpcc-incast/eight"] = partial(hpcc_long, "eight", 20)
    for scheme in RATES:
        sets[f"hpcc-rdma/lone/{scheme}"] = partial(rdma_lone, scheme)
        for flows in ("websearch", "hadoop"):
            sets[f"hpcc-rdma/{flows}/{scheme}"] = partial(hpcc_rdma, "hpcc-star", flows, scheme, f"_{flows}")
        sets[f"hpcc-rdma/fat-tree/{scheme}"] = partial(rdma_fat_tree, scheme)
        small = {"switch.inputs.shared": "2MiB"}
        sets[f"hpcc-rdma/pfc/{scheme}"] = partial(hpcc_rdma, "hpcc-incast", "pfc", scheme, "_pfc", **small)
        sets[f"hpcc-rdma/two/{scheme}"] = partial(hpcc_long, "two", 10, scheme)
        sets[f"hpcc-rdma/eight/{scheme}"] = partial(hpcc_long, "eight", 20, scheme)
    for name in HTSIM:
        sets[f"htsim/{name}/swift"] = partial(htsim, name, "swift")
        for scheme in ("tcp", "dctcp"):
            sets[f"htsim/{name}/{scheme}"] = partial(htsim, name, scheme)
            sets[f"htsim-model/{name}/{scheme}"] = partial(htsim_model, name, scheme)
    for mbps in (10, 100):
        for rtt in (20, 80):
            for queue in ("deep", "bdp"):
                sets[f"ns3/short/{mbps}mbps_{rtt}ms/{queue}"] = partial(ns3_short, mbps, rtt, queue)
            for scheme in ("newreno", "dctcp"):
                for flows in (1, 2):
                    sets[f"ns3/long/{mbps}mbps_{rtt}ms/{scheme}_{flows}"] = partial(ns3_long, mbps, rtt, scheme, flows)
            for scheme in AS_THERE:
                for flows in (1, 2):
                    sets[f"ns3/long/{mbps}mbps_{rtt}ms/{scheme}_{flows}"] = partial(ns3_kind, mbps, rtt, scheme, flows)
            sets[f"ns3-model/short/{mbps}mbps_{rtt}ms/bdp"] = partial(ns3_model_short, mbps, rtt)
            for flows in (1, 2):
                sets[f"ns3-model/long/{mbps}mbps_{rtt}ms/newreno_{flows}"] = partial(ns3_newreno, mbps, rtt, flows)
            for name, model in (("ns3", False), ("ns3-model", True)):
                for flows in (1, 2):
                    sets[f"{name}/long/{mbps}mbps_{rtt}ms/cubic_{flows}"] = partial(
                        ns3_cubic, mbps, rtt, flows, model=model
                    )
                for aqm in ("codel", "fqcodel", "pie"):
                    sets[f"{name}/aqm/{mbps}mbps_{rtt}ms/{aqm}_2"] = partial(ns3_cubic, mbps, rtt, 2, aqm, model)
    for trace in LTE:
        for scheme in EMULATED:
            sets[f"mahimahi/{trace}/{scheme}"] = partial(mahimahi, trace, scheme)
    return sets
