//! The chart that a service is rendered from: a repository, a name, a version and a digest.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::programs::RemoteChart;

/// What comes before the hexadecimal digits of a digest.
const PREFIX: &str = "sha256:";

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
    pub digest: Option<ChartDigest>,
}

impl ChartReference {
    /// The chart in its repository.
    pub(super) fn remote(&self) -> RemoteChart<'_> {
        RemoteChart { repository: &self.repository, chart: &self.chart, version: Some(&self.version) }
    }
}

/// The SHA-256 of the archive of a chart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChartDigest(String);

impl ChartDigest {
    /// The digest of an archive.
    pub fn of_archive(content: &[u8]) -> Self {
        let digest = Sha256::digest(content);
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The 64 hexadecimal digits.
    pub(super) fn digits(&self) -> &str {
        &self.0
    }
}

impl FromStr for ChartDigest {
    type Err = ();

    /// Parses `sha256:` and 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, ()> {
        let digits = text.strip_prefix(PREFIX).ok_or(())?;
        let is_good = digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_good.then(|| Self(digits.to_owned())).ok_or(())
    }
}

/// Writes `sha256:` and 64 hexadecimal digits.
impl fmt::Display for ChartDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}
