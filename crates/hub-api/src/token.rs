//! The text of a token, and the values that are derived from it.

use std::fmt;
use std::str::FromStr;

use data_encoding::{BASE32_NOPAD_NOCASE, HEXLOWER, HEXLOWER_PERMISSIVE};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The prefix of every token, so that scanners for leaked secrets can find it.
const PREFIX: &str = "kal_";
/// The prefix of tokens whose signatures are accepted. A client without a connection to the hub can recognize them.
const SIGNING_PREFIX: &str = "kals_";
/// The number of random bytes of an id. Ids are unique.
const ID_BYTES: usize = 10;
/// The number of random bytes of a secret. It can't be guessed, not even with its SHA-256.
const SECRET_BYTES: usize = 32;
/// The purpose of signing keys. Keys for another purpose would need another text.
const SIGNING: &[u8] = b"kalypso signing key, version 1: ";

/// The text of a token: `kal_<id>_<secret>`, or `kals_<id>_<secret>` if its signatures are accepted. It is shown only by [`TokenText::reveal`], and the hub
/// never stores it.
#[derive(Clone)]
pub struct TokenText {
    id: String,
    secret: String,
    signs: bool,
}

/// The text is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no token of the hub: those are `kal_ID_SECRET` or `kals_ID_SECRET`")]
pub struct TokenTextError;

/// The system has no random numbers.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the system gives no random numbers: {0}")]
pub struct RandomError(String);

impl TokenText {
    /// Creates a new token.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn random() -> Result<Self, RandomError> {
        Ok(Self { id: random::<ID_BYTES>()?, secret: random::<SECRET_BYTES>()?, signs: false })
    }

    /// The same token with the prefix for signing, or without it.
    #[must_use]
    pub fn signing(self, signs: bool) -> Self {
        Self { signs, ..self }
    }

    /// Whether its text has the prefix for signing. Only the hub decides whether its signatures are accepted.
    pub fn signs(&self) -> bool {
        self.signs
    }

    /// Creates a token with this id and a new secret.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn renewed(id: &str) -> Result<Self, RandomError> {
        Ok(Self { id: id.to_owned(), secret: random::<SECRET_BYTES>()?, signs: false })
    }

    /// The public part.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The full text, for its owner.
    pub fn reveal(&self) -> String {
        format!("{}{}_{}", self.prefix(), self.id, self.secret)
    }

    fn prefix(&self) -> &'static str {
        if self.signs { SIGNING_PREFIX } else { PREFIX }
    }

    /// The digest that the hub stores.
    pub fn digest(&self) -> SecretDigest {
        SecretDigest(Sha256::digest(self.secret.as_bytes()).into())
    }

    /// The key for signatures of its owner.
    pub fn signing_key(&self) -> HmacKey {
        self.digest().signing_key(&self.id)
    }
}

impl fmt::Debug for TokenText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}_…", self.prefix(), self.id)
    }
}

impl FromStr for TokenText {
    type Err = TokenTextError;

    fn from_str(text: &str) -> Result<Self, TokenTextError> {
        let signing = text.strip_prefix(SIGNING_PREFIX);
        let rest = signing.or_else(|| text.strip_prefix(PREFIX));
        let (id, secret) = rest.and_then(|rest| rest.split_once('_')).ok_or(TokenTextError)?;
        let is_right = |text: &str, bytes: usize| {
            text.len() == BASE32_NOPAD_NOCASE.encode_len(bytes) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        if !is_right(id, ID_BYTES) || !is_right(secret, SECRET_BYTES) {
            return Err(TokenTextError);
        }
        Ok(Self { id: id.to_owned(), secret: secret.to_owned(), signs: signing.is_some() })
    }
}

fn random<const BYTES: usize>() -> Result<String, RandomError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| RandomError(error.to_string()))?;
    Ok(BASE32_NOPAD_NOCASE.encode(&bytes).to_ascii_lowercase())
}

/// The SHA-256 of a secret.
#[derive(Clone)]
pub struct SecretDigest([u8; 32]);

