//! The environment and settings of git: fixed, except for the settings of connections.
//!
//! Git reads settings from the system, the user, the repository and the environment, and many of them start programs. Only the settings that are
//! needed to connect to a host are passed on: credential helpers, ssh, proxies, certificates. All others have the fixed values of this file.

use std::ffi::OsStr;
use std::process::Command;
use std::time::Instant;

use crate::limits::{OUTPUT_BYTES_MAX, REQUEST_LIMIT};
use crate::settings::Settings;

/// One setting: its name, such as `section.name`, and its value.
pub(super) type Setting = (String, String);

/// The fixed settings. Git never prompts, runs no programs of the repository, trusts only objects, and starts no background work. Kalypso itself
/// starts the maintenance of copies. `transfer.fsckObjects` stays off: it refuses old repositories with harmless defects, and this crate parses every
/// object and checks its id anyway.
const CONFIGURATION: &[&str] = &[
    "advice.graftFileDeprecated=false",
    "core.commitGraph=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.multiPackIndex=false",
    "core.useReplaceRefs=false",
    "credential.interactive=false",
    "fetch.recurseSubmodules=false",
    "fetch.unpackLimit=1",
    "gc.auto=0",
    "gc.autoDetach=false",
    "gc.writeCommitGraph=false",
    "http.followRedirects=initial",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
    "maintenance.auto=false",
    "maintenance.autoDetach=false",
    "pack.useBitmaps=false",
    "protocol.ext.allow=never",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "repack.updateServerInfo=false",
    "repack.writeBitmaps=false",
    "submodule.recurse=false",
    "transfer.credentialsInUrl=die",
];

