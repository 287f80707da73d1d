//! Programs in memory, for tests: the manifests are a `ConfigMap` with the values.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{HelmTemplate, Program, ProgramError, Programs};

/// Programs that need no installation. They count their runs.
#[derive(Debug, Default)]
pub struct MemoryPrograms {
    runs: AtomicUsize,
}

impl MemoryPrograms {
    /// The number of manifests that were rendered.
    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }
}

impl Programs for MemoryPrograms {
    fn helm_template(&self, run: &HelmTemplate<'_>) -> Result<Vec<u8>, ProgramError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let HelmTemplate { release, values, .. } = run;
        if values.contains("\"fail\":true") {
            return Err(ProgramError::Failed(Program::Helm, "the value `fail` is set".to_owned()));
        }
        let values = serde_json::Value::from(*values);
        let text =
            format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {release}\ndata:\n  values: {values}\n");
        Ok(text.into_bytes())
    }

    fn helm_dependencies(&self, _: &Path, _: Duration) -> Result<(), ProgramError> {
        Ok(())
    }

    fn kustomize_build(&self, folder: &Path, _: Duration) -> Result<Vec<u8>, ProgramError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        Ok(format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n").into_bytes())
    }

    fn version(&self, program: Program) -> Result<String, ProgramError> {
        Ok(format!("{program} in memory"))
    }
}
