//! Checks the signatures of tokens with `ring`, which rustls depends on anyway: RSA, ECDSA and `EdDSA` as RFC 7518 and RFC 8037 name them.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm};

static PROVIDER: CryptoProvider =
    CryptoProvider { signer_factory: SIGNER, verifier_factory: verifier, key_utils: KEYS };

/// The hub signs no tokens. Tests sign tokens, with another implementation.
#[cfg(not(test))]
const SIGNER: fn(&Algorithm, &EncodingKey) -> Result<Box<dyn JwtSigner>> =
    |_, _| Err(ErrorKind::InvalidAlgorithm.into());
#[cfg(test)]
const SIGNER: fn(&Algorithm, &EncodingKey) -> Result<Box<dyn JwtSigner>> =
    jsonwebtoken::crypto::rust_crypto::DEFAULT_PROVIDER.signer_factory;

/// Only needed with private keys.
#[cfg(not(test))]
const KEYS: KeyUtils = KeyUtils::new_unimplemented();
#[cfg(test)]
const KEYS: KeyUtils = {
    let keys = &jsonwebtoken::crypto::rust_crypto::DEFAULT_PROVIDER.key_utils;
    KeyUtils {
        rsa_pub_components_from_private_key: keys.rsa_pub_components_from_private_key,
        rsa_pub_components_from_public_key: keys.rsa_pub_components_from_public_key,
        ec_pub_components_from_private_key: keys.ec_pub_components_from_private_key,
        ed_pub_components_from_private_key: keys.ed_pub_components_from_private_key,
        compute_digest: keys.compute_digest,
    }
};

/// Installs `ring` as the provider that checks tokens in this process. A second call does nothing.
pub(super) fn install_provider() {
    // This fails only if a provider is already installed.
    let _ = PROVIDER.install_default();
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "jsonwebtoken names the parameters")]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    let way = match algorithm {
        Algorithm::RS256 => Way::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Way::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Way::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Way::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Way::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Way::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
        Algorithm::ES256 => Way::Point(&signature::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Way::Point(&signature::ECDSA_P384_SHA384_FIXED),
        Algorithm::EdDSA => Way::Point(&signature::ED25519),
        // With HMAC, the public key would be the secret.
        _ => return Err(ErrorKind::InvalidAlgorithm.into()),
    };
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(RingVerifier { algorithm: *algorithm, way, key: key.clone() }))
}

/// The kind of public key with which `ring` checks an algorithm.
enum Way {
    /// A modulus and an exponent.
    Rsa(&'static RsaParameters),
    /// The bytes of a point on a curve.
    Point(&'static dyn VerificationAlgorithm),
}

struct RingVerifier {
    algorithm: Algorithm,
    way: Way,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let verified = match (&self.way, self.key.kind()) {
            (Way::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Way::Rsa(parameters), DecodingKeyKind::SecretOrDer(der)) => {
                UnparsedPublicKey::new(*parameters, der).verify(message, signature)
            }
            (Way::Point(algorithm), DecodingKeyKind::SecretOrDer(point)) => {
                UnparsedPublicKey::new(*algorithm, point).verify(message, signature)
            }
            (Way::Point(_), DecodingKeyKind::RsaModulusExponent { .. }) => return Err(Error::new()),
        };
        verified.map_err(|_| Error::new())
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
