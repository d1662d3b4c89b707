//! Choices with parameters.

/// An enum that text formats write as a table with a `kind` (`{ kind = "checked", every = "4us" }`) and
/// binary ones by number, as they cannot look ahead for a `kind`. A crate that uses it depends on `serde` and
/// `schemars`.
#[macro_export]
macro_rules! tagged {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])* $variant:ident $({ $($(#[$attribute:meta])* $field:ident: $t:ty),* $(,)? })?),* $(,)?
    }) => {
        #[derive(schemars::JsonSchema)]
        $(#[$meta])*
        #[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
        $vis enum $name {
            $($(#[$doc])* $variant $({ $($(#[$attribute])* $field: $t),* })?),*
        }
        const _: () = {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};
            // (The schema is derived for its attributes to be known.)
            #[derive(Serialize, Deserialize, schemars::JsonSchema)]
            #[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
            enum Text {
                $($variant $({ $($(#[$attribute])* $field: $t),* })?),*
            }
            #[derive(Serialize, Deserialize)]
            enum Binary {
                $($variant $({ $($field: $t),* })?),*
            }
            impl Serialize for $name {
                fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                    if s.is_human_readable() {
                        match self.clone() {
                            $(Self::$variant $({ $($field),* })? => Text::$variant $({ $($field),* })?),*
                        }
                        .serialize(s)
                    } else {
                        match self.clone() {
                            $(Self::$variant $({ $($field),* })? => Binary::$variant $({ $($field),* })?),*
                        }
                        .serialize(s)
                    }
                }
            }
            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                    if d.is_human_readable() {
                        Text::deserialize(d).map(|read| match read {
                            $(Text::$variant $({ $($field),* })? => Self::$variant $({ $($field),* })?),*
                        })
                    } else {
                        Binary::deserialize(d).map(|read| match read {
                            $(Binary::$variant $({ $($field),* })? => Self::$variant $({ $($field),* })?),*
                        })
                    }
                }
            }
        };
    };
}
