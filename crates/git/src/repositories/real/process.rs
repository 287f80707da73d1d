//! One run of git: with limits for time and output, without prompts, and without credentials in arguments or messages.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tracing::Span;

use super::environment::{self, Setting};
use super::redact::{TOKEN_USER, shown_message};
use crate::limits::{MESSAGE_BYTES_MAX, OUTPUT_BYTES_MAX};
use crate::repositories::GitOperation;
use crate::settings::{HttpToken, ScopedToken, Settings};
use crate::url::{Scheme, without_credential};

/// The parameters of a run.
pub(super) struct Run<'a> {
    /// The repository that git works in; none if the command needs none.
    pub(super) git_dir: Option<&'a Path>,
    /// The subcommand and its arguments.
    pub(super) arguments: Vec<OsString>,
    /// The URL that git connects to.
    pub(super) url: &'a str,
    /// The protocol of the URL.
    pub(super) scheme: Scheme,
    /// The settings for connections from the user's configuration.
    pub(super) connection_settings: &'a [Setting],
    /// The lock of the copy, if git changes it. Git holds the lock as long as it runs, even if this process is killed. Then standard output is not
    /// captured.
    pub(super) lock: Option<&'a File>,
    /// The operation, which decides the time limit.
    pub(super) wait: GitOperation,
    /// Whether git writes the packets of its protocol to the messages. [`is_git_protocol`] needs them.
    pub(super) is_traced: bool,
}

impl Run<'_> {
    /// The span of this run, if it is a part of something that is traced. Polls are not: their traces would bury all others.
    fn span(&self) -> Span {
        if Span::current().is_none() {
            return Span::none();
        }
        tracing::info_span!("git", command = self.subcommand(), url = without_credential(self.url))
    }

    /// The name of the subcommand, such as `fetch`. Options with a value may come before it.
    fn subcommand(&self) -> &str {
        let mut arguments = self.arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("-c") => drop(arguments.next()),
                Some(name) => return name,
                None => {}
            }
        }
        ""
    }
}

/// The output of a run.
pub(super) struct RunOutput {
    /// The standard output.
    pub(super) output: String,
    /// The unmodified standard error. It must not be shown.
    pub(super) messages: String,
    /// The error message if git failed, safe to show.
    pub(super) failure: Option<String>,
}

/// The reason why a run has no result.
pub(super) enum RunError {
    /// The token for the repository could not be made.
    NoToken(String),
    /// Git could not be started.
    NotStarted(String),
    /// Git exceeded this time limit.
    TimedOut(Duration),
}

/// The exit codes of the shell for a program that it can't start.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Options for ssh: no prompts, and detection of a server that does not respond.
const SSH_OPTIONS: &str = "-o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=3";

/// The variable that passes the token to git. Neither the token nor a value derived from it is ever in an argument.
const TOKEN_VARIABLE: &str = "KALYPSO_GIT_TOKEN";

/// A token for one run, and the URLs that it may be sent to.
struct RunCredential {
    prefix: String,
    token: HttpToken,
}

/// Runs git. If it fails, and the configured token was replaced since it started, git runs once more.
pub(super) fn run(settings: &Settings, run: &Run<'_>) -> Result<RunOutput, RunError> {
    let _span = run.span().entered();
    let used = credential(settings, run).map_err(RunError::NoToken)?;
    let output = run_with(settings, run, used.as_ref())?;
    let fresh = configured(settings, run).filter(|_| output.failure.is_some());
    match (used, fresh) {
        (Some(used), Some(fresh)) if used.token != fresh.token => run_with(settings, run, Some(&fresh)),
        _ => Ok(output),
    }
}

