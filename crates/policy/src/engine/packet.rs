//! The fields of a packet that engines know.

use crate::normal::expression::PacketField;
use serde::{Deserialize, Serialize};

/// An arriving packet with the fields that a classifier has set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offered {
    /// Number of the queue that it joins, in the order of declarations. If the port chooses the queue, any of its
    /// queues.
    pub queue: u32,
    /// Its value, set by an application.
    pub value: i64,
    /// Number of processing cycles that it needs.
    pub processing: u32,
    /// Longest time from arrival to transmission, ps.
    pub slack: u64,
    /// Number of its flow.
    pub flow: u32,
    /// Its bytes, at least 1.
    pub size: u32,
    /// Its type of service.
    pub tos: u8,
    /// Its destination.
    pub dst: u32,
}

impl Default for Offered {
    fn default() -> Self {
        Self { queue: 0, value: 0, processing: 1, slack: 0, flow: 0, size: 1, tos: 0, dst: 0 }
    }
}

/// A packet's fields while it waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stored {
    /// See [`Offered::value`].
    pub value: i64,
    /// See [`Offered::slack`]; more than 63 bits count as infinite slack.
    pub slack: i64,
    /// Time of arrival, ps.
    pub arrival: i64,
    /// Number of its queue.
    pub queue: u32,
    /// Number of processing cycles that it still needs.
    pub processing: u32,
    /// See [`Offered::flow`].
    pub flow: u32,
    /// See [`Offered::size`].
    pub size: u32,
    /// See [`Offered::dst`].
    pub dst: u32,
    /// Version of the policy under which it was admitted.
    pub policy_id: u32,
    /// See [`Offered::tos`].
    pub tos: u8,
}

/// The fields that an engine keeps of a waiting packet: those that the policy reads later.
pub trait Kept: Copy + std::fmt::Debug {
    /// Keeps the fields of a packet that joins.
    fn of(packet: &Stored) -> Self;
    /// The packet; fields that are not kept are as in [`Stored::NOTHING`].
    fn packet(&self) -> Stored;
}

impl Kept for Stored {
    #[inline]
    fn of(packet: &Stored) -> Self {
        *packet
    }
    #[inline]
    fn packet(&self) -> Stored {
        *self
    }
}

impl Stored {
    /// All fields zero.
    pub const NOTHING: Self = Self {
        value: 0,
        slack: 0,
        arrival: 0,
        queue: 0,
        processing: 0,
        flow: 0,
        size: 0,
        dst: 0,
        policy_id: 0,
        tos: 0,
    };

    /// The fields of `offered`, received at `arrival`, ps.
    #[inline]
    pub fn new(offered: &Offered, queue: u32, arrival: i64, policy_id: u32) -> Self {
        let Offered { value, processing, slack, flow, size, tos, dst, .. } = *offered;
        let slack = i64::try_from(slack).unwrap_or(i64::MAX);
        Self { value, slack, arrival, queue, processing, flow, size: size.max(1), dst, policy_id, tos }
    }
    /// The value of a field.
    #[inline]
    pub fn field(&self, field: PacketField) -> i64 {
        match field {
            PacketField::PolicyId => i64::from(self.policy_id),
            PacketField::Queue => i64::from(self.queue),
            PacketField::Value => self.value,
            PacketField::Processing => i64::from(self.processing),
            PacketField::Slack => self.slack,
            PacketField::Flow => i64::from(self.flow),
            PacketField::Arrival => self.arrival,
            PacketField::Size => i64::from(self.size),
            PacketField::Tos => i64::from(self.tos),
            PacketField::Dst => i64::from(self.dst),
        }
    }
}
