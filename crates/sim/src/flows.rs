//! The life of a flow: it starts, gets a connection, completes at either end, gives the connection back.

use crate::events::{Events, Phase};
use crate::flow::{FlowRecord, NO_CONNECTION, Receiving, Sending};
use crate::port::Port;
use crate::routing::flow_pick;
use crate::sim::Sim;
use crate::spec::{FlowSpec, RoutingSpec};
use thalweg_machines::aqm::EdgeCodel;
use thalweg_machines::congestion::Start;
use thalweg_machines::slack::SlackClock;
use thalweg_machines::transport::{Receiver, Sender, TransportSpec};
use thalweg_units::{FlowId, PortId, Span, Stream, Time};

impl<Q: Events> Sim<Q> {
    /// A flow starts.
    pub(crate) fn start(&mut self, flow: FlowId) {
        if flow.0 == self.next_start {
            self.schedule_next_start(flow.0 + 1);
        }
        self.tally.flows_started += 1;
        self.records[flow.at()].started = self.now;
        let until = self.spec.flows[flow.at()].until;
        if until != Time::MAX {
            self.schedule(until, Phase::Stop, flow.0);
        }
        if self.takes_connection(flow) {
            self.begin(flow);
        }
    }

    /// A flow without end stops: its application has no more for it.
    #[cold]
    pub(crate) fn stop_flow(&mut self, flow: FlowId) {
        let slot = self.connections[flow.at()];
        if slot == NO_CONNECTION {
            return; // it waits for the connection: see `begin`
        }
        let slot = slot as usize;
        let sending = &mut self.sending[slot];
        let transport = &self.spec.transports[sending.transport as usize];
        let size = sending.sender.stop(transport, self.now);
        let receiving = &mut self.receiving[slot];
        receiving.receiver.stop(size);
        if !receiving.complete && receiving.receiver.is_done() {
            self.received(slot, flow);
        }
        self.pump_sender(slot, flow);
        self.release_if_over(flow);
    }

    /// A flow that has started gets a connection of its own and sends what it may.
    pub(crate) fn begin(&mut self, flow: FlowId) {
        let spec = self.spec.flows[flow.at()];
        let slot = self.open(flow, &spec);
        let transport = &self.spec.transports[spec.transport as usize];
        self.connections[flow.at()] = slot as u32;
        if spec.until <= self.now {
            return self.stop_flow(flow);
        }
        self.sending[slot].sender.start(transport, self.now);
        self.pump_sender(slot, flow);
        self.release_if_over(flow);
    }

    /// Schedules the first flow at or after position `from` that starts by the clock.
    pub(crate) fn schedule_next_start(&mut self, from: u32) {
        let mut next = from;
        while let Some(spec) = self.spec.flows.get(next as usize) {
            if spec.after == FlowId::NONE {
                self.schedule(spec.start, Phase::Start, next);
                break;
            }
            next += 1;
        }
        self.next_start = next;
    }

    /// The ports that a flow's packets pass: `stride` of them, data first, ACKs from the middle on.
    pub(crate) fn lay_path(&self, flow: FlowId) -> Vec<PortId> {
        let spec = &self.spec.flows[flow.at()];
        let mut path = Vec::with_capacity(self.stride);
        let middle = self.stride / 2;
        match &self.spec.routing {
            RoutingSpec::Pinned { paths } => {
                let pinned = &paths[flow.at()];
                let routes = &self.routes;
                // Checked when the network was built.
                routes.pinned(flow.0, spec.src, spec.dst, &pinned.data, &mut path).expect("checked path");
                path.resize(middle, PortId::NONE);
                routes.pinned(flow.0, spec.dst, spec.src, &pinned.ack, &mut path).expect("checked path");
            }
            routing => {
                let pick = flow_pick(routing, spec.src, spec.dst, flow.0, false);
                self.routes.path(spec.src, spec.dst, pick, &mut path);
                end_path(&mut path, middle);
                let pick = flow_pick(routing, spec.src, spec.dst, flow.0, true);
                self.routes.path(spec.dst, spec.src, pick, &mut path);
            }
        }
        end_path(&mut path, self.stride);
        path
    }

    pub(crate) fn open(&mut self, flow: FlowId, spec: &FlowSpec) -> usize {
        let transport = &self.spec.transports[spec.transport as usize];
        let nic = &self.ports[self.routes.nic(spec.src).at()];
        let path = self.lay_path(flow);
        let middle = self.stride / 2;
        let start = Start { flow, ..start_of(transport, nic, &self.ports, &path, middle) };
        let stream = Stream::new(self.spec.seed, "transport", u64::from(flow.0));
        let mut sender = Sender::new(transport, flow, spec.size, &start, stream).expect("checked when built");
        let receiver = Receiver::new(transport, flow, spec.size);
        self.inherit(flow, &mut sender);
        let sending = Sending {
            sender,
            timer: Time::MAX,
            host: spec.src,
            peer: spec.dst,
            balance: 0,
            transport: spec.transport,
            class: spec.class,
            ready: false,
            complete: false,
        };
        let receiving = Receiving {
            receiver,
            timer: Time::MAX,
            host: spec.dst,
            peer: spec.src,
            balance: 0,
            transport: spec.transport,
            complete: false,
        };
        if let Some(slot) = self.free_connections.pop() {
            let slot = slot as usize;
            self.clocks.iter_mut().skip(2 * slot).take(2).for_each(|clock| *clock = SlackClock::default());
            self.edges.iter_mut().skip(slot).take(1).for_each(|edge| *edge = EdgeCodel::default());
            self.sending[slot] = sending;
            self.receiving[slot] = receiving;
            if self.unreliable {
                self.detour(slot, &path);
            } else {
                self.paths[slot * self.stride..][..self.stride].copy_from_slice(&path);
            }
            slot
        } else {
            let slot = self.sending.len();
            self.sending.push(sending);
            self.receiving.push(receiving);
            if self.unreliable {
                self.detour(slot, &path);
            } else {
                self.paths.extend_from_slice(&path);
            }
            slot
        }
    }

