//! Keys that all collective operations have.

/// Declares the table of a collective operation: its own keys, followed by those that all of them have. (A shared
/// struct with serde's `flatten` would do the same, but serde does not support `flatten` together with
/// `deny_unknown_fields`.)
macro_rules! collective {
    ($(#[$attribute:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($own)*
            /// Number of times that the operation is carried out.
            #[serde(default = "default::one")]
            #[schemars(range(min = 1, max = 10_000_000))]
            pub iterations: u32,
            /// Computation time between iterations, from the end of one iteration at a host until the host begins the
            /// next.
            #[serde(default = "default::zero")]
            pub compute: Q<Span>,
            /// When the first iteration begins.
            #[serde(default = "default::zero")]
            pub start: Q<Span>,
        }
    };
}
pub(super) use collective;
