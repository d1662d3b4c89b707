//! Construction and dispatch of agents, generated from the list of agents by the name of the transport.

/// `Name(agent);` for each.
macro_rules! agents {
    ($($(#[$doc:meta])* $name:ident($agent:ty);)*) => {
        /// A host's agent for one transport.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Agent {
            $($(#[$doc])* $name($agent),)*
        }

        impl Agent {
            /// Of a host to which packets come at this rate; `None` if the transport has none.
            pub fn new(spec: &TransportSpec, arrival_rate: Rate) -> Option<Self> {
                match spec {
                    $(TransportSpec::$name(part) => Some(Self::$name(<$agent>::new(part, arrival_rate))),)*
                    _ => None,
                }
            }
            /// The transport has one.
            pub fn serves(spec: &TransportSpec) -> bool {
                matches!(spec, $(TransportSpec::$name(_))|*)
            }
        }

        dispatch! {
            impl Agent over [$($name)*] {
                /// See [`HostAgent::on_start`].
                pub fn on_start(&mut self, [spec: &TransportSpec], now: Time, flow: FlowId, size: u64);
                /// See [`HostAgent::on_over`].
                pub fn on_over(&mut self, [spec: &TransportSpec], now: Time, flow: FlowId, end: End);
                /// See [`HostAgent::on_packet`].
                pub fn on_packet(&mut self, [spec: &TransportSpec], now: Time, came: Came<'_>);
                /// See [`HostAgent::on_timer`].
                pub fn on_timer(&mut self, [spec: &TransportSpec], now: Time);
                /// See [`HostAgent::poll_transmit`].
                pub fn poll_transmit(
                    &mut self,
                    [spec: &TransportSpec],
                    now: Time,
                    packet: &mut Packet,
                    side: &mut Side,
                ) -> Transmit;
                /// See [`HostAgent::timer`].
                pub fn timer(&self, [spec: &TransportSpec]) -> Option<Time>;
                /// See [`HostAgent::holds`].
                pub fn holds(&self, flow: FlowId) -> bool;
                /// See [`HostAgent::rank`].
                pub fn rank(&self, flow: FlowId, left: u64) -> u64;
            }
        }
    };
}
pub(super) use agents;
