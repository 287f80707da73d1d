//! Keys that sign commits. They are for tests only: everybody can read them.

/// A private key, and its public half.
pub const SIGNING: (&str, &str) = (include_str!("keys/signing"), include_str!("keys/signing.pub"));
/// Another one.
pub const OTHER: (&str, &str) = (include_str!("keys/other"), include_str!("keys/other.pub"));
/// A private key with a passphrase.
pub const LOCKED: &str = include_str!("keys/locked");
/// A private key of another kind.
pub const ECDSA: &str = include_str!("keys/ecdsa");
