//! `kalypso releases`: named sets of versions that were proved together.

use std::fmt::Write as _;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::reading::ReadAt;
use delivery::states::named_releases::NamedRelease;
use hub_api::timestamp::Timestamp;
use model::git_id::GitId;
use workbench::answers::releases::{ReleaseDifferences, ReleaseFields, ReleaseList};
use workbench::releases;
use workbench::source::environment_name;

use crate::arguments::{
    CreateRelease, DiffReleases, Format, ReleaseOptions, Releases, ReleasesCommand, ShowRelease, SourceOptions,
};
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{compiling, hub_client, loading, table, terminal};

pub(super) fn run(options: &Releases) -> anyhow::Result<Exit> {
    match &options.command {
        ReleasesCommand::Create(options) => create(options),
        ReleasesCommand::List(options) => list(&options.common),
        ReleasesCommand::Show(options) => show(options),
        ReleasesCommand::Diff(options) => diff(options),
    }
}

fn create(options: &CreateRelease) -> anyhow::Result<Exit> {
    let access = access(&options.common)?;
    releases::check_settled(&access, &environment_name(&options.environment)?)?;
    let release = of_environment(&options.name, &options.environment, (&options.common, &access))?;
    let is_new = releases::make(&access, &release)?;
    if options.common.output == Format::Human {
        let again = if is_new { "" } else { " exists already, with the same versions" };
        terminal::answer(&format!("Release {}{again}\n{}", release.name, text(&release)))?;
    } else {
        terminal::answer(&terminal::structured(&ReleaseFields::new(&release, Some(is_new)), options.common.output))?;
    }
    Ok(Exit::Good)
}

/// What an environment has now, as a release.
fn of_environment(
    name: &str,
    environment: &str,
    (options, access): (&ReleaseOptions, &RepositoryAccess),
) -> anyhow::Result<NamedRelease> {
    let mut watch = Watch::start();
    let source = SourceOptions { config: options.config.clone(), ..SourceOptions::default() };
    let loaded = loading::environment(&source, environment, ReadAt::Admitted, &watch)?;
    let compiled = compiling::compile(&loaded, watch.progress());
    watch.end();
    Ok(releases::of_environment(access, name, (&loaded, &compiled)))
}

fn list(options: &ReleaseOptions) -> anyhow::Result<Exit> {
    let access = access(options)?;
    let releases = releases::list(&access, &terminal::warn)?;
    if options.output != Format::Human {
        terminal::answer(&terminal::structured(&ReleaseList::new(&releases), options.output))?;
        return Ok(Exit::Good);
    }
    if releases.is_empty() {
        terminal::answer("there are no releases yet: `kalypso releases create NAME -e ENV` makes one\n")?;
        return Ok(Exit::Good);
    }
    let now = Timestamp::now();
    let heading = ["NAME", "PROVED IN", "MADE", "MAIN", "WORKLOADS", "BY"].map(str::to_owned);
    let row = |release: &NamedRelease| {
        [
            release.name.to_string(),
            release.environment.to_string(),
            hub_client::ago(Some(Timestamp::from_millis(release.created.as_millisecond())), now),
            short(release.platform),
            release.workloads.len().to_string(),
            hub_client::plain(&release.by),
        ]
    };
    terminal::answer(&table::table(std::iter::once(heading).chain(releases.iter().map(row))))?;
    Ok(Exit::Good)
}

fn show(options: &ShowRelease) -> anyhow::Result<Exit> {
    let access = access(&options.common)?;
    let release = releases::find(&access, &options.name)?;
    match options.common.output {
        Format::Human => terminal::answer(&format!("Release {}\n{}", release.name, text(&release)))?,
        format => terminal::answer(&terminal::structured(&ReleaseFields::new(&release, None), format))?,
    }
    Ok(Exit::Good)
}

fn diff(options: &DiffReleases) -> anyhow::Result<Exit> {
    let access = access(&options.common)?;
    let from = releases::find(&access, &options.from)?;
    let to = match (&options.to, &options.environment) {
        (Some(to), _) => releases::find(&access, to)?,
        (None, Some(environment)) => of_environment(environment, environment, (&options.common, &access))?,
        (None, None) => return Err(Failure::usage("name another release, or an environment with -e").into()),
    };
    let found = ReleaseDifferences::new(&from, &to);
    if options.common.output != Format::Human {
        terminal::answer(&terminal::structured(&found, options.common.output))?;
        return Ok(Exit::Good);
    }
    if found.items.is_empty() {
        terminal::answer(&format!("{} and {} have the same versions\n", found.from, found.to))?;
        return Ok(Exit::Good);
    }
    let heading = ["WHAT".to_owned(), found.from, found.to];
    let shown = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let rows = found.items.into_iter().map(|item| [item.what, shown(item.from), shown(item.to)]);
    terminal::answer(&table::table(std::iter::once(heading).chain(rows)))?;
    Ok(Exit::Good)
}

fn text(release: &NamedRelease) -> String {
    let mut text = format!(
        "  proved in {}, made {} by {}\n",
        release.environment,
        release.created,
        hub_client::plain(&release.by)
    );
    let _ = writeln!(
        text,
        "  main {} · {} at {}",
        short(release.platform),
        release.environment,
        short(release.configuration)
    );
    let heading = ["WORKLOAD", "VERSION", "CONFIGURATION"].map(str::to_owned);
    let rows = release.workloads.iter().map(|(name, workload)| {
        [name.to_string(), releases::version_text(workload), releases::configurations_text(workload)]
    });
    text.push('\n');
    text.push_str(&table::indented(std::iter::once(heading).chain(rows), 2));
    text
}

fn short(commit: Option<GitId>) -> String {
    commit.map_or_else(|| "-".to_owned(), |commit| commit.short())
}

fn access(options: &ReleaseOptions) -> anyhow::Result<Arc<RepositoryAccess>> {
    loading::access(options.config.as_deref(), Watch::start().progress())
}
