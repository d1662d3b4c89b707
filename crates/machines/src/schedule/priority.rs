//! Strict priority over traffic classes (the strict priority algorithm of IEEE 802.1Q, §8.6.8.1).
//!
//! Class 0 is served first, each class in order of arrival; control packets are of class 0, or of their own.
//! A full port gives up the newest packet of its least important class, which may be the one arriving:
//! classes share the port's limit.

use super::structures::levels::Levels;
use super::{Around, At, Entry, Needs, Order, Parameters, Pausable, Preemptible, Problems, Searchable};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

/// Strict priority over the traffic class; 0 is served first (IEEE 802.1Q §8.6.8.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Number of classes; packets of higher class numbers share the last.
    #[schemars(range(min = 1, max = 255))]
    pub classes: u8,
    /// The class of control packets (ACKs, handshakes).
    pub control: Control,
}

/// Class of control packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// Class 0, whatever their header says.
    #[default]
    First,
    /// The class in their header, as for data.
    ByClass,
}

impl Default for Params {
    fn default() -> Self {
        Self { classes: 8, control: Control::First } // IEEE 802.1Q
    }
}

/// So many classes, control packets in class 0.
impl From<u8> for Params {
    fn from(classes: u8) -> Self {
        Self { classes, control: Control::First }
    }
}

impl Parameters for Params {
    type Machine = Priority;

    fn needs(&self) -> Needs {
        let control_classes = self.control == Control::ByClass;
        Needs {
            classes: Some(u16::from(self.classes)),
            control_classes,
            overtakes: true,
            searchable: true,
            ..Needs::NOTHING
        }
    }
    fn check(&self, _: &Around, problems: &mut Problems) {
        if self.classes == 0 {
            problems.wrong("classes", "strict priority needs at least one class", "at least 1");
        }
    }
    fn make(&self, _: &At) -> Result<Priority, Invalid> {
        Ok(Priority { levels: Levels::new(self.classes), control: self.control, served: None })
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { classes: 3, ..Self::default() }, Self { classes: 3, control: Control::ByClass }]
    }
}

/// One FIFO per class.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Priority {
    levels: Levels,
    control: Control,
    /// The packet last served and its class.
    served: Option<(u8, Entry)>,
}

impl Order for Priority {
    #[inline]
    fn pushes_out(&self) -> bool {
        true
    }
    fn is_transparent(&self) -> bool {
        true
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        let first = self.control == Control::First && packet.is_control();
        let class = if first { 0 } else { packet.class.min(self.levels.last()) };
        self.levels.push(class, Entry::new(packet, handle));
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        let class = self.levels.best()?;
        let entry = self.levels.pop_best()?;
        self.served = Some((class, entry));
        Some(entry)
    }
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        self.levels.pop_worst()
    }
    fn searchable(&mut self) -> Option<&mut dyn Searchable> {
        Some(&mut self.levels)
    }
    fn pausable(&self) -> Option<&dyn Pausable> {
        Some(&self.levels)
    }
    fn pausable_mut(&mut self) -> Option<&mut dyn Pausable> {
        Some(&mut self.levels)
    }
    fn preemptible(&mut self) -> Option<&mut dyn Preemptible> {
        Some(self)
    }
}

impl Preemptible for Priority {
    /// A strictly more important class goes before the packet in service.
    fn preempt(&mut self, _now: Time) -> Option<Entry> {
        let (class, entry) = self.served?;
        if self.levels.best()? >= class {
            return None;
        }
        self.served = None;
        self.levels.put_back(class, entry);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Discipline, Limit, Machine, OutputQueue};
    use super::*;
    use crate::stage::StageSpec;
    use thalweg_units::{Rate, Stream};

    #[test]
    fn what_is_withdrawn_leaves_the_middle_of_every_class_and_the_accounts() {
        let at = At {
            rate: Rate::from_gbps(1),
            back: Rate::from_gbps(1),
            stream: Stream::default(),
            preemptive: false,
        };
        let order = Params::from(4).make(&at).unwrap();
        let mut q = order.queue(Limit::Unlimited, &StageSpec::default(), &at).unwrap();
        let mut out = vec![];
        for (n, class) in [(0, 0), (1, 2), (2, 2), (3, 2), (4, 3)] {
            q.enqueue(Time::ZERO, &Packet { class, wire: 100 + n, ..Packet::default() }, Handle(n), &mut out);
        }
        q.withdraw(&mut |handle| [2, 4].contains(&handle.0), &mut out);
        assert_eq!(out, [Handle(2), Handle(4)]);
        assert_eq!((q.packets(), q.bytes()), (3, 304));
        let look = |_| unreachable!("it knows its packets");
        let left: Vec<u32> =
            std::iter::from_fn(|| q.serve(Time::ZERO, &mut out, look)).map(|s| s.0.handle.0).collect();
        assert_eq!(left, [0, 1, 3]);
        q.withdraw(&mut |_| true, &mut out);
        assert_eq!((q.packets(), out.len()), (0, 2));
    }
}
