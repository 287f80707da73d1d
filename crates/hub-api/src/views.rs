//! The views that people keep: addresses of pages, each with a name.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::limits::{VIEW_ADDRESS_CHARACTERS_MAX, VIEW_NAME_CHARACTERS_MAX};

/// The views of the caller: the favourites first, then by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Views {
    /// The views.
    pub items: Vec<KeptView>,
}

/// A view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeptView {
    /// Its name.
    #[schema(example = "Failures of the night")]
    pub name: String,
    /// The path and the query of the page.
    #[schema(example = "/deployments?environment=prod&status=failed")]
    pub address: String,
    /// Whether each page links to it.
    pub favourite: bool,
}

/// What a view is replaced by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ViewContent {
    /// The path and the query of the page. It begins with a single `/`, and is not below `/api/`. Other characters than those of ASCII are encoded.
    #[schema(example = "/deployments?environment=prod&status=failed")]
    pub address: String,
    /// Whether each page links to it.
    #[serde(default)]
    pub favourite: bool,
}

/// Why a text can't be the name of a view. None: it can.
pub fn name_problem(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() || [".", ".."].contains(&name) {
        Some("is empty, or has only dots or spaces")
    } else if name.chars().count() > VIEW_NAME_CHARACTERS_MAX {
        Some("has more than 100 characters")
    } else if name.chars().any(char::is_control) {
        Some("has control characters")
    } else {
        None
    }
}

/// Why a text can't be the address of a view. None: it can, and a browser that follows it stays at the hub. A browser takes `//` and `/\` for the beginning
/// of another host, and ignores tabs and line breaks.
pub fn address_problem(address: &str) -> Option<&'static str> {
    if !address.starts_with('/') || address.starts_with("//") {
        Some("does not begin with a single `/`")
    } else if address.starts_with("/api/") {
        Some("is a route of the API, not a page")
    } else if address.len() > VIEW_ADDRESS_CHARACTERS_MAX {
        Some("has more than 2000 characters")
    } else if !address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
        Some("has spaces, backslashes, or characters that are not encoded")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_texts_of_a_limited_length() {
        for name in ["a", "Ausfälle der Nacht", "a/b?c", &"ü".repeat(VIEW_NAME_CHARACTERS_MAX)] {
            assert_eq!(name_problem(name), None, "{name}");
        }
        for name in ["", " ", ".", "..", "a\nb", "a\0", &"a".repeat(VIEW_NAME_CHARACTERS_MAX + 1)] {
            assert!(name_problem(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn addresses_are_pages_of_the_hub() {
        let longest = format!("/{}", "a".repeat(VIEW_ADDRESS_CHARACTERS_MAX - 1));
        for address in ["/", "/drift?at=2026-11-01T00:00:00Z&workload=a%2Fb", "/a//b", "/apis", &longest] {
            assert_eq!(address_problem(address), None, "{address}");
        }
        for address in
            ["", "a", "//evil.example", "/\\evil.example", "/\t/evil.example", "/a b", "/ü", "/api/v1/tokens"]
        {
            assert!(address_problem(address).is_some(), "{address:?}");
        }
        for address in ["https://evil.example", "javascript:alert(1)", &format!("{longest}a")] {
            assert!(address_problem(address).is_some(), "{address:?}");
        }
    }
}