impl SecretDigest {
    /// The stored text.
    pub fn to_hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// Parses the stored text.
    pub fn from_hex(text: &str) -> Option<Self> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }

    /// Whether both are digests of the same secret. The comparison takes constant time.
    pub fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// The key for signatures of the owner.
    ///
    /// The hub needs the key to check signatures. It does not store the key, but derives it from the digest. A person who can read the
    /// table of tokens could also derive it and sign reports, but could not send the token itself. So signatures are accepted only for
    /// tokens that were created for it (`signs`).
    pub fn signing_key(&self, id: &str) -> HmacKey {
        let mut mac = keyed(&self.0);
        mac.update(SIGNING);
        mac.update(id.as_bytes());
        HmacKey(HEXLOWER.encode(&mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for SecretDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretDigest(…)")
    }
}

/// A key for signatures with HMAC-SHA256. It is the token of Flux' provider `generic-hmac`.
#[derive(Clone)]
pub struct HmacKey(String);

impl HmacKey {
    /// The key, for its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The signature of a message, in the format of Flux: `sha256=` and 64 hexadecimal digits.
    pub fn sign(&self, message: &[u8]) -> String {
        let mut mac = keyed(self.0.as_bytes());
        mac.update(message);
        format!("sha256={}", HEXLOWER.encode(&mac.finalize().into_bytes()))
    }

    /// Whether a signature is valid for a message. The comparison takes constant time.
    pub fn is_of(&self, message: &[u8], signature: &str) -> bool {
        let digits = signature.trim().strip_prefix("sha256=").unwrap_or_default();
        let Ok(bytes) = HEXLOWER_PERMISSIVE.decode(digits.as_bytes()) else { return false };
        let mut mac = keyed(self.0.as_bytes());
        mac.update(message);
        mac.verify_slice(&bytes).is_ok()
    }
}

impl fmt::Debug for HmacKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SigningKey(…)")
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    // HMAC takes keys of every length.
    Hmac::new_from_slice(key).unwrap_or_else(|_| unreachable!("HMAC takes keys of every length"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_is_written() {
        let token = TokenText::random().unwrap();
        let read: TokenText = token.reveal().parse().unwrap();
        assert_eq!(token.reveal().len(), 4 + 16 + 1 + 52);
        assert!(read.digest().is(&token.digest()) && read.id() == token.id());
        assert!(!TokenText::random().unwrap().digest().is(&token.digest()));
    }

    #[test]
    fn signing_tokens_have_their_own_prefix() {
        let token = TokenText::random().unwrap().signing(true);
        let read: TokenText = token.reveal().parse().unwrap();
        assert!(read.signs() && token.reveal().starts_with("kals_") && read.digest().is(&token.digest()));
        assert!(!token.reveal().replace("kals_", "kal_").parse::<TokenText>().unwrap().signs());
    }

    #[test]
    fn invalid_tokens_are_refused() {
        let token = TokenText::random().unwrap().reveal();
        for text in ["", "kal_", "kal_a_b", "Bearer x", &token[1..], &token[..token.len() - 1], &format!("{token}x")] {
            assert_eq!(text.parse::<TokenText>().err(), Some(TokenTextError), "{text}");
        }
    }

    #[test]
    fn nothing_shows_a_secret_by_mistake() {
        let token = TokenText::random().unwrap();
        let shown = format!("{token:?} {:?} {:?}", token.digest(), token.signing_key());
        assert!(!shown.contains(&token.secret) && !shown.contains(token.signing_key().reveal()), "{shown}");
    }

    #[test]
    fn a_signature_is_of_one_key_and_message() {
        let token = TokenText::random().unwrap();
        let stored = SecretDigest::from_hex(&token.digest().to_hex()).unwrap();
        let signature = token.signing_key().sign(b"body");
        assert!(stored.signing_key(token.id()).is_of(b"body", &signature));
        assert!(!stored.signing_key(token.id()).is_of(b"other", &signature));
        assert!(!stored.signing_key("other").is_of(b"body", &signature));
        for wrong in ["", "sha256=", "sha256=00", &signature[7..]] {
            assert!(!stored.signing_key(token.id()).is_of(b"body", wrong), "{wrong}");
        }
    }
}
