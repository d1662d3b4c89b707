//! Queue pairs and iWARP over input-queued switches (Mittal, UCB/EECS-2018-103, §4.3.1).

use super::Part;

const ROCE: &str = "[transport]\nkind = \"rdma\"\nrecovery = \"go-back-n\"\n[nic]\norder = \"round-robin\"\n";
const IRN: &str = "[transport]\nkind = \"rdma\"\nrecovery = \"irn\"\n[nic]\norder = \"round-robin\"\n";

/// A queue pair with this recovery and a controller.
macro_rules! with {
    ($name:literal, $recovery:literal, $summary:literal, $source:literal, $congestion:literal, $switch:literal) => {
        Part {
            name: $name,
            summary: $summary,
            source: $source,
            toml: concat!(
                "[transport]\nkind = \"rdma\"\nrecovery = \"",
                $recovery,
                "\"\ncongestion = ",
                $congestion,
                "\n[nic]\norder = \"round-robin\"\n",
                $switch
            ),
        }
    };
}

/// Queue pairs, and iWARP.
pub(super) const RATES: &[Part] = &[
    Part {
        name: "roce",
        summary: "RoCE's go-back-N without congestion control",
        source: "UCB/EECS-2018-103 §4.1.1, §4.3.1",
        toml: ROCE,
    },
    // M6: nothing limits decreases except the gradient.
    with!(
        "roce-timely",
        "go-back-n",
        "RoCE's go-back-N with TIMELY's rates",
        "Mittal et al., TIMELY, SIGCOMM 2015; UCB/EECS-2018-103 §4.3.1",
        "{ kind = \"timely\", max_decrease = 1.0, gradient_cap = 1.0 }",
        ""
    ),
    with!(
        "roce-dcqcn",
        "go-back-n",
        "RoCE's go-back-N with DCQCN's rates",
        "Zhu et al., DCQCN, SIGCOMM 2015; UCB/EECS-2018-103 §4.3.1",
        "\"dcqcn\"",
        "[switch]\nmarking = { kind = \"red-ecn\", min = \"5KB\", max = \"200KB\" }\n"
    ),
    Part {
        name: "irn",
        summary: "IRN's selective retransmission and cap without congestion control",
        source: "Mittal et al., SIGCOMM 2018; UCB/EECS-2018-103 §4.2",
        toml: IRN,
    },
    with!(
        "irn-timely",
        "irn",
        "IRN with TIMELY's rates",
        "UCB/EECS-2018-103 §4.3.1",
        "{ kind = \"timely\", max_decrease = 1.0, gradient_cap = 1.0 }",
        ""
    ),
    with!(
        "irn-dcqcn",
        "irn",
        "IRN with DCQCN's rates",
        "UCB/EECS-2018-103 §4.3.1",
        "\"dcqcn\"",
        "[switch]\nmarking = { kind = \"red-ecn\", min = \"5KB\", max = \"200KB\" }\n"
    ),
    with!(
        "irn-aimd",
        "irn",
        "IRN with TCP's additive increase and multiplicative decrease",
        "UCB/EECS-2018-103 §4.3.4",
        "\"aimd\"",
        ""
    ),
    with!(
        "irn-dctcp",
        "irn",
        "IRN with DCTCP's window",
        "UCB/EECS-2018-103 §4.3.4",
        "\"dctcp\"",
        "[switch]\nmarking = { kind = \"step\", threshold = \"65KB\" }\n"
    ),
    Part {
        name: "hpcc",
        summary: "RoCE's go-back-N with HPCC's windows by in-band telemetry",
        source: "Li et al., HPCC, SIGCOMM 2019",
        toml: "[transport]\nkind = \"rdma\"\nrecovery = \"go-back-n\"\ncongestion = \"hpcc\"\n[nic]\norder = \"round-robin\"\n",
    },
    Part {
        name: "iwarp",
        summary: "TCP with SACK in the NIC, slow start for every flow, no handshake",
        source: "UCB/EECS-2018-103 §4.3.6",
        toml: r#"
[transport]
kind = "tcp"
congestion = "newreno"
mss = "1024B"
header = "66B"
ack_size = "66B"
initial_window = "4pkts"
max_window = "1MB"
rto = { kind = "rfc6298", initial = "320us", min = "320us", max = "1s" }
[nic]
order = "round-robin"
"#,
    },
];

/// Switches whose memory is accounted to inputs.
pub(super) const SWITCHES: &[Part] = &[
    Part {
        name: "voq",
        summary: "virtual output queues in turn, 240 KB at every input",
        source: "UCB/EECS-2018-103 §4.3.1",
        toml: "[switch]\nscheduler = \"input-round-robin\"\ninputs = { memory = \"240KB\" }\n",
    },
    Part {
        name: "voq-pfc",
        summary: "the same with priority flow control",
        source: "UCB/EECS-2018-103 §4.3.1",
        toml: "[switch]\nscheduler = \"input-round-robin\"\ninputs = { memory = \"240KB\" }\npfc = {}\n",
    },
    Part {
        name: "pfc",
        summary: "output queues, 32 MB shared by all inputs, priority flow control at an eighth of what is free",
        source: "Li et al., HPCC, SIGCOMM 2019, §5.1; the authors' simulator",
        toml: "[switch]\ninputs = { shared = \"32MB\", release = \"start\" }\npfc = { threshold = \"dynamic\" }\n",
    },
    Part {
        name: "bfc",
        summary: "32 queues at every port, 12 MB shared by all, single queues pause the hop before",
        source: "Goyal, MIT 2022, ch. 3; Goyal et al., Backpressure Flow Control, NSDI 2022",
        toml: "[switch]\nscheduler = \"bfc\"\ninputs = { shared = \"12MB\", release = \"start\" }\nbackpressure = {}\ncontrol_first = true\n",
    },
];
