//! W9-traced: flows over cellular links, each a trace of its own. What a link that is not plain costs: two events per
//! packet-hop, and a search in the trace.

use std::path::Path;
use std::sync::Arc;
use thalweg_machines::link::{OPPORTUNITY, Trace, TracedSpec, TransmitterSpec};
use thalweg_scenario::load;
use thalweg_sim::Sim;
use thalweg_units::Stream;

/// Before its links are traced.
const STAR: &str = r#"
name = "W9: 64 flows over traced links"

[topology]
kind = "star"
hosts = 64
rate = "1Gbps"
delay = "10ms"

[switch]
buffer = "250pkts"

[nic]
buffer = "unlimited"

[transport]
kind = "tcp"
congestion = { kind = "cubic" }

[[traffic]]
kind = "permutation"
size = "100MB"

[run]
until = "20s"
"#;

/// Opportunities of 2 s, repeated, around 25 per millisecond (300 Mb/s), in a random walk between 2 and 50.
fn trace(number: u64) -> Trace {
    let mut draw = Stream::new(1, "W9 trace", number);
    let mut ms = Vec::new();
    let mut each = 25;
    for at in 1..=2_000 {
        each = (each + draw.below(5)).saturating_sub(2).clamp(2, 50);
        ms.extend(std::iter::repeat_n(at, each as usize));
    }
    Trace::from_ms(ms).expect("it rises, and ends after 0")
}

/// The network: a star whose links to the hosts are traced.
///
/// # Errors
/// If its scenario is wrong: a defect of this crate.
pub fn network() -> Result<Sim, String> {
    let scenario = load(STAR, "W9-traced.toml", Path::new("."), &[])
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let mut spec = scenario.network().map_err(|e| e.to_string())?;
    let hosts = spec.hosts;
    for (number, link) in spec.links.iter_mut().enumerate() {
        let down = if link.b.0 < hosts { &mut link.ab } else { &mut link.ba };
        let trace = Arc::new(trace(number as u64));
        down.transmitter = TransmitterSpec::Traced(TracedSpec { trace, bytes: OPPORTUNITY });
    }
    Sim::new(spec).map_err(|e| e.to_string())
}
