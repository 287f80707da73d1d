//! Tests with caches, settings and repositories that another user prepared.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use git_host::HostKind;
use git_host::double::{AppDouble, HostDouble};
use git_host::hosts::memory::MemoryHost;
use testkit::git_server::{GitRequest, GitServer};

use crate::company::{Company, Ran, git};

const SECRET: &str = "a secret of this company's CI";

impl Company {
    /// Runs the program with an environment variable.
    fn kalypso_with(&self, arguments: &str, (name, value): (&str, &str)) -> Ran {
        Ran::new(self.command().args(arguments.split_whitespace()).env(name, value))
    }

    /// Moves the repositories to a host.
    fn on_a_host(&self) -> GitServer {
        let server = GitServer::start(&self.path("served")).unwrap();
        self.configure(&server.url(), "");
        server
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A program that creates a file when it runs, and the path of this file.
fn trap(company: &Company) -> (PathBuf, PathBuf) {
    let (program, trace) = (company.path("trap"), company.path("ran"));
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n", trace.display())).unwrap();
    set_mode(&program, 0o755);
    (program, trace)
}

fn is_root() -> bool {
    String::from_utf8(Command::new("id").arg("-u").output().unwrap().stdout).unwrap().trim() == "0"
}

#[test]
fn cache_writable_by_others_is_not_used() {
    let company = Company::new();
    let _server = company.on_a_host();
    let cache = company.path("cache");
    fs::create_dir(&cache).unwrap();
    set_mode(&cache, 0o777);
    let temporary = company.path("tmp");
    fs::create_dir(&temporary).unwrap();
    for command in ["check", "publish -e dev --direct"] {
        let ran = company.kalypso_with(command, ("TMPDIR", temporary.to_str().unwrap())).ends(0);
        let ran = ran.says(&["warning: [K0611] the cache", "other users may write to", "chmod 700", "2 of 2"]);
        assert_eq!(ran.err.matches("K0611").count(), 1, "{}", ran.err);
    }
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 0, "the untrusted cache is not written");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "the temporary folder is removed");
    set_mode(&cache, 0o700);
    let ran = company.kalypso("check").ends(0).says(&["2 of 2"]);
    assert!(!ran.err.contains("K0611"), "{}", ran.err);
    company.kalypso("check").ends(0).says(&["0 of 2"]);
}

#[test]
fn parent_configuration_files_of_other_users_are_refused() {
    if !is_root() {
        println!("skipped: only root can give files away");
        return;
    }
    let company = Company::new();
    fs::create_dir(company.path("below")).unwrap();
    let check = |folder: &str, more: &str| {
        Ran::new(company.command().current_dir(company.path(folder)).arg("check").args(more.split_whitespace()))
    };
    check("below", "").ends(0);
    std::os::unix::fs::chown(company.path("kalypso.toml"), Some(65_534), None).unwrap();
    check("below", "").ends(64).says(&["kalypso.toml` belongs to another user", "--config"]);
    check("below", "--config ../kalypso.toml").ends(0);
    check("", "").ends(0);
}

#[test]
fn memo_is_used_only_with_its_signing_key() {
    let company = Company::new();
    let check = |variable: (&str, &str), expected: &str| {
        company.kalypso_with("check", variable).ends(0).says(&[&format!("{expected} of 2 assignments recomputed")]);
    };
    fs::write(company.path("key"), format!("{SECRET}\n")).unwrap();
    let file = company.path("key").display().to_string();
    check(("KALYPSO_CACHE_KEY", SECRET), "2");
    check(("KALYPSO_CACHE_KEY", SECRET), "0");
    check(("KALYPSO_CACHE_KEY_FILE", &file), "0");
    check(("KALYPSO_CACHE_KEY", "a secret of somebody else"), "2");
    // Without a secret, the key is this user's own key on this machine. An empty variable counts as no secret.
    check(("KALYPSO_CACHE_KEY", ""), "2");
    check(("UNRELATED", "1"), "0");
    check(("XDG_STATE_HOME", company.path("other").to_str().unwrap()), "2");
    company.configure(&format!("{}/", company.path("served").display()), "cache-key-file = \"key\"\n");
    check(("UNRELATED", "1"), "2");
    check(("KALYPSO_CACHE_KEY", SECRET), "0");
}