fn run_with(settings: &Settings, run: &Run<'_>, credential: Option<&RunCredential>) -> Result<RunOutput, RunError> {
    let token = credential.map(|credential| &credential.token);
    let limit = run.wait.limit(settings.time_limit);
    let command = command(settings, run, credential);
    let running = subprocess::start(command, run.lock, (OUTPUT_BYTES_MAX, MESSAGE_BYTES_MAX));
    let running = running.map_err(|error| RunError::NotStarted(error.to_string()))?;
    let finished = running.finish(Instant::now() + limit).ok_or(RunError::TimedOut(limit))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (output, messages) = (text(&finished.output), text(&finished.messages));
    let message = || shown_message(&messages, token);
    if finished.status.code().is_some_and(|code| NOT_STARTED.contains(&code)) {
        return Err(RunError::NotStarted(message()));
    }
    let failure = (!finished.status.success()).then(message);
    Ok(RunOutput { output, messages, failure })
}

/// Whether a traced run received a packet of git's protocol. A web page has none.
pub(super) fn is_git_protocol(messages: &str) -> bool {
    messages.lines().any(|line| line.split_once(" packet: ").is_some_and(|(_, packet)| packet.contains('<')))
}

/// The configured credential, or one with a token that is made for this repository.
fn credential(settings: &Settings, run: &Run<'_>) -> Result<Option<RunCredential>, String> {
    if let Some(configured) = configured(settings, run) {
        return Ok(Some(configured));
    }
    let connects = matches!(run.scheme, Scheme::Http | Scheme::Https) && run.wait != GitOperation::Maintenance;
    let Some(source) = settings.token_source.as_deref().filter(|_| connects) else { return Ok(None) };
    let token = source.token(run.url)?;
    Ok(token.map(|token| RunCredential { prefix: run.url.to_owned(), token }))
}

/// The configured credential, with its current token.
fn configured(settings: &Settings, run: &Run<'_>) -> Option<RunCredential> {
    let ScopedToken { prefix, token } = settings.credential(run.url)?;
    Some(RunCredential { prefix: prefix.clone(), token: HttpToken::new(token.current().reveal()) })
}

fn command(settings: &Settings, run: &Run<'_>, credential: Option<&RunCredential>) -> Command {
    let is_transfer = run.wait == GitOperation::Commits;
    let mut command =
        environment::program(settings, run.lock.is_some(), is_transfer.then_some(settings.transfer_bytes_max));
    if let Some(git_dir) = run.git_dir {
        command.arg("--git-dir").arg(git_dir);
    }
    environment::configure(&mut command, run.connection_settings);
    let protocols = match run.scheme {
        Scheme::Local => "file",
        // A server may redirect between the two.
        Scheme::Http => "http:https",
        Scheme::Https => "https",
        Scheme::Ssh => "ssh",
    };
    command.env("GIT_ALLOW_PROTOCOL", protocols);
    if let Some(credential) = credential {
        pass_token(&mut command, credential);
    }
    if run.scheme == Scheme::Ssh {
        let ssh = settings
            .ssh_command
            .as_deref()
            .or_else(|| environment::ssh_command(run.connection_settings))
            .unwrap_or("ssh");
        command.env("GIT_SSH_COMMAND", format!("{ssh} {SSH_OPTIONS}"));
    }
    if run.is_traced {
        command.env("GIT_TRACE_PACKET", "2");
    }
    command.args(&run.arguments);
    command
}

/// Passes a token to git, for one URL prefix. Git itself compares the prefix with every URL that it requests, also after a redirect.
fn pass_token(command: &mut Command, credential: &RunCredential) {
    let helper = format!("!f() {{ printf 'username={TOKEN_USER}\\npassword=%s\\n' \"${TOKEN_VARIABLE}\"; }}; f");
    // An empty helper removes all other helpers, so that none of them gets the token.
    command.args(["-c", "credential.helper="]);
    let prefix = credential.prefix.trim_end_matches('/');
    for prefix in [prefix.to_owned(), format!("{prefix}.git")] {
        command.args(["-c", &format!("credential.{prefix}.helper={helper}")]);
    }
    command.args(["-c", "credential.useHttpPath=true", "-c", "http.proactiveAuth=basic"]);
    command.env(TOKEN_VARIABLE, credential.token.reveal());
}
