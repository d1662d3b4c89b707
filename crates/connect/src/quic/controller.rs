//! The adapter as a controller of quinn-proto. It is shared under a lock, because the connection owns one handle and
//! the driver another.

use super::clock;
use super::{Adapter, BELOW, Error};
use crate::{Datapath, Make, Sender};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerMetrics};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;
use thalweg_machines::Invalid;
use thalweg_units::Span;

/// quinn-proto does not pace windows above `u32::MAX`.
const UNPACED: u64 = 1 << 40;

/// The controller of a path, which is made when the first round trip is known.
enum Phase<C> {
    Handshake {
        newest: Option<Instant>,
    },
    Open(Adapter<C>),
    /// It could not be made; the window stays as it is.
    Failed(Invalid),
}

/// The state that a connection and its driver share.
pub(super) struct Core<M: Make> {
    make: M,
    sender: Sender,
    number: u32,
    epoch: Instant,
    mtu: u32,
    header: u32,
    phase: Phase<M::Controller>,
}

impl<M: Make> Core<M> {
    /// The adapter, once the connection is open.
    pub(super) fn adapter(&mut self) -> Option<&mut Adapter<M::Controller>> {
        if let Phase::Open(adapter) = &mut self.phase { Some(adapter) } else { None }
    }

    /// When the connection began.
    pub(super) fn epoch(&self) -> Instant {
        self.epoch
    }

    /// Why there is no controller.
    pub(super) fn failure(&self) -> Option<&Invalid> {
        if let Phase::Failed(invalid) = &self.phase { Some(invalid) } else { None }
    }

    fn initial_window(&self) -> u64 {
        u64::from(self.sender.initial_window) * u64::from(self.mtu)
    }

    fn open(&mut self, now: Instant, rtt: Span, in_flight: u64) {
        let start = self.sender.start(self.number, self.mtu, self.header, rtt);
        let mut needs = self.make.needs();
        if self.sender.records {
            needs.calls = needs.calls.and_sent();
        }
        self.phase = match self.make.make(&start) {
            Ok(controller) => {
                let opened = (clock::time(self.epoch, now), rtt);
                let packet = (self.mtu, self.header);
                Phase::Open(Adapter::open(controller, &needs, packet, opened, in_flight))
            }
            Err(invalid) => Phase::Failed(invalid),
        };
    }
}

/// The window that is reported to quinn-proto.
pub(super) trait Window: Send + Sync + 'static {
    /// The window of an open connection.
    fn of<C: thalweg_machines::congestion::CongestionControl>(adapter: &Adapter<C>) -> u64;
}

/// The controller's window: quinn paces by itself.
pub(super) struct Plain;

impl Window for Plain {
    fn of<C: thalweg_machines::congestion::CongestionControl>(adapter: &Adapter<C>) -> u64 {
        adapter.window().get()
    }
}

/// A window so large that quinn-proto does not pace, as long as there is room for a packet: the driver paces.
pub(super) struct Driven;

impl Window for Driven {
    fn of<C: thalweg_machines::congestion::CongestionControl>(adapter: &Adapter<C>) -> u64 {
        if adapter.has_room() { UNPACED } else { adapter.window().get() }
    }
}

/// A handle on a [`Core`].
pub(super) struct Shared<M: Make, W> {
    core: Arc<Mutex<Core<M>>>,
    window: PhantomData<W>,
}

impl<M: Make, W> Clone for Shared<M, W> {
    fn clone(&self) -> Self {
        Self { core: Arc::clone(&self.core), window: PhantomData }
    }
}

impl<M: Make, W: Window> Shared<M, W> {
    fn new(make: M, sender: Sender, (number, header): (u32, u32), now: Instant, mtu: u16) -> Self {
        let phase = Phase::Handshake { newest: None };
        let core = Core { make, sender, number, epoch: now, mtu: u32::from(mtu), header, phase };
        Self { core: Arc::new(Mutex::new(core)), window: PhantomData }
    }

