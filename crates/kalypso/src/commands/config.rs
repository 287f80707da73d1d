//! `kalypso config`: earlier versions of the configuration.

use authoring::config_restoration::{ConfigRestoration, restore};
use hub_api::timestamp::Timestamp;
use workbench::answers::config_history::ConfigHistoryFields;
use workbench::change::EarlierStates;
use workbench::config_versions::{self, ConfigVersion};
use workbench::{EnvironmentSource, FailureKind};

use super::branch_edit::{BranchEdit, EditVerb, OpenBranch};
use crate::arguments::{ConfigCommand, ConfigHistory, ConfigRollback, Format};
use crate::exit::Exit;
use crate::progress::Watch;
use crate::{hub_client, loading, table, terminal};

pub(super) fn run(options: &crate::arguments::Config) -> anyhow::Result<Exit> {
    match &options.command {
        ConfigCommand::History(options) => history(options),
        ConfigCommand::Rollback(options) => rollback(options),
    }
}

fn history(options: &ConfigHistory) -> anyhow::Result<Exit> {
    let id = loading::parse_assignment(&options.assignment)?;
    let mut watch = Watch::start();
    let source = EnvironmentSource::ControlPlane(loading::access(options.config.as_deref(), watch.progress())?);
    let states = EarlierStates::read(&source, &options.environment)?;
    let versions = config_versions::history(&states, &id, options.commits)?;
    watch.end();
    if options.output == Format::Human {
        let now = Timestamp::now();
        let heading = ["VERSION", "COMMIT", "BRANCH", "WHEN", "SUBJECT"].map(str::to_owned);
        let row = |found: &ConfigVersion| {
            let when = hub_client::ago(Some(Timestamp::from_millis(found.on.as_millisecond())), now);
            let branch = hub_client::plain(&found.branch);
            let version = found.version.clone().unwrap_or_else(|| "not there".to_owned());
            [version, found.commit.id.short(), branch, when, hub_client::plain(&found.subject)]
        };
        terminal::answer(&table::table(std::iter::once(heading).chain(versions.iter().map(row))))?;
    } else {
        terminal::answer(&terminal::structured(&ConfigHistoryFields::new(&versions), options.output))?;
    }
    Ok(Exit::Good)
}

fn rollback(options: &ConfigRollback) -> anyhow::Result<Exit> {
    let id = options.of.as_deref().map(loading::parse_assignment).transpose()?;
    let open = OpenBranch::of_source(&options.edit, options.environment.as_deref(), options.repo.as_deref())?;
    let commit = match (&id, &options.environment) {
        (Some(id), Some(environment)) => {
            let access = loading::access(options.edit.config.as_deref(), open.watch.progress())?;
            let states = EarlierStates::read(&EnvironmentSource::ControlPlane(access), environment)?;
            config_versions::commit_with(&states, (id, &options.to), &open.branch)?
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
    let restored = restore(&open.files(), &open.branch.objects(&contents));
    let short = commit.id.short();
    let edit = restored.map(|ConfigRestoration { edits, objects }| BranchEdit {
        notes: vec![format!("the values of commit {short} are restored")],
        ..BranchEdit::new(EditVerb::Change, objects, edits, format!("config-{short}"))
    });
    open.finish(edit, &options.edit)
}
