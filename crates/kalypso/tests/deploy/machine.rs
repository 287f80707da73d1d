//! A folder that stands for the root folder of a machine, and the program started in it.
//!
//! The paths of the deployment, such as `/etc/kalypso`, are the same paths below this folder.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use testkit::hub_program::HubProgram;

/// How long a test waits for the program.
const PATIENCE: Duration = Duration::from_mins(1);

/// The folders of the deployment.
const FOLDERS: &[&str] = &["/etc/kalypso", "/var/lib/kalypso", "/var/cache/kalypso", "/run/secrets"];

/// The folder, and the environment of the program.
pub(crate) struct Machine {
    root: TempDir,
    variables: BTreeMap<String, String>,
}

impl Machine {
    /// A machine with this `kalypso.toml`. Its repositories can't be reached, without a request to a network.
    pub(crate) fn new(configuration: &str) -> Self {
        let machine = Self { root: TempDir::new().unwrap(), variables: BTreeMap::new() };
        for folder in FOLDERS {
            fs::create_dir_all(machine.path(folder)).unwrap();
            fs::set_permissions(machine.path(folder), Permissions::from_mode(0o700)).unwrap();
        }
        machine.configure(configuration);
        machine
    }

    pub(crate) fn configure(&self, configuration: &str) {
        let nowhere = "[git]\nrewrite = [{ from = \"https://git.example/\", to = \"/no/such/folder/\" }]\n";
        let text = match configuration.split_once("[git]\n") {
            Some((before, after)) => format!("{before}{nowhere}{after}"),
            None => format!("{configuration}\n{nowhere}"),
        };
        self.write("/etc/kalypso/kalypso.toml", &self.translated(&text));
    }

    /// Writes a file at a path of the deployment.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Sets a variable of the program.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), self.translated(value));
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path.trim_start_matches('/'))
    }

    /// A text with the paths below this folder instead of those of the deployment.
    fn translated(&self, text: &str) -> String {
        let root = self.root.path().display();
        FOLDERS.iter().fold(text.to_owned(), |text, folder| text.replace(folder, &format!("{root}{folder}")))
    }

    fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kalypso"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.current_dir(self.path("/etc/kalypso")).stdin(Stdio::null());
        command.envs(&self.variables).args(arguments.iter().map(|argument| self.translated(argument)));
        command
    }

    /// Runs the program until it ends.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let arguments: Vec<_> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        self.command(&arguments).output().unwrap()
    }

    /// Creates the first token, as the page shows it.
    #[track_caller]
    pub(crate) fn create_token(&self) {
        let Output { status, stderr, .. } = self.run(&["hub", "token", "create", "admin", "--role", "admin"]);
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    }

    /// Starts the program with arguments of the deployment, and waits until it answers. Its port may be any.
    pub(crate) fn start(&self, arguments: &[String]) -> Running {
        let running = self.spawn(arguments);
        let answer = running.get("/livez");
        assert!(answer.contains("200"), "{answer}");
        running
    }

    /// The same, and waits only until it listens.
    pub(crate) fn spawn(&self, arguments: &[String]) -> Running {
        let any_port = |argument: &String| argument.replace(":8080", ":0");
        let arguments: Vec<_> = arguments.iter().map(any_port).collect();
        Running(HubProgram::start(&mut self.command(&arguments)).unwrap())
    }
}

/// The program, which serves.
pub(crate) struct Running(HubProgram);

impl Running {
    /// Waits for words in the log.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, words: &str) {
        let start = Instant::now();
        while !self.log().contains(words) {
            assert!(self.0.process().try_wait().unwrap().is_none(), "it ended:\n{}", self.log());
            assert!(start.elapsed() < PATIENCE, "`{words}` is not in\n{}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn log(&self) -> String {
        self.0.log()
    }

    /// The answer to a request, with its head. Over TLS, by `curl`, which trusts every certificate.
    pub(crate) fn get(&self, path: &str) -> String {
        let (scheme, address) = self.0.url().split_once("://").unwrap();
        let (_, port) = address.rsplit_once(':').unwrap();
        if scheme == "https" {
            let url = format!("https://localhost:{port}{path}");
            let answer = Command::new("curl").args(["--silent", "--insecure", "--include", &url]).output().unwrap();
            return String::from_utf8(answer.stdout).unwrap();
        }
        let mut stream = TcpStream::connect(format!("localhost:{port}")).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        kill(Pid::from_raw(self.0.process().id().try_into().unwrap()), signal).unwrap();
    }

    /// Stops it as systemd, Docker and Kubernetes do.
    #[track_caller]
    pub(crate) fn stop(mut self) {
        self.signal(Signal::SIGTERM);
        let status = self.ended();
        assert_eq!(status.code(), Some(0), "{status}\n{}", self.log());
    }

    fn ended(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.0.process().try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end:\n{}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }
}