#[test]
fn invalid_cache_key_is_wrong_usage() {
    let company = Company::new();
    company.kalypso_with("check", ("KALYPSO_CACHE_KEY", "short")).ends(64).says(&["KALYPSO_CACHE_KEY", "16 bytes"]);
    company.kalypso_with("check", ("KALYPSO_CACHE_KEY_FILE", "none")).ends(64).says(&["`none`"]);
    company.kalypso("check").ends(0);
    fs::write(company.path("cache/key"), SECRET).unwrap();
    company.kalypso_with("check", ("KALYPSO_CACHE_KEY_FILE", "cache/key")).ends(64).says(&["in the cache itself"]);
}

#[test]
fn without_a_place_for_a_key_everything_is_computed() {
    let company = Company::new();
    let no_home = company.path("no-home");
    fs::write(&no_home, "").unwrap();
    for _ in 0..2 {
        let state = no_home.join("state");
        company.kalypso_with("check", ("XDG_STATE_HOME", state.to_str().unwrap())).ends(0).says(&["2 of 2"]);
    }
}

#[test]
fn only_connection_settings_of_the_user_are_used() {
    let company = Company::new();
    let server = company.on_a_host();
    let (program, trace) = trap(&company);
    let program = program.display();
    fs::create_dir(company.path("hooks")).unwrap();
    fs::copy(company.path("trap"), company.path("hooks/reference-transaction")).unwrap();
    fs::copy(company.path("trap"), company.path("hooks/pre-push")).unwrap();
    let config = format!(
        "[credential]\n\thelper = \"!f() {{ echo username=ann; echo password=secret; }}; f\"\n\
         [core]\n\thooksPath = {hooks}\n\tfsmonitor = {program}\n\taskPass = {program}\n\
         [url \"https://elsewhere.example/\"]\n\tinsteadOf = {url}\n\
         [http]\n\textraHeader = \"X-Leak: 1\"\n",
        hooks = company.path("hooks").display(),
        url = server.url()
    );
    fs::write(company.path(".gitconfig"), config).unwrap();
    // `ann:secret`
    server.require("Basic YW5uOnNlY3JldA==");
    company.kalypso("publish -e dev --direct").ends(0).says(&["Published dev"]);
    assert!(!trace.exists(), "a program of the user's configuration ran");
    // The same in the environment of a Git process that runs Kalypso in a hook.
    fs::remove_file(company.path(".gitconfig")).unwrap();
    let mut command = company.command();
    command.args(["check"]).env("GIT_CONFIG_COUNT", "2").env("GIT_DIR", company.path("nowhere"));
    command.env("GIT_CONFIG_KEY_0", "credential.helper");
    command.env("GIT_CONFIG_VALUE_0", "!f() { echo username=ann; echo password=secret; }; f");
    command.env("GIT_CONFIG_KEY_1", "core.fsmonitor").env("GIT_CONFIG_VALUE_1", program.to_string());
    Ran::new(&mut command).ends(0);
    assert!(!trace.exists());
    company.kalypso("check").ends(69).says(&["K0601"]);
}

#[test]
fn push_is_refused_if_others_can_change_the_hooks() {
    let company = Company::new();
    let (_, trace) = trap(&company);
    let gitops = company.repository("gitops");
    fs::create_dir_all(gitops.join("hooks")).unwrap();
    fs::copy(company.path("trap"), gitops.join("hooks/pre-receive")).unwrap();
    let before = company.head("gitops", "dev");
    set_mode(&gitops.join("hooks"), 0o777);
    company.kalypso("plan -e dev").ends(2);
    company.kalypso("publish -e dev --direct").ends(1).says(&[
        "[K0612]",
        "other users may write to",
        "over ssh or https",
    ]);
    assert_eq!((company.head("gitops", "dev"), trace.exists()), (before.clone(), false));
    set_mode(&gitops.join("hooks"), 0o755);
    company.kalypso("publish -e dev --direct").ends(0);
    assert!(company.head("gitops", "dev") != before && trace.exists(), "the user's own hooks run");
}

#[test]
fn a_repository_with_reftables_is_not_empty() {
    let company = Company::new();
    let gitops = company.repository("gitops");
    git(&gitops, &["refs", "migrate", "--ref-format=reftable"]);
    company.kalypso("publish -e dev").ends(69).says(&["K0601", "refs migrate --ref-format=files"]);
    git(&gitops, &["refs", "migrate", "--ref-format=files"]);
    let plane = company.repository("control-plane");
    git(&plane, &["refs", "migrate", "--ref-format=reftable"]);
    company.kalypso("check").ends(69).says(&["refs migrate --ref-format=files"]);
}

