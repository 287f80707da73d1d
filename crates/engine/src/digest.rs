//! Short digests of texts, for display.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The first `count` (even) hexadecimal digits of the SHA-256 of `bytes`.
pub(crate) fn hex(bytes: &[u8], count: usize) -> String {
    let mut digits = String::with_capacity(count);
    for byte in Sha256::digest(bytes).iter().take(count / 2) {
        // Writing to a `String` can't fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
