//! A shell in a separate folder, on a machine without configuration.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::hub_program::HubProgram;
use testkit::postgres::{PostgresServer, availability};
use testkit::programs::{HELM_VARIABLE, helm_folder};

/// A shell that keeps its current directory.
pub(crate) struct Shell {
    root: tempfile::TempDir,
    place: PathBuf,
    variables: Vec<(String, String)>,
    /// The hub runs until it is stopped, or as long as the shell.
    hub: Option<HubProgram>,
    /// A free address for the git host of the demo.
    git_host: String,
    postgres: Option<PostgresServer>,
    /// The folder of Helm.
    helm: Option<PathBuf>,
}

/// The names of other machines and of their contents in the pages, with their replacements in the test.
const ELSEWHERE: [(&str, &str); 9] = [
    ("sh examples/", "sh $EXAMPLES/"),
    ("https://hub.example", "$KALYPSO_HUB_URL"),
    ("http://127.0.0.1:8080", "$KALYPSO_HUB_URL"),
    ("--listen 0.0.0.0:8443 ", ""),
    ("postgres://kalypso:secret@postgres.example/kalypso", "$KALYPSO_DATABASE_URL"),
    ("kal_…", "$KALYPSO_TOKEN"),
    ("kals_…", "$KALYPSO_TOKEN"),
    ("/data/", "./"),
    ("/media/usb/", "./"),
];

/// The exit statuses that a page may show: those of `kalypso`, and those of `grep` and `diff` for found or missing text.
const STATUSES: std::ops::RangeInclusive<i32> = 0..=2;

impl Shell {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("home");
        fs::create_dir(&place).unwrap();
        // With this configuration, curl fails if the answer is an HTTP error.
        fs::write(place.join(".curlrc"), "silent\nshow-error\nfail-with-body\n").unwrap();
        let git_host = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        Self { root, place, variables: Vec::new(), hub: None, git_host, postgres: None, helm: None }
    }

    /// Runs a command that the page does not show: a command, a hub or its end, a server, or a variable.
    ///
    /// # Errors
    /// If the server does not exist on this machine.
    pub(crate) fn start(&mut self, command: &str) -> Result<(), String> {
        if let Some(hub) = command.strip_suffix(" &") {
            self.serve(hub);
        } else if command == "stop" {
            self.hub = None;
        } else if command == "helm" {
            let path = std::env::var_os("PATH").unwrap_or_default();
            self.helm = Some(helm_folder(std::env::var_os(HELM_VARIABLE), &path)?);
        } else if command == "postgresql" {
            availability()?;
            let server = PostgresServer::start_private(&[]).unwrap();
            self.variables.push(("KALYPSO_DATABASE_URL".to_owned(), server.url_of("kalypso", "kalypso")));
            self.postgres = Some(server);
        } else if let Some(sql) = command.strip_prefix("sql: ") {
            self.administer(sql);
        } else if let Some((name, value)) = variable(command) {
            let value = self.run(&format!("{{ {value}; }} 2>/dev/null")).trim_end().to_owned();
            self.variables.push((name.to_owned(), value));
        } else {
            self.run(command);
        }
        Ok(())
    }

    /// Creates a file and its parent folders.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.place.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The output of a command on both streams.
    pub(crate) fn run(&mut self, command: &str) -> String {
        if let Some(folder) = command.strip_prefix("cd ") {
            self.place = self.place.join(folder);
            assert!(self.place.is_dir(), "the folder {folder} does not exist");
            return String::new();
        }
        let output = self.command(&format!("exec 2>&1\n{command}")).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let status = output.status.code().unwrap_or(-1);
        assert!(STATUSES.contains(&status), "`{command}` ended with {status}:\n{printed}");
        let root = fs::canonicalize(self.root.path()).unwrap();
        let printed =
            printed.replace(&root.display().to_string(), "").replace(&self.root.path().display().to_string(), "");
        // Each line of a block ends with a line break.
        if printed.is_empty() || printed.ends_with('\n') { printed } else { printed + "\n" }
    }

    /// Runs commands, each of which must succeed.
    pub(crate) fn succeed(&mut self, script: &str) {
        let script = ELSEWHERE.iter().fold(script.to_owned(), |script, (there, here)| script.replace(there, here));
        let is_hub =
            |line: &&str| matches!(*line, "kalypso hub" | "kalypso serve") || line.starts_with("kalypso hub --");
        if let Some(hub) = script.lines().find(is_hub) {
            return self.serve(hub);
        }
        let output = self.command(&format!("exec 2>&1\nset -ex\n{script}")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    /// Runs SQL statements as the superuser.
    pub(crate) fn administer(&self, sql: &str) {
        self.postgres.as_ref().unwrap().psql(sql).unwrap();
    }

    /// Starts a hub on a free port. It replaces a running hub.
    fn serve(&mut self, command: &str) {
        self.hub = None;
        let command = format!("exec {command} --listen 127.0.0.1:0");
        self.hub = Some(HubProgram::start(&mut self.command(&command)).unwrap());
    }

    fn command(&self, script: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_kalypso"));
        let path = std::env::join_paths(
            [program.parent().unwrap().to_owned()]
                .into_iter()
                .chain(self.helm.clone())
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()))
                // The parts that are not available on each machine.
                .chain([fixtures().join("programs")]),
        );
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).current_dir(&self.place).stdin(Stdio::null()).env_clear();
        command.env("PATH", path.unwrap()).env("HOME", self.root.path().join("home")).env("LC_ALL", "C.UTF-8");
        command.env("KALYPSO_CACHE_DIR", self.root.path().join("cache")).env("KALYPSO_PROGRESS", "never");
        command.envs(self.hub.iter().map(|hub| ("KALYPSO_HUB_URL", hub.url())));
        command.env("KALYPSO_DEMO_GIT_HOST", &self.git_host);
        command
            .env("EXAMPLES", Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"))
            .env("FIXTURES", fixtures())
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for (who, name) in [("AUTHOR", "Ann"), ("COMMITTER", "Ann")] {
            command.env(format!("GIT_{who}_NAME"), name).env(format!("GIT_{who}_EMAIL"), "ann@acme.example");
        }
        command
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/docs/fixtures")
}

/// The parts of `NAME=$(command)`.
fn variable(command: &str) -> Option<(&str, &str)> {
    let (name, rest) = command.split_once("=$(")?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    is_name.then_some(())?;
    Some((name, rest.strip_suffix(')')?))
}
