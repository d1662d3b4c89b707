//! The daemon: it reads records and writes decisions for every connection of a group.

use super::connection::{Connection, Summary};
use super::latency::Latency;
use super::loader::Loaded;
use super::records::{Kind, Record};
use super::{Error, Group, clock};
use crate::{Datapath, Make, Sender};
use std::collections::BTreeMap;
use std::time::Duration;
use thalweg_machines::congestion::decisions::Log;
use thalweg_units::Span;

/// Number of summaries of closed connections that are kept; of older ones only their number is known.
const KEPT: usize = 1000;

/// Statistics so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Records read.
    pub samples: u64,
    /// Records that did not fit into the ring buffer.
    pub lost_samples: u64,
    /// Number of connections.
    pub connections: u64,
    /// True if the controller wants marks.
    pub marks: bool,
    /// Time from a record to its decision, in ns: the median and the 99th percentile.
    pub latency_ns: Option<(u64, u64)>,
    /// Summaries of the connections in order; of closed ones, the last thousand.
    pub summaries: Vec<Summary>,
}

/// Runs controllers for the connections of a group, as long as it lives and `step` is called.
pub struct Attached<M: Make> {
    make: M,
    sender: Sender,
    loaded: Loaded,
    group: Group,
    connections: BTreeMap<u32, Connection<M>>,
    over: Vec<Summary>,
    /// Decision logs of the controllers of closed connections.
    logs: Vec<Log>,
    samples: u64,
    seen: u64,
    latency: Latency,
    inbox: Vec<Record>,
}

impl<M: Make> Attached<M> {
    /// Loads the datapath and makes a group without processes.
    ///
    /// # Errors
    /// If the kernel cannot run the controller, or does not allow it.
    pub fn new(make: M, sender: Sender) -> Result<Self, Error> {
        Datapath::KERNEL.check(&make.name(), &make.needs())?;
        make.make(&sender.start(0, 1448, super::adapter::HEADER, Span::from_ms(1)))?;
        let group = Group::new()?;
        let loaded = Loaded::new(&group, make.needs().marks.by_default())?;
        let (connections, over, logs, inbox) = (BTreeMap::new(), Vec::new(), Vec::new(), Vec::new());
        let latency = Latency::default();
        Ok(Self { make, sender, loaded, group, connections, over, logs, samples: 0, seen: 0, latency, inbox })
    }

    /// The algorithm's name in the kernel.
    pub fn name(&self) -> &str {
        self.loaded.name()
    }

    /// The group whose sockets use the algorithm.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Works for at most this time.
    ///
    /// # Errors
    /// If the ring buffer cannot be read, or a controller cannot be made.
    pub fn step(&mut self, limit: Duration) -> Result<(), Error> {
        let end = clock::now_ns().saturating_add(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        loop {
            self.take()?;
            let now = clock::now_ns();
            let wake = self.tick(now);
            if now >= end {
                return Ok(());
            }
            let until = wake.map_or(end, |wake| wake.min(end));
            self.loaded.wait(Duration::from_nanos(until.saturating_sub(now)))?;
        }
    }

    /// Handles the records that have come.
    fn take(&mut self) -> Result<(), Error> {
        let mut records = std::mem::take(&mut self.inbox);
        let read = self.loaded.take(&mut records);
        for record in &records {
            self.samples += 1;
            self.answer(record)?;
        }
        records.clear();
        self.inbox = records;
        read
    }

    fn answer(&mut self, record: &Record) -> Result<(), Error> {
        let number = record.connection;
        match record.kind {
            Kind::Open => {
                self.seen += 1;
                let opened = Connection::open(&self.make, &self.sender, *record)?;
                self.connections.insert(number, opened);
            }
            Kind::Close => {
                if let Some(mut connection) = self.connections.remove(&number) {
                    connection.on_record(record);
                    self.over.push(connection.summary());
                    self.logs.extend(connection.take_log());
                    let excess = self.over.len().saturating_sub(KEPT);
                    self.over.drain(..excess);
                }
                return Ok(());
            }
            _ => {
                if let Some(connection) = self.connections.get_mut(&number) {
                    connection.on_record(record);
                }
            }
        }
        if let Some(connection) = self.connections.get(&number) {
            self.loaded.decisions.write(number, &connection.adapter().decision());
            self.latency.add(clock::now_ns().saturating_sub(record.time_ns));
        }
        Ok(())
    }

    /// Calls the controllers whose wake-up times have come. Returns the next wake-up time.
    // CHOICE: all connections are searched, because few have controllers with a clock, and each takes one comparison.
    // Other reading: a heap of wake-up times.
    fn tick(&mut self, now: u64) -> Option<u64> {
        let mut next = None;
        for (number, connection) in &mut self.connections {
            if connection.adapter().wake_ns().is_some_and(|wake| wake <= now) {
                connection.on_tick(now);
                self.loaded.decisions.write(*number, &connection.adapter().decision());
            }
            let wake = connection.adapter().wake_ns();
            next = [next, wake].into_iter().flatten().min();
        }
        next
    }

    /// The statistics so far.
    pub fn statistics(&self) -> Statistics {
        let live = self.connections.values().map(Connection::summary);
        let percentile = |share| self.latency.percentile(share);
        let mut summaries: Vec<Summary> = self.over.iter().cloned().chain(live).collect();
        summaries.sort_by_key(|summary| summary.connection);
        Statistics {
            samples: self.samples,
            lost_samples: self.loaded.lost(),
            connections: self.seen,
            marks: self.make.needs().marks.by_default(),
            latency_ns: percentile(0.5).zip(percentile(0.99)),
            summaries,
        }
    }

    /// The decision logs of controllers since the last call ([`Sender::records`]), in pieces.
    pub fn take_logs(&mut self) -> Vec<Log> {
        let mut logs = std::mem::take(&mut self.logs);
        logs.extend(self.connections.values_mut().filter_map(Connection::take_log));
        logs.retain(|log| !log.is_empty());
        logs
    }

    /// The controllers of open connections, for recorders that keep their records there.
    pub fn controllers(&self) -> impl Iterator<Item = (u32, &M::Controller)> {
        self.connections.iter().map(|(number, connection)| (*number, connection.adapter().controller()))
    }
}
