//! The files in which the main branch declares environments.

use std::fs;
use std::sync::Arc;

use authoring::scaffold::environment_copy::BranchContents;

use super::ControlPlaneBranch;
use crate::Failure;

impl ControlPlaneBranch {
    /// Reads the files with `Environment` objects of the main branch. In a working tree, uncommitted changes count.
    ///
    /// # Errors
    /// If one can't be read.
    pub fn declarations(&self) -> Result<BranchContents, Failure> {
        let known = self.environments().files.iter().map(|(_, file)| Arc::clone(&file.path));
        let mut paths: Vec<Arc<str>> = known.filter(|path| path.starts_with(git::ENVIRONMENTS)).collect();
        let entries = self.root().and_then(|root| fs::read_dir(root.join(git::ENVIRONMENTS)).ok());
        for entry in entries.into_iter().flatten().flatten() {
            let path = format!("{}/{}", git::ENVIRONMENTS, entry.file_name().to_string_lossy());
            if model::read::is_read(&path) {
                paths.push(path.into());
            }
        }
        let mut contents = BranchContents::new();
        for path in paths {
            if let Some(bytes) = self.read(&path)? {
                contents.insert(path, bytes);
            }
        }
        Ok(contents)
    }
}
