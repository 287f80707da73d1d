//! The real programs, found on the path. They get no network, no cluster, and no settings of the user.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::{NamedTempFile, TempDir};

use super::{HelmTemplate, Program, ProgramError, Programs, RemoteChart};
use crate::limits::{
    ARCHIVE_BYTES_MAX, DOWNLOAD_BYTES_MAX, MESSAGE_BYTES_MAX, MESSAGE_CHARS_MAX, OUTPUT_BYTES_MAX, PROGRAM_TIME_LIMIT,
};

/// A proxy that no one listens at: the port is reserved. The programs send every request there.
const NO_NETWORK: &str = "http://127.0.0.1:1";

/// The start of the addresses of registries.
const OCI: &str = "oci://";

/// What Helm adds to errors of templates. The option prints texts that are no YAML.
const DEBUG_ADVICE: &str = "Use --debug flag to render out invalid YAML";

/// The variables for the network that Helm needs to download charts.
const NETWORK_VARIABLES: [&str; 8] =
    ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/// The variables for folders with settings and temporary files.
const FOLDER_VARIABLES: [&str; 6] =
    ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_PLUGINS", "XDG_CONFIG_HOME", "TMPDIR"];

/// What a program is called for.
#[derive(Clone, Copy, Debug)]
enum Call {
    Render,
    Version,
    Dependencies,
    Pull,
    ShowChart,
}

/// A file that a program may have, with the arguments of its calls.
struct Candidate {
    name: &'static str,
    render: &'static [&'static str],
    version: &'static [&'static str],
}

/// The files of a program, the preferred one first.
fn candidates(program: Program) -> &'static [Candidate] {
    match program {
        Program::Helm => &[Candidate { name: "helm", render: &["template"], version: &["version", "--short"] }],
        Program::Kustomize => &[
            Candidate { name: "kustomize", render: &["build"], version: &["version"] },
            Candidate { name: "kubectl", render: &["kustomize"], version: &["version", "--client"] },
        ],
    }
}

/// The variables of the process that programs get.
#[derive(Clone, Debug, Default)]
pub struct ProgramEnvironment {
    /// `PATH`: where programs are searched.
    pub path: OsString,
    /// `HOME`: launchers of programs may need it.
    pub home: Option<OsString>,
    /// All other variables of the process. Only those for the network are used, and only to download charts.
    pub variables: Vec<(OsString, OsString)>,
}

/// The real programs.
#[derive(Debug)]
pub struct RealPrograms {
    environment: ProgramEnvironment,
    /// The folder for files of the programs, such as values.
    folder: TempDir,
}

impl RealPrograms {
    /// The programs on a path.
    ///
    /// # Errors
    /// If no temporary folder can be made.
    pub fn new(environment: ProgramEnvironment) -> io::Result<Self> {
        Ok(Self { environment, folder: TempDir::with_prefix("kalypso-app-")? })
    }

