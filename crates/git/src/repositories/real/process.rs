//! One run of the git program: bounded in time and output, without a person to ask, and without a credential in sight.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::redact::{TOKEN_USER, told};
use crate::limits::{MESSAGE_BYTES_MAX, OUTPUT_BYTES_MAX};
use crate::settings::{Credential, Settings};
use crate::url::Scheme;

/// What git is asked.
pub(super) struct Run<'a> {
    /// The repository that git works in; none for what needs none.
    pub(super) git_dir: Option<&'a Path>,
    /// The subcommand and its arguments.
    pub(super) arguments: Vec<OsString>,
    /// Where it connects to, as git is given it.
    pub(super) url: &'a str,
    /// What is spoken there.
    pub(super) scheme: Scheme,
    /// What git reads. It is the lock on the repository as a rule: that is empty, and so lasts as long as git runs, even if this process is killed.
    pub(super) input: Option<&'a File>,
}

/// What git answered.
pub(super) struct Answer {
    /// Its standard output.
    pub(super) output: String,
    /// Why it failed, if it did: what it said, safe to show.
    pub(super) failure: Option<String>,
}

/// Why there is no answer.
pub(super) enum NoAnswer {
    /// Git could not be started.
    NotStarted(io::Error),
    /// It took longer than it may.
    TimedOut,
}

/// The environment of a git that works for somebody else, such as a hook, must not lead ours astray.
const FOREIGN_VARIABLES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CURL_VERBOSE",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_TRACE",
    "GIT_TRACE_CURL",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_REDACT",
    "GIT_WORK_TREE",
    "SSH_ASKPASS",
];

/// Asks nobody anything, runs nothing of the repository's, and keeps to itself.
const CONFIGURATION: &[&str] = &[
    "core.hooksPath=/dev/null",
    "credential.interactive=false",
    "fetch.recurseSubmodules=false",
    "gc.autoDetach=false",
    "http.followRedirects=initial",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
    "maintenance.autoDetach=false",
    "protocol.ext.allow=never",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "transfer.credentialsInUrl=die",
];

/// The variable that hands the token to git, and to nobody else. Neither the token nor anything made of it is ever in an argument.
const TOKEN_VARIABLE: &str = "KALYPSO_GIT_TOKEN";

/// Runs git.
pub(super) fn run(settings: &Settings, run: &Run<'_>) -> Result<Answer, NoAnswer> {
    let credential = settings.credential(run.url);
    let token = credential.map(|credential| &credential.token);
    let mut command = command(settings, run, credential);
    let mut child = Running(command.spawn().map_err(NoAnswer::NotStarted)?);
    let output = drain(child.0.stdout.take(), OUTPUT_BYTES_MAX);
    let messages = drain(child.0.stderr.take(), MESSAGE_BYTES_MAX);
    let end = Instant::now() + settings.time_limit;
    let received = receive(&output, end).and_then(|output| Ok((output, receive(&messages, end)?)));
    let Ok((output, messages)) = received else { return Err(NoAnswer::TimedOut) };
    let Some(is_good) = child.wait_until(end) else { return Err(NoAnswer::TimedOut) };
    let failure = (!is_good).then(|| told(&String::from_utf8_lossy(&messages), token));
    Ok(Answer { output: String::from_utf8_lossy(&output).into_owned(), failure })
}

/// What the user's configuration says about ssh, if anything.
fn configured_ssh(settings: &Settings) -> Option<String> {
    let mut command = Command::new(&settings.program);
    command.args(["config", "--get", "core.sshCommand"]).stdin(Stdio::null()).stderr(Stdio::null());
    for name in FOREIGN_VARIABLES {
        command.env_remove(name);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn command(settings: &Settings, run: &Run<'_>, credential: Option<&Credential>) -> Command {
    let mut command = Command::new(&settings.program);
    for name in FOREIGN_VARIABLES {
        command.env_remove(name);
    }
    if let Some(git_dir) = run.git_dir {
        command.arg("--git-dir").arg(git_dir);
    }
    for setting in CONFIGURATION {
        command.args(["-c", setting]);
    }
    let protocols = match run.scheme {
        Scheme::Local => "file",
        Scheme::Http => "http:https:ssh",
        Scheme::Https | Scheme::Ssh => "https:ssh",
    };
    command.env("GIT_ALLOW_PROTOCOL", protocols);
    if let Some(credential) = credential {
        hand_over(&mut command, credential);
    }
    if run.scheme == Scheme::Ssh {
        let ssh = settings.ssh_command.clone().or_else(|| configured_ssh(settings)).unwrap_or_else(|| "ssh".to_owned());
        command.env("GIT_SSH_COMMAND", format!("{ssh} -o BatchMode=yes -o ConnectTimeout=30"));
    }
    command
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "")
        .env("GCM_INTERACTIVE", "never")
        .env("GIT_LFS_SKIP_SMUDGE", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C");
    command.args(&run.arguments);
    let input = run.input.and_then(|file| file.try_clone().ok());
    command.stdin(input.map_or_else(Stdio::null, Stdio::from)).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Gives git a token for one prefix. Git itself compares every URL that it asks with the prefix, also after a redirect.
fn hand_over(command: &mut Command, credential: &Credential) {
    let helper = format!("!f() {{ printf 'username={TOKEN_USER}\\npassword=%s\\n' \"${TOKEN_VARIABLE}\"; }}; f");
    // Nobody else's helper is asked, or told of the token.
    command.args(["-c", "credential.helper="]);
    let prefix = credential.prefix.trim_end_matches('/');
    for prefix in [prefix.to_owned(), format!("{prefix}.git")] {
        command.args(["-c", &format!("credential.{prefix}.helper={helper}")]);
    }
    command.args(["-c", "credential.useHttpPath=true", "-c", "http.proactiveAuth=basic"]);
    command.env(TOKEN_VARIABLE, credential.token.reveal());
}

/// A child that does not outlive its parent's interest.
struct Running(Child);

impl Running {
    /// Whether the child ended well; none if it did not end in time.
    fn wait_until(&mut self, end: Instant) -> Option<bool> {
        let mut pause = Duration::from_micros(200);
        loop {
            match self.0.try_wait() {
                Ok(Some(status)) => return Some(status.success()),
                Ok(None) if Instant::now() < end => thread::sleep(pause),
                _ => return None,
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only for a child that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads everything, so that the child never waits for us, and keeps what is within the limit.
fn drain(stream: Option<impl Read + Send + 'static>, limit: u64) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            // A stream that breaks is one that ends.
            let _ = stream.by_ref().take(limit).read_to_end(&mut kept);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        let _ = sender.send(kept);
    });
    receiver
}

fn receive(stream: &Receiver<Vec<u8>>, end: Instant) -> Result<Vec<u8>, RecvTimeoutError> {
    stream.recv_timeout(end.saturating_duration_since(Instant::now()))
}
