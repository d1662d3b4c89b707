//! A connection and when its datagrams leave: quinn-proto is asked for the next one only when the pace lets it go.

use super::controller::{Driven, DrivenFactory, Shared};
use super::socket::Socket;
use super::{Error, clock};
use crate::Make;
use quinn_proto::{Connection, ConnectionEvent, ConnectionHandle, Endpoint, Transmit, VarInt};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_units::Rate;

/// How much of a late wake-up is caught up with: what is more is lost, so that no burst follows a long sleep.
// CHOICE: half a millisecond, more than a loaded machine's usual lateness. Other reading: none, which makes every
// wake-up that is late cost rate.
const CREDIT: Duration = Duration::from_micros(500);
/// Datagrams that leave before what has come is looked at again.
const BURST: usize = 32;

/// What a connection waits for.
pub(super) enum Waits {
    /// For its timer, or for what comes.
    Timer,
    /// For an instant as well.
    Until(Instant),
    /// For room in the socket as well.
    Room,
    /// It does not: there may be more to send at once.
    Not,
}

/// The controller of a connection that has one of ours.
pub(super) struct Governor<M: Make> {
    factory: Arc<DrivenFactory<M>>,
    header: u32,
    /// The next datagram may leave then.
    next: Option<Instant>,
}

impl<M: Make> Governor<M> {
    pub(super) fn new(factory: Arc<DrivenFactory<M>>, header: u32) -> Self {
        Self { factory, header, next: None }
    }

    /// The controller of the present path.
    pub(super) fn controller(&self) -> Option<Shared<M, Driven>> {
        self.factory.newest()
    }

    /// Calls the controller if its instant has come; says when it wants to be called next.
    fn tick(&self, now: Instant) -> Option<Instant> {
        let controller = self.factory.newest()?;
        let mut core = controller.lock();
        let epoch = core.epoch();
        let adapter = core.adapter()?;
        adapter.on_tick(clock::time(epoch, now));
        adapter.wake().and_then(|wake| clock::instant(epoch, wake))
    }

    fn pace(&self) -> Option<Rate> {
        self.factory.newest()?.lock().adapter()?.pace()
    }

    /// A datagram of so many bytes has left.
    fn departs(&mut self, now: Instant, bytes: usize) {
        let Some(pace) = self.pace() else { return };
        let bits = (bytes as u128 + u128::from(self.header)) * 8;
        let gap = bits * 1_000_000_000 / u128::from(pace.bps().max(1));
        let gap = Duration::from_nanos(u64::try_from(gap).unwrap_or(u64::MAX)).min(Duration::from_secs(3600));
        let earliest = now.checked_sub(CREDIT).unwrap_or(now);
        self.next = Some(self.next.map_or(now, |next| next.max(earliest)) + gap);
    }
}

/// A connection with what it has not handed to the socket yet.
pub(super) struct Link<M: Make> {
    pub(super) handle: ConnectionHandle,
    pub(super) connection: Connection,
    pub(super) governor: Option<Governor<M>>,
    held: Option<Transmit>,
    buffer: Vec<u8>,
}

impl<M: Make> Link<M> {
    pub(super) fn new(
        handle: ConnectionHandle,
        connection: Connection,
        governor: Option<Governor<M>>,
    ) -> Self {
        Self { handle, connection, governor, held: None, buffer: Vec::new() }
    }

    /// Something came for it.
    pub(super) fn receive(&mut self, event: ConnectionEvent) {
        self.connection.handle_event(event);
    }

    /// What is due by now: its timers, its controller's clock, what it has to say to its endpoint.
    pub(super) fn advance(&mut self, now: Instant, endpoint: &mut Endpoint) -> Option<Instant> {
        if self.connection.poll_timeout().is_some_and(|timeout| timeout <= now) {
            self.connection.handle_timeout(now);
        }
        let wake = self.governor.as_ref().and_then(|governor| governor.tick(now));
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(answer) = endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(answer);
            }
        }
        wake
    }

    /// Ends the connection; the word of it leaves with the next transmission, whatever the pace.
    pub(super) fn close(&mut self, now: Instant) {
        self.connection.close(now, VarInt::from_u32(0), bytes::Bytes::new());
        if let Some(governor) = &mut self.governor {
            governor.next = None;
        }
    }

    /// Sends what may leave.
    pub(super) fn transmit(&mut self, socket: &Socket) -> Result<Waits, Error> {
        for _ in 0..BURST {
            if let Some(held) = &self.held {
                if !socket.send(held, &self.buffer[..held.size])? {
                    return Ok(Waits::Room);
                }
                self.held = None;
            }
            let now = clock::now();
            if let Some(next) = self.governor.as_ref().and_then(|governor| governor.next)
                && next > now
            {
                return Ok(Waits::Until(next));
            }
            self.buffer.clear();
            self.held = self.connection.poll_transmit(now, 1, &mut self.buffer);
            let Some(held) = &self.held else {
                // Silence earns no credit.
                if let Some(governor) = &mut self.governor {
                    governor.next = None;
                }
                return Ok(Waits::Timer);
            };
            if let Some(governor) = &mut self.governor {
                governor.departs(now, held.size);
            }
        }
        Ok(Waits::Not)
    }
}
