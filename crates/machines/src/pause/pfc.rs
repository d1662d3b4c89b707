//! Priority flow control (IEEE 802.1Qbb): an input whose bytes cross XOFF sends its upstream neighbour a
//! request to stop, and at XON one to go on. The bytes of all classes are counted together, so all classes
//! stop.

use super::{Claims, Effects, Held, Parameters, Passing, PausePolicy, Reach, Site, smallest_frame};
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time, tagged};
use thalweg_wire::{Classes, Frame};

/// Priority flow control (IEEE 802.1Qbb): an input that fills up pauses its upstream neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// When an input requests a pause, and its end.
    #[serde(default)]
    pub threshold: Threshold,
    /// Headroom of each input, in bytes, for what arrives before a pause takes effect. If not given, just enough: what
    /// the largest link holds in both directions, three full packets and a frame (more where the reverse direction of a
    /// link is slower). Less is refused unless `lossy_ok`.
    #[schemars(extend("x-quantity" = "room"))]
    pub headroom: Option<Bytes>,
    /// Allows a headroom that is too small, so that packets may be lost.
    #[serde(default)]
    pub lossy_ok: bool,
    /// Size of a pause frame on the wire.
    #[serde(default = "smallest_frame")]
    pub frame: Bytes,
    /// Pause time in quanta of 512 bit times: a pause expires after it, and is requested again when half of it is over.
    /// If not given, a pause lasts until a frame ends it.
    // CHOICE IRN §4.3.1: no quanta, as in the simulators compared with; a lost frame then stops a port until
    // the next comes.
    #[schemars(range(min = 1, max = 65_535), extend("examples" = [65_535]))]
    pub quanta: Option<u16>,
}

tagged! {
    /// When an input requests a pause, and its end.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[schemars(extend("x-default-kind" = "static"))]
    pub enum Threshold {
        /// Fixed thresholds.
        Static {
            /// XOFF: an input that holds more requests a pause. If not given, `inputs.memory` less the headroom.
            #[schemars(extend("x-quantity" = "room"))]
            xoff: Option<Bytes>,
            /// XON: the pause ends when the input holds this or less. If not given, as `xoff`.
            #[schemars(extend("x-quantity" = "room"))]
            xon: Option<Bytes>,
        },
        /// Dynamic threshold: a multiple of the free shared memory (the HPCC authors' simulator, SIGCOMM 2019). Needs
        /// `inputs.shared`.
        // An input's first `reserve` bytes do not count. Pause at the threshold or with anything in the headroom.
        Dynamic {
            /// α: the threshold as a multiple of the free shared memory.
            #[serde(default = "an_eighth")]
            #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1_000_000.0))]
            alpha: f64,
            /// Bytes set aside for each input.
            #[serde(default = "reserve")]
            reserve: Bytes,
            /// The pause ends when the input is this far below the threshold and its headroom is empty.
            // (Or holding nothing of the shared memory.)
            #[serde(default = "hysteresis")]
            hysteresis: Bytes,
        },
    }
}

// The HPCC repository's switch-mmu.
fn an_eighth() -> f64 {
    0.125
}
fn reserve() -> Bytes {
    Bytes::new(4096)
}
fn hysteresis() -> Bytes {
    Bytes::new(3072)
}

impl Default for Threshold {
    fn default() -> Self {
        Self::Static { xoff: None, xon: None }
    }
}

impl Default for Params {
    fn default() -> Self {
        let threshold = Threshold::default();
        Self { threshold, headroom: None, lossy_ok: false, frame: smallest_frame(), quanta: None }
    }
}

impl Params {
    /// XOFF, XON and headroom of so many bytes.
    pub fn fixed(xoff: u64, xon: u64, headroom: u64) -> Self {
        let threshold = Threshold::Static { xoff: Some(Bytes::new(xoff)), xon: Some(Bytes::new(xon)) };
        Self { threshold, headroom: Some(Bytes::new(headroom)), ..Self::default() }
    }

