//! Receiver-driven transports with the switches that they are made for.

use super::Part;

/// Homa.
pub(super) const HOMA: &[Part] = &[Part {
    name: "homa",
    summary: "Homa's grants and priorities",
    source: "Montazeri et al., Homa, SIGCOMM 2018",
    toml: "[transport]\nkind = \"homa\"\n[nic]\norder = \"round-robin\"\n",
}];

/// Homa's switches with 32 priority levels, by how packets choose their paths.
pub(super) const PATHS: &[Part] = &[
    Part {
        name: "spray",
        summary: "32 strict priorities without limits, a path per packet",
        source: "Montazeri et al., Homa, SIGCOMM 2018 §5.2",
        toml: "[switch]\nscheduler = { kind = \"priority\", classes = 32 }\nbuffer = \"unlimited\"\n[routing]\nkind = \"spray-random\"\n",
    },
    Part {
        name: "priorities",
        summary: "32 strict priorities without limits, a path per message",
        source: "Goyal, MIT 2022, App. F.1",
        toml: "[switch]\nscheduler = { kind = \"priority\", classes = 32 }\nbuffer = \"unlimited\"\n",
    },
];

/// ExpressPass.
pub(super) const EXPRESSPASS: &[Part] = &[Part {
    name: "expresspass",
    summary: "ExpressPass' credits and their feedback",
    source: "Cho et al., ExpressPass, SIGCOMM 2017",
    toml: "[transport]\nkind = \"expresspass\"\n",
}];

/// Switches for ExpressPass.
pub(super) const CREDITS: &[Part] = &[Part {
    name: "credits",
    summary: "credits metered at every port, and on the data's way in reverse",
    source: "Cho et al., ExpressPass, SIGCOMM 2017 §3.1",
    toml: "[switch]\nscheduler = \"expresspass\"\nbuffer = \"unlimited\"\n[routing]\nkind = \"ecmp-symmetric\"\n",
}];

/// NDP.
pub(super) const NDP: &[Part] = &[Part {
    name: "ndp",
    summary: "NDP's pulls, NICs that pull",
    source: "Handley et al., NDP, SIGCOMM 2017",
    toml: "[transport]\nkind = \"ndp\"\n[nic]\norder = \"round-robin\"\n",
}];

/// Switches for NDP.
pub(super) const TRIMMING: &[Part] = &[Part {
    name: "trim",
    summary: "eight packets and headers that go first, every packet on the path that its source chooses",
    source: "Handley et al., NDP, SIGCOMM 2017 §3.1 and §3.3",
    toml: "[switch]\nscheduler = \"ndp\"\nbuffer = \"8pkts\"\n[routing]\nkind = \"numbered\"\n",
}];
