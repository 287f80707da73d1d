//! Credentials for a git host.

use model::secret::SecretSource;

/// The credential that requests to a git host contain.
///
/// Each use reads a secret again, and once more after a refusal, because it may have been replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// None. Only public data can be read.
    None,
    /// A token of a user, a project or a job.
    Token(SecretSource),
    /// A GitHub App. Its key signs requests for short-lived tokens of an installation.
    GitHubApp {
        /// The id of the app, or its client id.
        app_id: String,
        /// The installation. None: the installation of the repository of each request.
        installation: Option<u64>,
        /// The private key as PEM, as GitHub creates it.
        private_key: SecretSource,
    },
}
