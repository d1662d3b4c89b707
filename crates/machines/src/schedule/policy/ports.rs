//! The mapping between the ports of a policy and those of a switch.
//!
//! A policy of one port runs at each port by itself. One of several is for a whole switch: the ports that packets
//! leave by are the switch's outputs, in the order in which both are numbered. Where ports go on to queues
//! (`connect`), those that nothing goes on to are the switch's inputs.
//!
//! ```text
//! CHOICE OpenQueue §2.3.3 (levels): what goes on within a switch takes no time: as soon as the next queue admits a
//! packet, it is there. A link is what takes time, and there is one at the end. Other reading: a rate, or a speed-up,
//! for each inner port.
//! CHOICE OpenQueue §2.3.3 (order): of the inner ports that can go on the one does first whose last packet is longest
//! ago, at first in the order of their declaration. Other reading: at random.
//! CHOICE OpenQueue §2.3.3 (`dst`): in a policy with levels it is the number of the output, from 1; elsewhere the host.
//! ```

use thalweg_policy::Policy;

/// The ports of a policy, by what they are to the switch that runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ports {
    /// By output: the port that packets leave by.
    pub outputs: Vec<usize>,
    /// By input: the port whose queues packets enter by; empty: they enter those of their output.
    pub inputs: Vec<usize>,
    /// Those that go on to queues.
    pub inner: Vec<usize>,
}

impl Ports {
    /// Of a policy.
    pub fn of(policy: &Policy) -> Self {
        let ports = policy.ports();
        let goes_on = |port: &usize| ports[*port].wire.is_some();
        let reached: Vec<usize> =
            ports.iter().filter_map(|port| port.wire.as_ref()).flat_map(|wire| wire.to.clone()).collect();
        let is_entry = |port: &usize| !ports[*port].queues.iter().any(|queue| reached.contains(queue));
        let inner: Vec<usize> = (0..ports.len()).filter(goes_on).collect();
        Self {
            outputs: (0..ports.len()).filter(|port| !goes_on(port)).collect(),
            inputs: inner.iter().copied().filter(is_entry).collect(),
            inner,
        }
    }

    /// It is for all ports of a switch.
    pub fn is_for_a_switch(&self) -> bool {
        self.outputs.len() > 1 || !self.inner.is_empty()
    }

    /// The queues that a packet may enter which has come by an input, and leaves by an output.
    pub fn entry<'a>(&self, policy: &'a Policy, input: usize, output: usize) -> &'a [usize] {
        let port = self.inputs.get(input).or_else(|| self.outputs.get(output));
        let queues = port.map_or(&[][..], |port| &policy.ports()[*port].queues);
        // Virtual output queues: one for each output.
        if self.inner.is_empty() || queues.len() != self.outputs.len() {
            return queues;
        }
        queues.get(output..=output).unwrap_or_default()
    }
}
