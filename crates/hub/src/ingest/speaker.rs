//! The hosts that a token speaks for. [`crate::ingest`] decides which of its reports count.

/// A token of one host, or of several hosts, with its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Speaker {
    /// The name of the token.
    pub(crate) token: String,
    /// Whether several hosts share the token.
    pub(crate) is_shared: bool,
    /// The prefixes of the endpoints that the token names. Empty: none.
    pub(crate) places: Vec<String>,
    /// The environments that the token is limited to. Empty: all.
    pub(crate) environments: Vec<String>,
}

impl Speaker {
    /// Whether the token names an endpoint, or a folder above it.
    pub(crate) fn has_place(&self, endpoint: &str) -> bool {
        self.places.iter().any(|prefix| is_below(endpoint, prefix))
    }

    /// Whether the environments of the token contain this one. A place without an environment is in none.
    pub(crate) fn has_environment(&self, name: Option<&str>) -> bool {
        self.environments.is_empty() || name.is_some_and(|name| self.environments.iter().any(|own| own == name))
    }

    /// Whether the token names neither places nor environments.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.places.is_empty() && self.environments.is_empty()
    }
}

/// Whether an endpoint is equal to a prefix, or is below it: the next character is a slash.
pub(crate) fn is_below(endpoint: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    endpoint.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