    /// Locks the core. (A panic of another holder of the lock has already ended that holder.)
    pub(super) fn lock(&self) -> MutexGuard<'_, Core<M>> {
        self.core.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<M: Make, W: Window> congestion::Controller for Shared<M, W> {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        let mut core = self.lock();
        let at = clock::time(core.epoch, now);
        if let Some(adapter) = core.adapter() {
            adapter.on_sent(at, bytes);
        }
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, _: &RttEstimator) {
        let mut core = self.lock();
        let (at, left) = (clock::time(core.epoch, now), clock::time(core.epoch, sent));
        match &mut core.phase {
            Phase::Open(adapter) => adapter.on_acked(at, left, bytes, app_limited),
            Phase::Handshake { newest } => *newest = (*newest).max(Some(sent)),
            Phase::Failed(_) => {}
        }
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        let mut core = self.lock();
        let at = clock::time(core.epoch, now);
        match &mut core.phase {
            Phase::Open(adapter) => adapter.on_end_acks(at, in_flight, app_limited),
            Phase::Handshake { newest: Some(sent) } => {
                let rtt = clock::span(now.saturating_duration_since(*sent));
                core.open(now, rtt, in_flight);
            }
            Phase::Handshake { newest: None } | Phase::Failed(_) => {}
        }
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        let mut core = self.lock();
        let (at, left) = (clock::time(core.epoch, now), clock::time(core.epoch, sent));
        if let Some(adapter) = core.adapter() {
            adapter.on_congestion(at, left, persistent, lost);
        }
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        let mut core = self.lock();
        core.mtu = u32::from(mtu);
        if let Some(adapter) = core.adapter() {
            adapter.on_mtu(mtu);
        }
    }

    fn window(&self) -> u64 {
        let core = self.lock();
        match &core.phase {
            Phase::Open(adapter) => W::of(adapter),
            Phase::Handshake { .. } | Phase::Failed(_) => core.initial_window(),
        }
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        if let Some(adapter) = self.lock().adapter() {
            let threshold = thalweg_machines::congestion::CongestionControl::threshold(adapter.controller());
            metrics.congestion_window = adapter.window().get();
            metrics.ssthresh = Some(threshold.get()).filter(|bytes| *bytes < u64::MAX);
            metrics.pacing_rate = adapter.pace().map(thalweg_units::Rate::bps);
        }
        metrics
    }

    /// Another handle on the same core: a peer that moves keeps its controller. (RFC 9000 §9.4 allows this if only the
    /// port changes; quinn-proto would ask for a new one.)
    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.lock().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Refuses controllers with needs that the datapath does not meet, and invalid parameters, before anything is sent.
pub(super) fn check<M: Make>(make: &M, sender: &Sender, datapath: Datapath) -> Result<(), Error> {
    datapath.check(&make.name(), &make.needs())?;
    make.make(&sender.start(0, 1200, BELOW, Span::from_ms(1)))?;
    Ok(())
}

/// Makes controllers of this project for connections of `quinn`, as `TransportConfig::congestion_controller_factory`.
///
/// Only controllers without pacing rates and timers are accepted: quinn's pacer spreads a window over a round trip, and
/// quinn has no timer for controllers.
///
/// ```
/// use std::sync::Arc;
/// use thalweg_connect::{Sender, quic::QuinnFactory};
/// use thalweg_machines::congestion::ControllerSpec;
///
/// let mut transport = quinn_proto::TransportConfig::default(); // quinn::TransportConfig is the same
/// let cubic = QuinnFactory::new(ControllerSpec::cubic(), Sender::default())?;
/// transport.congestion_controller_factory(Arc::new(cubic));
///
/// let refused = QuinnFactory::new(ControllerSpec::bbr(), Sender::default()).unwrap_err();
/// assert!(refused.to_string().starts_with("quinn cannot run `bbr`, which needs its pace to be kept"));
/// # Ok::<(), thalweg_connect::quic::Error>(())
/// ```
#[derive(Debug)]
pub struct QuinnFactory<M> {
    make: M,
    sender: Sender,
    made: AtomicU32,
}

impl<M: Make> QuinnFactory<M> {
    /// Controllers that `make` makes, with those settings.
    ///
    /// # Errors
    /// If quinn does not meet their needs, or their parameters are invalid.
    pub fn new(make: M, sender: Sender) -> Result<Self, Error> {
        check(&make, &sender, Datapath::QUINN)?;
        Ok(Self { make, sender, made: AtomicU32::new(0) })
    }
}

impl<M: Make> congestion::ControllerFactory for QuinnFactory<M> {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn congestion::Controller> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        Box::new(Shared::<M, Plain>::new(self.make.clone(), self.sender, (number, BELOW), now, mtu))
    }
}

/// The same for this crate's driver, which needs the handle of the newest path.
pub(super) struct DrivenFactory<M: Make> {
    make: M,
    sender: Sender,
    header: u32,
    made: Mutex<Option<Shared<M, Driven>>>,
}

impl<M: Make> DrivenFactory<M> {
    pub(super) fn new(make: M, sender: Sender, header: u32) -> Self {
        Self { make, sender, header, made: Mutex::new(None) }
    }

    /// The controller of the connection's current path.
    pub(super) fn newest(&self) -> Option<Shared<M, Driven>> {
        self.made.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }
}

impl<M: Make> congestion::ControllerFactory for DrivenFactory<M> {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn congestion::Controller> {
        let made = Shared::new(self.make.clone(), self.sender, (0, self.header), now, mtu);
        *self.made.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(made.clone());
        Box::new(made)
    }
}
