//! Generated from the list of families.

/// `module: Name, "key in scenarios";` for each.
macro_rules! families {
    ($($module:ident: $name:ident, $key:literal;)*) => {
        $(pub use $module::$name;)*

        /// Patterns of traffic.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum Pattern {
            $(#[allow(missing_docs)] #[serde(rename = $key)] $name($name),)*
        }

        impl Pattern {
            /// The family.
            pub(crate) fn family(&self) -> &dyn Family {
                match self { $(Self::$name(family) => family),* }
            }
            pub(crate) fn family_mut(&mut self) -> &mut dyn Family {
                match self { $(Self::$name(family) => family),* }
            }
        }
    };
}
pub(super) use families;
