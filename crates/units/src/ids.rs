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
id! { /// A computation: position in the scenario's list of them.
WorkId }
id! { /// A host: hosts are the nodes `0 .. hosts`.
HostId }
id! { /// A node: hosts first, then switches.
NodeId }
id! { /// A duplex link: position in the topology's link list.
LinkId }
id! { /// One direction of a link with the output queue that feeds it: link `l` from `a` to `b` is
/// port `2l`, from `b` to `a` port `2l + 1`.
PortId }

impl PortId {
    /// The other direction of the same link.
    ///
    /// ```
    /// # use thalweg_units::PortId;
    /// assert_eq!(PortId(6).reverse(), PortId(7));
    /// assert_eq!(PortId(7).reverse(), PortId(6));
    /// ```
    #[inline(always)]
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// The link that it is a direction of.
    ///
    /// ```
    /// # use thalweg_units::{LinkId, PortId};
    /// assert_eq!([PortId(6), PortId(7)].map(PortId::link), [LinkId(3); 2]);
    /// ```
    #[inline(always)]
    pub const fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }
}
