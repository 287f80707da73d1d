//! Keeps downloaded charts in a folder, by the digests of their archives.
//!
//! The folder may be removed at any time. Its content is compared with the digest in its name before it is used.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::diagnostic::{Code, Diagnostic};
use model::source::Source;
use tempfile::NamedTempFile;

use super::{ChartReference, ChartService};
use crate::digest::ContentDigest;
use crate::files::{FileSet, FilesError};
use crate::limits::ARCHIVE_BYTES_MAX;
use crate::programs::{ProgramError, Programs};

/// Downloaded charts. A chart is downloaded at most once in a run, and with a digest at most once for a folder.
#[derive(Debug)]
pub struct ChartStore {
    folder: PathBuf,
    time_limit: Duration,
    known: Mutex<BTreeMap<ChartReference, Arc<PulledChart>>>,
}

/// A chart of a chart repository.
#[derive(Debug)]
pub struct PulledChart {
    /// The digest of its archive.
    pub digest: ContentDigest,
    /// Its files.
    pub files: FileSet,
}

/// The reason why there is no chart.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// It can't be downloaded.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// It is not the chart that the file of the service names.
    #[error("the chart has the digest {found}, but the file of the service names {expected}")]
    Digest {
        /// The digest in the file.
        expected: ContentDigest,
        /// The digest of the archive.
        found: ContentDigest,
    },
    /// It can't be unpacked.
    #[error(transparent)]
    Files(#[from] FilesError),
}

impl ChartStore {
    /// The charts in a folder, which is created when it is needed. `time_limit` is that of one download.
    pub fn new(folder: PathBuf, time_limit: Duration) -> Self {
        Self { folder, time_limit, known: Mutex::default() }
    }

    /// How long a download may take.
    pub(super) fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// A chart, from the folder or from its repository.
    ///
    /// # Errors
    /// If it can't be downloaded or unpacked, or if its digest is another one.
    pub fn chart(&self, programs: &dyn Programs, chart: &ChartReference) -> Result<Arc<PulledChart>, ChartError> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(chart) {
            return Ok(Arc::clone(found));
        }
        let archive = match chart.digest.as_ref().and_then(|digest| self.kept(digest)) {
            Some(archive) => archive,
            None => self.download(programs, chart)?,
        };
        let label = format!("{}-{}.tgz", chart.chart, chart.version).into();
        let files = FileSet::of_archive(&archive, &Arc::new(Source { label, ..Source::directory() }))?;
        let pulled = Arc::new(PulledChart { digest: ContentDigest::of_content(&archive), files });
        known().insert(chart.clone(), Arc::clone(&pulled));
        Ok(pulled)
    }

    fn download(&self, programs: &dyn Programs, chart: &ChartReference) -> Result<Vec<u8>, ChartError> {
        let archive = programs.helm_pull(&chart.remote(), self.time_limit)?;
        if archive.len() as u64 > ARCHIVE_BYTES_MAX {
            return Err(FilesError::Archive(format!("it has more than {} MiB", ARCHIVE_BYTES_MAX >> 20)).into());
        }
        let found = ContentDigest::of_content(&archive);
        if let Some(expected) = chart.digest.clone().filter(|expected| *expected != found) {
            return Err(ChartError::Digest { expected, found });
        }
        // Without the folder, the next run downloads the chart again.
        let _ = self.keep(&found, &archive);
        Ok(archive)
    }

    fn path(&self, digest: &ContentDigest) -> PathBuf {
        self.folder.join(format!("{}.tgz", digest.digits()))
    }

    /// An archive of the folder. None: it is not there, or it is damaged.
    fn kept(&self, digest: &ContentDigest) -> Option<Vec<u8>> {
        let read = |path: &Path| {
            let mut archive = Vec::new();
            fs::File::open(path)?.take(ARCHIVE_BYTES_MAX + 1).read_to_end(&mut archive)?;
            io::Result::Ok(archive)
        };
        read(&self.path(digest)).ok().filter(|archive| ContentDigest::of_content(archive) == *digest)
    }

    fn keep(&self, digest: &ContentDigest, archive: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = NamedTempFile::new_in(&self.folder)?;
        file.write_all(archive)?;
        file.persist(self.path(digest))?;
        Ok(())
    }
}

impl ChartError {
    /// The diagnostic at the place of the service's file that is about it.
    pub fn diagnostic(&self, service: &ChartService) -> Diagnostic {
        let message = format!("service `{}`: {self}", service.name);
        let (code, field, help) = match self {
            Self::Digest { .. } => (
                Code::ChartDigest,
                "digest",
                "find out why it was replaced; if it is right, remove `digest`, and run `kalypso app update --pin`",
            ),
            Self::Program(_) => (
                Code::ChartNotAvailable,
                "chart",
                "are the repository, the chart and the version right, and is the network there?",
            ),
            Self::Files(_) => {
                (Code::ChartNotAvailable, "version", "this chart can't be used; ask the people who publish it")
            }
        };
        Diagnostic::error(code, message).at(service.origin(&["helm", field]), "").help(help)
    }
}
