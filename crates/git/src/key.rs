//! The key that signs what is kept in the cache and believed without asking anybody.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// The shortest secret, in bytes.
const SECRET_BYTES_MIN: usize = 16;

/// A secret that is not in the cache. Who has no such key can't forge what is signed with it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

/// A secret is too short to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must have at least {SECRET_BYTES_MIN} bytes: `openssl rand -hex 32` makes one")]
pub struct SecretTooShort;

/// A signature.
pub type Signature = [u8; 32];

impl Key {
    /// The key that is made of a secret: any text, without the blanks around it.
    ///
    /// # Errors
    /// If it is too short.
    pub fn of_secret(secret: &[u8]) -> Result<Self, SecretTooShort> {
        let secret = secret.trim_ascii();
        if secret.len() < SECRET_BYTES_MIN {
            return Err(SecretTooShort);
        }
        Ok(Self(Sha256::new().chain_update(b"kalypso cache key\n").chain_update(secret).finalize().into()))
    }

    /// Signs some parts for a purpose. Nothing that is signed for one is worth anything for another.
    pub fn sign(&self, purpose: &str, parts: &[&[u8]]) -> Signature {
        self.mac(purpose, parts).finalize().into_bytes().into()
    }

    /// Whether this key has signed these parts for this purpose. It takes the same time wherever the two differ.
    pub fn has_signed(&self, purpose: &str, parts: &[&[u8]], signature: &[u8]) -> bool {
        self.mac(purpose, parts).verify_slice(signature).is_ok()
    }

    fn mac(&self, purpose: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac: Hmac<Sha256> =
            Hmac::new_from_slice(&self.0).unwrap_or_else(|_| unreachable!("HMAC takes keys of every length"));
        // With their lengths, no two lists of parts are the same text.
        for part in [purpose.as_bytes()].iter().chain(parts) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(secret: &str) -> Key {
        Key::of_secret(secret.as_bytes()).unwrap()
    }

    #[test]
    fn only_what_was_signed_is_believed() {
        let (ours, other) = (key("a secret of ours, long enough"), key("a secret of others, long enough"));
        let signature = ours.sign("memo", &[b"ab", b"c"]);
        let check = |key: &Key, purpose, parts: &[&[u8]]| key.has_signed(purpose, parts, &signature);
        assert!(check(&ours, "memo", &[b"ab", b"c"]));
        assert!(!check(&other, "memo", &[b"ab", b"c"]));
        assert!(!check(&ours, "head", &[b"ab", b"c"]));
        assert!(!check(&ours, "memo", &[b"a", b"bc"]));
        assert!(!check(&ours, "memo", &[b"abc"]));
        assert!(!ours.has_signed("memo", &[b"ab", b"c"], &signature[..31]));
        assert!(!ours.has_signed("memo", &[b"ab", b"c"], b""));
    }

    #[test]
    fn a_secret_is_long_enough_and_not_shown() {
        assert_eq!(Key::of_secret(b"  short  \n"), Err(SecretTooShort));
        assert_eq!(key("0123456789abcdef\n"), key("0123456789abcdef"));
        assert_eq!(format!("{:?}", key("0123456789abcdef")), "Key(…)");
    }
}
