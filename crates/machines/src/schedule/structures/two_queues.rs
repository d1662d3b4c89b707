//! Two queues at one port, one for the flows of an explicit scheme and one for all others, so that each side
//! sees only its own congestion. Goyal, "Congestion Control in Highly Variable Networks" (MIT, 2022),
//! §2.4.3; Goyal et al., NSDI 2020, §5.2.
//!
//! Queue 0 has traffic of class 0, queue 1 all else; the port's marking is that of queue 1, and sees nothing
//! but it: its length, and as the link's rate what is allotted to it. Shares change; who sets them is a
//! [`Weights`], and each such is a scheduler of its own ([`max_min`](crate::schedule::max_min),
//! [`zombie_list`](crate::schedule::zombie_list)).
//!
//! The queue that is owed most is served and pays for it. If it is empty the other one takes its turn, and it
//! is not owed for that: a queue with nothing to send saves nothing up. Allotted to queue 1 is all but the
//! turns that queue 0 took as its own: also what passed unused.
//!
//! CHOICE ABC §2.4.3: the scheduler is not specified. The authors' published queue draws whose turn it is;
//! this is the same without chance. The traffic's class determines which packets are ABC's, as a flow label
//! would; each queue may hold half of the port's buffer.

use crate::problems::Invalid;
use crate::schedule::fifo::Fifo;
use crate::schedule::{At, Discipline, Entry, Limit, Managed, OutputQueue, Served, Verdict};
use crate::stage::{Sliding, StageSpec};
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Rate, Span, Time};
use thalweg_wire::{Handle, Packet};

/// The algorithm that sets the shares.
pub trait Weights {
    /// A packet has joined a queue.
    fn joined(&mut self, now: Time, queue: usize, flow: FlowId, wire: u32);
    /// Queue 1's share. Called as a packet leaves.
    fn share(&mut self, now: Time) -> f64;
}

/// Smallest share of either queue.
pub(in crate::schedule) const LEAST: f64 = 0.05;

/// The window of rates where the stage has none.
const WINDOW: Span = Span::from_ms(20);
/// Bytes of a packet.
const PACKET: u64 = 1500;

/// Both queues of a port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TwoQueues<W> {
    queues: [Managed<Fifo>; 2],
    weights: W,
    limit: Limit,
    rate: Rate,
    /// The window over which the allotted rate is measured.
    window: Span,
    /// Bytes that queue 1 is owed, and queue 0 owes.
    owed: f64,
    /// What queue 0 took in its own turns.
    taken: Sliding,
}

impl<W: Weights> TwoQueues<W> {
    pub(in crate::schedule) fn new(
        weights: W,
        limit: Limit,
        stage: &StageSpec,
        at: &At,
    ) -> Result<Self, Invalid> {
        let window = if let StageSpec::Abc(abc) = stage { abc.window } else { WINDOW };
        let queue = |stage| Managed::new(Fifo::default(), Limit::Unlimited, stage, at);
        Ok(Self {
            queues: [queue(&StageSpec::default())?, queue(stage)?],
            weights,
            limit,
            rate: at.rate,
            window,
            owed: 0.0,
            taken: Sliding::default(),
        })
    }

    /// Whether `wire` more bytes fit into a queue.
    fn fits(&self, queue: usize, wire: u64) -> bool {
        let own = &self.queues[queue];
        match self.limit {
            Limit::Unlimited => true,
            Limit::Packets(most) => {
                self.packets() < most && (own.is_empty() || 2 * (own.packets() + 1) <= most)
            }
            Limit::Bytes(most) => {
                self.bytes() + wire <= most.get()
                    && (own.is_empty() || 2 * (own.bytes() + wire) <= most.get())
            }
        }
    }

    /// What the link has for queue 1: at least a packet per window.
    fn allotted(&mut self, now: Time) -> Rate {
        if self.rate == Rate::INFINITE {
            return self.rate;
        }
        let bps = |bytes: u64| (bytes as f64 * 8.0 / self.window.secs()) as u64;
        let taken = bps(self.taken.within(now, self.window));
        Rate::from_bps(self.rate.bps().saturating_sub(taken).max(bps(PACKET)))
    }
}

impl<W: Weights> OutputQueue for TwoQueues<W> {
    fn serve(
        &mut self,
        now: Time,
        out: &mut Vec<Handle>,
        _look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)> {
        let share = self.weights.share(now);
        let turn = usize::from(self.owed > 0.0);
        for queue in [turn, 1 - turn] {
            if queue == 1 && !self.queues[1].is_empty() {
                let rate = self.allotted(now);
                self.queues[1].see_rate(rate);
            }
            let unreachable = |_| unreachable!("a managed queue knows its packets");
            let Some((entry, mark)) = self.queues[queue].serve(now, out, unreachable) else { continue };
            let wire = f64::from(entry.wire);
            self.owed += if turn == 1 { (share - 1.0) * wire } else { share * wire };
            if queue == 0 && turn == 0 {
                self.taken.push(now, entry.wire);
                self.taken.within(now, self.window);
            }
            return Some((entry, mark));
        }
        None
    }
}

impl<W: Weights> Discipline for TwoQueues<W> {
    fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict {
        let queue = usize::from(packet.class > 0);
        if !self.fits(queue, u64::from(packet.wire)) {
            return Verdict::Dropped;
        }
        let verdict = self.queues[queue].enqueue(now, packet, handle, out);
        if verdict != Verdict::Dropped {
            self.weights.joined(now, queue, packet.flow, packet.wire);
        }
        verdict
    }
    fn dequeue(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<Served> {
        let look = |_| unreachable!("a managed queue knows its packets");
        self.serve(now, out, look).map(|(entry, mark)| Served { handle: entry.handle, mark })
    }
    fn packets(&self) -> u32 {
        self.queues.iter().map(Managed::packets).sum()
    }
    fn bytes(&self) -> u64 {
        self.queues.iter().map(Managed::bytes).sum()
    }
}
