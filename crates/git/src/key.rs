//! The key that signs entries of the cache. An entry with a valid signature is used without a request to the server.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// The minimum length of a secret, in bytes.
const SECRET_BYTES_MIN: usize = 16;

/// A secret that is stored outside the cache. Without it, a signature can't be forged.
#[derive(Clone, PartialEq, Eq)]
pub struct CacheKey([u8; 32]);

/// The secret has fewer than 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must have at least {SECRET_BYTES_MIN} bytes: `openssl rand -hex 32` makes one")]
pub struct SecretTooShort;

/// An HMAC-SHA-256 of the parts and the purpose.
pub type Signature = [u8; 32];

impl CacheKey {
    /// Derives the key from a secret. The secret is any text; leading and trailing blanks are removed.
    ///
    /// # Errors
    /// If the secret has fewer than 16 bytes.
    pub fn derive(secret: &[u8]) -> Result<Self, SecretTooShort> {
        let secret = secret.trim_ascii();
        if secret.len() < SECRET_BYTES_MIN {
            return Err(SecretTooShort);
        }
        Ok(Self(Sha256::new().chain_update(b"kalypso cache key\n").chain_update(secret).finalize().into()))
    }

    /// Signs parts for a purpose. A signature is valid only for the purpose that it was made for.
    pub fn sign(&self, purpose: &str, parts: &[&[u8]]) -> Signature {
        self.mac(purpose, parts).finalize().into_bytes().into()
    }

    /// Whether the signature is this key's signature of these parts for this purpose. The comparison takes constant time.
    pub fn verify(&self, purpose: &str, parts: &[&[u8]], signature: &[u8]) -> bool {
        self.mac(purpose, parts).verify_slice(signature).is_ok()
    }

    fn mac(&self, purpose: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac: Hmac<Sha256> =
            Hmac::new_from_slice(&self.0).unwrap_or_else(|_| unreachable!("HMAC takes keys of every length"));
        // The lengths are signed too, so that two different lists of parts never have the same signed text.
        for part in [purpose.as_bytes()].iter().chain(parts) {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CacheKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(secret: &str) -> CacheKey {
        CacheKey::derive(secret.as_bytes()).unwrap()
    }

    #[test]
    fn only_signed_parts_are_verified() {
        let (ours, other) = (key("a secret of ours, long enough"), key("a secret of others, long enough"));
        let signature = ours.sign("memo", &[b"ab", b"c"]);
        let check = |key: &CacheKey, purpose, parts: &[&[u8]]| key.verify(purpose, parts, &signature);
        assert!(check(&ours, "memo", &[b"ab", b"c"]));
        assert!(!check(&other, "memo", &[b"ab", b"c"]));
        assert!(!check(&ours, "head", &[b"ab", b"c"]));
        assert!(!check(&ours, "memo", &[b"a", b"bc"]));
        assert!(!check(&ours, "memo", &[b"abc"]));
        assert!(!ours.verify("memo", &[b"ab", b"c"], &signature[..31]));
        assert!(!ours.verify("memo", &[b"ab", b"c"], b""));
    }

    #[test]
    fn a_secret_is_long_enough_and_not_shown() {
        assert_eq!(CacheKey::derive(b"  short  \n"), Err(SecretTooShort));
        assert_eq!(key("0123456789abcdef\n"), key("0123456789abcdef"));
        assert_eq!(format!("{:?}", key("0123456789abcdef")), "CacheKey(…)");
    }
}
