//! Secrets for the signatures of notifications, as Standard Webhooks specifies them.

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The prefix of secrets.
const PREFIX: &str = "whsec_";
/// Number of bytes of a secret, from the specification.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// One secret, or several during a rotation: then a notification has a signature with each.
#[derive(Clone)]
pub struct WebhookSecret(Vec<Vec<u8>>);

/// The text is not a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret is `whsec_` and 24 to 64 bytes in base64, such as `echo whsec_$(openssl rand -base64 32)` makes; several stand on lines of their own"
)]
pub struct SecretError;

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret")
    }
}

impl WebhookSecret {
    /// Reads secrets, one on each line that is not empty.
    ///
    /// # Errors
    /// There is no secret, or a line is not a secret.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let parse = |line: &str| {
            let bytes = BASE64.decode(line.strip_prefix(PREFIX)?.as_bytes()).ok()?;
            BYTES.contains(&bytes.len()).then_some(bytes)
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let secrets = lines.map(parse).collect::<Option<Vec<_>>>().ok_or(SecretError)?;
        if secrets.is_empty() { Err(SecretError) } else { Ok(Self(secrets)) }
    }

    /// The header `webhook-signature`, for the id of a message, the time in seconds at which it is sent, and its body.
    pub(super) fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        let signature = |secret: &Vec<u8>| {
            let mut hmac: Hmac<Sha256> =
                Hmac::new_from_slice(secret).unwrap_or_else(|_| unreachable!("HMAC takes keys of every length"));
            hmac.update(format!("{id}.{timestamp}.{body}").as_bytes());
            format!("v1,{}", BASE64.encode(&hmac.finalize().into_bytes()))
        };
        self.0.iter().map(signature).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn signatures_match_the_specification() {
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").unwrap();
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn every_secret_signs_while_they_are_replaced() {
        let one = format!("whsec_{}", BASE64.encode(&[1; 24]));
        let two = format!("whsec_{}", BASE64.encode(&[2; 64]));
        let secret = WebhookSecret::parse(&format!("{one}\n\n{two}\n")).unwrap();
        assert_eq!(secret.sign("a", 1, "").split(' ').filter(|part| part.starts_with("v1,")).count(), 2);
    }

    #[test]
    fn invalid_secrets_are_refused_and_no_secret_is_shown() {
        let short = format!("whsec_{}", BASE64.encode(&[1; 23]));
        for wrong in ["", "whsec_", "hush", "whsec_%%%", short.as_str(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\nhush"]
        {
            assert_eq!(WebhookSecret::parse(wrong).unwrap_err(), SecretError, "{wrong}");
        }
        assert_eq!(format!("{:?}", WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap()), "Secret");
    }
}
