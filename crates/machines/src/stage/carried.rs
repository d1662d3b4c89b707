//! What packets carry from hop to hop for schedulers: dynamic packet state (Stoica & Zhang, "Providing Guaranteed
//! Services Without Per Flow Management", SIGCOMM 1999), as universal packet scheduling uses it.
//!
//! Mittal, Agarwal, Ratnasamy, Shenker, "Universal Packet Scheduling", NSDI 2016, §5: least slack time first
//! is a push-in first-out queue between an ingress stage, which turns the slack in the header into a key that
//! does not change while the packet waits, and an egress stage, which turns it back into what slack is left
//! as transmission begins. Network-wide EDF and the omniscient timetable fit the same two stages, around any
//! order of service.

use thalweg_units::{Span, Time};
use thalweg_wire::{Handle, Packet};

/// The two stages around the queue of a switch's port. Between them [`Packet::rank`] is the key, outside the header.
pub trait Carry {
    /// A packet comes to the port: writes its key. `to_exit` is the least time from here until its last bit
    /// has reached its host.
    fn on_arrival(&mut self, now: Time, packet: &mut Packet, handle: Handle, to_exit: impl FnOnce() -> Span);

    /// Its transmission begins: writes what it carries on.
    fn on_departure(&mut self, now: Time, packet: &mut Packet, to_exit: impl FnOnce() -> Span);

    /// Both at a port that does not sort, where a packet that comes `now` is known to begin its transmission
    /// at `begins`.
    fn on_booking(&mut self, now: Time, begins: Time, packet: &mut Packet, handle: Handle);

    /// A packet enters the network with a list of priorities, one for every switch port of its path.
    fn on_entry(&mut self, _handle: Handle, _priorities: impl ExactSizeIterator<Item = i64>) {}
}

/// `module: Name` for each.
macro_rules! carried {
    ($($(#[$doc:meta])* $module:ident: $name:ident;)*) => {
        $(pub use $module::$name;)*

        /// What packets carry from hop to hop for schedulers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
        pub enum CarriedSpec {
            /// Nothing: the rank header is as its sender wrote it.
            #[default]
            Nothing,
            $($(#[$doc])* $name,)*
        }

        /// The stages of a network, statically dispatched.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Carried {
            /// None.
            Nothing,
            $($(#[$doc])* $name($module::$name),)*
        }

        impl CarriedSpec {
            /// The stages of a network whose paths have at most so many ports.
            pub fn make(self, longest_path: usize) -> Carried {
                match self {
                    Self::Nothing => Carried::Nothing,
                    $(Self::$name => Carried::$name($module::$name::new(longest_path)),)*
                }
            }
        }

        impl Carry for Carried {
            #[inline]
            fn on_arrival(
                &mut self,
                now: Time,
                packet: &mut Packet,
                handle: Handle,
                to_exit: impl FnOnce() -> Span,
            ) {
                match self {
                    Self::Nothing => {}
                    $(Self::$name(stage) => stage.on_arrival(now, packet, handle, to_exit),)*
                }
            }
            #[inline]
            fn on_departure(&mut self, now: Time, packet: &mut Packet, to_exit: impl FnOnce() -> Span) {
                match self {
                    Self::Nothing => {}
                    $(Self::$name(stage) => stage.on_departure(now, packet, to_exit),)*
                }
            }
            #[inline]
            fn on_booking(&mut self, now: Time, begins: Time, packet: &mut Packet, handle: Handle) {
                match self {
                    Self::Nothing => {}
                    $(Self::$name(stage) => stage.on_booking(now, begins, packet, handle),)*
                }
            }
            fn on_entry(&mut self, handle: Handle, priorities: impl ExactSizeIterator<Item = i64>) {
                match self {
                    Self::Nothing => {}
                    $(Self::$name(stage) => stage.on_entry(handle, priorities),)*
                }
            }
        }
    };
}
pub(super) use carried;