    /// An impossible threshold of inputs that request a pause.
    fn check_threshold(&self, at: &Site, headroom: Bytes, problems: &mut Problems) {
        match self.threshold {
            Threshold::Static { xoff: None, .. } => {
                let hint = "for example `threshold = { kind = \"static\", xoff = \"100KB\" }`, or the kind \"dynamic\"";
                problems.wrong(
                    "",
                    "shared memory says nothing about the length at which an input pauses",
                    hint,
                );
            }
            Threshold::Static { xoff: Some(xoff), .. } if xoff.get() == 0 => {
                let reason = match at.memory {
                    Some(m) if m <= headroom => {
                        format!("the memory of an input, {m}, is not above its headroom, {headroom}")
                    }
                    _ => "a pause from the first byte on never ends".to_owned(),
                };
                problems.wrong("threshold.xoff", reason, "raise it, or `switch.inputs.memory`");
            }
            Threshold::Static { xoff: Some(xoff), xon } => {
                if let Some(xon) = xon.filter(|xon| *xon > xoff) {
                    problems.wrong(
                        "threshold.xon",
                        format!("XON, {xon}, is above XOFF, {xoff}"),
                        "swap them",
                    );
                }
                let each = xoff.get().saturating_add(headroom.get());
                if let Some(memory) = at.memory.filter(|memory| memory.get() < each) {
                    let (xoff, headroom) = (xoff.get(), headroom.get());
                    let reason = format!(
                        "XOFF, {xoff} B, and headroom, {headroom} B, are {each} B, the memory of an input is {memory}"
                    );
                    let most = match memory.get().saturating_sub(headroom) {
                        0 => String::new(),
                        most => format!("at most \"{most}B\", or "),
                    };
                    let hint = format!("{most}`switch.inputs.memory` at least \"{each}B\"");
                    problems.wrong("threshold.xoff", reason, hint);
                }
            }
            Threshold::Dynamic { alpha, .. } if alpha.is_nan() || alpha <= 0.0 => {
                problems.wrong("threshold.alpha", format!("{alpha} is out of range"), "allowed: above 0");
            }
            Threshold::Dynamic { .. } => {
                if at.shared.is_none() {
                    let reason = "a dynamic threshold is a fraction of shared memory, and there is none";
                    problems.wrong("threshold", reason, "write `switch.inputs = { shared = \"9MB\" }`");
                }
            }
        }
    }
}

impl Parameters for Params {
    type Machine = Pfc;

    /// What lies above XOFF is headroom; without memory of its own an input has no XOFF that follows from anything.
    fn settle(&mut self, at: &Site) {
        let headroom = *self.headroom.get_or_insert(at.headroom(self.frame).bytes());
        if let Threshold::Static { xoff, xon } = &mut self.threshold {
            *xoff = xoff.or(at.memory.map(|m| Bytes::new(m.get().saturating_sub(headroom.get()))));
            *xon = xon.or(*xoff);
        }
    }

    fn check(&self, at: &Site, problems: &mut Problems) {
        let needed = at.headroom(self.frame);
        // Half of the quanta, 32 B each at the rate of the port that is paused, against what a refresh may have to
        // wait for, and itself.
        let waits = at.meanwhile(self.frame);
        if let Some(quanta) = self.quanta.filter(|quanta| u64::from(*quanta) * 32 < waits) {
            let reason = format!(
                "a pause of {quanta} quanta may expire before its refresh has left, behind a packet of {} B",
                at.packet
            );
            problems.wrong("quanta", reason, format!("at least {}", waits.div_ceil(32)));
        }
        let (headroom, enough) = (self.headroom.unwrap_or_default(), needed.bytes());
        if self.lossy_ok && headroom >= enough {
            let why = format!("the headroom, {headroom}, is enough");
            let hint = format!("remove the key, or write less than \"{}B\"", enough.get());
            problems.useless("lossy_ok", &why, hint);
        }
        if headroom < enough && !self.lossy_ok {
            let reason =
                format!("{headroom} is less than what may arrive after a pause was requested: {needed}");
            let hint = format!(
                "at least \"{}B\", or remove the key; losses that are meant: `lossy_ok = true`",
                enough.get()
            );
            problems.wrong("headroom", reason, hint);
        }
        self.check_threshold(at, headroom, problems);
    }

