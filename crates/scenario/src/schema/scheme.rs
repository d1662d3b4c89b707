//! Named schemes: combinations of transport, controller and switch, each given as TOML that the keys of a scenario
//! override.
//!
//! There are three families. The factor analysis ("Datacenter Congestion Control", CCR §2.2) combines any rate setting
//! with any scheduler: full packets of 1500 B, 500 KB per port, initial window 14, for a round trip of 16 us and 10
//! Gb/s. RDMA (Mittal, UCB/EECS-2018-103, §4.3) combines any queue pair, or iWARP, with input-queued switches with and
//! without priority flow control. Receiver-driven transports come with the switches that each is made for.

mod rdma;
mod receivers;
mod uet;

use crate::diagnostic::suggest_of;

/// A part of a scheme, with its settings.
pub(crate) struct Part {
    pub name: &'static str,
    pub summary: &'static str,
    pub source: &'static str,
    pub toml: &'static str,
}

/// Rate settings at the hosts (CCR §2.2).
const RATES: &[Part] = &[
    Part {
        name: "mintcp",
        summary: "pFabric's minimal rate control: line rate at once, timeouts only",
        source: "Alizadeh et al., pFabric, SIGCOMM 2013 §4.2",
        toml: r#"
[transport]
congestion = "mintcp"
initial_window = "14pkts"
rto = { kind = "fixed", value = "48us" }
loss = "timeout-only"
sack = { kind = "blocks", blocks = 16 }
probe_after = 5
"#,
    },
    Part {
        name: "tcp",
        summary: "TCP with SACK and NewReno's window",
        source: "RFC 5681, RFC 6675, RFC 6298 with a floor of 48 us",
        toml: r#"
[transport]
congestion = "newreno"
initial_window = "14pkts"
rto = { kind = "rfc6298", initial = "48us", min = "48us", max = "1s" }
"#,
    },
    Part {
        name: "dctcp",
        summary: "TCP with DCTCP's window, marking at 15 packets",
        source: "Alizadeh et al., DCTCP, SIGCOMM 2010; RFC 8257",
        toml: r#"
[transport]
congestion = "dctcp"
initial_window = "14pkts"
rto = { kind = "rfc6298", initial = "48us", min = "48us", max = "1s" }
[switch]
marking = { kind = "step", threshold = "15pkts" }
"#,
    },
    // CHOICE ADS §2.2 (footnote 2): the paper does not describe its RCP and PCC. RCP is that of RC3's authors, one of
    // whom is an author here, too (UCB/EECS-2018-103, §2.4.1). Its round trip is 16 us instead of their 200 ms. Its
    // least rate is a hundredth of the link's, because a flow learns of a new rate only when it sends. Its initial
    // window is TCP's. PCC is Vivace, which starts at line rate; its step has the same ratio to the line rate as in the
    // authors' module.
    Part {
        name: "rcp",
        summary: "RCP: the rate that switches name, computed at least every 16 us",
        source: "Dukkipati & McKeown, CCR 2006; UCB/EECS-2018-103 §2.4.1; CCR footnote 2",
        toml: r#"
[transport]
congestion = { kind = "rcp", probe = 14, in_flight = "round-trip", at_once = true }
rto = { kind = "rfc6298", initial = "48us", min = "48us", max = "1s" }
[switch]
marking = { kind = "rcp", alpha = 0.4, beta = 0.4, utilisation = 1.0, period = "16us", rtt = "16us", average = "moving", least = "100Mbps" }
"#,
    },
    Part {
        name: "vivace",
        summary: "PCC Vivace from 10 Gb/s on, in steps of 500 Mb/s",
        source: "Dong et al., PCC Vivace, NSDI 2018; CCR footnote 2",
        toml: r#"
[transport]
congestion = { kind = "vivace", initial_rate = "10Gbps", step = "500Mbps" }
rto = { kind = "rfc6298", initial = "48us", min = "48us", max = "1s" }
"#,
    },
];

