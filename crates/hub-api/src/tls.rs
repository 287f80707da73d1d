//! TLS: rustls with one provider of cryptography.

/// Makes `ring` the provider of cryptography for the whole process. Programs call it first; a second call does nothing.
pub fn install_provider() {
    // It fails only if there is a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
