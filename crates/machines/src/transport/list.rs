//! What follows from the list of transports: parameters, the two ends, dispatch.

/// `Name(parameters): sender, receiver;` for each.
macro_rules! transports {
    ($($(#[$doc:meta])* $name:ident($spec:ty): $sender:ty, $receiver:ty;)*) => {
        /// How a flow's two ends talk: parameters that all flows of a kind share.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum TransportSpec {
            $($(#[$doc])* $name($spec),)*
        }

        /// A flow's sending end.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        // Most flows are TCP's: boxing the larger arm would cost them a cache miss.
        #[allow(clippy::large_enum_variant)]
        pub enum Sender {
            $($(#[$doc])* $name($sender),)*
        }

        /// A flow's receiving end.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Receiver {
            $($(#[$doc])* $name($receiver),)*
        }

        impl TransportSpec {
            /// See [`Protocol::wire`].
            pub fn wire(&self) -> Wire {
                match self { $(Self::$name(part) => part.wire()),* }
            }
            /// See [`Protocol::needs`].
            pub fn needs(&self) -> PathNeeds {
                match self { $(Self::$name(part) => part.needs()),* }
            }
            /// See [`Protocol::sees_receiver`].
            pub fn sees_receiver(&self) -> bool {
                match self { $(Self::$name(part) => part.sees_receiver()),* }
            }
            /// See [`Protocol::streams`].
            pub fn streams(&self) -> bool {
                match self { $(Self::$name(part) => part.streams()),* }
            }
            /// See [`Protocol::start`].
            pub fn start(&self, line_rate: Rate, base_rtt: Span, time_quantum: Span) -> Start {
                match self { $(Self::$name(part) => part.start(line_rate, base_rtt, time_quantum)),* }
            }
            /// See [`Protocol::sender`].
            ///
            /// # Errors
            /// If a parameter is out of range; the message names it.
            pub fn sender(
                &self,
                flow: FlowId,
                size: u64,
                start: &Start,
                stream: Stream,
            ) -> Result<Sender, String> {
                match self {
                    $(Self::$name(part) => {
                        part.sender(flow, size, start, stream).map(|made| Sender::$name(made.into()))
                    })*
                }
            }
            /// See [`Protocol::receiver`].
            pub fn receiver(&self, flow: FlowId, size: u64, stream: Stream) -> Receiver {
                match self { $(Self::$name(part) => Receiver::$name(part.receiver(flow, size, stream).into())),* }
            }
        }

        list::transports!(@end Sender $($name)*);
        list::transports!(@end Receiver $($name)*);

        impl Sender {
            /// See [`SendingEnd::start`].
            pub fn start(&mut self, spec: &TransportSpec, now: Time) {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.start(part, now),)*
                    _ => mismatch(()),
                }
            }
            /// See [`SendingEnd::stop`].
            pub fn stop(&mut self, spec: &TransportSpec, now: Time) -> u64 {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.stop(part, now),)*
                    _ => mismatch(0),
                }
            }
            /// See [`SendingEnd::stats`].
            pub fn stats(&self) -> SenderStats {
                match self { $(Self::$name(m) => m.stats()),* }
            }
            /// See [`SendingEnd::next_departure`].
            pub fn next_departure(&self) -> Option<Time> {
                match self { $(Self::$name(m) => m.next_departure()),* }
            }
            /// See [`SendingEnd::foresee`].
            #[inline]
            pub fn foresee(&self, spec: &TransportSpec, at: Time) -> Option<Transmit> {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.foresee(part, at),)*
                    _ => mismatch(None),
                }
            }
            /// See [`SendingEnd::on_drop`].
            pub fn on_drop(&mut self, spec: &TransportSpec, seq: u64, at: Time) {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.on_drop(part, seq, at),)*
                    _ => mismatch(()),
                }
            }
            /// See [`SendingEnd::take_moved`].
            pub fn take_moved(&mut self) -> Option<Time> {
                match self { $(Self::$name(m) => m.take_moved()),* }
            }
            /// See [`SendingEnd::waits_for_idle`].
            pub fn waits_for_idle(&self, spec: &TransportSpec) -> Option<u8> {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.waits_for_idle(part),)*
                    _ => mismatch(None),
                }
            }
            /// See [`SendingEnd::poll_idle`].
            pub fn poll_idle(
                &mut self,
                spec: &TransportSpec,
                now: Time,
                packet: &mut Packet,
                side: &mut Side,
            ) -> Transmit {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.poll_idle(part, now, packet, side),)*
                    _ => mismatch(Transmit::Idle),
                }
            }
            /// See [`SendingEnd::takes_back`].
            pub fn takes_back(&self, spec: &TransportSpec) -> Option<u8> {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.takes_back(part),)*
                    _ => mismatch(None),
                }
            }
            /// See [`SendingEnd::remaining`].
            #[inline]
            pub fn remaining(&self) -> u64 {
                match self { $(Self::$name(m) => m.remaining()),* }
            }
            /// See [`SendingEnd::hand_over`].
            pub fn hand_over(&self) -> Option<HandOver> {
                match self { $(Self::$name(m) => m.hand_over()),* }
            }
            /// See [`SendingEnd::take_over`].
            pub fn take_over(&mut self, before: HandOver) {
                match self { $(Self::$name(m) => m.take_over(before)),* }
            }
            /// See [`SendingEnd::append`].
            pub fn append(&mut self, spec: &TransportSpec, now: Time, bytes: u64) -> Option<u64> {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.append(part, now, bytes),)*
                    _ => mismatch(None),
                }
            }
            /// See [`SendingEnd::progress`].
            #[inline]
            pub fn progress(&self) -> Progress {
                match self { $(Self::$name(m) => m.progress()),* }
            }
        }

        impl Receiver {
            /// See [`ReceivingEnd::resize`].
            pub fn resize(&mut self, size: u64) {
                match self { $(Self::$name(m) => m.resize(size)),* }
            }
            /// See [`ReceivingEnd::received`].
            pub fn received(&self) -> u64 {
                match self { $(Self::$name(m) => m.received()),* }
            }
            /// See [`ReceivingEnd::holds`].
            pub fn holds(&self, seq: u64, len: u32) -> bool {
                match self { $(Self::$name(m) => m.holds(seq, len)),* }
            }
            /// See [`ReceivingEnd::unique_bytes`].
            pub fn unique_bytes(&self) -> u64 {
                match self { $(Self::$name(m) => m.unique_bytes()),* }
            }
        }
    };
    (@end $end:ident $($name:ident)*) => {
        impl $end {
            /// See [`Endpoint::on_packet`].
            #[inline]
            pub fn on_packet(
                &mut self,
                spec: &TransportSpec,
                now: Time,
                packet: &Packet,
                side: Option<&Side>,
            ) -> Heard {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.on_packet(part, now, packet, side),)*
                    _ => mismatch(Heard::default()),
                }
            }
            /// See [`Endpoint::on_timer`].
            #[inline]
            pub fn on_timer(&mut self, spec: &TransportSpec, now: Time) -> Expiry {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.on_timer(part, now),)*
                    _ => mismatch(Expiry::Other),
                }
            }
            /// See [`Endpoint::poll_transmit`].
            #[inline]
            pub fn poll_transmit(
                &mut self,
                spec: &TransportSpec,
                now: Time,
                packet: &mut Packet,
                side: &mut Side,
            ) -> Transmit {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.poll_transmit(part, now, packet, side),)*
                    _ => mismatch(Transmit::Idle),
                }
            }
            /// See [`Endpoint::drain`].
            #[inline(always)]
            pub fn drain(
                &mut self,
                spec: &TransportSpec,
                now: Time,
                (packet, side): (&mut Packet, &mut Side),
                out: impl FnMut(&mut Packet, &mut Side),
            ) -> Standing {
                match (self, spec) {
                    $((Self::$name(m), TransportSpec::$name(part)) => m.drain(part, now, (packet, side), out),)*
                    _ => mismatch(Standing { wake: Time::MAX, done: false }),
                }
            }
            /// See [`Endpoint::standing`].
            #[inline]
            pub fn standing(&self, paced: Time) -> Standing {
                match self { $(Self::$name(m) => m.standing(paced)),* }
            }
            /// See [`Endpoint::timer`].
            #[inline]
            pub fn timer(&self) -> Option<Time> {
                match self { $(Self::$name(m) => m.timer()),* }
            }
            /// See [`Endpoint::is_done`].
            #[inline(always)]
            pub fn is_done(&self) -> bool {
                match self { $(Self::$name(m) => m.is_done()),* }
            }
        }
    };
}
pub(super) use transports;

/// A machine met the parameters of another kind: the owner's bug, and then nothing happens.
#[cold]
pub(super) fn mismatch<T>(nothing: T) -> T {
    debug_assert!(false, "a transport was called with another one's parameters");
    nothing
}
