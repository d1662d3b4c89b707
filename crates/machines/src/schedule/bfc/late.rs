//! The delays of a Tofino2 (§3.4): what a port does differently if they are configured.

use super::Bfc;
use crate::schedule::Entry;
use thalweg_units::Time;
use thalweg_wire::Packet;

/// Called only where there is a [`Tofino`](super::tofino::Tofino): kept out of the packet path of all others.
impl Bfc {
    /// What the ingress pipeline of a packet that arrives knows by now, and where it has its flow.
    #[cold]
    pub(super) fn catch_up(&mut self, now: Time, packet: &Packet, hash: u64) -> usize {
        self.come_round(now);
        let pipeline = self.tofino.as_ref().map_or(0, |t| t.pipeline(packet.input));
        self.table.find_in(pipeline, hash)
    }

    /// Applies the departures of which the flow table is to be notified by now.
    fn come_round(&mut self, now: Time) {
        while let Some(tofino) = &mut self.tofino
            && let Some((at, cell)) = tofino.returning.front().copied().filter(|(at, _)| *at <= now)
        {
            tofino.returning.pop_front();
            self.left(at, cell);
        }
        if let Some(tofino) = &mut self.tofino {
            tofino.renew(now, &self.fifos.occupied);
        }
    }

    /// Packets move to where only the wire is in front of them, as long as there is a place. One that becomes
    /// free because a queue may go on is taken when the next packet comes or leaves.
    #[cold]
    pub(super) fn fill(&mut self, now: Time) {
        while self.tofino.as_ref().is_some_and(|t| t.behind.len() < t.places)
            && let Some(entry) = self.take(now)
            && let Some(tofino) = &mut self.tofino
        {
            tofino.behind.push_back((entry, self.served));
        }
    }

    /// The wire is free: the next packet of the small queue behind the egress pipeline.
    // CHOICE BFC §3.4: pause frames and control packets do not wait behind these packets. Other reading: one
    // small queue for all, behind which pauses of the other direction would wait, too.
    #[cold]
    pub(super) fn pop_from_behind(&mut self, now: Time) -> Option<Entry> {
        self.come_round(now);
        if self.tofino.as_ref().is_some_and(|t| t.places == 0) {
            return self.take(now);
        }
        self.fill(now);
        let (entry, queue) = self.tofino.as_mut()?.behind.pop_front()?;
        self.fill(now);
        self.served = queue;
        Some(entry)
    }
}
