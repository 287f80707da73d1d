//! The branches that decide what clusters get behind a promotion, and what to do if their git host does not protect them.
//!
//! Nothing is asked here: the caller asks the hosts, whenever it has time.

use std::collections::BTreeSet;
use std::sync::Arc;

use git_host::protection::{BranchProtection, PushLimit};
use git_host::{GitHost, HostKind, HostRepository};
use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::object_key::ObjectKey;

use crate::pull_requests::GitHosts;
use crate::pull_requests::admission::ADMISSION_CONTEXT;
use crate::sources::loaded::Loaded;
use crate::untrusted_states::branch_name;

/// A branch on a configured git host that decides what an environment behind a promotion gets.
#[derive(Clone, Debug)]
pub struct DecidingBranch {
    /// The position of the environment among those that were read. A branch of several environments belongs to the first one.
    pub position: usize,
    /// The host.
    pub host: Arc<dyn GitHost>,
    /// The repository.
    pub repository: HostRepository,
    /// The name of the branch.
    pub branch: String,
    role: BranchRole,
    /// The field that makes it such a branch, and its object.
    origin: Origin,
    object: ObjectKey,
}

/// What a branch decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BranchRole {
    /// The main branch of the control plane declares the promotions.
    Main,
    /// Records what was admitted.
    States,
    /// Clusters pull it.
    Output,
}

/// The branches to ask about, each once. Empty for environments without a `Promotion`, for directories, and for repositories on no configured host.
pub fn deciding_branches<'a>(
    environments: impl IntoIterator<Item = &'a Loaded>,
    hosts: &GitHosts,
) -> Vec<DecidingBranch> {
    let mut known = BTreeSet::new();
    let all = environments.into_iter().enumerate().flat_map(|(position, loaded)| find(position, loaded, hosts));
    all.filter(|found| known.insert((found.url.clone(), found.branch.branch.clone())))
        .map(|found| found.branch)
        .collect()
}

/// A branch with the address of its host and repository.
struct Found {
    url: (String, String),
    branch: DecidingBranch,
}

/// The branches that decide about an environment, on the configured hosts.
fn find(position: usize, loaded: &Loaded, hosts: &GitHosts) -> Vec<Found> {
    let environment = &loaded.fleet.environment;
    let (Some(access), Some(promotion)) = (&loaded.access, loaded.graph.object(environment.as_str())) else {
        return Vec::new();
    };
    let found = |(url, branch): (&str, &str), role, (origin, object): (Origin, ObjectKey)| {
        let (configured, repository) = hosts.find(url)?;
        let url = (configured.url.clone(), repository.to_string());
        let (host, branch) = (Arc::clone(&configured.host), branch.to_owned());
        Some(Found { url, branch: DecidingBranch { position, host, repository, branch, role, origin, object } })
    };
    let (repo, main) = (access.settings.repo.as_str(), access.settings.branch.as_str());
    let promoted = || (Origin::At(promotion.address, FieldPath::from(["spec", "to"])), promotion.key());
    let states = branch_name(environment);
    let is_unsigned = access.settings.state_keys.trusted.is_empty();
    let own = [
        found((repo, main), BranchRole::Main, promoted()),
        is_unsigned.then(|| found((repo, &states), BranchRole::States, promoted())).flatten(),
    ];
    let output = loaded.fleet.gitops_repos.values().map(|object| {
        let (key, place) = (object.key(), &object.spec.place);
        let origin = Origin::field(&key, FieldPath::from(["spec", "branch"]));
        found((&place.repo, &place.branch), BranchRole::Output, (origin, key))
    });
    own.into_iter().chain(output).flatten().collect()
}

