//! The TLS certificate of the hub.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// A certificate and its key, as PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The certificate chain, with the hub's own certificate first.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
}

/// The certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{}` can't be used for TLS: {reason}", .file.display())]
pub struct CertificateError {
    file: PathBuf,
    reason: String,
}

impl Certificate {
    /// An acceptor of TLS connections with this certificate.
    ///
    /// # Errors
    /// A file cannot be read, or the certificate and the key do not match.
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, CertificateError> {
        hub_api::tls::install_provider();
        let chain = CertificateDer::pem_file_iter(&self.certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let chain = chain.map_err(|error| wrong(&self.certificate, error))?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| wrong(&self.key, error))?;
        let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key);
        let mut config = config.map_err(|error| wrong(&self.certificate, error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config).into())
    }
}

fn wrong(file: &Path, reason: impl ToString) -> CertificateError {
    CertificateError { file: file.to_owned(), reason: reason.to_string() }
}
