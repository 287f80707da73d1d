//! Programs in memory, for tests: the manifests are a `ConfigMap` with the values.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{HelmTemplate, Program, ProgramError, Programs, RemoteChart};

/// Programs that need no installation. They count their runs.
#[derive(Debug, Default)]
pub struct MemoryPrograms {
    runs: AtomicUsize,
    downloads: AtomicUsize,
    /// The charts of chart repositories, the newest one last.
    charts: Vec<PublishedChart>,
}

/// A chart of a chart repository in memory.
#[derive(Clone, Debug)]
pub struct PublishedChart {
    /// The URL of the repository.
    pub repository: String,
    /// The name.
    pub chart: String,
    /// The version.
    pub version: String,
    /// The archive.
    pub archive: Vec<u8>,
}

impl MemoryPrograms {
    /// The number of manifests that were rendered.
    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    /// The number of charts that were downloaded.
    pub fn downloads(&self) -> usize {
        self.downloads.load(Ordering::Relaxed)
    }

    /// Adds a chart to a chart repository.
    pub fn publish(&mut self, chart: PublishedChart) {
        self.charts.push(chart);
    }

    fn find(&self, chart: &RemoteChart<'_>) -> Result<&PublishedChart, ProgramError> {
        let RemoteChart { repository, chart, version } = *chart;
        let is_found = |known: &&PublishedChart| {
            known.repository == repository
                && known.chart == chart
                && version.is_none_or(|version| known.version == version)
        };
        let found = self.charts.iter().rfind(is_found);
        let missing = || ProgramError::Failed(Program::Helm, format!("chart \"{chart}\" not found in {repository}"));
        found.ok_or_else(missing)
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

    fn helm_pull(&self, chart: &RemoteChart<'_>, _: Duration) -> Result<Vec<u8>, ProgramError> {
        self.downloads.fetch_add(1, Ordering::Relaxed);
        self.find(chart).map(|found| found.archive.clone())
    }

    fn helm_show_chart(&self, chart: &RemoteChart<'_>, _: Duration) -> Result<Vec<u8>, ProgramError> {
        let version = &self.find(chart)?.version;
        Ok(format!("apiVersion: v2\nname: {}\nversion: {version}\n", chart.chart).into_bytes())
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
