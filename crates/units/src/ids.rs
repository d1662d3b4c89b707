//! Typed indices. An id is a position in the table that its name states, nothing else.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// "No such thing": the largest index, which no table reaches.
            pub const NONE: Self = Self(u32::MAX);

            /// The index as a subscript.
            #[inline(always)]
            pub const fn at(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            /// # Panics
            /// If the table has more than 2³² − 1 entries.
            fn from(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 entries"))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! { /// A flow: position in the scenario's flow list, sorted by start.
FlowId }
id! { /// A host: hosts are the nodes `0 .. hosts`.
HostId }
id! { /// A node: hosts first, then switches.
NodeId }
id! { /// A duplex link: position in the topology's link list.
LinkId }
id! { /// One direction of a link with the output queue that feeds it: link `l` from `a` to `b` is
/// port `2l`, from `b` to `a` port `2l + 1`.
PortId }