impl DecidingBranch {
    /// What is missing, by what the host tells. None: nothing, as far as it is known.
    pub fn diagnostic(&self, protection: &BranchProtection) -> Option<Diagnostic> {
        let is_open = match (protection.pushes, self.role) {
            (PushLimit::Rule, _) => false,
            (PushLimit::Nothing, _) => true,
            // A policy would also refuse Kalypso's pushes, so permissions are the way to protect states.
            (PushLimit::PermissionsAtMost, role) => role != BranchRole::States,
        };
        let is_output = self.role == BranchRole::Output;
        let lacks_status = is_output && protection.required.require(ADMISSION_CONTEXT) == Some(false);
        if !is_open && !lacks_status {
            return None;
        }
        let kind = self.host.kind();
        let (missing, risk) = if is_open {
            ("is not protected".to_owned(), self.role.risk())
        } else {
            let missing = format!("does not require the status `{ADMISSION_CONTEXT}`");
            (missing, "a pull request can be merged although it is not admitted any more")
        };
        let message =
            format!("the branch `{}` of {} {missing}, and {}", self.branch, self.repository, self.role.text());
        let found = Diagnostic::warning(Code::UnprotectedBranch, message).at(self.origin.clone(), "");
        let mut found = found.note(risk).about(&self.object);
        if is_open {
            found = found.help(protecting(kind, (self.role, &self.branch)));
        }
        if lacks_status {
            found = found.help(requiring(kind));
        }
        Some(found)
    }
}

impl BranchRole {
    /// What it decides.
    fn text(self) -> &'static str {
        match self {
            Self::Main => "declares the promotions",
            Self::States => "records what is admitted",
            Self::Output => "clusters pull it",
        }
    }

    /// What every account can do that may push to the repository.
    fn risk(self) -> &'static str {
        match self {
            Self::Main => "every account that may push to the repository can change the promotions and their gates",
            Self::States => "every account that may push to the repository can admit a change past its gates",
            Self::Output => {
                "every account that may push to the repository can change what clusters pull, past all gates"
            }
        }
    }
}

/// How to protect a branch, in the words of a host.
fn protecting(kind: HostKind, (role, branch): (BranchRole, &str)) -> String {
    let pattern = if role == BranchRole::States { "kalypso-rollouts/*" } else { branch };
    let setting = match (kind, role) {
        (HostKind::GitHub, BranchRole::States) => {
            "add a branch ruleset for `PATTERN` with `Restrict updates`, `Restrict deletions` and `Block force pushes`, and Kalypso's account in \
             its bypass list"
        }
        (HostKind::GitHub, _) => {
            "add a branch ruleset for `PATTERN` with `Require a pull request before merging` and `Block force pushes`"
        }
        (HostKind::GitLab, BranchRole::States) => {
            "protect `PATTERN` in `Settings > Repository > Protected branches`, with Kalypso's account in `Allowed to push and merge`"
        }
        (HostKind::GitLab, _) => {
            "protect `PATTERN` in `Settings > Repository > Protected branches`, with `No one` in `Allowed to push and merge`"
        }
        (HostKind::Gitea, BranchRole::States) => {
            "add a rule for `PATTERN` in `Settings > Branches`, which lets only Kalypso's account push"
        }
        (HostKind::Gitea, _) => "add a rule for `PATTERN` in `Settings > Branches`, which disables pushes",
        (HostKind::AzureDevOps | HostKind::Git, _) => {
            "set the branch policy `Require a minimum number of reviewers` for `PATTERN` in `Project settings > Repositories`"
        }
    };
    format!("on {}, {}", kind.title(), setting.replace("PATTERN", pattern))
}

/// How to require the status of an admission, in the words of a host that can.
fn requiring(kind: HostKind) -> String {
    let setting = match kind {
        HostKind::GitLab => {
            "set `Pipelines must succeed` in `Settings > Merge requests`: the status is a job of the pipeline"
        }
        HostKind::Gitea => "set `Enable Status Check` in the rule of the branch, with the pattern `kalypso/admission`",
        _ => "set `Require status checks to pass` in a ruleset for the branch, with `kalypso/admission`",
    };
    format!("on {}, {setting}", kind.title())
}

#[cfg(test)]
mod tests {
    use git_host::hosts::memory::MemoryHost;
    use git_host::protection::RequiredStatuses;
    use model::kind::Kind;

    use super::*;

