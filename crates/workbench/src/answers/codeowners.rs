//! The owners of the files of a repository, and the CODEOWNERS file with them.

use std::fmt::Write as _;
use std::sync::Arc;

use delivery::access::ControlPlaneSettings;
use delivery::codeowners::{self, CodeOwners, FilePattern, OwnersQuestion, OwnersRule};
use delivery::sources::loaded::Loaded;
use serde::Serialize;
use utoipa::ToSchema;

use crate::Failure;
use crate::source::unknown_environment;

/// The first line of the file.
const HEADER: &str = "# Written by `kalypso codeowners`. Change the annotations `access.kalypso.io/owners` instead.";

/// The branch whose owners are asked for: that of an environment, that of a repository, or the main branch of the control plane.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnedBranch<'a> {
    /// The environment.
    pub environment: Option<&'a str>,
    /// The URL of the repository.
    pub repository: Option<&'a str>,
    /// The branch of the repository. None: the one that objects name.
    pub branch: Option<&'a str>,
    /// The owners of the control plane's main branch, for which no object names owners.
    pub main_owners: &'a [Arc<str>],
}

/// The owners of the files of a branch.
#[derive(Serialize, ToSchema)]
pub struct CodeOwnersFields {
    /// The repository.
    repository: String,
    /// Its branch.
    branch: String,
    rules: Vec<RuleFields>,
    /// Owners without effect, and limits that the limited team can change.
    pub warnings: Vec<String>,
}

/// The owners of some files.
#[derive(Serialize, ToSchema)]
struct RuleFields {
    /// The files, in the notation of the git host; later rules override earlier ones.
    pattern: String,
    /// Their owners.
    owners: Vec<String>,
    /// The objects that name the owners, with their files.
    reasons: Vec<String>,
}

impl OwnedBranch<'_> {
    /// The owners of the files of the branch. `pattern` is the notation of the git host.
    ///
    /// # Errors
    /// If there is no such environment, or if no object names the repository, or several of its branches.
    pub fn owners(
        self,
        environments: &[Loaded],
        settings: &ControlPlaneSettings,
        pattern: fn(&FilePattern) -> String,
    ) -> Result<CodeOwnersFields, Failure> {
        let (repository, branch) = self.place(environments, settings)?;
        let question = OwnersQuestion {
            repository: &repository,
            branch: &branch,
            main: (settings.repo.as_str(), &settings.branch),
            main_owners: self.main_owners,
            rewrite: &settings.git.rewrite,
        };
        let found = codeowners::code_owners(environments.iter().map(|loaded| &*loaded.fleet), question);
        let CodeOwners { rules, warnings } = found;
        let rule = |OwnersRule { files, owners, reasons }: OwnersRule| RuleFields {
            pattern: pattern(&files),
            owners: owners.iter().map(ToString::to_string).collect(),
            reasons,
        };
        let repository = git::without_credential(&repository);
        Ok(CodeOwnersFields { repository, branch, rules: rules.into_iter().map(rule).collect(), warnings })
    }

    /// The repository and the branch.
    fn place(self, environments: &[Loaded], control_plane: &ControlPlaneSettings) -> Result<(String, String), Failure> {
        if let Some(name) = self.environment {
            let named = environments.iter().find(|loaded| loaded.fleet.environment.as_str() == name);
            let declared = named.and_then(|loaded| loaded.fleet.declaration.as_ref());
            let place = declared.map(|object| &object.spec.control_plane).ok_or_else(|| {
                let known: Vec<_> = environments.iter().map(|loaded| loaded.fleet.environment.clone()).collect();
                unknown_environment(name, &known)
            })?;
            return Ok((place.repo.to_string(), place.branch.to_string()));
        }
        let Some(repository) = self.repository else {
            return Ok((control_plane.repo.as_str().to_owned(), control_plane.branch.clone()));
        };
        if let Some(branch) = self.branch {
            return Ok((repository.to_owned(), branch.to_owned()));
        }
        let fleets = environments.iter().map(|loaded| &*loaded.fleet);
        let branches = codeowners::branches(fleets, (repository, &control_plane.git.rewrite));
        let mut names = branches.iter();
        match (names.next(), names.next()) {
            (Some(branch), None) => Ok((repository.to_owned(), branch.clone())),
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
}

impl CodeOwnersFields {
    /// The text of the CODEOWNERS file.
    pub fn file(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for rule in &self.rules {
            let reasons = rule.reasons.iter().map(|reason| reason.replace(['\n', '\r'], " "));
            let _ = write!(text, "\n# {}\n", reasons.collect::<Vec<_>>().join("; "));
            let _ = writeln!(text, "{} {}", rule.pattern, rule.owners.join(" "));
        }
        text
    }
}