    /// The flow's last byte has arrived: record it, start what waits for it.
    #[cold]
    pub(crate) fn received(&mut self, slot: usize, flow: FlowId) {
        self.receiving[slot].complete = true;
        self.records[flow.at()].received = self.now;
        if let Some(&(first, _)) = self.followers.get(flow.at()) {
            let mut follower = first;
            while follower != FlowId::NONE {
                let pause = Span::from_ps(self.spec.flows[follower.at()].start.ps());
                self.schedule(self.now + pause, Phase::Start, follower.0);
                follower = self.followers[follower.at()].1;
            }
        }
        self.count_if_done(slot, flow);
    }

    /// The flow's sender has nothing left to wait for.
    #[cold]
    pub(crate) fn acked(&mut self, slot: usize, flow: FlowId) {
        self.records[flow.at()].acked = self.now;
        self.count_if_done(slot, flow);
        self.pass_connection_on(slot, flow);
    }

    pub(crate) fn count_if_done(&mut self, slot: usize, flow: FlowId) {
        if !self.sending[slot].complete || !self.receiving[slot].complete {
            return;
        }
        self.tally.flows_done += 1;
        if self.spec.flows[flow.at()].measured {
            self.tally.measured_done += 1;
            if self.spec.stop.when_measured_done && self.tally.measured_done == self.probes.measured_total {
                self.stopped = true;
            }
        }
    }

    /// Takes a finished flow's connection back once none of its packets is left in the network.
    #[inline]
    pub(crate) fn release_if_over(&mut self, flow: FlowId) {
        let slot = self.connections[flow.at()];
        if slot == NO_CONNECTION {
            return;
        }
        let (sending, receiving) = (&self.sending[slot as usize], &self.receiving[slot as usize]);
        if sending.complete && receiving.complete && sending.balance.wrapping_add(receiving.balance) == 0 {
            self.write_record(slot as usize, flow);
            self.connections[flow.at()] = NO_CONNECTION;
            self.free_connections.push(slot);
        }
    }

    /// Copies what the two ends know into the flow's record.
    pub(crate) fn write_record(&mut self, slot: usize, flow: FlowId) {
        let stats = self.sending[slot].sender.stats();
        let delivered = self.receiving[slot].receiver.received();
        let record = &mut self.records[flow.at()];
        record.delivered = delivered;
        record.count(&stats);
    }

    /// The flow's record, with what its ends know if it is still active.
    pub(crate) fn record(&self, flow: FlowId) -> FlowRecord {
        let mut record = self.records[flow.at()];
        if self.connections[flow.at()] != NO_CONNECTION {
            let slot = self.connections[flow.at()] as usize;
            let stats = self.sending[slot].sender.stats();
            record.delivered = self.receiving[slot].receiver.received();
            record.count(&stats);
        }
        record
    }
}

/// Fills a path's place up. A path around failures that is too long for it ends in nowhere.
fn end_path(path: &mut Vec<PortId>, len: usize) {
    if path.len() > len {
        path.truncate(len - 1);
    }
    path.resize(len, PortId::NONE);
}

/// What a controller is told at the start: line rate and the empty path's round trip.
fn start_of(transport: &TransportSpec, nic: &Port, ports: &[Port], path: &[PortId], middle: usize) -> Start {
    let (data, ack) = match transport {
        TransportSpec::Tcp(tcp) => (tcp.mss + tcp.header, tcp.ack_wire),
        TransportSpec::Udp(udp) => (udp.payload + udp.header, 0),
        TransportSpec::Rdma(rdma) => (rdma.payload + rdma.header, rdma.ack_wire),
    };
    let leg = |ids: &[PortId], wire: u32| -> Span {
        ids.iter()
            .filter(|id| **id != PortId::NONE)
            .map(|id| ports[id.at()].span(wire) + ports[id.at()].delay)
            .sum()
    };
    let base_rtt = leg(&path[..middle], data) + leg(&path[middle..], ack);
    let line_rate = nic.serializer.rate();
    let time_quantum = nic.serializer.quantum();
    match transport {
        TransportSpec::Tcp(tcp) => Start {
            flow: FlowId(0),
            mss: tcp.mss,
            initial_window: tcp.initial_window,
            max_window: tcp.max_window,
            initial_threshold: tcp.initial_threshold,
            line_rate,
            base_rtt,
            time_quantum,
        },
        TransportSpec::Udp(udp) => Start {
            flow: FlowId(0),
            mss: udp.payload,
            initial_window: thalweg_units::Bytes::MAX,
            max_window: thalweg_units::Bytes::MAX,
            initial_threshold: thalweg_units::Bytes::MAX,
            line_rate,
            base_rtt,
            time_quantum,
        },
        TransportSpec::Rdma(rdma) => rdma.start(line_rate, base_rtt, time_quantum),
    }
}
