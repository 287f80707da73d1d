//! Snapshots out of repositories, trees into them.
//!
//! The seam is [`Repositories`], with its two twins [`GitRepositories`] and [`MemoryRepositories`]. Nothing here decides what is published.

pub mod limits;
mod repositories;
mod settings;
mod url;

pub use repositories::{
    Commit, CommitInfo, Content, GitRepositories, Item, ItemKind, MemoryRepositories, NewCommit, Person, Push, Pushed,
    Repositories, RepositoryError, Revision,
};
pub use settings::{Credential, Rewrite, Settings, Token};
#[doc(hidden)]
pub use url::fuzz as fuzz_url;
pub use url::{RepositoryUrl, UrlError};
