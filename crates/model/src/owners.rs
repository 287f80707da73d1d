//! The owners of a place: the people and teams that review its changes.

use std::sync::Arc;

use crate::label::Labels;

/// The annotation that names the owners of the place that an `Environment`, a `BaseRepo` or a `WorkloadRegistration` refers to.
pub const OWNERS: &str = "access.kalypso.io/owners";

/// The owners that an annotation names, in its order. Texts that name no owner are left out.
pub fn from_annotations(annotations: &Labels) -> Vec<Arc<str>> {
    let text = annotations.get(OWNERS).map(|text| &**text).unwrap_or_default();
    let mut owners: Vec<Arc<str>> = Vec::new();
    for word in text.split_whitespace().filter(|word| is_owner(word)) {
        if !owners.iter().any(|known| **known == *word) {
            owners.push(word.into());
        }
    }
    owners
}

/// The first word of a list that names no owner. The empty text if the list has no words.
pub fn first_wrong(text: &str) -> Option<&str> {
    if text.trim().is_empty() {
        return Some("");
    }
    text.split_whitespace().find(|word| !is_owner(word))
}

/// Whether a word names an owner as git hosts write it: `@user`, `@organization/team`, or an e-mail address.
pub fn is_owner(word: &str) -> bool {
    let is_name = |name: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !name.is_empty() && name.chars().all(is_allowed)
    };
    match word.strip_prefix('@') {
        Some(names) => names.split('/').all(is_name),
        None => word.split_once('@').is_some_and(|(name, domain)| {
            let is_local = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
            !name.is_empty() && name.chars().all(is_local) && is_name(domain) && domain.contains('.')
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_users_teams_and_addresses() {
        for word in ["@ann", "@acme/chicago", "@acme/stores/chicago", "ann.smith+k@acme.example"] {
            assert!(is_owner(word), "{word}");
        }
        for word in ["", "@", "ann", "@acme/", "@acme//x", "#ann", "ann@", "@ann!", "a@b", "@a\u{301}nn"] {
            assert!(!is_owner(word), "{word}");
        }
    }

    #[test]
    fn a_list_is_read_in_order_and_wrong_words_are_named() {
        let annotations = Labels::from_iter([(OWNERS, "@b  @a\n@b x")]);
        assert_eq!(from_annotations(&annotations), ["@b".into(), "@a".into()]);
        assert_eq!(first_wrong("@b x"), Some("x"));
        assert_eq!(first_wrong(" "), Some(""));
        assert_eq!(first_wrong("@b @a/c"), None);
    }
}
