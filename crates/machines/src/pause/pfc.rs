//! Priority flow control (IEEE 802.1Qbb): an input whose bytes cross XOFF asks its upstream neighbour to stop, and at XON to go
//! on. The bytes of all classes are counted together, so all classes stop.

use super::{Classes, Frame, Held, Passing, PausePolicy};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};

/// Parameters of [`Pfc`], and of the memory that stands beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PfcSpec {
    /// When an input asks for a pause, and for its end.
    pub threshold: PfcThreshold,
    /// Bytes of each input, beyond the threshold, for what arrives before a pause takes effect.
    pub headroom: Bytes,
    /// A pause frame on the wire.
    pub frame_wire: u32,
    /// A pause expires after so many quanta of 512 bit times unless it is refreshed; `None`: it lasts until XON.
    pub quanta: Option<u16>,
    /// Less headroom than it takes is meant: packets may be lost all the same.
    pub lossy_ok: bool,
}

/// When an input asks for a pause, and for its end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PfcThreshold {
    /// Pause above `xoff`, go on at `xon` or less.
    Static {
        /// Bytes.
        xoff: Bytes,
        /// Bytes, at most `xoff`.
        xon: Bytes,
    },
    /// The threshold is `alpha` × what is free of the shared memory; an input's first `reserve` bytes do not count.
    /// Pause at the threshold or with anything in the headroom; go on once the headroom is empty and the input is
    /// `hysteresis` below the threshold, or holds nothing of the shared memory.
    Dynamic {
        /// 1/8 in the HPCC authors' simulator.
        alpha: f64,
        /// Bytes set aside for each input.
        reserve: Bytes,
        /// Bytes.
        hysteresis: Bytes,
    },
}

/// The policy of one switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pfc {
    threshold: PfcThreshold,
    /// Inputs whose neighbour is paused.
    paused: Vec<bool>,
    pausing: u32,
}

impl Pfc {
    /// A switch with so many inputs, none of which is paused.
    ///
    /// # Errors
    /// If XON is above XOFF, or alpha is not above zero.
    pub fn new(spec: &PfcSpec, inputs: usize) -> Result<Self, String> {
        match spec.threshold {
            PfcThreshold::Static { xoff, xon } if xon > xoff => {
                return Err(format!("XON ({} B) is above XOFF ({} B)", xon.get(), xoff.get()));
            }
            PfcThreshold::Dynamic { alpha, .. } if alpha.is_nan() || alpha <= 0.0 => {
                return Err(format!("the threshold's alpha must be above zero, not {alpha}"));
            }
            _ => {}
        }
        Ok(Self { threshold: spec.threshold, paused: vec![false; inputs], pausing: 0 })
    }
}

impl PausePolicy for Pfc {
    /// XOFF once, until the input may go on.
    #[inline]
    fn on_taken(&mut self, _: Time, Passing { input, .. }: Passing<'_>, held: Held) -> Option<Frame> {
        let stops = !self.paused[input]
            && match self.threshold {
                PfcThreshold::Static { xoff, .. } => held.bytes > xoff.get(),
                PfcThreshold::Dynamic { reserve, .. } => {
                    held.headroom > 0 || held.bytes.saturating_sub(reserve.get()) >= held.threshold
                }
            };
        if !stops {
            return None;
        }
        self.paused[input] = true;
        self.pausing += 1;
        Some(Frame::Xoff { classes: Classes::ALL, hold: None })
    }

    /// XON once, until the input must stop.
    #[inline]
    fn on_released(&mut self, _: Time, input: usize, held: Held) -> Option<Frame> {
        let resumes = self.paused[input]
            && match self.threshold {
                PfcThreshold::Static { xon, .. } => held.bytes <= xon.get(),
                PfcThreshold::Dynamic { reserve, hysteresis, .. } => {
                    let shared = held.bytes.saturating_sub(reserve.get());
                    held.headroom == 0 && (shared == 0 || shared + hysteresis.get() <= held.threshold)
                }
            };
        if !resumes {
            return None;
        }
        self.paused[input] = false;
        self.pausing -= 1;
        Some(Frame::Xon { classes: Classes::ALL })
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
    use crate::packet::Packet;

    fn taken(p: &mut Pfc, input: usize, held: Held) -> Option<Frame> {
        p.on_taken(Time::ZERO, Passing { input, output: 1, packet: &Packet::default() }, held)
    }
    fn released(p: &mut Pfc, input: usize, held: Held) -> Option<Frame> {
        p.on_released(Time::ZERO, input, held)
    }

    const XOFF: Option<Frame> = Some(Frame::Xoff { classes: Classes::ALL, hold: None });
    const XON: Option<Frame> = Some(Frame::Xon { classes: Classes::ALL });

    fn pfc(threshold: PfcThreshold) -> Result<Pfc, String> {
        Pfc::new(
            &PfcSpec { threshold, headroom: Bytes::new(100), frame_wire: 64, quanta: None, lossy_ok: false },
            2,
        )
    }
    fn held(bytes: u64, headroom: u64, threshold: u64) -> Held {
        Held { bytes, headroom, threshold }
    }

    #[test]
    fn an_input_stops_above_xoff_and_goes_on_at_xon_and_says_each_once() {
        let mut p = pfc(PfcThreshold::Static { xoff: Bytes::new(1000), xon: Bytes::new(800) }).unwrap();
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
        let mut p = pfc(PfcThreshold::Dynamic { alpha: 1.0, reserve, hysteresis }).unwrap();
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
        let xon_above = PfcThreshold::Static { xoff: Bytes::new(7), xon: Bytes::new(8) };
        assert!(pfc(xon_above).unwrap_err().contains("XON (8 B) is above XOFF (7 B)"));
        let (reserve, hysteresis) = (Bytes::new(0), Bytes::new(0));
        assert!(
            pfc(PfcThreshold::Dynamic { alpha: 0.0, reserve, hysteresis }).unwrap_err().contains("not 0")
        );
    }
}