/// Runs commands where the cache is a separate file system in its own mount namespace. None if it can't be mounted.
fn on_a_disk(company: &Company, options: &str, commands: &str) -> Option<Ran> {
    if !is_root() {
        println!("skipped: only root can mount a small disk");
        return None;
    }
    fs::create_dir_all(company.path("cache")).unwrap();
    set_mode(&company.path("cache"), 0o700);
    let template = company.command();
    let script = format!("set -e; mount -t tmpfs -o mode=0700,{options} small cache; {commands}");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).current_dir(company.path("")).env_clear();
    command.env("kalypso", template.get_program());
    command.envs(template.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(Ran::new(&mut command))
}

#[test]
fn full_disk_is_not_reported_as_a_credential_error() {
    let company = Company::new();
    let noise: String =
        (0..40_000_u64).map(|number| format!("# {:x}\n", number.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    company.change("control-plane@main", "noise.txt", &noise);
    let _server = company.on_a_host();
    let Some(ran) = on_a_disk(&company, "size=200k", "\"$kalypso\" check") else { return };
    let ran = ran.ends(69).says(&["[K0613]", "No space left on device", "free disk space"]);
    assert!(!ran.err.contains("credentials"), "{}", ran.err);
}

#[test]
fn read_only_cache_serves_its_content() {
    let company = Company::new();
    let _server = company.on_a_host();
    let complete = "\"$kalypso\" check; mount -o remount,ro cache; \"$kalypso\" check";
    let Some(ran) = on_a_disk(&company, "size=9m", complete) else { return };
    ran.ends(0).says(&["nothing wrong"]);
    let ran = on_a_disk(&company, "size=9m", "mount -o remount,ro cache; \"$kalypso\" check").unwrap();
    let ran = ran.ends(69).says(&["[K0613]", "Read-only file system"]);
    assert!(!ran.err.contains("credentials"), "{}", ran.err);
}

#[test]
fn git_gets_the_tokens_of_a_github_app() {
    let company = Company::new();
    let server = GitServer::start(&company.path("")).unwrap();
    let host = MemoryHost::new(HostKind::GitHub);
    let double = HostDouble::start(&host).unwrap();
    double.accept_app(AppDouble { slug: "kalypso".to_owned(), installation: 42, token_seconds: 3_600 });
    fs::write(company.path("app.pem"), include_str!("../../../git-host/tests/github_app/key.pem")).unwrap();
    let app = |url: &str| {
        format!(
            "[host]\nkind = \"github\"\nurl = \"{url}\"\napi-url = \"{}/api/v3\"\napp-id = \"4711\"\napp-key-file = \"app.pem\"\n",
            double.url()
        )
    };
    let served = format!("{}served/", server.url());
    company.configure(&served, &app(&server.url()));
    company.kalypso("publish -e dev --direct").ends(0);
    let requests = server.requests();
    let is_of_the_app = |request: &GitRequest| {
        let encoded = request.authorization.as_deref().and_then(|value| value.strip_prefix("Basic "));
        let decoded = encoded.and_then(|encoded| base64::engine::general_purpose::STANDARD.decode(encoded).ok());
        decoded.is_some_and(|decoded| decoded.starts_with(b"x-access-token:ghs_"))
    };
    assert!(requests.len() > 4 && requests.iter().all(is_of_the_app), "{requests:?}");
    let issued = double.exchanges().iter().filter(|one| one.target.ends_with("/access_tokens")).count();
    assert!((1..=2).contains(&issued), "{issued} tokens for {} requests", requests.len());

    let gets_no_token = || server.requests().iter().all(|request| request.authorization.is_none());
    // A token for https is not sent over http.
    server.forget_requests();
    company.configure(&served, &app(&server.url().replace("http://", "https://")));
    company.kalypso("check -e dev").ends(0);
    assert!(gets_no_token());

    // Other secrets of the host do not matter for git.
    server.forget_requests();
    company.configure(&served, &(app(&server.url()) + "webhook-secret-env = \"NOT_SET\"\n"));
    let ran = company.kalypso("check -e dev").ends(0);
    assert!(!ran.err.contains("warning") && server.requests().iter().all(is_of_the_app), "{}", ran.err);

    // On another machine, the key is not there.
    fs::remove_file(company.path("app.pem")).unwrap();
    server.forget_requests();
    company.kalypso("check -e dev").ends(0).says(&["warning: git gets no token of the GitHub App", "app.pem"]);
    assert!(gets_no_token());
}
