//! TLS: rustls with one provider of cryptography.

/// Installs `ring` as the cryptography provider of the process. Programs must call it before they use TLS. Further calls do nothing.
pub fn install_provider() {
    // It fails only if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
