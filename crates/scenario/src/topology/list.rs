//! Generated from the list of families.

/// `module: Name, "key in scenarios";` for each.
macro_rules! topologies {
    ($($module:ident: $name:ident, $key:literal;)*) => {
        $(pub use $module::$name;)*

        /// The shapes.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum Shape {
            $(#[allow(missing_docs)] #[serde(rename = $key)] $name($name),)*
        }

        dispatch! {
            impl Family for Shape over [$($name)*] {
                fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic>;
                fn delays(&mut self) -> Option<Delays<'_>>;
                fn resolve(&mut self);
                fn file(&self) -> Option<&str>;
            }
        }
    };
}
pub(super) use topologies;
