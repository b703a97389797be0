//! Closed sets of words that are written to the cluster as strings.

/// An enum whose members are written as they are named. Objects may carry words of others, so reading one gives an option.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$member_about:meta])* $member:ident),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$member_about])* $member),+
        }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$member),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$member => stringify!($member)),+
                }
            }

            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;
