//! The rules of Kubernetes for the keys and values of labels.

/// The longest value of a label, and the longest name in a key, in bytes.
pub const LENGTH_MAX: usize = 63;

/// Checks the key of a label: a name, or a DNS subdomain with a name behind `/`.
///
/// # Errors
/// The broken rule.
pub fn check_key(key: &str) -> Result<(), &'static str> {
    let (prefix, name) = key.rsplit_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    if prefix.is_some_and(|prefix| crate::name::check(prefix).is_err()) {
        return Err("before `/` is a DNS name");
    }
    if name.is_empty() {
        return Err("it is empty");
    }
    check_value(name)
}

/// Checks the value of a label. It may be empty.
///
/// # Errors
/// The broken rule.
pub fn check_value(value: &str) -> Result<(), &'static str> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_edge = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    if value.len() > LENGTH_MAX {
        return Err("it has more than 63 characters");
    }
    if value.chars().all(is_allowed) && is_edge(value.chars().next()) && is_edge(value.chars().last()) {
        Ok(())
    } else {
        Err("only letters, digits, `-`, `_` and `.` can be in it, with letters or digits at both ends")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_follow_the_rules_of_kubernetes() {
        for good in ["region", "a.b/c", "app.kubernetes.io/name", "A_b.c-1"] {
            assert_eq!(check_key(good), Ok(()), "{good}");
        }
        for bad in ["", "a/", "/a", "a b", "-a", "A/b", &"x".repeat(64)] {
            assert!(check_key(bad).is_err(), "{bad}");
        }
        assert_eq!((check_value(""), check_value("West US").is_err()), (Ok(()), true));
    }
}
