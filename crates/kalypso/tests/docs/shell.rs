//! A shell in a folder of its own, on a machine where nothing is configured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::hub_program::HubProgram;

/// A shell that remembers where it is.
pub(crate) struct Shell {
    root: tempfile::TempDir,
    place: PathBuf,
    /// It runs as long as the shell.
    hub: Option<HubProgram>,
}

/// What a page may show: what `kalypso` itself ends with, and `grep` and `diff` where they find something or nothing.
const STATUSES: std::ops::RangeInclusive<i32> = 0..=2;

impl Shell {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("home");
        fs::create_dir(&place).unwrap();
        Self { root, place, hub: None }
    }

    /// Makes a file, with the folders above it.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.place.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// What a command prints to both streams.
    pub(crate) fn run(&mut self, command: &str) -> String {
        if let Some(folder) = command.strip_prefix("cd ") {
            self.place = self.place.join(folder);
            assert!(self.place.is_dir(), "there is no folder {folder}");
            return String::new();
        }
        let output = self.command(&format!("exec 2>&1\n{command}")).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let status = output.status.code().unwrap_or(-1);
        assert!(STATUSES.contains(&status), "`{command}` ended with {status}:\n{printed}");
        let root = fs::canonicalize(self.root.path()).unwrap();
        let printed =
            printed.replace(&root.display().to_string(), "").replace(&self.root.path().display().to_string(), "");
        // A block has no line that is not ended.
        if printed.is_empty() || printed.ends_with('\n') { printed } else { printed + "\n" }
    }

    /// Runs commands that have to succeed, each of them.
    pub(crate) fn succeed(&mut self, script: &str) {
        let output = self.command(&format!("exec 2>&1\nset -ex\n{script}")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    /// Starts a hub on a port that is free.
    pub(crate) fn serve(&mut self, command: &str) {
        let command = format!("exec {command} --listen 127.0.0.1:0");
        self.hub = Some(HubProgram::start(&mut self.command(&command)).unwrap());
    }

    fn command(&self, script: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_kalypso"));
        let path = std::env::join_paths(
            [program.parent().unwrap().to_owned()]
                .into_iter()
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).current_dir(&self.place).stdin(Stdio::null()).env_clear();
        command.env("PATH", path.unwrap()).env("HOME", self.root.path().join("home")).env("LC_ALL", "C.UTF-8");
        command.env("KALYPSO_CACHE_DIR", self.root.path().join("cache")).env("KALYPSO_PROGRESS", "never");
        command.envs(self.hub.iter().map(|hub| ("KALYPSO_HUB_URL", hub.url())));
        command.env("FIXTURES", Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/docs/fixtures"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for (who, name) in [("AUTHOR", "Ann"), ("COMMITTER", "Ann")] {
            command.env(format!("GIT_{who}_NAME"), name).env(format!("GIT_{who}_EMAIL"), "ann@acme.example");
        }
        command
    }
}
