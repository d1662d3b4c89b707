//! The one list of transmitters: dispatch and construction come from it.

use super::{
    Batched, BatchedSpec, Fixed, FixedSpec, Load, Stepped, SteppedSpec, Traced, TracedSpec, Transmission,
    Transmitter, Unused,
};
use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Stream, Time, dispatch};

macro_rules! transmitters {
    ($stream:ident; $($name:ident($spec:ty), $summary:literal, $given:ident => $make:expr;)*) => {
        /// The parameters of any transmitter.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum TransmitterSpec {
            $(#[doc = $summary] $name($spec),)*
        }

        $(impl From<$spec> for TransmitterSpec {
            fn from(spec: $spec) -> Self {
                Self::$name(spec)
            }
        })*

        /// Any transmitter, statically dispatched.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum TransmitterMachine {
            $(#[doc = $summary] $name($name),)*
        }

        impl TransmitterSpec {
            /// The transmitter; `stream` is what chance draws from.
            ///
            /// # Errors
            /// If a parameter is out of range, with its value.
            #[allow(unused_variables)]
            pub fn make(&self, $stream: Stream) -> Result<TransmitterMachine, Invalid> {
                match self {
                    $(Self::$name($given) => $make.map(TransmitterMachine::$name),)*
                }
            }

            /// It sends at delivery opportunities, and reports those that passed unused
            /// ([`Transmitter::take_unused`]).
            pub fn has_opportunities(&self) -> bool {
                matches!(self, Self::Traced(_))
            }

            /// Packets leave in batches, each acknowledged as a whole.
            pub fn has_batches(&self) -> bool {
                matches!(self, Self::Batched(_))
            }

            /// How many there are, and its number among them: so that a test can require every one.
            #[cfg(test)]
            pub(super) fn number(&self) -> (usize, usize) {
                let names = [$(stringify!($name)),*];
                let name = match self { $(Self::$name(_) => stringify!($name)),* };
                (names.len(), names.iter().position(|n| *n == name).expect("one of them"))
            }
        }

        dispatch! {
            impl TransmitterSpec over [$($name)*] {
                /// What it carries in the long run, bits per second: the rate for everything that needs one
                /// number (line rate, base round trips, ideal completion times). For links of a fixed rate that
                /// number is exact.
                pub fn mean_rate(&self) -> Rate;
                /// The most that it ever carries, bits per second: what a host may hand over.
                pub fn peak_rate(&self) -> Rate;
                /// What could have left by an instant, if something had always waited.
                pub fn offered(&self, until: Time) -> Bytes;
            }
        }

        dispatch! {
            impl Transmitter for TransmitterMachine over [$($name)*] {
                #[inline]
                fn opens(&self, now: Time) -> Time;
                #[inline]
                fn batch(&self) -> u32;
                #[inline]
                fn one_user(&self) -> bool;
                #[inline]
                fn send(&mut self, now: Time, load: Load) -> Time;
                #[inline]
                fn rate(&self, now: Time) -> Rate;
                #[inline]
                fn take_unused(&mut self, before: Time) -> Option<Unused>;
                fn remaining(&self, now: Time, last: &Transmission) -> u64;
            }
        }
    };
}

transmitters! { stream;
    Fixed(FixedSpec), "A fixed rate", spec => Fixed::new(*spec);
    Stepped(SteppedSpec), "A rate that changes at known instants", spec => Stepped::new(spec.clone());
    Traced(TracedSpec), "Delivery opportunities of a recorded cellular link", spec => Traced::new(spec.clone());
    Batched(Box<BatchedSpec>), "Batches with an overhead: a Wi-Fi access point", spec => Batched::new((**spec).clone(), stream);
}

// (Boxed: every link of a network has two of these.)
impl From<BatchedSpec> for TransmitterSpec {
    fn from(spec: BatchedSpec) -> Self {
        Self::Batched(Box::new(spec))
    }
}

const _: () = assert!(size_of::<TransmitterSpec>() <= 48);
