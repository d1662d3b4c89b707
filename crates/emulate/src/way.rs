//! The ports that packets pass in one direction.

use thalweg_record::Port;
use thalweg_units::{Rate, Span};

/// One port or a row of them, in the order in which packets pass: each port's link ends where the next port is.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    name: String,
    ports: Vec<Port>,
}

impl From<Port> for Way {
    /// A single port, by whose name the way goes.
    fn from(port: Port) -> Self {
        Self { name: port.name.clone(), ports: vec![port] }
    }
}

impl Way {
    /// A first port and those after it; `name` is all nodes, as in "switch0 -> switch1 -> switch2".
    pub fn new(name: String, first: Port, after: impl IntoIterator<Item = Port>) -> Self {
        Self { name, ports: std::iter::once(first).chain(after).collect() }
    }

    /// "switch0 -> switch1 -> switch2".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// At least one.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// It has more than one port.
    pub fn is_chain(&self) -> bool {
        self.ports.len() > 1
    }

    /// The least of its ports' rates in the long run.
    pub fn rate(&self) -> Rate {
        self.ports.iter().map(Port::rate).min().unwrap_or(Rate::ZERO)
    }

    /// Propagation along all of it, without jitter.
    pub fn delay(&self) -> Span {
        self.ports.iter().map(Port::delay).sum()
    }

    /// What 1500 bytes take where they take longest.
    pub fn packet_time(&self) -> Span {
        self.ports.iter().map(Port::packet_time).max().unwrap_or(Span::ZERO)
    }

    /// What a file of one of its ports, counted from 0, is called: `up` where it is the only one, else
    /// `up-1-switch0-switch1`.
    pub(crate) fn file(&self, direction: &str, hop: usize) -> String {
        if !self.is_chain() {
            return direction.to_owned();
        }
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let nodes = self.ports[hop].name.replace(" -> ", "-");
        format!("{direction}-{}-{}", hop + 1, nodes.chars().map(plain).collect::<String>())
    }
}
