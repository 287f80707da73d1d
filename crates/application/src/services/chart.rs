//! The chart that a service is rendered from: a repository, a name, a version and a digest.

use crate::digest::ContentDigest;
use crate::programs::RemoteChart;

/// A version of a chart in a chart repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChartReference {
    /// The URL of the repository: `https://…`, or `oci://…` for a registry.
    pub repository: String,
    /// The name of the chart.
    pub chart: String,
    /// The version, as the repository writes it.
    pub version: String,
    /// The digest of its archive. None: any content.
    pub digest: Option<ContentDigest>,
}

impl ChartReference {
    /// The chart in its repository.
    pub(super) fn remote(&self) -> RemoteChart<'_> {
        RemoteChart { repository: &self.repository, chart: &self.chart, version: Some(&self.version) }
    }
}
