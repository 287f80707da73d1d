//! Tests of shell completion, by real shells and by the environment variable of their scripts.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::company::{Company, Ran};

/// The candidates for the last of these words.
fn offered(company: &Company, words: &[&str]) -> Vec<String> {
    let index = words.len().to_string();
    let mut command = company.command();
    command.env("KALYPSO_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
    let ran = Ran::new(command.args(["--", "kalypso"]).args(words)).ends(0);
    assert_eq!(ran.err, "");
    // Options are candidates as well, unless a value is required.
    ran.out.lines().filter(|line| !line.starts_with("--") || line.contains('=')).map(str::to_owned).collect()
}

#[track_caller]
fn check(company: &Company, words: &[&str], expected: &[&str]) {
    assert_eq!(offered(company, words), expected, "{words:?}");
}

#[test]
fn existing_names_are_completed() {
    let company = Company::new();
    company.kalypso("check -e dev").ends(0);
    for command in ["check", "render", "plan", "publish", "explain", "status", "deployments", "history"] {
        check(&company, &[command, "-e", ""], &["dev"]);
        check(&company, &[command, "--env=d"], &["--env=dev"]);
    }
    check(&company, &["compare", "d"], &["dev"]);
    check(&company, &["plan", "-e", "dev", "--workload", ""], &["shop"]);
    check(&company, &["plan", "-e", "dev", "--cluster-type", ""], &["east", "west"]);
    check(&company, &["plan", "-e", "other", "--cluster-type", ""], &[]);
    check(&company, &["deployments", "--target", "s"], &["shop-test"]);
    check(&company, &["rollout", "status", "s"], &["shop"]);
    check(&company, &["explain", "-e", "dev", ""], &["east/", "west/"]);
    check(&company, &["explain", "-e", "dev", "w"], &["west/"]);
    check(&company, &["explain", "-e", "dev", "west/"], &["west/shop-test"]);
    check(&company, &["explain", "-e", "dev", "north/"], &[]);
    check(&company, &["explain", "-e", "dev", "west/shop-test", ""], &["DATABASE", "LOG_LEVEL"]);
    check(&company, &["schema", "Cluster"], &["Cluster", "ClusterType"]);
    check(&company, &["get", "cluster-"], &["cluster-types"]);
    check(&company, &["get", "cluster-types", ""], &["east", "west"]);
    check(&company, &["describe", "workload/"], &["workload/shop"]);
    check(&company, &["get", "environments", ""], &["dev"]);
    check(&company, &["get", "policies", ""], &["shop"]);
    check(&company, &["describe", "gitops-repo/"], &["gitops-repo/dev"]);
    check(&company, &["hub", "host", "add", "west", "--type", "Cluster"], &[]);
    check(&company, &["init", "--host", "cluster"], &[]);
}

#[test]
fn a_plain_directory_has_names_of_its_own() {
    let company = Company::new();
    company.write_plain("here");
    company.kalypso("check --from here -e dev").ends(0);
    check(&company, &["plan", "--from", "here", "-e", ""], &["dev"]);
    check(&company, &["explain", "-e", "dev", "w"], &[]);
    check(&company, &["explain", "--from", "here", "-e", "dev", "w"], &["west/"]);
}

#[test]
fn unknown_or_broken_state_gives_no_completions_and_no_requests() {
    let company = Company::new();
    // Nothing was compiled, so completion reads no repository, although it could be read.
    check(&company, &["plan", "-e", ""], &[]);
    assert!(!company.path("cache/repositories").exists());
    fs::write(company.path("kalypso.toml"), "[control-plane\n").unwrap();
    check(&company, &["plan", "-e", ""], &[]);
    fs::remove_file(company.path("kalypso.toml")).unwrap();
    check(&company, &["plan", "-e", ""], &[]);
    check(&company, &["pl"], &["plan"]);
    let mut unknown = company.command();
    let ran = Ran::new(unknown.env("KALYPSO_COMPLETE", "no-such-shell").args(["--", "kalypso", ""]));
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
}

#[test]
fn completion_answers_within_the_time_limit() {
    // The limit is long, because this is a debug build on a busy machine.
    const LIMIT: Duration = Duration::from_secs(2);
    let company = Company::new();
    company.kalypso("check -e dev").ends(0);
    let begun = Instant::now();
    check(&company, &["explain", "-e", "dev", "e"], &["east/"]);
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
}

/// Runs a completion script in a shell, if this shell is installed.
fn shell(company: &Company, name: &str, script: &str) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_kalypso");
    let folder = std::path::Path::new(program).parent().unwrap().display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let mut command = Command::new(name);
    let kept = company.command();
    command
        .current_dir(company.path(""))
        .env_clear()
        .envs(kept.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = command.env("PATH", path).args(["-c", script]).stdin(Stdio::null()).output();
    let output = match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn bash_completes_names() {
    let company = Company::new();
    company.kalypso("check -e dev").ends(0);
    let script = |words: &str| {
        format!(
            "source <(kalypso completions bash)\ncomplete -p kalypso >/dev/null || exit 9\n\
             COMP_WORDS=(kalypso {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_TYPE=9\n\
             _clap_complete_kalypso kalypso \"${{COMP_WORDS[COMP_CWORD]}}\" ''\necho \"${{COMPREPLY[*]}}\""
        )
    };
    let offered = |words: &str| shell(&company, "bash", &script(words)).unwrap();
    assert_eq!(offered("explain -e dev we"), "west/\n");
    assert_eq!(offered("explain -e dev west/"), "west/shop-test\n");
    assert_eq!(offered("plan -e ''"), "dev\n");
}

#[test]
fn every_shell_gets_a_script_that_it_can_read() {
    let company = Company::new();
    for name in ["bash", "zsh", "fish", "powershell", "elvish"] {
        company.kalypso(&format!("completions {name}")).ends(0).says(&["KALYPSO_COMPLETE", "kalypso"]);
    }
    // These shells are not installed on each machine.
    for (name, check) in [("zsh", "zsh -n"), ("fish", "fish --no-execute")] {
        let _ = shell(&company, name, &format!("kalypso completions {name} > script; {check} script"));
    }
}
