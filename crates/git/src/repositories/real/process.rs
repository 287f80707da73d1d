//! One run of the git program: bounded in time and output, without a person to ask, and without a credential in sight.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::child;
use super::environment::{self, Setting};
use super::redact::{TOKEN_USER, told};
use crate::limits::{MESSAGE_BYTES_MAX, OUTPUT_BYTES_MAX};
use crate::repositories::Wait;
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
    /// What the person's configuration says about how to connect.
    pub(super) kept: &'a [Setting],
    /// The lock on the repository, if git changes it: it lasts as long as git runs, even if this process is killed. No output is kept then.
    pub(super) lock: Option<&'a File>,
    /// What git is waited for.
    pub(super) wait: Wait,
    /// Whether its messages say what it and the server say to each other, which [`is_git_spoken`] wants to know.
    pub(super) is_traced: bool,
}

/// What git answered.
pub(super) struct Answer {
    /// Its standard output.
    pub(super) output: String,
    /// What it said beside that, as it is: not to be shown.
    pub(super) messages: String,
    /// Why it failed, if it did: what it said, safe to show.
    pub(super) failure: Option<String>,
}

/// Why there is no answer.
pub(super) enum NoAnswer {
    /// Git could not be started.
    NotStarted(String),
    /// It took longer than it may.
    TimedOut(Duration),
}

/// What the shell says, by its status, of a program that it can't start.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Asks nobody, and notices a server that is gone.
const SSH_OPTIONS: &str = "-o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=3";

/// The variable that hands the token to git, and to nobody else. Neither the token nor anything made of it is ever in an argument.
const TOKEN_VARIABLE: &str = "KALYPSO_GIT_TOKEN";

/// Runs git.
pub(super) fn run(settings: &Settings, run: &Run<'_>) -> Result<Answer, NoAnswer> {
    let credential = settings.credential(run.url);
    let token = credential.map(|credential| &credential.token);
    let limit = run.wait.limit(settings.time_limit);
    let command = command(settings, run, credential);
    let running = child::start(command, run.lock, (OUTPUT_BYTES_MAX, MESSAGE_BYTES_MAX));
    let running = running.map_err(|error| NoAnswer::NotStarted(error.to_string()))?;
    let finished = running.finish(Instant::now() + limit).ok_or(NoAnswer::TimedOut(limit))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (output, messages) = (text(&finished.output), text(&finished.messages));
    let said = || told(&messages, token);
    if finished.status.code().is_some_and(|code| NOT_STARTED.contains(&code)) {
        return Err(NoAnswer::NotStarted(said()));
    }
    let failure = (!finished.status.success()).then(said);
    Ok(Answer { output, messages, failure })
}

/// Whether a traced run of git heard anything that only a git server says: its packets, not the text of a page.
pub(super) fn is_git_spoken(messages: &str) -> bool {
    messages.lines().any(|line| line.split_once(" packet: ").is_some_and(|(_, packet)| packet.contains('<')))
}

fn command(settings: &Settings, run: &Run<'_>, credential: Option<&Credential>) -> Command {
    let is_transfer = run.wait == Wait::Commits;
    let mut command =
        environment::program(settings, run.lock.is_some(), is_transfer.then_some(settings.transfer_bytes_max));
    if let Some(git_dir) = run.git_dir {
        command.arg("--git-dir").arg(git_dir);
    }
    environment::settle(&mut command, run.kept);
    let protocols = match run.scheme {
        Scheme::Local => "file",
        // A server may lead from one to the other.
        Scheme::Http => "http:https",
        Scheme::Https => "https",
        Scheme::Ssh => "ssh",
    };
    command.env("GIT_ALLOW_PROTOCOL", protocols);
    if let Some(credential) = credential {
        hand_over(&mut command, credential);
    }
    if run.scheme == Scheme::Ssh {
        let ssh = settings.ssh_command.as_deref().or_else(|| environment::ssh_command(run.kept)).unwrap_or("ssh");
        command.env("GIT_SSH_COMMAND", format!("{ssh} {SSH_OPTIONS}"));
    }
    if run.is_traced {
        command.env("GIT_TRACE_PACKET", "2");
    }
    command.args(&run.arguments);
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
