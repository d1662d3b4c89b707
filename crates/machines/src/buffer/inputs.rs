//! A switch's memory by the input at which packets came, and priority flow control on top of it (IEEE 802.1Qbb).
//!
//! Two ways to hold packets: every input has memory of its own (an input-queued switch), or all share one (with the
//! reserve, the dynamic threshold and the headroom of the HPCC authors' simulator, or plain static thresholds). With flow
//! control an input whose bytes cross XOFF asks its upstream neighbour to stop, and below XON to go on; what is on its way
//! meanwhile goes to the headroom. Who transmits the frames, and when, is the owner's affair.

use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

/// The memory of a switch, as data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputSpec {
    /// Who holds what.
    pub memory: InputMemory,
    /// Priority flow control.
    pub pfc: Option<PfcSpec>,
    /// A packet gives its memory back as its transmission begins, not as it ends.
    pub release_at_start: bool,
}

/// Who holds what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputMemory {
    /// Every input may hold so many bytes, whatever the others do.
    PerInput(Bytes),
    /// All inputs of a switch together.
    Shared(Bytes),
}

/// Priority flow control, one lossless class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PfcSpec {
    /// When an input asks for a pause, and for its end.
    pub threshold: PfcThreshold,
    /// Bytes of each input, beyond the threshold, for what arrives before a pause takes effect.
    pub headroom: Bytes,
    /// A pause frame on the wire.
    pub frame_wire: u32,
    /// A pause expires after so many quanta of 512 bit times unless it is refreshed; `None`: it lasts until the permission to
    /// go on.
    pub quanta: Option<u16>,
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

/// What an input tells its upstream neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Pause {
    /// Stop after the packet being transmitted.
    Off,
    /// Go on.
    On,
}

/// One input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Bytes stored, headroom included.
    pub bytes: u64,
    /// Of these, in the headroom (dynamic threshold only: with a static one the headroom is what lies above it).
    pub headroom: u64,
    /// The last thing it told its neighbour was to stop.
    pub paused: bool,
}

/// The memory of one switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    spec: InputSpec,
    inputs: Vec<Input>,
    /// Bytes in the shared memory beyond reserves and outside headrooms (dynamic), or in all (static).
    used: u64,
    /// What the dynamic threshold shares out.
    pool: u64,
    /// Inputs whose neighbour is paused.
    pausing: u32,
}

impl Inputs {
    /// The empty memory of a switch with so many inputs.
    ///
    /// # Errors
    /// If reserves and headrooms do not fit, or XON is above XOFF.
    pub fn new(spec: InputSpec, inputs: usize) -> Result<Self, String> {
        let mut pool = match spec.memory {
            InputMemory::PerInput(_) => 0,
            InputMemory::Shared(total) => total.get(),
        };
        match spec.pfc {
            Some(PfcSpec { threshold: PfcThreshold::Dynamic { alpha, reserve, .. }, headroom, .. }) => {
                if alpha.is_nan() || alpha <= 0.0 {
                    return Err(format!("the threshold's alpha must be above zero, not {alpha}"));
                }
                let InputMemory::Shared(total) = spec.memory else {
                    return Err("a dynamic threshold needs shared memory".into());
                };
                let aside = u128::from(reserve.get()) + u128::from(headroom.get());
                let aside = aside.saturating_mul(inputs as u128);
                let left = u64::try_from(aside).ok().and_then(|aside| total.get().checked_sub(aside));
                pool = left.ok_or_else(|| {
                    format!("{inputs} inputs set {aside} B aside, and the memory has {} B", total.get())
                })?;
            }
            Some(PfcSpec { threshold: PfcThreshold::Static { xoff, xon }, .. }) if xon > xoff => {
                return Err(format!("XON ({} B) is above XOFF ({} B)", xon.get(), xoff.get()));
            }
            _ => {}
        }
        Ok(Self { spec, inputs: vec![Input::default(); inputs], used: 0, pool, pausing: 0 })
    }

    /// The inputs.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Which memory this is.
    pub fn spec(&self) -> &InputSpec {
        &self.spec
    }

    /// Bytes in the shared memory, beyond reserves and outside headrooms if the threshold is dynamic; 0: none is shared.
    #[inline]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// What [`Inputs::used`] may come to; 0: none is shared.
    pub fn pool(&self) -> u64 {
        self.pool
    }

    /// Some input's neighbour is paused: every departure matters at once.
    #[inline]
    pub fn is_pausing(&self) -> bool {
        self.pausing > 0
    }

    /// Nothing happens if `wire` bytes join the input now, even if some of what is counted here has left already: no drop,
    /// no frame.
    #[inline]
    pub fn is_quiet(&self, input: usize, wire: u32) -> bool {
        let after = self.inputs[input].bytes + u64::from(wire);
        if self.pausing > 0 {
            return false;
        }
        match (&self.spec.pfc, self.spec.memory) {
            (None, InputMemory::PerInput(limit)) => after <= limit.get(),
            (None, InputMemory::Shared(_)) => self.used + u64::from(wire) <= self.pool,
            (
                Some(PfcSpec { threshold: PfcThreshold::Static { xoff, .. }, .. }),
                InputMemory::PerInput(limit),
            ) => after <= xoff.get() && after <= limit.get(),
            (Some(PfcSpec { threshold: PfcThreshold::Static { xoff, .. }, .. }), InputMemory::Shared(_)) => {
                after <= xoff.get() && self.used + u64::from(wire) <= self.pool
            }
            (Some(PfcSpec { threshold: PfcThreshold::Dynamic { alpha, reserve, .. }, .. }), _) => {
                let more = after.saturating_sub(reserve.get());
                let used = self.used + u64::from(wire);
                used <= self.pool && more < (alpha * (self.pool - used) as f64) as u64
            }
        }
    }