    fn effects(&self) -> Effects {
        let headroom = self.headroom.unwrap_or_default().get();
        let claims = match self.threshold {
            Threshold::Static { xoff, xon } => {
                let (xoff, xon) = (xoff.unwrap_or_default().get(), xon.unwrap_or_default().get());
                Claims::Static { xoff, xon, headroom }
            }
            Threshold::Dynamic { alpha, reserve, .. } => {
                Claims::Dynamic { alpha, reserve: reserve.get(), headroom }
            }
        };
        let reach = Reach::Ports { quanta: self.quanta };
        Effects { frame: self.frame, reach, claims, lossless: !self.lossy_ok }
    }

    fn make(&self, inputs: usize) -> Result<Pfc, Invalid> {
        Pfc::new(self, inputs)
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let xoff = |xoff, xon| Threshold::Static { xoff: Some(Bytes::new(xoff)), xon: Some(Bytes::new(xon)) };
        let dynamic =
            Threshold::Dynamic { alpha: 0.5, reserve: Bytes::new(500), hysteresis: Bytes::new(300) };
        let with = |threshold| Self { threshold, headroom: Some(Bytes::new(5000)), ..Self::default() };
        vec![with(xoff(3000, 2000)), with(xoff(3000, 3000)), with(dynamic)]
    }
}

/// What an input is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Thresholds {
    /// Stop above the first, go on at the second or less.
    Static { xoff: u64, xon: u64 },
    /// Stop at the memory's threshold or with anything in the headroom; go on once the headroom is empty and
    /// the input is `hysteresis` below the threshold, or holds nothing of the shared memory.
    Dynamic { reserve: u64, hysteresis: u64 },
}

/// The policy of one switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pfc {
    thresholds: Thresholds,
    /// Inputs whose neighbour is paused.
    paused: Vec<bool>,
    pausing: u32,
}

impl Pfc {
    /// A switch with so many inputs, none of which is paused.
    ///
    /// # Errors
    /// If XON is above XOFF, or alpha is not above zero.
    pub fn new(spec: &Params, inputs: usize) -> Result<Self, Invalid> {
        let thresholds = match spec.threshold {
            Threshold::Static { xoff: Some(xoff), xon: Some(xon) } if xon <= xoff => {
                Thresholds::Static { xoff: xoff.get(), xon: xon.get() }
            }
            Threshold::Static { xoff: Some(xoff), xon: Some(xon) } => {
                let why = format!("XON ({} B) is above XOFF ({} B)", xon.get(), xoff.get());
                return Err(Invalid::new(why).at("threshold.xon"));
            }
            Threshold::Static { .. } => {
                return Err(Invalid::new("XOFF or XON is not known").at("threshold"));
            }
            Threshold::Dynamic { alpha, reserve, hysteresis } if alpha > 0.0 => {
                Thresholds::Dynamic { reserve: reserve.get(), hysteresis: hysteresis.get() }
            }
            Threshold::Dynamic { alpha, .. } => {
                let why = format!("the threshold's alpha must be above zero, not {alpha}");
                return Err(Invalid::new(why).at("threshold.alpha"));
            }
        };
        Ok(Self { thresholds, paused: vec![false; inputs], pausing: 0 })
    }
}

impl PausePolicy for Pfc {
    /// Sends XOFF once, until the input resumes.
    #[inline]
    fn on_taken(&mut self, _: Time, Passing { input, .. }: Passing<'_>, held: Held) -> Option<Frame> {
        let stops = !self.paused[input]
            && match self.thresholds {
                Thresholds::Static { xoff, .. } => held.bytes > xoff,
                Thresholds::Dynamic { reserve, .. } => {
                    held.headroom > 0 || held.bytes.saturating_sub(reserve) >= held.threshold
                }
            };
        if !stops {
            return None;
        }
        self.paused[input] = true;
        self.pausing += 1;
        Some(Frame::Xoff { classes: Classes::ALL, hold: None })
    }

