//! `kalypso config`: earlier versions of the configuration.

use authoring::config_restoration::restore;
use engine::compile::Prepared;
use engine::compile::renames::Renames;
use engine::plan::PlannedId;
use git::Commit;
use hub_api::timestamp::Timestamp;
use model::diagnostic::AssignmentId;
use serde_json::json;
use workbench::branch::ControlPlaneBranch;
use workbench::change::{BranchHeads, EarlierState, EarlierStates, source_name};
use workbench::{EnvironmentSource, FailureKind};

use super::branch_edit::{BranchEdit, EditVerb, OpenBranch};
use crate::arguments::{ConfigCommand, ConfigHistory, ConfigRollback, Format};
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{hub_client, loading, table, terminal};

/// The number of commits that are searched for a version.
const SEARCHED_MAX: usize = 200;

pub(super) fn run(options: &crate::arguments::Config) -> anyhow::Result<Exit> {
    match &options.command {
        ConfigCommand::History(options) => history(options),
        ConfigCommand::Rollback(options) => rollback(options),
    }
}

/// A version of an assignment's configuration, with the commit that brought it.
struct Configuration {
    commit: Commit,
    /// The branch of the commit, for people.
    branch: String,
    /// The commits of all branches in the newest state with this version.
    newest: BranchHeads,
    on: Timestamp,
    subject: String,
    /// None: the assignment did not exist.
    version: Option<String>,
}

fn history(options: &ConfigHistory) -> anyhow::Result<Exit> {
    let id = loading::parse_assignment(&options.assignment)?;
    let mut watch = Watch::start();
    let source = EnvironmentSource::ControlPlane(loading::access(options.config.as_deref(), watch.progress())?);
    let states = EarlierStates::read(&source, &options.environment)?;
    let versions = versions(&states, &all_names(&states, &id), options.commits, |_| false)?;
    watch.end();
    if versions.iter().all(|found| found.version.is_none()) {
        let message = format!("{id} did not exist at the last {}", terminal::count(options.commits, "commit"));
        let help = format!("`kalypso get assignments -e {}` lists the assignments", options.environment);
        return Err(Failure::refused(message).help(help).into());
    }
    let shown = |found: &Configuration| found.version.clone().unwrap_or_else(|| "not there".to_owned());
    if options.output == Format::Human {
        let now = Timestamp::now();
        let heading = ["VERSION", "COMMIT", "BRANCH", "WHEN", "SUBJECT"].map(str::to_owned);
        let row = |found: &Configuration| {
            let when = hub_client::ago(Some(found.on), now);
            let branch = hub_client::plain(&found.branch);
            [shown(found), found.commit.id.short(), branch, when, hub_client::plain(&found.subject)]
        };
        terminal::answer(&table::table(std::iter::once(heading).chain(versions.iter().map(row))))?;
    } else {
        let item = |found: &Configuration| {
            let (repository, branch) = source_name(&found.commit);
            let commit = found.commit.id.to_string();
            json!({
                "version": found.version, "commit": commit, "repository": repository, "branch": branch,
                "committedOn": found.on, "subject": found.subject,
            })
        };
        let answer = json!({"items": versions.iter().map(item).collect::<Vec<_>>()});
        terminal::answer(&terminal::structured(&answer, options.output))?;
    }
    Ok(Exit::Good)
}

/// The versions of the configuration of an assignment with these names, newest first: each with the oldest commit since which it has been the same. Ends early after the first one
/// that `is_enough`.
fn versions(
    states: &EarlierStates,
    names: &[AssignmentId],
    commits: usize,
    is_enough: impl Fn(&Configuration) -> bool,
) -> anyhow::Result<Vec<Configuration>> {
    let mut versions: Vec<Configuration> = Vec::new();
    for EarlierState { commit, info, heads } in states.newest(commits)? {
        let version = version_at(states, &heads, names);
        let subject = info.message.lines().next().unwrap_or_default().to_owned();
        let on = Timestamp::from_millis(info.seconds.saturating_mul(1000));
        let branch = states.branch_text(&commit);
        let mut found = Configuration { newest: heads, commit, branch, on, subject, version };
        match versions.pop_if(|last| last.version == found.version) {
            Some(newer) => found.newest = newer.newest,
            None if versions.last().is_some_and(&is_enough) => break,
            None => {}
        }
        versions.push(found);
    }
    Ok(versions)
}

/// The name of an assignment, and the names that it had earlier, as its objects say now.
fn all_names(states: &EarlierStates, id: &AssignmentId) -> Vec<AssignmentId> {
    let renames = Renames::new(&Prepared::new(&states.at(&states.heads()).fleet));
    let earlier = renames.predecessors(id.place.as_str(), id.target.as_str());
    let earlier =
        earlier.filter_map(|(place, target)| PlannedId { place: place.into(), target: target.into() }.assignment());
    std::iter::once(id.clone()).chain(earlier).collect()
}

/// The version of an assignment's configuration with these commits of the branches, under the first of these names that it has there. None: the assignment did
/// not exist.
fn version_at(states: &EarlierStates, heads: &BranchHeads, names: &[AssignmentId]) -> Option<String> {
    let prepared = Prepared::new(&states.at(heads).fleet);
    names.iter().find_map(|id| Some(prepared.explain(id)?.version.to_string()))
}

