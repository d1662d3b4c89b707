//! From a `[topology]` section to its graph. Computes link delays from `base_rtt`, and refuses networks that no run
//! could simulate in finite time.

use super::graph::SLOWEST;
use super::{Delays, Family, Graph, Overlays, PacketSizes, Topology};
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::{LONGEST, Q};
use thalweg_machines::link::LinkSpec as Direction;
use thalweg_units::{Serializer, Span};

/// Builds the graph. Refuses links whose serialisation time rounds down to zero, and round trips longer than
/// [`LONGEST`].
pub(crate) fn build(
    cx: &Cx<'_>,
    topology: &mut Topology,
    sizes: PacketSizes,
    links: &Overlays,
) -> Result<Graph, Diagnostic> {
    let graph = shape(cx, topology, sizes, links)?;
    let directions = graph.links.iter().flat_map(|link| [&link.ab, &link.ba]);
    let takes_no_time =
        |link: &&Direction| Serializer::new(link.mean_rate(), link.quantum()).span(sizes.full).is_zero();
    if let Some(link) = directions.filter(|link| !link.quantum().is_zero()).find(takes_no_time) {
        let (full, rate) = (sizes.full, link.mean_rate());
        let exact = Serializer::new(rate, Span::ZERO).span(full);
        let reason = format!(
            "rounded down to multiples of {}, the serialisation time of a packet of {full} B at {rate} is zero",
            link.quantum()
        );
        let hint = format!("write at most the exact serialisation time, {exact}");
        return Err(cx.error("topology.time_quantum", reason, hint));
    }
    let rtt = graph.base_rtt(sizes);
    if rtt > LONGEST {
        let reason = format!("the round trip through the empty network is {} s", rtt.secs());
        let hint = format!("at most {LONGEST} is allowed: raise link rates or lower delays");
        return Err(cx.error("topology", reason, hint));
    }
    Ok(graph)
}

/// Builds the graph of a shape. In the document, `base_rtt` is replaced by the `delay` that is computed from it.
fn shape(
    cx: &Cx<'_>,
    topology: &mut Topology,
    sizes: PacketSizes,
    links: &Overlays,
) -> Result<Graph, Diagnostic> {
    let quantum = topology.time_quantum.0;
    let mut graph = topology.shape.build(cx)?.with_nics();
    for l in &mut graph.links {
        l.set_quantum(quantum);
        if l.rate() < SLOWEST {
            let reason = format!("a link has a rate of {}", l.rate());
            return Err(cx.error("topology", reason, format!("the lowest rate of a link is {SLOWEST}")));
        }
    }
    links.lay(cx, &mut graph, quantum)?;
    let Some(Delays { delay, base_rtt, host_delay, own: given }) = topology.shape.delays() else {
        return Ok(graph);
    };
    let own = host_delay.as_deref().copied().flatten();
    // With `host_delay` the delays of hosts' links are known, and only those of links between switches are computed.
    let mut longest = graph.longest();
    if let Some(own) = own {
        let hosts = graph.nics();
        for l in graph.links.iter_mut().filter(|l| l.a.0 < hosts || l.b.0 < hosts) {
            l.set_delay(own.0);
        }
        longest = longest.saturating_sub(2).max(1);
    }
    let solved = match (*delay, *base_rtt) {
        (Some(_), Some(_)) => {
            let reason = "`delay` and `base_rtt` are both given, and `delay` is computed from `base_rtt`";
            return Err(cx.error("topology.base_rtt", reason, "remove one of the two"));
        }
        (None, Some(rtt)) => {
            let serialisation = graph.base_rtt(sizes);
            let left = rtt.0.saturating_sub(serialisation);
            if rtt.0 <= serialisation {
                let alone = match own {
                    Some(_) => "serialisation and `host_delay` alone take",
                    None => "serialisation alone takes",
                };
                let reason = format!("a round trip of {} is impossible: {alone} {serialisation}", rtt.0);
                let hint = format!("write more than \"{serialisation}\"");
                return Err(cx.error("topology.base_rtt", reason, hint));
            }
            // Rounded down to a whole picosecond per link, so the round trip is short by less than 2 ps per link.
            left / (2 * longest)
        }
        (given, None) => given.map_or(Span::from_us(1), |q| q.0),
    };
    (*delay, *base_rtt) = (Some(Q(solved)), None);
    let hosts = graph.nics();
    let solvable = graph.links.len() - given;
    for l in &mut graph.links[..solvable] {
        let own = own.filter(|_| l.a.0 < hosts || l.b.0 < hosts);
        l.set_delay(own.map_or(solved, |own| own.0));
    }
    if let Some(host_delay) = host_delay {
        host_delay.get_or_insert(Q(solved));
    }
    Ok(graph)
}
