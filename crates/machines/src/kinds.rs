//! A choice out of a list of algorithms, each with a file of its own that declares its parameters.

/// Two enums and what is dispatched over them, from a list with a line `module: Name(machine), "key in scenarios";`
/// for each algorithm.
///
/// The first enum is of `module::Params`: its form in files (in text a table with a `kind`, in binary by number, as
/// that cannot look ahead), its JSON Schema, and a constructor with the defaults that is called as the module. The
/// first line is the default. The second enum is of the machines; lines with `around` are machines that no file names,
/// made around another. What follows are `impl`s for either, as `dispatch!` takes them.
macro_rules! kinds {
    (@first $module:ident $($others:ident)*) => { Self::$module() };
    // What is parameters' own, and contracts that machines keep.
    (@dispatch $specs:tt $machines:tt) => {};
    (@dispatch $specs:tt $machines:tt impl $enum:ident { $($methods:tt)* } $($more:tt)*) => {
        thalweg_units::dispatch! { impl $enum over $specs { $($methods)* } }
        crate::kinds::kinds! { @dispatch $specs $machines $($more)* }
    };
    (@dispatch $specs:tt $machines:tt impl $contract:ident for $enum:ident { $($methods:tt)* } $($more:tt)*) => {
        thalweg_units::dispatch! { impl $contract for $enum over $machines { $($methods)* } }
        crate::kinds::kinds! { @dispatch $specs $machines $($more)* }
    };
    (
        $(#[$meta:meta])* pub enum $spec:ident;
        $(#[$machine_meta:meta])* pub enum $machine:ident {
            $($module:ident: $name:ident($type:ty), $key:literal;)*
            $($(#[$around_meta:meta])* around $around:ident($around_type:ty);)*
        }
        $($dispatched:tt)*
    ) => {
        crate::kinds::kinds! { @dispatch [$($name)*] [$($name)* $($around)*] $($dispatched)* }

        $(#[$machine_meta])*
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
        pub enum $machine {
            $(#[allow(missing_docs)] $name($type),)*
            $($(#[$around_meta])* $around($around_type),)*
        }

        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, schemars::JsonSchema)]
        #[serde(tag = "kind")]
        pub enum $spec {
            $(#[allow(missing_docs)] #[serde(rename = $key)] $name($module::Params),)*
        }

        impl $spec {
            /// Every kind with its defaults.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$module()),*]
            }

            /// Its name in scenarios.
            pub fn key(&self) -> &'static str {
                match self { $(Self::$name(_) => $key),* }
            }

            /// What the laws are tried on.
            #[cfg(test)]
            pub(crate) fn variants() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend($module::Params::variants().into_iter().map(Self::$name));)*
                all
            }

            $(#[doc = concat!("`", $key, "` with its defaults.")]
            pub fn $module() -> Self {
                Self::$name(Default::default())
            })*
        }

        impl Default for $spec {
            fn default() -> Self {
                crate::kinds::kinds!(@first $($module)*)
            }
        }

        $(impl From<$module::Params> for $spec {
            fn from(params: $module::Params) -> Self {
                Self::$name(params)
            }
        })*

        const _: () = {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};
            #[derive(Serialize, Deserialize)]
            #[serde(tag = "kind")]
            #[allow(clippy::large_enum_variant)]
            enum Text {
                $(#[serde(rename = $key)] $name($module::Params),)*
            }
            #[derive(Serialize, Deserialize)]
            #[allow(clippy::large_enum_variant)]
            enum Binary {
                $($name($module::Params),)*
            }
            impl Serialize for $spec {
                fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                    if s.is_human_readable() {
                        match self.clone() { $(Self::$name(p) => Text::$name(p)),* }.serialize(s)
                    } else {
                        match self.clone() { $(Self::$name(p) => Binary::$name(p)),* }.serialize(s)
                    }
                }
            }
            impl<'de> Deserialize<'de> for $spec {
                fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                    if d.is_human_readable() {
                        Text::deserialize(d).map(|read| match read { $(Text::$name(p) => Self::$name(p)),* })
                    } else {
                        Binary::deserialize(d).map(|read| match read { $(Binary::$name(p) => Self::$name(p)),* })
                    }
                }
            }
        };
    };
}
pub(crate) use kinds;

#[cfg(test)]
mod tests {
    use serde_json::Value;

    /// Tables in a schema that allow keys which they do not name.
    fn open_tables(schema: &Value, at: &str, open: &mut Vec<String>) {
        match schema {
            Value::Object(table) => {
                let is_closed = ["additionalProperties", "unevaluatedProperties"]
                    .iter()
                    .any(|key| table.contains_key(*key));
                if table.get("properties").is_some_and(|keys| keys.is_object()) && !is_closed {
                    open.push(at.to_owned());
                }
                table.iter().for_each(|(key, value)| open_tables(value, &format!("{at}/{key}"), open));
            }
            Value::Array(items) => {
                for (n, item) in items.iter().enumerate() {
                    let kind = &item["properties"]["kind"]["const"];
                    let name = kind.as_str().map_or_else(|| n.to_string(), str::to_owned);
                    open_tables(item, &format!("{at}/{name}"), open);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn no_table_of_any_kind_takes_a_key_that_it_does_not_name() {
        let mut open = Vec::new();
        macro_rules! look {
            ($($spec:ty),* $(,)?) => {$(
                let schema = schemars::schema_for!($spec);
                open_tables(schema.as_value(), stringify!($spec), &mut open);
            )*};
        }
        look!(
            crate::congestion::ControllerSpec,
            crate::link::TransmitterKind,
            crate::point::PointSpec,
            crate::relief::ReliefSpec,
            crate::route::RouteSpec,
            crate::schedule::OrderSpec,
            crate::sharing::SharingSpec,
            crate::stage::StageSpec,
            crate::transport::PathSelectionSpec,
        );
        assert!(open.is_empty(), "without `deny_unknown_fields`: {open:#?}");
    }

    #[test]
    fn a_key_that_is_not_known_is_refused_as_it_is_read() {
        let read = |text| serde_json::from_str::<crate::route::RouteSpec>(text).map_err(|e| e.to_string());
        assert!(read(r#"{ "kind": "flowlet", "entries": 8 }"#).is_ok());
        let refused = read(r#"{ "kind": "flowlet", "entires": 8 }"#).unwrap_err();
        assert!(refused.contains("entires") && refused.contains("entries"), "{refused}");
    }
}
