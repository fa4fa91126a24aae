//! Closed choices: enums that are read from, shown as and stored as their words.

/// An enum of plain choices that is read from, shown as and stored as its words.
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident($field:literal) {
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal $(| $alias:literal)*,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum $name { $($(#[$variant_meta])* $variant,)+ }

        impl $name {
            /// All choices, in the order in which help texts list them.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $($name::$variant => $word,)+ })
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::error::ConfigError;

            fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
                match text {
                    $($word $(| $alias)* => Ok($name::$variant),)+
                    _ => Err($crate::error::ConfigError::Unknown {
                        field: $field,
                        got: text.to_owned(),
                        choices: concat!("one of:" $(, " ", $word)+),
                    }),
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::error::ConfigError;

            fn try_from(text: String) -> std::result::Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(choice: $name) -> String {
                choice.to_string()
            }
        }
    };
}
pub(crate) use choices;