    /// A packet of `wire` bytes arrives at an input: false if it must be dropped, else it is stored.
    pub fn take(&mut self, input: usize, wire: u32) -> bool {
        let wire = u64::from(wire);
        let after = self.inputs[input].bytes + wire;
        match (self.spec.pfc, self.spec.memory) {
            (_, InputMemory::PerInput(limit)) if after > limit.get() => return false,
            (_, InputMemory::PerInput(_)) => {}
            (Some(PfcSpec { threshold: PfcThreshold::Dynamic { reserve, .. }, headroom, .. }), _) => {
                let threshold = self.threshold();
                let at = &mut self.inputs[input];
                let shared = (at.bytes - at.headroom).saturating_sub(reserve.get());
                let more = (at.bytes - at.headroom + wire).saturating_sub(reserve.get());
                // A packet that would exceed the threshold goes to the headroom as a whole; with alpha above 1, so does one
                // that is within it and for which there is no memory left.
                if more > threshold || self.used + (more - shared) > self.pool {
                    if at.headroom + wire > headroom.get() {
                        return false;
                    }
                    at.headroom += wire;
                } else {
                    self.used += more - shared;
                }
            }
            (pfc, InputMemory::Shared(total)) => {
                if self.used + wire > total.get() {
                    return false;
                }
                if let Some(PfcSpec { threshold: PfcThreshold::Static { xoff, .. }, headroom, .. }) = pfc
                    && after > xoff.get() + headroom.get()
                {
                    return false;
                }
                self.used += wire;
            }
        }
        self.inputs[input].bytes = after;
        true
    }

    /// A packet has left the switch.
    #[inline]
    pub fn release(&mut self, input: usize, wire: u32) {
        let wire = u64::from(wire);
        let at = &mut self.inputs[input];
        debug_assert!(at.bytes >= wire, "more released than taken");
        match (self.spec.pfc, self.spec.memory) {
            (Some(PfcSpec { threshold: PfcThreshold::Dynamic { reserve, .. }, .. }), _) => {
                let from_headroom = wire.min(at.headroom);
                let before = (at.bytes - at.headroom).saturating_sub(reserve.get());
                at.headroom -= from_headroom;
                at.bytes -= wire;
                let after = (at.bytes - at.headroom).saturating_sub(reserve.get());
                self.used -= before - after;
            }
            (_, InputMemory::Shared(_)) => {
                at.bytes -= wire;
                self.used -= wire;
            }
            (_, InputMemory::PerInput(_)) => at.bytes -= wire,
        }
    }

    /// After [`Inputs::take`]: must the input's neighbour stop? True once, until it may go on.
    #[inline]
    pub fn asks_pause(&mut self, input: usize) -> bool {
        let Some(pfc) = self.spec.pfc else { return false };
        let at = &self.inputs[input];
        let asks = !at.paused
            && match pfc.threshold {
                PfcThreshold::Static { xoff, .. } => at.bytes > xoff.get(),
                PfcThreshold::Dynamic { reserve, .. } => {
                    at.headroom > 0 || at.bytes.saturating_sub(reserve.get()) >= self.threshold()
                }
            };
        if asks {
            self.inputs[input].paused = true;
            self.pausing += 1;
        }
        asks
    }

    /// After [`Inputs::release`]: may the input's neighbour go on? True once, until it must stop.
    #[inline]
    pub fn asks_resume(&mut self, input: usize) -> bool {
        let Some(pfc) = self.spec.pfc else { return false };
        let at = &self.inputs[input];
        let asks = at.paused
            && match pfc.threshold {
                PfcThreshold::Static { xon, .. } => at.bytes <= xon.get(),
                PfcThreshold::Dynamic { reserve, hysteresis, .. } => {
                    let shared = at.bytes.saturating_sub(reserve.get());
                    at.headroom == 0 && (shared == 0 || shared + hysteresis.get() <= self.threshold())
                }
            };
        if asks {
            self.inputs[input].paused = false;
            self.pausing -= 1;
        }
        asks
    }

    /// Bytes of an input that must be stuck for its neighbour never to go on.
    pub fn stuck_above(&self) -> u64 {
        match self.spec.pfc.map(|pfc| pfc.threshold) {
            Some(PfcThreshold::Static { xon, .. }) => xon.get(),
            Some(PfcThreshold::Dynamic { reserve, .. }) => reserve.get(),
            None => u64::MAX,
        }
    }

    /// The dynamic threshold as it stands.
    fn threshold(&self) -> u64 {
        match self.spec.pfc {
            Some(PfcSpec { threshold: PfcThreshold::Dynamic { alpha, .. }, .. }) => {
                (alpha * self.pool.saturating_sub(self.used) as f64) as u64
            }
            _ => u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests;
