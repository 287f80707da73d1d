//! `kalypso codeowners`: the CODEOWNERS file of a repository.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use delivery::access::ControlPlaneSettings;
use delivery::codeowners::{self, CodeOwners, OwnersQuestion, OwnersRule};
use delivery::sources::loaded::Loaded;
use model::owners::is_owner;
use serde_json::{Value as Json, json};
use workbench::source::{complete, unknown_environment};

use crate::arguments::{Codeowners, Format, Notation};
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{loading, terminal};

/// The first line of the file.
const HEADER: &str = "# Written by `kalypso codeowners`. Change the annotations `access.kalypso.io/owners` instead.";

pub(super) fn run(options: &Codeowners) -> anyhow::Result<Exit> {
    let main_owners = options.owners.iter().map(|owner| known(owner)).collect::<Result<Vec<_>, _>>()?;
    let mut watch = Watch::start();
    let access = loading::access(options.config.as_deref(), watch.progress())?;
    let mut environments = Vec::new();
    for loaded in codeowners::hierarchy(&access)? {
        // Without a part of the hierarchy, folders would have the wrong owners.
        environments.push(complete(loaded)?);
    }
    let (repository, branch) = asked(options, &environments, &access.settings)?;
    let ControlPlaneSettings { repo, branch: main, git, .. } = &access.settings;
    let question = OwnersQuestion {
        repository: &repository,
        branch: &branch,
        main: (repo.as_str(), main),
        main_owners: &main_owners,
        rewrite: &git.rewrite,
    };
    let found = codeowners::code_owners(environments.iter().map(|loaded| &*loaded.fleet), question);
    watch.end();
    found.warnings.iter().for_each(|warning| terminal::warn(warning));
    let text = text(&found, options.format);
    if let Some(path) = &options.check {
        return check(path, &text);
    }
    match options.output {
        Format::Human => terminal::answer(&text)?,
        format => {
            let answer = answer(&found, (&repository, &branch), options.format);
            terminal::answer(&terminal::structured(&answer, format))?;
        }
    }
    Ok(Exit::Good)
}

fn known(owner: &str) -> Result<Arc<str>, Failure> {
    if is_owner(owner) {
        return Ok(owner.into());
    }
    let help = "write `@user`, `@organization/team` or an e-mail address; repeat the option for several";
    Err(Failure::usage(format!("{owner:?} is not an owner")).help(help))
}

/// The repository and branch that the options name.
fn asked(
    options: &Codeowners,
    environments: &[Loaded],
    control_plane: &ControlPlaneSettings,
) -> Result<(String, String), Failure> {
    if let Some(name) = &options.environment {
        let named = environments.iter().find(|loaded| loaded.fleet.environment.as_str() == name);
        let declared = named.and_then(|loaded| loaded.fleet.declaration.as_ref());
        let place = declared.map(|object| &object.spec.control_plane).ok_or_else(|| {
            let known: Vec<_> = environments.iter().map(|loaded| loaded.fleet.environment.clone()).collect();
            unknown_environment(name, &known)
        })?;
        return Ok((place.repo.to_string(), place.branch.to_string()));
    }
    let Some(repository) = &options.repository else {
        return Ok((control_plane.repo.as_str().to_owned(), control_plane.branch.clone()));
    };
    if let Some(branch) = &options.branch {
        return Ok((repository.clone(), branch.clone()));
    }
    let fleets = environments.iter().map(|loaded| &*loaded.fleet);
    let branches = codeowners::branches(fleets, (repository, &control_plane.git.rewrite));
    let mut names = branches.iter();
    match (names.next(), names.next()) {
        (Some(branch), None) => Ok((repository.clone(), branch.clone())),
        (None, _) => {
            Err(Failure::refused(format!("no object names the repository {}", git::without_credential(repository)))
                .help("write the URL as in the `BaseRepo`, `Environment` or `WorkloadRegistration`"))
        }
        _ => {
            let names: Vec<_> = branches.into_iter().collect();
            Err(Failure::usage("objects name several branches of this repository")
                .help(format!("name one with `--branch`: {}", names.join(", "))))
        }
    }
}

fn text(found: &CodeOwners, notation: Notation) -> String {
    let mut text = format!("{HEADER}\n");
    for rule in &found.rules {
        let reasons = rule.reasons.iter().map(|reason| reason.replace(['\n', '\r'], " "));
        let _ = write!(text, "\n# {}\n", reasons.collect::<Vec<_>>().join("; "));
        let _ = writeln!(text, "{} {}", pattern(rule, notation), rule.owners.join(" "));
    }
    text
}

fn pattern(rule: &OwnersRule, notation: Notation) -> String {
    match notation {
        Notation::Github => rule.files.as_glob(),
        Notation::Gitea => rule.files.as_regex(),
    }
}

fn answer(found: &CodeOwners, (repository, branch): (&str, &str), notation: Notation) -> Json {
    let owners = |rule: &OwnersRule| rule.owners.iter().map(ToString::to_string).collect::<Vec<_>>();
    let rule = |rule: &OwnersRule| json!({ "pattern": pattern(rule, notation), "owners": owners(rule), "reasons": rule.reasons });
    let rules: Vec<_> = found.rules.iter().map(rule).collect();
    json!({ "repository": git::without_credential(repository), "branch": branch, "rules": rules, "warnings": found.warnings })
}

/// Compares a file with the text. The notation of line ends does not matter.
fn check(path: &Path, text: &str) -> anyhow::Result<Exit> {
    let found = std::fs::read_to_string(path).with_context(|| format!("{} can't be read", path.display()))?;
    let found = found.replace("\r\n", "\n");
    if found.trim_end() == text.trim_end() {
        terminal::answer(&format!("{} is up to date\n", path.display()))?;
        return Ok(Exit::Good);
    }
    let lines = |text: &str| text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (found, expected) = (lines(&found), lines(text));
    let missing = expected.iter().filter(|line| !found.contains(line)).map(|line| format!("+ {line}\n"));
    let extra = found.iter().filter(|line| !expected.contains(line)).map(|line| format!("- {line}\n"));
    terminal::answer(&extra.chain(missing).collect::<String>())?;
    let message = format!("{} is not up to date", path.display());
    Err(Failure::refused(message).help("run the same command without `--check`, and commit its output").into())
}
