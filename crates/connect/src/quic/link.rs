//! A connection with the pacing of its datagrams: quinn-proto is asked for the next one only when the pace allows it.

use super::controller::{Driven, DrivenFactory, Shared};
use super::socket::Socket;
use super::{Error, clock};
use crate::Make;
use quinn_proto::{Connection, ConnectionEvent, ConnectionHandle, Endpoint, Transmit, VarInt};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_units::Rate;

/// Largest delay of a wake-up that is compensated; the rest is lost, so that no burst follows a long sleep.
// CHOICE: half a millisecond, more than the usual lateness on a loaded machine. Other reading: none, so that every late
// wake-up reduces the rate.
const CREDIT: Duration = Duration::from_micros(500);
/// Number of datagrams that are sent before received ones are handled again.
const BURST: usize = 32;

/// The events that a connection waits for.
pub(super) enum Waits {
    /// Its timer, or a received datagram.
    Timer,
    /// The same, or this time.
    Until(Instant),
    /// The same, or room in the socket.
    Room,
    /// None: there may be more to send immediately.
    Not,
}

/// The pacing state of a connection with a controller of this project.
pub(super) struct Governor<M: Make> {
    factory: Arc<DrivenFactory<M>>,
    header: u32,
    /// Earliest departure of the next datagram.
    next: Option<Instant>,
}

impl<M: Make> Governor<M> {
    pub(super) fn new(factory: Arc<DrivenFactory<M>>, header: u32) -> Self {
        Self { factory, header, next: None }
    }

    /// The controller of the current path.
    pub(super) fn controller(&self) -> Option<Shared<M, Driven>> {
        self.factory.newest()
    }

    /// Calls the controller if its wake-up time has come. Returns its next wake-up time.
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

    /// Notes the departure of a datagram.
    fn departs(&mut self, now: Instant, bytes: usize) {
        let Some(pace) = self.pace() else { return };
        let bits = (bytes as u128 + u128::from(self.header)) * 8;
        let gap = bits * 1_000_000_000 / u128::from(pace.bps().max(1));
        let gap = Duration::from_nanos(u64::try_from(gap).unwrap_or(u64::MAX)).min(Duration::from_secs(3600));
        let earliest = now.checked_sub(CREDIT).unwrap_or(now);
        self.next = Some(self.next.map_or(now, |next| next.max(earliest)) + gap);
    }
}

/// A connection with datagrams that have not been handed to the socket yet.
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

    /// Handles a received event.
    pub(super) fn receive(&mut self, event: ConnectionEvent) {
        self.connection.handle_event(event);
    }

    /// Handles everything that is due: timers, the controller's wake-up, messages to the endpoint. Returns the next due
    /// time.
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

    /// Closes the connection. The closing packet is sent with the next transmission, regardless of the pace.
    pub(super) fn close(&mut self, now: Instant) {
        self.connection.close(now, VarInt::from_u32(0), bytes::Bytes::new());
        if let Some(governor) = &mut self.governor {
            governor.next = None;
        }
    }

    /// Sends the datagrams that the pace allows.
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
                // An idle time gives no credit.
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