    /// The file of a program on the path.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let folders = std::env::split_paths(&self.environment.path);
        folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)).find(|file| is_executable(file))
    }

    /// A command of a program, with the arguments for this call.
    fn command(&self, program: Program, call: Call) -> Result<Command, ProgramError> {
        let found = candidates(program).iter().find_map(|candidate| Some((self.find(candidate.name)?, candidate)));
        let (file, candidate) = found.ok_or(ProgramError::Missing(program))?;
        let file_bytes_max = matches!(call, Call::Pull | Call::ShowChart).then_some(DOWNLOAD_BYTES_MAX);
        let mut command = subprocess::guarded(file, false, file_bytes_max);
        command.env_clear().env("PATH", &self.environment.path).env("LC_ALL", "C").current_dir(self.folder.path());
        if let Some(home) = &self.environment.home {
            command.env("HOME", home);
        }
        // Without settings, plug-ins, repositories and clusters of the user.
        command.envs(FOLDER_VARIABLES.map(|name| (name, self.folder.path())));
        command.env("KUBECONFIG", "/dev/null").env("GIT_TERMINAL_PROMPT", "0");
        command.args(match call {
            Call::Render => candidate.render,
            Call::Version => candidate.version,
            Call::Dependencies => &["dependency", "build"],
            Call::Pull => &["pull"],
            Call::ShowChart => &["show", "chart"],
        });
        Ok(command)
    }

    /// A command of Helm that reads a chart of a chart repository.
    fn remote(&self, call: Call, chart: &RemoteChart<'_>) -> Result<Command, ProgramError> {
        let RemoteChart { repository, chart, version } = *chart;
        let mut command = self.command(Program::Helm, call)?;
        command.args(version.map(|version| format!("--version={version}")));
        // Everything after `--` is not an option, whatever its name.
        if let Some(registry) = repository.strip_prefix(OCI) {
            command.args(is_of_this_machine(registry).then_some("--plain-http"));
            command.arg("--").arg(format!("{}/{chart}", repository.trim_end_matches('/')));
        } else {
            command.arg(format!("--repo={repository}")).arg("--").arg(chart);
        }
        Ok(command)
    }

    fn run(&self, program: Program, mut command: Command, limits: RunLimits) -> Result<Vec<u8>, ProgramError> {
        if limits.has_network {
            let is_of_network = |name: &OsString| NETWORK_VARIABLES.iter().any(|known| name == known);
            command.envs(self.environment.variables.iter().filter(|(name, _)| is_of_network(name)).cloned());
        } else {
            // Git is what Kustomize fetches repositories with.
            command.env("GIT_ALLOW_PROTOCOL", "none");
            command.envs(["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map(|name| (name, NO_NETWORK)));
        }
        // One byte more than the limit tells that there is more.
        let captured = (OUTPUT_BYTES_MAX + 1, MESSAGE_BYTES_MAX);
        let running =
            subprocess::start(command, None, captured).map_err(|error| ProgramError::NotStarted(program, error))?;
        let finished =
            running.finish(Instant::now() + limits.time).ok_or(ProgramError::TimedOut(program, limits.time))?;
        if !finished.status.success() {
            return Err(ProgramError::Failed(program, message(&finished.messages)));
        }
        if finished.output.len() as u64 > OUTPUT_BYTES_MAX {
            return Err(ProgramError::TooMuch(program, OUTPUT_BYTES_MAX));
        }
        Ok(finished.output)
    }
}

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
struct RunLimits {
    time: Duration,
    has_network: bool,
}

impl RunLimits {
    fn offline(time: Duration) -> Self {
        Self { time, has_network: false }
    }
}

impl Programs for RealPrograms {
    fn helm_template(&self, run: &HelmTemplate<'_>) -> Result<Vec<u8>, ProgramError> {
        let HelmTemplate { chart, release, values, options, time_limit } = *run;
        let write = || {
            let mut file = NamedTempFile::with_suffix_in(".json", self.folder.path())?;
            file.write_all(values.as_bytes())?;
            Ok(file)
        };
        let file = write().map_err(|error| ProgramError::NotStarted(Program::Helm, error))?;
        let mut command = self.command(Program::Helm, Call::Render)?;
        // Everything after `--` is not an option, whatever its name.
        command.args(options).arg("--values").arg(file.path()).arg("--").arg(release).arg(chart);
        let output = self.run(Program::Helm, command, RunLimits::offline(time_limit));
        output.map_err(|error| error.without_path(chart, "").without_path(file.path(), "the values"))
    }

    fn helm_dependencies(&self, chart: &Path, time: Duration) -> Result<(), ProgramError> {
        let mut command = self.command(Program::Helm, Call::Dependencies)?;
        command.arg("--").arg(chart);
        self.run(Program::Helm, command, RunLimits { time, has_network: true })
            .map(drop)
            .map_err(|error| error.without_path(chart, ""))
    }

    fn helm_pull(&self, chart: &RemoteChart<'_>, time: Duration) -> Result<Vec<u8>, ProgramError> {
        let not_started = |error| ProgramError::NotStarted(Program::Helm, error);
        let folder = TempDir::new_in(self.folder.path()).map_err(not_started)?;
        let mut command = self.remote(Call::Pull, chart)?;
        command.current_dir(folder.path());
        self.run(Program::Helm, command, RunLimits { time, has_network: true })?;
        let archive = archive(folder.path()).map_err(not_started)?;
        archive.ok_or_else(|| ProgramError::Failed(Program::Helm, "`helm pull` wrote no archive".to_owned()))
    }

    fn helm_show_chart(&self, chart: &RemoteChart<'_>, time: Duration) -> Result<Vec<u8>, ProgramError> {
        let command = self.remote(Call::ShowChart, chart)?;
        self.run(Program::Helm, command, RunLimits { time, has_network: true })
    }

    fn kustomize_build(&self, folder: &Path, time: Duration) -> Result<Vec<u8>, ProgramError> {
        let mut command = self.command(Program::Kustomize, Call::Render)?;
        command.arg("--").arg(folder);
        let output = self.run(Program::Kustomize, command, RunLimits::offline(time));
        output.map_err(|error| error.without_path(folder, "."))
    }

    fn version(&self, program: Program) -> Result<String, ProgramError> {
        let command = self.command(program, Call::Version)?;
        let output = self.run(program, command, RunLimits::offline(PROGRAM_TIME_LIMIT))?;
        let text = String::from_utf8_lossy(&output);
        Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", "))
    }
}

impl ProgramError {
    /// The error with another name for a path of this machine.
    fn without_path(self, path: &Path, name: &str) -> Self {
        let Self::Failed(program, message) = self else { return self };
        let path = path.to_string_lossy();
        let shown = if name.is_empty() { message.replace(&format!("{path}/"), "") } else { message };
        Self::Failed(program, shown.replace(&*path, if name.is_empty() { "the chart" } else { name }))
    }
}

/// Whether a registry is on this machine. Such a registry is not encrypted, as for the images of all container runtimes.
fn is_of_this_machine(registry: &str) -> bool {
    let host = registry.split('/').next().unwrap_or_default();
    let host = host
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(host, |(host, _)| host);
    model::network::is_loopback(host)
}

/// The archive that `helm pull` wrote into a folder, with at most one byte more than it may have. None: it wrote none.
fn archive(folder: &Path) -> io::Result<Option<Vec<u8>>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "tgz") {
            let mut content = Vec::new();
            std::fs::File::open(path)?.take(ARCHIVE_BYTES_MAX + 1).read_to_end(&mut content)?;
            return Ok(Some(content));
        }
    }
    Ok(None)
}

/// The message of a program without what every message has.
fn message(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty() && *line != DEBUG_ADVICE);
    let text = lines.collect::<Vec<_>>().join("\n");
    let text = text.strip_prefix("Error: ").or_else(|| text.strip_prefix("error: ")).unwrap_or(&text);
    if text.is_empty() { "it printed no reason".to_owned() } else { without_middle(text) }
}

/// A text without the middle of a long one. The reason is at its beginning or at its end: a template that calls itself is named a thousand times between them.
fn without_middle(text: &str) -> String {
    let count = text.chars().count();
    if count <= MESSAGE_CHARS_MAX {
        return text.to_owned();
    }
    let half = MESSAGE_CHARS_MAX / 2;
    let (head, tail): (String, String) = (text.chars().take(half).collect(), text.chars().skip(count - half).collect());
    format!("{head} … {tail}")
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests;