    fn diagnostic(kind: HostKind, role: BranchRole, protection: &BranchProtection) -> Option<Diagnostic> {
        let object = ObjectKey { kind: Kind::Promotion, name: "to-prod".into(), of: None };
        let branch = DecidingBranch {
            position: 0,
            host: Arc::new(MemoryHost::new(kind)),
            repository: HostRepository::from_path(&["acme", "fleet"]),
            branch: if role == BranchRole::States { "kalypso-rollouts/prod" } else { "prod" }.to_owned(),
            role,
            origin: Origin::field(&object, FieldPath::from(["spec", "to"])),
            object,
        };
        branch.diagnostic(protection)
    }

    /// The message and the help.
    fn check(kind: HostKind, role: BranchRole, (pushes, required): (PushLimit, RequiredStatuses)) -> Vec<String> {
        let found = diagnostic(kind, role, &BranchProtection { pushes, required });
        found.map(|found| [vec![found.message], found.help].concat()).unwrap_or_default()
    }

    fn required() -> RequiredStatuses {
        RequiredStatuses::Named(vec![ADMISSION_CONTEXT.to_owned()])
    }

    fn no_status() -> RequiredStatuses {
        RequiredStatuses::Named(Vec::new())
    }

    #[test]
    fn a_protected_branch_is_no_finding() {
        for role in [BranchRole::Main, BranchRole::States, BranchRole::Output] {
            assert_eq!(check(HostKind::GitHub, role, (PushLimit::Rule, required())), [""; 0]);
            // What is not told is no finding.
            assert_eq!(check(HostKind::GitHub, role, (PushLimit::Rule, RequiredStatuses::Unknown)), [""; 0]);
        }
    }

    #[test]
    fn each_role_of_an_unprotected_branch_has_its_reason() {
        let message = |role| check(HostKind::GitHub, role, (PushLimit::Nothing, required())).swap_remove(0);
        let states = "the branch `kalypso-rollouts/prod` of acme/fleet is not protected, and records what is admitted";
        assert_eq!(message(BranchRole::States), states);
        let expected = "the branch `prod` of acme/fleet is not protected, and";
        assert_eq!(message(BranchRole::Output), format!("{expected} clusters pull it"));
        assert_eq!(message(BranchRole::Main), format!("{expected} declares the promotions"));
    }

    #[test]
    fn only_the_branch_that_clusters_pull_needs_the_status() {
        let of = |role, pushes| check(HostKind::GitHub, role, (pushes, no_status()));
        assert_eq!(of(BranchRole::Main, PushLimit::Rule), [""; 0]);
        assert_eq!(of(BranchRole::States, PushLimit::Rule), [""; 0]);
        let missing =
            "the branch `prod` of acme/fleet does not require the status `kalypso/admission`, and clusters pull it";
        let [message, help] = &of(BranchRole::Output, PushLimit::Rule)[..] else { panic!("no help") };
        assert_eq!(message, missing);
        assert!(help.starts_with("on GitHub, set `Require status checks to pass`"), "{help}");
        // One finding for both.
        assert_eq!(of(BranchRole::Output, PushLimit::Nothing).len(), 3);
    }

    #[test]
    fn the_help_names_the_setting_of_the_host() {
        let help = |kind, role| check(kind, role, (PushLimit::Nothing, required())).swap_remove(1);
        let of_states = help(HostKind::GitHub, BranchRole::States);
        assert!(of_states.starts_with("on GitHub, add a branch ruleset for `kalypso-rollouts/*` with"), "{of_states}");
        let of_output = help(HostKind::GitLab, BranchRole::Output);
        assert!(of_output.starts_with("on GitLab, protect `prod` in `Settings > Repository"), "{of_output}");
        let of_main = help(HostKind::Gitea, BranchRole::Main);
        assert!(of_main.starts_with("on Gitea, add a rule for `prod` in `Settings > Branches`"), "{of_main}");
    }

    #[test]
    fn states_on_azure_devops_are_protected_by_permissions() {
        let of = |role| check(HostKind::AzureDevOps, role, (PushLimit::PermissionsAtMost, RequiredStatuses::Unknown));
        assert_eq!(of(BranchRole::States), [""; 0]);
        let [_, help] = &of(BranchRole::Output)[..] else { panic!("no help") };
        assert!(help.starts_with("on Azure DevOps, set the branch policy"), "{help}");
        assert_eq!(of(BranchRole::Main).len(), 2);
    }
}