/// Variables that are set for every run.
const VARIABLES: &[(&str, &str)] = &[
    ("GCM_INTERACTIVE", "never"),
    ("GIT_ASKPASS", ""),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_GRAFT_FILE", "/dev/null/none"),
    ("GIT_LFS_SKIP_SMUDGE", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// Variables of a git that runs this process, for example in a hook. They would lead the git of this process to other repositories. The configuration
/// may add more: [`Settings::withheld`].
pub(super) const FOREIGN_VARIABLES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CURL_VERBOSE",
    "GIT_DIR",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_PROXY_COMMAND",
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

/// Prefixes of the settings of whole sections that are passed on, in lower case as git prints them.
const PASSED_SECTIONS: &[&str] = &["credential."];
/// Single settings that are passed on.
const PASSED_SETTINGS: &[&str] = &["core.sshcommand", "ssh.variant"];
/// Settings of `http` and `http.URL` that are passed on. Headers are not: a header without a URL would go to every host that an object names.
const PASSED_OF_HTTP: &[&str] = &[
    "delegation",
    "emptyauth",
    "pinnedpubkey",
    "postbuffer",
    "proxy",
    "proxyauthmethod",
    "schannelcheckrevoke",
    "schannelusesslcainfo",
    "version",
];
/// Prefixes of the settings of `http` that configure certificates.
const PASSED_PREFIXES_OF_HTTP: &[&str] = &["ssl", "proxyssl"];

/// The git command, without the variables that lead git elsewhere. With a lock, git holds it: see [`subprocess::guarded`].
pub(super) fn program(settings: &Settings, has_lock: bool, file_bytes_max: Option<u64>) -> Command {
    let mut command = subprocess::guarded(&settings.program, has_lock, file_bytes_max);
    let foreign = FOREIGN_VARIABLES.iter().map(OsStr::new);
    foreign.chain(settings.withheld.iter().map(AsRef::as_ref)).for_each(|name| {
        command.env_remove(name);
    });
    command
}

/// Applies the settings to a git command: the fixed ones, and those of the user in `connection_settings`.
pub(super) fn configure(command: &mut Command, connection_settings: &[Setting]) {
    for (name, value) in VARIABLES {
        command.env(name, value);
    }
    // Values may be secrets, so they are passed in variables instead of arguments.
    command.env("GIT_CONFIG_COUNT", connection_settings.len().to_string());
    for (index, (name, value)) in connection_settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{index}"), name).env(format!("GIT_CONFIG_VALUE_{index}"), value);
    }
    for setting in CONFIGURATION {
        command.args(["-c", setting]);
    }
}

/// The settings for connections from the configuration of the system and the user. Empty if git can't read it.
pub(super) fn connection_settings(settings: &Settings) -> Vec<Setting> {
    // The original environment decides where git's configuration is, so these variables stay.
    let is_of_configuration = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_CONFIG");
    let mut command = subprocess::guarded(&settings.program, false, None);
    let foreign = FOREIGN_VARIABLES.iter().map(OsStr::new);
    let withheld = settings.withheld.iter().map(AsRef::as_ref).filter(|name| !is_of_configuration(name));
    for name in foreign.chain(withheld) {
        command.env_remove(name);
    }
    // Git must not search for a repository, in particular not in the current folder.
    command.env("GIT_DIR", "/dev/null/none").env("LC_ALL", "C");
    command.args(["config", "--list", "-z", "--show-scope", "--includes"]);
    let running = subprocess::start(command, None, (OUTPUT_BYTES_MAX, 0)).ok();
    let finished = running.and_then(|running| running.finish(Instant::now() + REQUEST_LIMIT));
    let finished = finished.filter(|finished| finished.status.success());
    finished.map_or_else(Vec::new, |finished| parse(&String::from_utf8_lossy(&finished.output)))
}

/// The ssh command of git's configuration.
pub(super) fn ssh_command(connection_settings: &[Setting]) -> Option<&str> {
    let found = connection_settings.iter().rev().find(|(name, _)| name == "core.sshcommand");
    found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

/// Parses the output of `git config --list -z --show-scope`: scopes and settings alternate, each with a zero byte after it. A line break separates
/// name and value.
fn parse(text: &str) -> Vec<Setting> {
    let fields: Vec<_> = text.split('\0').collect();
    let pairs = fields.chunks_exact(2).filter_map(|pair| match pair {
        ["system" | "global" | "command", setting] => Some(*setting),
        _ => None,
    });
    // A setting without a value is true.
    let pairs = pairs.map(|setting| setting.split_once('\n').unwrap_or((setting, "true")));
    let is_passed = |(name, _): &(&str, &str)| is_passed_setting(name);
    pairs.filter(is_passed).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn is_passed_setting(name: &str) -> bool {
    if PASSED_SETTINGS.contains(&name) || PASSED_SECTIONS.iter().any(|section| name.starts_with(section)) {
        return true;
    }
    let Some(last) = name.strip_prefix("http.").and_then(|rest| rest.rsplit('.').next()) else { return false };
    PASSED_OF_HTTP.contains(&last) || PASSED_PREFIXES_OF_HTTP.iter().any(|prefix| last.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_connection_settings_are_passed_on() {
        for name in [
            "credential.helper",
            "credential.https://git.example.username",
            "core.sshcommand",
            "http.proxy",
            "http.https://git.example/.sslcainfo",
            "http.sslverify",
            "http.proxysslcert",
        ] {
            assert!(is_passed_setting(name), "{name}");
        }
        for name in [
            "core.hookspath",
            "core.fsmonitor",
            "core.alternaterefscommand",
            "core.gitproxy",
            "core.askpass",
            "url.https://evil.example/.insteadof",
            "protocol.ext.allow",
            "http.extraheader",
            "http.https://git.example/.extraheader",
            "http.cookiefile",
            "http.curloptresolve",
            "remote.origin.uploadpack",
            "include.path",
            "safe.directory",
            "filter.lfs.process",
        ] {
            assert!(!is_passed_setting(name), "{name}");
        }
    }

    #[test]
    fn repository_settings_are_ignored() {
        let text = "global\0credential.helper\nstore\0local\0credential.helper\n!evil\0system\0http.sslverify\0\
                    command\0core.sshcommand\nssh -v\nx\0worktree\0core.sshcommand\nevil\0";
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [
            setting("credential.helper", "store"),
            setting("http.sslverify", "true"),
            setting("core.sshcommand", "ssh -v\nx"),
        ];
        assert_eq!(parse(text), expected);
        assert_eq!(ssh_command(&parse(text)), Some("ssh -v\nx"));
        assert_eq!(parse(""), []);
    }
}
