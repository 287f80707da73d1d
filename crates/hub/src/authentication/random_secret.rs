//! Secrets of random bits, for cookies and addresses.

use std::fmt;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use sha2::{Digest as _, Sha256};

/// 256 bits: they can't be guessed, and neither can they from their SHA-256.
const BYTES: usize = 32;

/// A secret of 256 random bits, in base64 for URLs: 43 characters.
#[derive(Clone, PartialEq, Eq)]
pub struct RandomSecret(String);

impl RandomSecret {
    /// A new secret.
    ///
    /// # Errors
    /// The operating system returned no random numbers.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(BASE64URL_NOPAD.encode(&bytes)))
    }

    /// Reads a secret that comes from outside; none if the text can't be one.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        (bytes.len() == BYTES).then(|| Self(text.to_owned()))
    }

    /// The text, for its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The SHA-256 of the text, in hexadecimal digits: what the hub stores.
    pub fn digest(&self) -> String {
        HEXLOWER.encode(&Sha256::digest(self.0.as_bytes()))
    }
}

impl fmt::Debug for RandomSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RandomSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_of_256_bits_are_secrets() {
        let secret = RandomSecret::random().unwrap();
        assert_eq!(RandomSecret::parse(secret.reveal()), Some(secret.clone()));
        assert_ne!(RandomSecret::random().unwrap(), secret);
        for wrong in ["", "a", &secret.reveal()[1..], &format!("{}a", secret.reveal()), &"=".repeat(43)] {
            assert_eq!(RandomSecret::parse(wrong), None, "{wrong}");
        }
        assert!(!format!("{secret:?}{}", secret.digest()).contains(secret.reveal()));
    }
}
