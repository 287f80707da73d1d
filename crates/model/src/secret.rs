//! Secrets, which are never shown.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// A secret that may be replaced while the program runs, such as one in a file. Each use reads it again.
#[derive(Clone)]
pub struct SecretSource(Source);

#[derive(Clone)]
enum Source {
    Fixed(Secret),
    Read(Arc<dyn Fn() -> Secret + Send + Sync>),
}

impl SecretSource {
    /// A secret that `read` returns for each use. This crate reads nothing itself.
    pub fn new(read: impl Fn() -> Secret + Send + Sync + 'static) -> Self {
        Self(Source::Read(Arc::new(read)))
    }

    /// The secret now.
    pub fn current(&self) -> Secret {
        match &self.0 {
            Source::Fixed(secret) => secret.clone(),
            Source::Read(read) => read(),
        }
    }

    /// The secrets of a list, one for each use, and then always the last one. For tests.
    pub fn sequence(secrets: &[&str]) -> Self {
        let (secrets, uses): (Vec<_>, _) =
            (secrets.iter().map(|text| Secret::new(text)).collect(), AtomicUsize::new(0));
        Self::new(move || {
            let at = uses.fetch_add(1, Ordering::Relaxed).min(secrets.len().saturating_sub(1));
            secrets.get(at).cloned().unwrap_or_else(|| Secret::new(""))
        })
    }

    /// The secret now, if it is another one than `used`. After a refusal, a use with it is worth one more attempt.
    pub fn replaced(&self, used: &Secret) -> Option<Secret> {
        Some(self.current()).filter(|now| now != used)
    }
}

/// Whether both have the same secret now.
impl PartialEq for SecretSource {
    fn eq(&self, other: &Self) -> bool {
        self.current() == other.current()
    }
}

impl Eq for SecretSource {}

impl From<Secret> for SecretSource {
    fn from(secret: Secret) -> Self {
        Self(Source::Fixed(secret))
    }
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretSource(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_secret_that_was_replaced_is_found() {
        let value = Arc::new(Mutex::new("old"));
        let shared = Arc::clone(&value);
        let source = SecretSource::new(move || Secret::new(*shared.lock().unwrap()));
        let used = source.current();
        assert_eq!((used.reveal(), source.replaced(&used)), ("old", None));
        *value.lock().unwrap() = "new";
        assert_eq!(source.replaced(&used), Some(Secret::new("new")));
        assert_eq!(SecretSource::from(used.clone()).replaced(&used), None);
        assert_eq!(format!("{source:?}"), "SecretSource(…)");
    }

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new("s3cret\n");
        assert_eq!((secret.reveal(), format!("{secret:?}").as_str()), ("s3cret", "Secret(…)"));
        assert_eq!(secret.removed_from("bad token s3cret!"), "bad token …!");
        assert_eq!(Secret::new("").removed_from("text"), "text");
    }
}
