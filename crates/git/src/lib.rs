//! Snapshots out of repositories, trees into them.
//!
//! The seam is [`Repositories`], with its two twins [`GitRepositories`] and [`MemoryRepositories`]. On top of it, [`load`] reads all that an environment
//! consists of, and [`publish`] puts a tree into a branch. Nothing here decides what is published.

mod budget;
mod edits;
mod key;
pub mod limits;
pub mod load;
pub mod publish;
pub mod published;
mod repositories;
mod settings;
pub mod trailer;
pub mod trust;
mod url;
mod walk;

pub use edits::Edits;
pub use key::{Key, SecretTooShort, Signature};
pub use load::UNTRUSTED_CACHE_HELP;
pub use repositories::{
    Commit, CommitInfo, Content, GitRepositories, Item, ItemKind, KnownTree, MemoryRepositories, NewCommit, Person,
    Push, Pushed, Repositories, RepositoryError, Revision, Wait, opener,
};
#[cfg(feature = "fuzz")]
pub use settings::fuzz_rewrite;
pub use settings::{Credential, Rewrite, Settings, Token, is_kept_variable};
#[cfg(feature = "fuzz")]
pub use url::fuzz as fuzz_url;
pub use url::{RepositoryUrl, UrlError, without_credential};
pub use walk::ENVIRONMENTS;
