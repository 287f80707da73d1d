//! A repository that a git host shall create.

/// A repository that does not exist yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRepository {
    /// Whether only accounts with a permission can read it. On Azure DevOps, its project decides.
    pub is_private: bool,
    /// What it is for.
    pub description: String,
}

/// The result of creating a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryCreation {
    /// It was created. It has no branches.
    Created,
    /// It existed before.
    Existed,
}
