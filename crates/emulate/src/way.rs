//! The ports that packets pass in one direction.

use thalweg_record::Port;
use thalweg_units::{Rate, Span};

/// One port or a chain of ports, in the order in which packets pass them: each port's link ends at the next port.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    name: String,
    ports: Vec<Port>,
}

impl From<Port> for Way {
    /// A single port, whose name is that of the way.
    fn from(port: Port) -> Self {
        Self { name: port.name.clone(), ports: vec![port] }
    }
}

impl Way {
    /// A first port and those after it; `name` has all nodes, as in "switch0 -> switch1 -> switch2".
    pub fn new(name: String, first: Port, after: impl IntoIterator<Item = Port>) -> Self {
        Self { name, ports: std::iter::once(first).chain(after).collect() }
    }

    /// "switch0 -> switch1 -> switch2".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The ports, at least one.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// True if there are several ports.
    pub fn is_chain(&self) -> bool {
        self.ports.len() > 1
    }

    /// The lowest long-term mean rate of its ports.
    pub fn rate(&self) -> Rate {
        self.ports.iter().map(Port::rate).min().unwrap_or(Rate::ZERO)
    }

    /// Propagation delay of the whole way, without jitter.
    pub fn delay(&self) -> Span {
        self.ports.iter().map(Port::delay).sum()
    }

    /// Transmission time of 1500 bytes at the slowest port.
    pub fn packet_time(&self) -> Span {
        self.ports.iter().map(Port::packet_time).max().unwrap_or(Span::ZERO)
    }

    /// Name of a file of one of its ports, counted from 0: `up` if there is only one, else `up-1-switch0-switch1`.
    pub(crate) fn file(&self, direction: &str, hop: usize) -> String {
        if !self.is_chain() {
            return direction.to_owned();
        }
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let nodes = self.ports[hop].name.replace(" -> ", "-");
        format!("{direction}-{}-{}", hop + 1, nodes.chars().map(plain).collect::<String>())
    }
}
