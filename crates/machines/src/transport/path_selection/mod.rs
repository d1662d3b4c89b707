//! Path selection: which value a sender writes into the next packet for switches to hash
//! ([`crate::route::entropy`]), and what it learns from those that come back.
//!
//! A value names a path without saying which: packets of a flow that carry the same value take the same path, as long
//! as the network does not change. Receivers return the value in ACKs and NACKs, with what became of its packet
//! ([`PathFeedback`]). One [`PathSelector`] per flow; nothing is kept per path. The sender requests a value for every
//! data packet, retransmissions too, and passes on one feedback for every ACK or NACK that carries a value: one per
//! ACK, not one per packet that it covers.
//!
//! ```text
//! CHOICE UET: Ultra Ethernet leaves the algorithm to the NIC. The kinds are those of the consortium's simulator
//! (ultraethernet/uet-htsim: oblivious, bitmap, reps, reps-legacy, mixed, ecmp) and the baselines of REPS (Bonato et
//! al., EuroSys 2026: random, plb, subflows, mprdma).
//! CHOICE UET: values run from 0 to `values` less one. There, the upper bits of the 16 are random and fixed for a
//! flow; switches here hash the flow besides the value, which does the same.
//! CHOICE UET: a timeout names the value of the packet that timed out. There it does not, and value 0 is charged.
//! ```

mod declare;

// One file each of the list below.
pub mod bitmap;
pub mod ecmp;
pub mod mixed;
pub mod mprdma;
pub mod oblivious;
pub mod plb;
pub mod random;
pub mod reps;
pub mod reps_legacy;
pub mod subflows;

pub use declare::{Choice, Parameters};

use crate::kinds::kinds;
use crate::problems::{Problem, Problems};
use thalweg_units::{Stream, Time};

// The one list. Each kind has a file of its own, which declares its `Params` ([`Parameters`]).
kinds! {
    /// How senders choose the values that switches hash.
    pub enum PathSelectionSpec;
    /// What one flow knows of its paths, statically dispatched.
    #[derive(PartialEq)]
    pub enum PathSelector {
        reps: Reps(reps::Reps), "reps";
        random: Random(random::Random), "random";
        oblivious: Oblivious(oblivious::Sequence), "oblivious";
        ecmp: Ecmp(ecmp::Ecmp), "ecmp";
        bitmap: Bitmap(bitmap::Bitmap), "bitmap";
        mixed: Mixed(Box<mixed::Mixed>), "mixed";
        reps_legacy: RepsLegacy(Box<reps_legacy::RepsLegacy>), "reps-legacy";
        plb: Plb(plb::Plb), "plb";
        subflows: Subflows(subflows::Subflows), "subflows";
        mprdma: Mprdma(mprdma::Mprdma), "mprdma";
    }

    impl PathSelectionSpec {
        /// See [`Parameters::values`].
        pub fn values(&self) -> u32;
        /// See [`Parameters::check`].
        pub fn check(&self, problems: &mut Problems);
        /// The paths of one flow, from parameters that were checked; `stream` is its own.
        pub fn make as make(&self, stream: Stream) -> PathSelector;
    }

    impl PathSelector {
        /// The value of the next packet, at `now`; `window`: packets that the sender may have in the network.
        #[inline]
        pub fn next(&mut self, [spec: &PathSelectionSpec], now: Time, window: u64) -> u32;
        /// An ACK or a NACK has come that names a value.
        #[inline]
        pub fn on_feedback(&mut self, [spec: &PathSelectionSpec], now: Time, value: u32, what: PathFeedback);
        /// A packet has timed out that carried this value. The longest of the round trips before, of the sender's last
        /// two retry times, took `delay` times the shortest: where switches drop, one that is long is a sign that there
        /// was no room, a short one that the path is broken.
        pub fn on_timeout(&mut self, [spec: &PathSelectionSpec], now: Time, value: u32, delay: f64);
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFeedback {
    /// It arrived unmarked; or it was trimmed, unmarked, on the last hop, which no other value avoids.
    Good,
    /// It arrived marked, or was trimmed on the last hop after it had been marked.
    Marked,
    /// It was trimmed elsewhere.
    Trimmed,
}

impl PathSelectionSpec {
    /// What is impossible, or cannot take effect.
    pub fn problems(&self) -> Vec<Problem> {
        Problems::found(|problems| {
            if self.values() < 2 {
                let reason = format!("{} values leave no choice", self.values());
                problems.wrong("values", reason, "allowed: 2 to 4294967295");
            }
            self.check(problems);
        })
    }
}

#[cfg(test)]
mod balls;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod tests;
