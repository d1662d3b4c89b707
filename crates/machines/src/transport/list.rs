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

        dispatch! {
            impl TransportSpec over [$($name)*] {
                /// See [`Protocol::wire`].
                pub fn wire(&self) -> Wire;
                /// See [`Protocol::controller`].
                pub fn controller(&self) -> Option<&ControllerSpec>;
                /// See [`Protocol::needs`].
                pub fn needs(&self) -> PathNeeds;
                /// See [`Protocol::sees_receiver`].
                pub fn sees_receiver(&self) -> bool;
                /// See [`Protocol::streams`].
                pub fn streams(&self) -> bool;
                /// See [`Protocol::start`].
                pub fn start(&self, line_rate: Rate, base_rtt: Span, time_quantum: Span) -> Start;
                /// See [`Protocol::sender`].
                ///
                /// # Errors
                /// If a parameter is out of range; the message names it.
                pub fn sender as sender(
                    &self,
                    flow: FlowId,
                    size: u64,
                    start: &Start,
                    stream: Stream,
                ) -> Result<Sender, Invalid>;
                /// See [`Protocol::receiver`].
                pub fn receiver as receiver(&self, flow: FlowId, size: u64, stream: Stream) -> Receiver;
            }
        }

        list::transports! { @end Sender [$($name)*] }
        list::transports! { @end Receiver [$($name)*] }

        dispatch! {
            impl Sender over [$($name)*] {
                /// See [`SendingEnd::start`].
                pub fn start(&mut self, [spec: &TransportSpec], now: Time);
                /// See [`SendingEnd::stop`].
                pub fn stop(&mut self, [spec: &TransportSpec], now: Time) -> u64;
                /// See [`SendingEnd::stats`].
                pub fn stats(&self) -> SenderStats;
                /// See [`SendingEnd::report`].
                pub fn report(&self, report: &mut Report);
                /// See [`SendingEnd::take_log`].
                pub fn take_log(&mut self) -> Option<Log>;
                /// See [`SendingEnd::interval`].
                pub fn interval(&self) -> Option<&Interval>;
                /// See [`SendingEnd::on_decision`].
                pub fn on_decision(&mut self, now: Time, decided: Permit);
                /// See [`SendingEnd::next_departure`].
                pub fn next_departure(&self) -> Option<Time>;
                /// See [`SendingEnd::predict_idle`].
                #[inline]
                pub fn predict_idle(&self, [spec: &TransportSpec], at: Time) -> Option<Transmit>;
                /// See [`SendingEnd::claim_turn`].
                pub fn claim_turn(&mut self, [spec: &TransportSpec]) -> bool;
                /// See [`SendingEnd::on_contending`].
                pub fn on_contending(&mut self, others: usize);
                /// See [`SendingEnd::on_drop`].
                pub fn on_drop(&mut self, [spec: &TransportSpec], seq: u64, at: Time);
                /// See [`SendingEnd::take_rescheduled`].
                pub fn take_rescheduled(&mut self) -> Option<Time>;
                /// See [`SendingEnd::waits_for_idle`].
                pub fn waits_for_idle(&self, [spec: &TransportSpec]) -> Option<u8>;
                /// See [`SendingEnd::poll_idle`].
                pub fn poll_idle(
                    &mut self,
                    [spec: &TransportSpec],
                    now: Time,
                    packet: &mut Packet,
                    side: &mut Side,
                ) -> Transmit;
                /// See [`SendingEnd::discards_from_class`].
                pub fn discards_from_class(&self, [spec: &TransportSpec]) -> Option<u8>;
                /// See [`SendingEnd::remaining`].
                #[inline]
                pub fn remaining(&self) -> u64;
                /// See [`SendingEnd::hand_over`].
                pub fn hand_over(&self) -> Option<HandOver>;
                /// See [`SendingEnd::take_over`].
                pub fn take_over(&mut self, before: HandOver);
                /// See [`SendingEnd::append`].
                pub fn append(&mut self, [spec: &TransportSpec], now: Time, bytes: u64) -> Option<u64>;
                /// See [`SendingEnd::progress`].
                #[inline]
                pub fn progress(&self) -> Progress;
            }
        }

        dispatch! {
            impl Receiver over [$($name)*] {
                /// See [`ReceivingEnd::resize`].
                pub fn resize(&mut self, size: u64);
                /// See [`ReceivingEnd::received`].
                pub fn received(&self) -> u64;
                /// See [`ReceivingEnd::holds`].
                pub fn holds(&self, seq: u64, len: u32) -> bool;
                /// See [`ReceivingEnd::unique_bytes`].
                pub fn unique_bytes(&self) -> u64;
            }
        }
    };
    (@end $end:ident $names:tt) => {
        dispatch! {
            impl $end over $names {
                /// See [`Endpoint::on_packet`].
                #[inline]
                pub fn on_packet(
                    &mut self,
                    [spec: &TransportSpec],
                    now: Time,
                    packet: &Packet,
                    side: Option<&Side>,
                ) -> Reception;
                /// See [`Endpoint::on_timer`].
                #[inline]
                pub fn on_timer(&mut self, [spec: &TransportSpec], now: Time) -> Expiry;
                /// See [`Endpoint::poll_transmit`].
                #[inline]
                pub fn poll_transmit(
                    &mut self,
                    [spec: &TransportSpec],
                    now: Time,
                    packet: &mut Packet,
                    side: &mut Side,
                ) -> Transmit;
                /// See [`Endpoint::drain`].
                #[inline(always)]
                pub fn drain(
                    &mut self,
                    [spec: &TransportSpec],
                    now: Time,
                    room: (&mut Packet, &mut Side),
                    out: impl FnMut(&mut Packet, &mut Side),
                ) -> Drained;
                /// See [`Endpoint::after_drain`].
                #[inline]
                pub fn after_drain(&self, paced: Time) -> Drained;
                /// See [`Endpoint::timer`].
                #[inline]
                pub fn timer(&self) -> Option<Time>;
                /// See [`Endpoint::is_done`].
                #[inline(always)]
                pub fn is_done(&self) -> bool;
            }
        }
    };
}
pub(super) use transports;
