//! Reads snapshots from git repositories, and writes trees into them.
//!
//! All access goes through the trait [`Repositories`]. It has two implementations: [`GitRepositories`] runs git, and [`MemoryRepositories`] is an
//! in-memory twin for tests. Above it, [`load`] reads all files of an environment, and [`publish`] writes a tree into a branch. This crate does not
//! decide the content that is published.

mod budget;
pub mod checkout;
mod edits;
mod key;
pub mod limits;
pub mod load;
mod lock_file;
mod object_format;
pub mod publications;
pub mod publish;
mod repositories;
mod settings;
mod signing;
pub mod trailer;
pub mod trust;
mod url;
mod walk;

pub use edits::{Edit, Edits};
pub use key::{CacheKey, SecretTooShort, Signature};
pub use load::UNTRUSTED_CACHE_HELP;
pub use lock_file::LockFile;
pub use repositories::{
    Commit, CommitInfo, EntryKind, FileContent, FolderEntry, GitOperation, GitRepositories, KnownTree,
    MemoryRepositories, NewCommit, Person, Push, Pushed, Repositories, RepositoryError, Revision, opener,
};
#[cfg(feature = "fuzz")]
pub use settings::fuzz_rewrite;
pub use settings::{HttpToken, Rewrite, ScopedToken, Settings, TokenSource, is_kept_variable, repository_key, rewrite};
pub use signing::{CommitSignature, KeyError, PublicKey, SigningKey};
#[cfg(feature = "fuzz")]
pub use url::fuzz as fuzz_url;
pub use url::{RepositoryUrl, UrlError, without_credential};
pub use walk::ENVIRONMENTS;
