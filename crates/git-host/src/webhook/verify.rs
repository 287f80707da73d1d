//! Verifies signatures, tokens and passwords of webhooks, in constant time.

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use hmac::{Hmac, KeyInit as _, Mac as _};
use model::secret::Secret;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::WebhookError;

/// Verifies an HMAC-SHA256 of a body, as hexadecimal digits.
pub(super) fn signature(secrets: &[Secret], digits: &str, body: &[u8]) -> Result<(), WebhookError> {
    let bytes = HEXLOWER_PERMISSIVE.decode(digits.trim().as_bytes()).map_err(|_| WebhookError::WrongSignature)?;
    let is_of = |secret: &Secret| {
        let mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes());
        mac.is_ok_and(|mac| mac.chain_update(body).verify_slice(&bytes).is_ok())
    };
    any(secrets, is_of)
}

/// Verifies a token.
pub(super) fn token(secrets: &[Secret], token: &str) -> Result<(), WebhookError> {
    // Digests have the same length, so the time says nothing about the length of the secret.
    let digest = |text: &str| Sha256::digest(text.as_bytes());
    let given = digest(token.trim());
    any(secrets, |secret| digest(secret.reveal()).ct_eq(&given).into())
}

/// Verifies the password of a basic authentication.
pub(super) fn basic(secrets: &[Secret], header: &str) -> Result<(), WebhookError> {
    let encoded = header.trim().strip_prefix("Basic ").ok_or(WebhookError::WrongSignature)?;
    let decoded = BASE64.decode(encoded.trim().as_bytes()).map_err(|_| WebhookError::WrongSignature)?;
    let text = String::from_utf8(decoded).map_err(|_| WebhookError::WrongSignature)?;
    let (_, password) = text.split_once(':').ok_or(WebhookError::WrongSignature)?;
    token(secrets, password)
}

/// Whether one of the secrets is right. An empty secret is never right.
fn any(secrets: &[Secret], is_right: impl Fn(&Secret) -> bool) -> Result<(), WebhookError> {
    let mut secrets = secrets.iter().filter(|secret| !secret.reveal().is_empty());
    if secrets.any(is_right) { Ok(()) } else { Err(WebhookError::WrongSignature) }
}
