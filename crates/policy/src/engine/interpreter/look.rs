//! The fields that conditions and comparators read.

use super::{Interpreter, View, Waiting, amount, holds};
use crate::engine::Engine;
use crate::engine::contract::Fault;
use crate::engine::packet::Stored;
use crate::normal::Comparator;
use crate::normal::expression::{BufferField, Place, PortField, QueueField, Which};
use crate::syntax::tree::SizeUnit;

impl Interpreter {
    pub(super) fn read(&self, place: Place, view: View<'_>) -> i64 {
        let less = |unit| view.without.map_or(0, |p| amount(unit, 1, u64::from(p.size)));
        match place {
            Place::Packet(_, field) | Place::Head(_, field) => view.packet.field(field),
            Place::Queue(_, field) => {
                let less =
                    if field == QueueField::Length { SizeUnit::Packets } else { self.unit(view.queue) };
                let counts = matches!(field, QueueField::CurrSize | QueueField::Length);
                let without =
                    view.without.filter(|_| counts).map_or(0, |p| amount(less, 1, u64::from(p.size)));
                self.queue_field(view.queue, field) - without
            }
            Place::Buffer(field) => {
                let Some(b) = self.policy.queues()[view.queue].buffer else { return 0 };
                let buffer = &self.policy.buffers()[b];
                match field {
                    BufferField::Size => buffer.size,
                    BufferField::CurrSize => self.buffer_size(b) - less(buffer.unit),
                    BufferField::AdmState => self.adm_states[b],
                }
            }
            Place::Port(PortField::Rate) => self.policy.ports()[view.port].rate.kbps().unwrap_or(0),
            Place::Port(PortField::SchedState) => self.sched_states[view.port],
        }
    }

    pub(super) fn unit(&self, q: usize) -> SizeUnit {
        self.policy.queues()[q].unit
    }
    pub(super) fn length(&self, q: usize) -> u64 {
        self.queues[q].waiting.len() as u64 + u64::from(self.queues[q].held.0)
    }
    pub(super) fn all_bytes(&self, q: usize) -> u64 {
        self.bytes(q) + self.queues[q].held.1
    }
    pub(super) fn size(&self, q: usize) -> i64 {
        amount(self.unit(q), self.length(q), self.all_bytes(q))
    }
    pub(super) fn buffer_size(&self, b: usize) -> i64 {
        let buffer = &self.policy.buffers()[b];
        buffer.queues.iter().map(|q| amount(buffer.unit, self.length(*q), self.all_bytes(*q))).sum()
    }
    pub(super) fn queue_field(&self, q: usize, field: QueueField) -> i64 {
        match field {
            QueueField::Size => self.policy.queues()[q].size,
            QueueField::CurrSize => self.size(q),
            QueueField::Length => self.length(q) as i64,
            QueueField::AdmState | QueueField::WeightAdm => self.queues[q].states.adm,
            QueueField::SchedState | QueueField::WeightSched => self.queues[q].states.sched,
        }
    }
    pub(super) fn is_present(&self, q: usize, p: &Waiting) -> bool {
        self.queues[q].waiting.iter().any(|one| one.handle == p.handle)
    }

    pub(super) fn packet_before(order: &Comparator, a: &Stored, b: &Stored) -> Result<bool, Fault> {
        holds(&order.test, &|place| match place {
            Place::Packet(Which::First, field) => a.field(field),
            Place::Packet(Which::Second, field) => b.field(field),
            _ => 0,
        })
    }

    pub(super) fn queue_before(&self, order: &Comparator, a: usize, b: usize) -> Result<bool, Fault> {
        let (head_a, head_b) = (self.head(a)?, self.head(b)?);
        let of = |which| if which == Which::First { (a, head_a) } else { (b, head_b) };
        holds(&order.test, &|place| match place {
            Place::Queue(which, field) => self.queue_field(of(which).0, field),
            Place::Head(which, field) => {
                let (q, head) = of(which);
                head.map_or(0, |nth| self.queues[q].waiting[nth].packet.field(field))
            }
            _ => 0,
        })
    }

    /// getHOL(): the first packet of a queue in the order of procPrio.
    pub(super) fn head(&self, q: usize) -> Result<Option<usize>, Fault> {
        let (order, waiting) = (&self.policy.queues()[q].processing, &self.queues[q].waiting);
        let mut first = 0;
        for nth in 1..waiting.len() {
            if Self::packet_before(order, &waiting[nth].packet, &waiting[first].packet)? {
                first = nth;
            }
        }
        Ok((!waiting.is_empty()).then_some(first))
    }
}
