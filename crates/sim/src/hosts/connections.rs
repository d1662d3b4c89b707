//! Connections: a flow that has started gets two ends, completes at each, and gives them back.
//!
//! A connection may carry several flows, one after the other; the controller's state is handed on.

use crate::cx::Cx;
use crate::fabric::Fabric;
use crate::fabric::withdrawal::withdraw;
use crate::flows::Flows;
use crate::flows::record::FlowRecord;
use crate::hosts::Hosts;
use crate::hosts::ends::{Receiving, Sending};
use crate::hosts::streams::NO_STREAM;
use crate::paths::NO_SLOT;
use crate::port::Port;
use thalweg_machines::congestion::Start;
use thalweg_machines::host::End;
use thalweg_machines::link::LinkSpec;
use thalweg_machines::stage::EdgeCodel;
use thalweg_machines::transport::{Sender, TransportSpec};
use thalweg_net::spec::FlowSpec;
use thalweg_units::{FlowId, PortId, Span, Stream, Time};

impl Hosts {
    /// Starts a flow. It is sent at once, unless it waits for earlier flows of its connection.
    pub fn start(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, flow: FlowId) {
        flows.start(cx, flow);
        let FlowSpec { connection: number, back_to_back, .. } = cx.spec.flows[flow.at()];
        if back_to_back {
            return self.append(cx, fabric, flows, flow);
        }
        if let Some(connection) = self.shared.get_mut(number as usize) {
            if connection.busy {
                return connection.waiting.push_back(flow);
            }
            connection.busy = true;
        }
        self.begin(cx, fabric, flows, flow);
    }

    /// Appends a message that has started to the stream of its connection.
    fn append(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, flow: FlowId) {
        let spec = cx.spec.flows[flow.at()];
        let before = self.streams.carrier(&spec);
        let slot = match before {
            Some(carrier) => fabric.paths().slot(carrier) as usize,
            None => self.open(cx, fabric, flow, &spec),
        };
        let transport = &cx.spec.transports[spec.transport as usize];
        let sending = &mut self.sending[slot];
        let mut append = |bytes| sending.sender.append(transport, cx.now, bytes).expect("checked when built");
        // The first message is there already, but its last packet counts as full.
        let from = append(0);
        let to = if before.is_some() { append(spec.size) } else { from };
        self.receiving[slot].receiver.resize(to);
        if before.is_some() {
            self.streams.push(spec.connection, flow, from, to);
        } else {
            self.streams.begin(spec.connection, flow, to);
            sending.stream = spec.connection;
            sending.sender.start(transport, cx.now);
        }
        self.pump_sender(cx, fabric, flows, slot, before.unwrap_or(flow));
    }

    /// Gives a flow that has started its two ends, and sends what it may.
    fn begin(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, flow: FlowId) {
        let spec = cx.spec.flows[flow.at()];
        let slot = self.open(cx, fabric, flow, &spec);
        if spec.until <= cx.now {
            return self.stop(cx, fabric, flows, flow);
        }
        let transport = &cx.spec.transports[spec.transport as usize];
        self.sending[slot].sender.start(transport, cx.now);
        if cx.features.agents {
            self.agent_begins(cx, fabric, slot, flow);
        }
        self.pump_sender(cx, fabric, flows, slot, flow);
        self.close_if_over(fabric, flows, flow);
    }

    /// Stops an endless flow: its application has no more data.
    #[cold]
    pub fn stop(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, flow: FlowId) {
        let slot = fabric.paths().slot(flow);
        if slot == NO_SLOT {
            return; // it still waits for its connection: see `begin`
        }
        let slot = slot as usize;
        let sending = &mut self.sending[slot];
        let transport = &cx.spec.transports[sending.transport as usize];
        let size = sending.sender.stop(transport, cx.now);
        let receiving = &mut self.receiving[slot];
        receiving.receiver.resize(size);
        if !receiving.complete && receiving.receiver.is_done() {
            self.received(cx, flows, slot, flow);
        }
        self.pump_sender(cx, fabric, flows, slot, flow);
        self.close_if_over(fabric, flows, flow);
    }

