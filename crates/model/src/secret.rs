//! Secrets, which are never shown.

use std::fmt;

/// The text that replaces a secret in messages.
const HIDDEN: &str = "…";

/// A secret, such as a token. Debug output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret. Removes blanks around it, such as the line end of a file.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The secret itself, for a request.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without the secret, in case an answer repeats it.
    pub fn removed_from(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, HIDDEN) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new("s3cret\n");
        assert_eq!((secret.reveal(), format!("{secret:?}").as_str()), ("s3cret", "Secret(…)"));
        assert_eq!(secret.removed_from("bad token s3cret!"), "bad token …!");
        assert_eq!(Secret::new("").removed_from("text"), "text");
    }
}