    /// Sends XON once, until the input pauses again.
    #[inline]
    fn on_released(&mut self, _: Time, input: usize, held: Held) -> Option<Frame> {
        if !self.paused[input] || !self.resumes(held) {
            return None;
        }
        self.paused[input] = false;
        self.pausing -= 1;
        Some(Frame::Xon { classes: Classes::ALL })
    }

    #[inline]
    fn resumes(&self, held: Held) -> bool {
        match self.thresholds {
            Thresholds::Static { xon, .. } => held.bytes <= xon,
            Thresholds::Dynamic { reserve, hysteresis } => {
                let shared = held.bytes.saturating_sub(reserve);
                held.headroom == 0 && (shared == 0 || shared + hysteresis <= held.threshold)
            }
        }
    }

    #[inline]
    fn has_paused(&self, input: usize) -> bool {
        self.paused[input]
    }
    #[inline]
    fn is_pausing(&self) -> bool {
        self.pausing > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_wire::Packet;

    fn taken(p: &mut Pfc, input: usize, held: Held) -> Option<Frame> {
        p.on_taken(Time::ZERO, Passing { input, output: 1, packet: &Packet::default() }, held)
    }
    fn released(p: &mut Pfc, input: usize, held: Held) -> Option<Frame> {
        p.on_released(Time::ZERO, input, held)
    }

    const XOFF: Option<Frame> = Some(Frame::Xoff { classes: Classes::ALL, hold: None });
    const XON: Option<Frame> = Some(Frame::Xon { classes: Classes::ALL });

    fn pfc(threshold: Threshold) -> Result<Pfc, Invalid> {
        Pfc::new(&Params { threshold, headroom: Some(Bytes::new(100)), ..Params::default() }, 2)
    }
    fn fixed(xoff: u64, xon: u64) -> Threshold {
        Threshold::Static { xoff: Some(Bytes::new(xoff)), xon: Some(Bytes::new(xon)) }
    }
    fn held(bytes: u64, headroom: u64, threshold: u64) -> Held {
        Held { bytes, headroom, threshold }
    }

    #[test]
    fn an_input_sends_xoff_once_above_xoff_and_xon_once_at_xon() {
        let mut p = pfc(fixed(1000, 800)).unwrap();
        let at = |bytes| held(bytes, 0, u64::MAX);
        assert_eq!(
            [taken(&mut p, 0, at(1000)), taken(&mut p, 0, at(1001)), taken(&mut p, 0, at(1100))],
            [None, XOFF, None]
        );
        assert!(p.is_pausing() && p.has_paused(0) && !p.has_paused(1));
        assert_eq!(
            [released(&mut p, 0, at(801)), released(&mut p, 0, at(800)), released(&mut p, 0, at(0))],
            [None, XON, None]
        );
        assert!(!p.is_pausing());
    }

    #[test]
    fn under_a_dynamic_threshold_the_headroom_pauses_and_must_be_empty_first() {
        let (reserve, hysteresis) = (Bytes::new(100), Bytes::new(50));
        let mut p = pfc(Threshold::Dynamic { alpha: 1.0, reserve, hysteresis }).unwrap();
        assert_eq!(taken(&mut p, 0, held(599, 0, 500)), None);
        assert_eq!(taken(&mut p, 0, held(600, 0, 500)), XOFF);
        assert_eq!(taken(&mut p, 1, held(300, 1, 500)), XOFF);
        assert_eq!([released(&mut p, 1, held(90, 1, 0)), released(&mut p, 1, held(90, 0, 0))], [None, XON]);
        assert_eq!(
            [released(&mut p, 0, held(551, 0, 500)), released(&mut p, 0, held(550, 0, 500))],
            [None, XON]
        );
    }

    #[test]
    fn nonsense_is_refused_with_its_value() {
        assert!(pfc(fixed(7, 8)).unwrap_err().to_string().contains("XON (8 B) is above XOFF (7 B)"));
        let (reserve, hysteresis) = (Bytes::new(0), Bytes::new(0));
        assert!(
            pfc(Threshold::Dynamic { alpha: 0.0, reserve, hysteresis })
                .unwrap_err()
                .to_string()
                .contains("not 0")
        );
    }
}
