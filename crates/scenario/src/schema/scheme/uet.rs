//! Ultra Ethernet's congestion control, with the switches that it is made for.

use super::Part;

/// Ultra Ethernet with a window, credits, or both.
pub(super) const RATES: &[Part] = &[
    Part {
        name: "nscc",
        summary: "Ultra Ethernet's window at the sender, REPS, an ACK per packet",
        source: "Ultra Ethernet specification 1.0 §3.6.13; Bonato et al., REPS, 2024",
        toml: "[transport]\nkind = \"uet\"\nack_every = \"1B\"\n[nic]\norder = \"round-robin\"\n",
    },
    Part {
        name: "rccc",
        summary: "Ultra Ethernet's credits of the receiver, REPS, an ACK per packet",
        source: "Ultra Ethernet specification 1.0 §3.6.14; Bonato et al., REPS, 2024",
        toml: "[transport]\nkind = \"uet\"\nwindow = \"none\"\ncredits = {}\nack_every = \"1B\"\n[nic]\norder = \"round-robin\"\n",
    },
    Part {
        name: "uet",
        summary: "Ultra Ethernet's window and credits together, REPS, an ACK per packet",
        source: "Ultra Ethernet specification 1.0 §3.6; Bonato et al., REPS, 2024",
        toml: "[transport]\nkind = \"uet\"\ncredits = {}\nack_every = \"1B\"\n[nic]\norder = \"round-robin\"\n",
    },
];

/// Switches that trim. Buffers and marking thresholds follow from the links; the values here are for 400 Gb/s and 8.3
/// us.
pub(super) const SWITCHES: &[Part] = &[Part {
    name: "spray",
    summary: "trimming beyond a bandwidth-delay product, marks from a fifth of it to four fifths, a path per packet",
    source: "Ultra Ethernet consortium's simulator, uet-htsim",
    toml: r#"
[switch]
scheduler = "ndp"
buffer = "416KB"
marking = { kind = "red-ecn", min = "83.2KB", max = "332.8KB", max_probability = 1.0, at = "departure" }
[routing]
kind = "entropy"
"#,
}];
