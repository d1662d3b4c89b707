//! What follows from the list of families.

/// `module: Name, "key in scenarios";` for each.
macro_rules! topologies {
    ($($module:ident: $name:ident, $key:literal;)*) => {
        $(mod $module;
        pub use $module::$name;)*

        /// The shapes.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum Shape {
            $(#[allow(missing_docs)] #[serde(rename = $key)] $name($name),)*
        }

        impl Family for Shape {
            fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic> {
                match self { $(Self::$name(family) => family.build(cx)),* }
            }
            fn delays(&mut self) -> Option<Delays<'_>> {
                match self { $(Self::$name(family) => family.delays()),* }
            }
            fn resolve(&mut self) {
                match self { $(Self::$name(family) => family.resolve()),* }
            }
            fn file(&self) -> Option<&str> {
                match self { $(Self::$name(family) => family.file()),* }
            }
        }
    };
}
pub(super) use topologies;
