//! Where objects and values are written.

use model::diagnostic::Origin;
use model::locate::Locator;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A position in a file of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SourcePosition {
    /// The URL of the repository. Empty for a plain folder.
    pub repository: String,
    /// The branch.
    pub revision: String,
    /// The commit. None for a plain folder.
    pub commit: Option<String>,
    /// The path of the file in the repository.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl SourcePosition {
    /// The position of an origin. None if it is not known.
    pub fn find(origin: &Origin, locator: &mut Locator<'_>) -> Option<Self> {
        let place = locator.locate(origin)?;
        let (position, file) = (locator.position(&place), locator.file(&place));
        Some(Self {
            repository: file.source.url.to_string(),
            revision: file.source.revision.to_string(),
            commit: file.source.commit.map(|commit| commit.to_string()),
            path: file.path.to_string(),
            line: position.line,
            column: position.column,
        })
    }
}