    /// Gives a flow two ends and a path. Returns its slot.
    pub fn open(&mut self, cx: &Cx, fabric: &mut Fabric, flow: FlowId, spec: &FlowSpec) -> usize {
        let transport = &cx.spec.transports[spec.transport as usize];
        let path = fabric.lay_path(&cx.spec, flow);
        let line = cx.spec.direction(fabric.routes().nic(spec.src));
        let middle = fabric.paths().middle();
        let stream = Stream::new(cx.spec.seed, "congestion", u64::from(flow.0));
        let start = Start {
            flow,
            stream,
            class: spec.class,
            switches: path[..middle].iter().filter(|id| **id != PortId::NONE).count().saturating_sub(1)
                as u32,
            queued: !cx.spec.nic.order.pulls(),
            records: cx.spec.probes.decisions,
            ..start_of(transport, line, fabric.ports(), &path, middle)
        };
        let stream = Stream::new(cx.spec.seed, "transport", u64::from(flow.0));
        // Creating a user's controller may have side effects, so it is done once: in the part that the flow is sent
        // from.
        let mut sender = if cx.boundary.is_home(spec.src) {
            transport
                .sender(flow, spec.size, &start, stream)
                .expect("a controller accepts for every flow what it accepted before the run")
        } else {
            Sender::elsewhere(flow)
        };
        let stream = Stream::new(cx.spec.seed, "receiver", u64::from(flow.0));
        let receiver = transport.receiver(flow, spec.size, stream);
        self.inherit(spec.connection, &mut sender);
        let claims = cx.features.backpressure && cx.boundary.is_home(spec.src);
        let queue = if claims { self.claim_queue(fabric, spec.src) } else { 0 };
        let sending = Sending {
            sender,
            queue,
            timer: Time::MAX,
            later: Time::MAX,
            host: spec.src,
            peer: spec.dst,
            balance: 0,
            stream: NO_STREAM,
            transport: spec.transport,
            ready: false,
            begun: false,
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
            held: false,
        };
        let slot = fabric.open_path(cx, flow, &path);
        if slot < self.sending.len() {
            self.edges.iter_mut().skip(slot).take(1).for_each(|edge| *edge = EdgeCodel::default());
            self.sending[slot] = sending;
            self.receiving[slot] = receiving;
        } else {
            self.sending.push(sending);
            self.receiving.push(receiving);
        }
        if cx.features.delays {
            self.delays.open_slot(cx, slot, spec);
        }
        slot
    }

    /// Hands on what the previous flow on the same connection has learnt.
    fn inherit(&mut self, connection: u32, sender: &mut Sender) {
        let before = self.shared.get_mut(connection as usize).and_then(|c| c.before.take());
        if let Some(before) = before {
            sender.take_over(before);
        }
    }

    /// Notes that the flow's last byte has arrived.
    #[cold]
    pub(super) fn received(&mut self, cx: &mut Cx, flows: &mut Flows, slot: usize, flow: FlowId) {
        self.receiving[slot].complete = true;
        if cx.features.agents {
            self.agent_forgets(cx, slot, flow, End::Destination);
        }
        flows.received(cx, flow);
        self.count_if_done(cx, flows, slot, flow);
    }

    /// Notes that the flow's sender has nothing left to wait for; the next flow of its connection begins.
    #[cold]
    pub(super) fn acked(
        &mut self,
        cx: &mut Cx,
        fabric: &mut Fabric,
        flows: &mut Flows,
        slot: usize,
        flow: FlowId,
    ) {
        flows.acked(cx, flow);
        if cx.features.takes_back {
            self.take_back(cx, fabric, slot, flow);
        }
        if cx.features.backpressure {
            self.return_queue(fabric, slot);
        }
        if cx.features.agents {
            self.agent_forgets(cx, slot, flow, End::Source);
        }
        self.count_if_done(cx, flows, slot, flow);
        let number = cx.spec.flows[flow.at()].connection;
        let Some(connection) = self.shared.get_mut(number as usize) else { return };
        // Taken before the next flow gets the controller: its records continue, and are not copied.
        self.logs.extend(self.sending[slot].sender.take_log());
        connection.before = self.sending[slot].sender.hand_over();
        match connection.waiting.pop_front() {
            Some(next) => self.begin(cx, fabric, flows, next),
            None => connection.busy = false,
        }
    }

