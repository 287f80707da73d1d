//! Compares the requests to GitHub, and the answers of the double, with GitHub's own description of its API.
//!
//! The environment variable `KALYPSO_GITHUB_OPENAPI` is the path of the folder `generated` of the npm package `@octokit/openapi`.

#[cfg(test)]
mod description;
#[cfg(test)]
mod scenario;

#[cfg(test)]
use std::path::{Path, PathBuf};

#[cfg(test)]
use git_host::double::Exchange;
#[cfg(test)]
use libtest_mimic::Failed;

/// The cloud, and the newest Enterprise Server.
#[cfg(test)]
const FILES: [&str; 2] = ["api.github.com.json", "ghes-3.19.json"];

#[cfg(test)]
fn main() {
    let folder = std::env::var_os("KALYPSO_GITHUB_OPENAPI").map(PathBuf::from);
    let trials = FILES.into_iter().flat_map(|file| {
        let path = folder.clone().unwrap_or_default().join(file);
        let name = file.trim_end_matches(".json");
        let same = path.clone();
        let trials = [
            libtest_mimic::Trial::test(format!("{name}_describes_requests_and_answers"), move || agrees(&path)),
            libtest_mimic::Trial::test(format!("{name}_does_not_describe_others"), move || finds_mistakes(&same)),
        ];
        trials.map(|trial| trial.with_ignored_flag(folder.is_none()))
    });
    libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials.collect()).exit();
}

#[cfg(test)]
fn agrees(path: &Path) -> Result<(), Failed> {
    let problems = description::Description::read(path)?.problems(&scenario::exchanges());
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// Changes single requests and answers. The description must not allow the result.
#[cfg(test)]
fn finds_mistakes(path: &Path) -> Result<(), Failed> {
    let description = description::Description::read(path)?;
    let exchanges = scenario::exchanges();
    let opened = exchanges.iter().find(|exchange| exchange.method == "POST" && exchange.target.ends_with("/pulls"));
    let listed = exchanges.iter().find(|exchange| exchange.target.contains("/pulls?state=")).ok_or("no list")?;
    let opened = opened.ok_or("no pull request")?;
    let with = |bytes: &[u8], from: &str, to: &str| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        assert!(text.contains(from), "{text} has no {from}");
        text.replacen(from, to, 1).into_bytes()
    };
    let mistakes = [
        Exchange { body: with(&opened.body, "\"head\"", "\"haed\""), ..opened.clone() },
        Exchange { body: with(&opened.body, "\"plan\"", "7"), ..opened.clone() },
        Exchange { body: with(&opened.body, "\"title\"", "\"titel\""), ..opened.clone() },
        Exchange { answer: with(&opened.answer, "\"mergeable_state\"", "\"mergeable_status\""), ..opened.clone() },
        Exchange { answer: with(&opened.answer, "\"open\"", "\"opened\""), ..opened.clone() },
        Exchange { answer: with(&opened.answer, "\"site_admin\":false", "\"site_admin\":null"), ..opened.clone() },
        Exchange { status: 200, ..opened.clone() },
        Exchange { target: listed.target.replace("state=", "status="), ..listed.clone() },
        Exchange { target: listed.target.replace("state=open", "state=opened"), ..listed.clone() },
        Exchange { target: listed.target.replace("/pulls", "/pull_requests"), ..listed.clone() },
        Exchange { answer: b"{}".to_vec(), ..listed.clone() },
    ];
    for (number, mistake) in mistakes.iter().enumerate() {
        if description.problems_of(mistake).is_empty() {
            return Err(format!("mistake {number} is not found: {} {}", mistake.method, mistake.target).into());
        }
    }
    Ok(())
}

#[cfg(not(test))]
fn main() {}
