//! What follows from the list of orders.

/// `module: Name, "key in scenarios";` for each, with its documentation. The first line is the default.
macro_rules! orders {
    (@first $name:ident $($others:ident)*) => { Self::$name };
    ($($(#[$meta:meta])* $module:ident: $name:ident, $key:literal;)*) => {
        /// How a host hands packets to its link.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum NicOrder {
            $($(#[$meta])* #[serde(rename = $key)] $name,)*
        }

        impl Default for NicOrder {
            fn default() -> Self {
                $crate::nic::list::orders!(@first $($name)*)
            }
        }

        impl NicOrder {
            /// All of them.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$name),*]
            }

            /// See [`Order::NEEDS`].
            pub fn needs(self) -> Needs {
                match self { $(Self::$name => <$module::$name as Order>::NEEDS),* }
            }

            /// The link pulls packets from flows; flows do not push them.
            pub fn pulls(self) -> bool {
                self.needs().pulls
            }

            /// See [`Order::pick`].
            #[inline]
            pub fn pick(self, flows: &impl Waiting) -> usize {
                match self { $(Self::$name => <$module::$name as Order>::pick(flows)),* }
            }
        }
    };
}
pub(super) use orders;