/// Schedulers at switches and hosts (CCR §2.2 and §3).
const SCHEDULERS: &[Part] = &[
    Part {
        name: "fifo",
        summary: "first come, first served",
        source: "-",
        toml: "switch.scheduler = \"fifo\"",
    },
    Part {
        name: "fq",
        summary: "fair queueing by finish numbers",
        source: "Demers, Keshav, Shenker, SIGCOMM 1989",
        toml: "switch.scheduler = \"fq\"",
    },
    Part {
        name: "drr",
        summary: "deficit round robin",
        source: "Shreedhar & Varghese, SIGCOMM 1995",
        toml: "switch.scheduler = \"drr\"",
    },
    Part {
        name: "sjf",
        summary: "smallest flow first",
        source: "CCR §2.2",
        toml: "switch.scheduler = \"sjf\"",
    },
    Part {
        name: "srpt",
        summary: "fewest remaining bytes first",
        source: "Alizadeh et al., pFabric, SIGCOMM 2013 §4.1",
        toml: "switch.scheduler = \"srpt\"",
    },
    Part {
        name: "ads-2",
        summary: "2 priority FIFOs behind a dynamic table",
        source: "CCR §3",
        toml: "switch.scheduler = { kind = \"ads\", queues = 2 }",
    },
    Part {
        name: "ads-4",
        summary: "4 priority FIFOs behind a dynamic table",
        source: "CCR §3",
        toml: "switch.scheduler = { kind = \"ads\", queues = 4 }",
    },
    Part {
        name: "ads-8",
        summary: "8 priority FIFOs behind a dynamic table",
        source: "CCR §3",
        toml: "switch.scheduler = { kind = \"ads\", queues = 8 }",
    },
];

/// Rate settings that go with switch settings.
pub(crate) struct Family {
    pub rates: &'static [Part],
    pub switches: &'static [Part],
}

pub(crate) const FAMILIES: &[Family] = &[
    Family { rates: RATES, switches: SCHEDULERS },
    Family { rates: rdma::RATES, switches: rdma::SWITCHES },
    Family { rates: receivers::HOMA, switches: receivers::PATHS },
    Family { rates: receivers::EXPRESSPASS, switches: receivers::CREDITS },
    Family { rates: receivers::NDP, switches: receivers::TRIMMING },
    Family { rates: uet::RATES, switches: uet::SWITCHES },
];

/// All schemes: their names and their parts.
pub(crate) fn all() -> impl Iterator<Item = (String, &'static Part, &'static Part)> {
    FAMILIES.iter().flat_map(|family| {
        let pair = move |r: &'static Part| {
            family.switches.iter().map(move |s| (format!("{}+{}", r.name, s.name), r, s))
        };
        family.rates.iter().flat_map(pair)
    })
}

/// The hint for an unknown scheme: the most similar name, and the parts that schemes consist of.
pub(crate) fn hint(written: &str) -> String {
    let one_of = |parts: &[Part]| match parts {
        [one] => one.name.to_owned(),
        many => format!("({})", many.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")),
    };
    let families: Vec<_> =
        FAMILIES.iter().map(|f| format!("{} + {}", one_of(f.rates), one_of(f.switches))).collect();
    // If the first part is known, suggest only schemes with that part.
    let begins = written.split_once('+').map(|(rate, _)| format!("{rate}+"));
    let names: Vec<_> = all().map(|(name, _, _)| name).collect();
    let own: Vec<_> =
        names.iter().filter(|name| begins.as_ref().is_some_and(|b| name.starts_with(b))).collect();
    match own[..] {
        [] => suggest_of(written, &names, &families.join("; ")),
        [one] => format!("did you mean `{one}`? (known: {})", families.join("; ")),
        _ => suggest_of(written, &own.into_iter().cloned().collect::<Vec<_>>(), &families.join("; ")),
    }
}

/// The TOML texts of a scheme's parts. A scheme that is a rate setting alone sets nothing of the switches.
pub(crate) fn parts(name: &str) -> Option<Vec<&'static str>> {
    let (rate, switch) = match name.split_once('+') {
        Some((rate, switch)) => (rate, Some(switch)),
        None => (name, None),
    };
    let family = FAMILIES.iter().find(|f| f.rates.iter().any(|p| p.name == rate))?;
    let mut out = vec![family.rates.iter().find(|p| p.name == rate)?.toml];
    if let Some(switch) = switch {
        out.push(family.switches.iter().find(|p| p.name == switch)?.toml);
    }
    Some(out)
}
