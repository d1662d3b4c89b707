//! How controllers of connections are made: once the first round trip is known.

use thalweg_machines::Invalid;
use thalweg_machines::congestion::{CongestionControl, Controller, ControllerSpec, Needs, Start};
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream};

/// Makes the controllers of connections. [`ControllerSpec`] implements it; a recorder around one, or a type of yours,
/// can, too.
pub trait Make: Clone + Send + Sync + 'static {
    /// The type of controller.
    type Controller: CongestionControl + Send + 'static;

    /// Its name, for messages.
    fn name(&self) -> String;
    /// What its controllers need.
    fn needs(&self) -> Needs;
    /// Makes a controller for a connection that starts.
    ///
    /// # Errors
    /// If its parameters are not valid for this connection.
    fn make(&self, start: &Start) -> Result<Self::Controller, Invalid>;
}

impl Make for ControllerSpec {
    type Controller = Controller;

    fn name(&self) -> String {
        match self {
            Self::Custom(user) => user.name.clone(),
            built_in => built_in.key().to_owned(),
        }
    }
    fn needs(&self) -> Needs {
        ControllerSpec::needs(self)
    }
    fn make(&self, start: &Start) -> Result<Controller, Invalid> {
        ControllerSpec::make(self, start)
    }
}

/// Properties of a sender that no connection measures, for controllers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sender {
    /// Largest pacing rate.
    pub line_rate: Rate,
    /// Segments of the first window.
    pub initial_window: u32,
    /// The largest window, in payload bytes.
    pub max_window: Bytes,
    /// Seed of the controllers' random streams.
    pub seed: u64,
    /// True if their decisions are recorded ([`thalweg_machines::congestion::decisions`]).
    pub records: bool,
}

impl Default for Sender {
    /// 10 Gb/s, ten segments (RFC 6928, RFC 9002 §7.2), 1 GB.
    fn default() -> Self {
        Self {
            line_rate: Rate::from_gbps(10),
            initial_window: 10,
            max_window: Bytes::new(1_000_000_000),
            seed: 1,
            records: false,
        }
    }
}

impl Sender {
    /// The start of the controller of connection `number`: segments of `mss` bytes with headers of `header` bytes, and
    /// the first round trip.
    pub fn start(&self, number: u32, mss: u32, header: u32, rtt: Span) -> Start {
        Start {
            stream: Stream::new(self.seed, "controller", u64::from(number)),
            flow: FlowId(number),
            mss,
            header,
            initial_window: Bytes::new(u64::from(self.initial_window) * u64::from(mss)),
            max_window: self.max_window,
            initial_threshold: Bytes::MAX,
            line_rate: self.line_rate,
            base_rtt: rtt,
            records: self.records,
            ..Start::default()
        }
    }
}
