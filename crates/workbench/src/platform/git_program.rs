//! Runs git as the user: with the user's identity and credentials, and independent of other settings.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use base64::Engine as _;

use crate::Failure;

/// Settings that have the same value on each machine.
const SETTINGS: [&str; 9] = [
    "advice.detachedHead=false",
    "core.autocrlf=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.safecrlf=false",
    "gc.auto=0",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
    "init.defaultBranch=main",
];
/// Variables of git that stay: they say who the user is, and how git connects.
const KEPT: [&str; 13] = [
    "GIT_ASKPASS",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO",
    "GIT_SSL_NO_VERIFY",
];
/// The name and the address in commits, if git does not know the user.
const UNKNOWN_USER: (&str, &str) = ("Kalypso", "kalypso@localhost");
/// The user name beside a token. Git hosts ignore it.
const TOKEN_USER: &str = "x-access-token";

/// The git program, as the user runs it.
#[derive(Debug)]
pub(super) struct Git {
    /// Whether commits have the name of [`UNKNOWN_USER`].
    is_user_unknown: bool,
    /// The header with a token, and the URLs that get it.
    header: Option<(String, String)>,
    /// The variables of this process that git does not get.
    removed: Vec<OsString>,
}

impl Git {
    /// Fails with advice if git is not installed. `variables` are the names of those of this process. `token` is sent to URLs with this start.
    pub(super) fn new(folder: &Path, variables: &[OsString], token: Option<(String, &str)>) -> Result<Self, Failure> {
        let header = token.filter(|(prefix, _)| prefix.starts_with("http")).map(|(prefix, token)| {
            let encoded = base64::engine::general_purpose::STANDARD.encode(format!("{TOKEN_USER}:{token}"));
            (format!("http.{prefix}.extraHeader"), format!("Authorization: Basic {encoded}"))
        });
        let removed = variables.iter().filter(|name| is_foreign(name)).cloned().collect();
        let git = Self { is_user_unknown: false, header, removed };
        let answer = git.command(folder).args(["var", "GIT_COMMITTER_IDENT"]).output();
        match answer {
            Ok(output) => Ok(Self { is_user_unknown: !output.status.success(), ..git }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Failure::outside("the program `git` is not installed, and Kalypso needs it").help(
                    "install it (`apt-get install git`, `dnf install git`, `apk add git`, `brew install git`) or see https://git-scm.com/downloads",
                ))
            }
            Err(error) => Err(Failure::outside(format!("the program `git` can't be started: {error}"))),
        }
    }

    /// A remark about the user's configuration.
    pub(super) fn note(&self) -> Option<&'static str> {
        self.is_user_unknown.then_some(
            "git does not know your name, so the first commits are by `Kalypso`. Before your own: \
             git config --global user.name \"YOUR NAME\" && git config --global user.email YOU@EXAMPLE",
        )
    }

    /// Runs git in a folder, and returns its output without the line break at the end.
    pub(super) fn run(&self, folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
        self.feed(folder, arguments, &[])
    }

    /// The same with an input.
    pub(super) fn feed(&self, folder: &Path, arguments: &[&str], input: &[u8]) -> Result<String, Failure> {
        let what = arguments.first().copied().unwrap_or_default();
        let failed = |why: &str| Failure::outside(format!("`git {what}` failed in `{}`: {why}", folder.display()));
        let output = self.output(folder, arguments, input).map_err(|error| failed(&error.to_string()))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
        } else {
            Err(failed(String::from_utf8_lossy(&output.stderr).trim()))
        }
    }

    fn output(&self, folder: &Path, arguments: &[&str], input: &[u8]) -> std::io::Result<Output> {
        let mut command = self.command(folder);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut stdin = child.stdin.take();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // If git does not read its input, its own error is reported.
                let _ = stdin.as_mut().map(|stdin| stdin.write_all(input));
            });
            child.wait_with_output()
        })
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new("git");
        self.removed.iter().for_each(|name| {
            command.env_remove(name);
        });
        command.current_dir(folder).env("LC_ALL", "C");
        // The formats of new repositories, whatever the default of the user or of this version of git is.
        command.env("GIT_DEFAULT_HASH", "sha1").env("GIT_DEFAULT_REF_FORMAT", "files");
        if !std::io::stdin().is_terminal() {
            command.env("GIT_TERMINAL_PROMPT", "0").env("GCM_INTERACTIVE", "never");
        }
        if self.is_user_unknown {
            for who in ["AUTHOR", "COMMITTER"] {
                command.env(format!("GIT_{who}_NAME"), UNKNOWN_USER.0).env(format!("GIT_{who}_EMAIL"), UNKNOWN_USER.1);
            }
        }
        if let Some((name, value)) = &self.header {
            // Other users of the machine can read arguments, but not variables.
            command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", name).env("GIT_CONFIG_VALUE_0", value);
        }
        SETTINGS.iter().for_each(|setting| {
            command.args(["-c", setting]);
        });
        command
    }
}

/// Whether a variable changes what git does, and does not say who the user is or how git connects.
fn is_foreign(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("GIT_") && !KEPT.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_repositories_have_the_formats_that_are_read_here() {
        let folder = tempfile::tempdir().unwrap();
        let git = Git { is_user_unknown: false, header: None, removed: Vec::new() };
        // As if the user had another default.
        git.run(folder.path(), &["-c", "init.defaultObjectFormat=sha256", "init", "--quiet"]).unwrap();
        let format = git.run(folder.path(), &["rev-parse", "--show-object-format"]).unwrap();
        assert_eq!(format, "sha1");
    }
}