fn rollback(options: &ConfigRollback) -> anyhow::Result<Exit> {
    let id = options.of.as_deref().map(loading::parse_assignment).transpose()?;
    let mut open = OpenBranch::of_source(&options.edit, options.environment.as_deref(), options.repo.as_deref())?;
    let commit = match (&id, &options.environment) {
        (Some(id), Some(environment)) => {
            let access = loading::access(options.edit.config.as_deref(), open.watch().progress())?;
            let states = EarlierStates::read(&EnvironmentSource::ControlPlane(access), environment)?;
            RestoredVersion { states: &states, environment, version: &options.to }.commit(id, &open.branch)?
        }
        _ => open.branch.find_commit(&options.to).map_err(|failure| match failure.kind {
            FailureKind::Refused => failure.help(format!(
                "name a commit of {}: its id or HEAD; a version of `config history` needs `--of PLACE/TARGET`; `--repo NAME` restores in another repository",
                open.branch.description()
            )),
            _ => failure,
        })?,
    };
    let contents = open.branch.files_at(&commit)?;
    let restored = restore(&open.files(), &open.files_of(&contents));
    let restored = match restored {
        Ok(restored) => restored,
        Err(refusal) => return open.refuse(&refusal, options.edit.output),
    };
    let short = commit.id.short();
    let edit = BranchEdit {
        verb: EditVerb::Change,
        objects: restored.objects,
        values: Vec::new(),
        files: restored.edits,
        warnings: Vec::new(),
        notes: vec![format!("the values of commit {short} are restored")],
        slug: format!("config-{short}"),
        expected: None,
    };
    open.finish(&edit, &options.edit)
}

/// A version of an assignment's configuration that is searched in the states of an environment, to restore it.
struct RestoredVersion<'a> {
    states: &'a EarlierStates,
    environment: &'a str,
    /// The version, or its first characters.
    version: &'a str,
}

impl RestoredVersion<'_> {
    /// The newest commit of the edited branch with which an assignment had a version of its configuration.
    ///
    /// # Errors
    /// If there is none, or if that commit alone does not bring the version back, because another branch changed a value since.
    fn commit(&self, id: &AssignmentId, edited: &ControlPlaneBranch) -> anyhow::Result<Commit> {
        let Self { states, environment, version } = *self;
        let fixed = || {
            let message = format!("{environment} does not follow {}", edited.description());
            Failure::refused(message)
                .help("name a commit, without --of: its values count when the environment reads them")
        };
        let edited = states.find_branch(edited.url(), &edited.name()).ok_or_else(fixed)?;
        let is_it = |found: &Configuration| found.version.as_deref().is_some_and(|found| found.starts_with(version));
        let names = all_names(states, id);
        let versions = versions(states, &names, SEARCHED_MAX, is_it)?;
        let unknown = || {
            let message = format!("{id} had no version `{version}` at the last {SEARCHED_MAX} commits");
            Failure::refused(message).help(format!("`kalypso config history {id} -e {environment}` lists the versions"))
        };
        let found = versions.into_iter().find(is_it).ok_or_else(unknown)?;
        let name = source_name(edited);
        let commit = found.newest.get(&name).map_or_else(|| edited.clone(), |id| Commit { id: *id, ..edited.clone() });
        let with_it = states.heads().into_iter().chain([(name, commit.id)]).collect();
        if version_at(states, &with_it, &names) == found.version {
            return Ok(commit);
        }
        Err(self.of_other_branches(&found, edited).into())
    }

    /// The error for a version that a commit of the edited branch does not bring back.
    fn of_other_branches(&self, found: &Configuration, edited: &Commit) -> Failure {
        let Self { states, environment, version } = *self;
        let moved = states.branches().iter().filter_map(|branch| {
            let then = found.newest.get(&source_name(branch)).filter(|then| **then != branch.id)?;
            Some((branch, then.short()))
        });
        let others: Vec<_> = moved.filter(|(branch, _)| source_name(branch) != source_name(edited)).collect();
        let named = others.iter().map(|(branch, then)| format!("{} at {then}", states.branch_text(branch)));
        let own = if source_name(edited) == source_name(states.own()) {
            format!("that of {environment}")
        } else {
            states.branch_text(edited)
        };
        let named = named.collect::<Vec<_>>().join(", ");
        let failure = Failure::refused(format!("version `{version}` had values of other branches than {own}: {named}"));
        let commands = others.iter().map(|(branch, then)| {
            let of = |branch: String| format!("`kalypso config rollback {branch}--to {then}`");
            if states.is_main(branch) {
                return of(String::new()) + " restores those of the main branch";
            }
            if source_name(branch) == source_name(states.own()) {
                return of(format!("-e {environment} ")) + &format!(" restores those of {environment}");
            }
            match states.base_repo(branch) {
                Some(name) => of(format!("-e {environment} --repo {name} ")) + &format!(" restores those of {name}"),
                None => format!("in a clone of {}, `git checkout {then} -- PATH` restores files", branch.url.label()),
            }
        });
        failure.help(commands.collect::<Vec<_>>().join("; "))
    }
}
