//! Snapshots out of repositories, trees into them.
//!
//! The seam is [`Repositories`], with its two twins [`GitRepositories`] and [`MemoryRepositories`]. On top of it, [`load`] reads all that an environment
//! consists of, and [`publish`] puts a tree into a branch. Nothing here decides what is published.

mod edits;
pub mod limits;
pub mod load;
pub mod publish;
mod repositories;
mod settings;
pub mod trailer;
mod url;
mod walk;

pub use edits::Edits;
pub use repositories::{
    Commit, CommitInfo, Content, GitRepositories, Item, ItemKind, MemoryRepositories, NewCommit, Person, Push, Pushed,
    Repositories, RepositoryError, Revision, opener,
};
pub use settings::{Credential, Rewrite, Settings, Token};
pub use url::{RepositoryUrl, UrlError};
#[doc(hidden)]
pub use url::{fuzz as fuzz_url, fuzz_rewrite};
pub use walk::ENVIRONMENTS;