    /// Withdraws packets of the flow that still wait in the queue of its NIC and are of no use any more.
    fn take_back(&self, cx: &mut Cx, fabric: &mut Fabric, slot: usize, flow: FlowId) {
        let Sending { sender, host, transport, .. } = &self.sending[slot];
        if let Some(class) = sender.discards_from_class(&cx.spec.transports[*transport as usize]) {
            withdraw(fabric, cx, fabric.routes().nic(*host), flow, class);
        }
    }

    fn count_if_done(&self, cx: &mut Cx, flows: &mut Flows, slot: usize, flow: FlowId) {
        if cx.features.partitioned {
            // Its other end may be in another part.
            return cx.boundary.ended.push(flow);
        }
        if self.sending[slot].complete && self.receiving[slot].complete {
            flows.count_done(cx, flow);
        }
    }

    /// Frees the slot of a finished flow once none of its packets is left in the network.
    #[inline]
    pub(super) fn close_if_over(&mut self, fabric: &mut Fabric, flows: &mut Flows, flow: FlowId) {
        let slot = fabric.paths().slot(flow);
        if slot == NO_SLOT {
            return;
        }
        let (sending, receiving) = (&self.sending[slot as usize], &self.receiving[slot as usize]);
        if !self.keeps
            && sending.complete
            && receiving.complete
            && sending.balance.wrapping_add(receiving.balance) == 0
        {
            self.write(flows, slot as usize, flow);
            fabric.close_path(flow);
        }
    }

    /// Copies what the ends of a flow know into its record.
    pub fn write(&mut self, flows: &mut Flows, slot: usize, flow: FlowId) {
        let sender = &mut self.sending[slot].sender;
        flows.write(flow, &sender.stats(), self.receiving[slot].receiver.received());
        self.logs.extend(sender.take_log());
    }

    /// The flow whose ends carry this one.
    pub fn carrier(&self, flow: FlowId, spec: &FlowSpec) -> FlowId {
        self.streams.carrier(spec).unwrap_or(flow)
    }

    /// A flow's record, including what its ends know if it is still active.
    pub fn record(&self, fabric: &Fabric, flows: &Flows, flow: FlowId, spec: &FlowSpec) -> FlowRecord {
        let mut record = flows.records()[flow.at()];
        if let Some((sender, receiver)) = self.ends(fabric.paths().slot(flow)) {
            record.count(&sender.stats(), receiver.received());
        }
        if let Some((_, receiver)) =
            self.streams.carrier(spec).and_then(|f| self.ends(fabric.paths().slot(f)))
        {
            self.streams.complete(&mut record, flow, spec, receiver.received());
        }
        record
    }
}

/// What a controller starts from: the line rate (the largest if it varies), and the round-trip time of the empty
/// path.
fn start_of(
    transport: &TransportSpec,
    line: &LinkSpec,
    ports: &[Port],
    path: &[PortId],
    middle: usize,
) -> Start {
    let wire = transport.wire();
    let leg = |ids: &[PortId], wire: u32| -> Span {
        ids.iter()
            .filter(|id| **id != PortId::NONE)
            .map(|id| ports[id.at()].span(wire) + ports[id.at()].timing.delay)
            .sum()
    };
    let base_rtt = leg(&path[..middle], wire.full()) + leg(&path[middle..], wire.ack.unwrap_or(0));
    transport.start(line.peak_rate(), base_rtt, line.quantum())
}
