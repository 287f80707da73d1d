//! `kalypso releases`: named sets of versions that were proved together.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::reading::ReadAt;
use delivery::states::named_releases::{
    self, MadeRelease, NamedRelease, ReleaseError, ReleaseRequest, ReleasedWorkload,
};
use delivery::states::rollout_store;
use hub_api::timestamp::Timestamp;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::similar;
use serde_json::{Value as Json, json};
use workbench::branch;
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
    refuse_moving(&access, &environment_name(&options.environment)?)?;
    let release = of_environment(&options.name, &options.environment, (&options.common, &access))?;
    let author = branch::author(&access);
    let made = named_releases::make(&access, &release, &author).map_err(failure)?;
    if options.common.output == Format::Human {
        let again = if made == MadeRelease::Known { " exists already, with the same versions" } else { "" };
        terminal::answer(&format!("Release {}{again}\n{}", release.name, text(&release)))?;
    } else {
        let mut answer = json(&release);
        answer["isNew"] = (made != MadeRelease::Known).into();
        terminal::answer(&terminal::structured(&answer, options.common.output))?;
    }
    Ok(Exit::Good)
}

/// Refuses a release of an environment in which a change is on its way: its versions are not proved together.
fn refuse_moving(access: &RepositoryAccess, environment: &EnvironmentName) -> anyhow::Result<()> {
    let states = rollout_store::read(access, environment).map_err(|error| Failure::outside(error.to_string()))?;
    let is_moving = |(name, stored): (&Arc<str>, &Result<rollout_store::StoredRollout, _>)| {
        stored.as_ref().is_ok_and(|stored| stored.state.current.is_some()).then(|| name.to_string())
    };
    let moving: Vec<_> = states.rollouts.iter().filter_map(is_moving).collect();
    if moving.is_empty() {
        return Ok(());
    }
    let message = format!("in {environment}, the rollout of {} is not done", terminal::named(&moving));
    Err(Failure::refused(message).help("`kalypso rollout status` shows what it waits for").into())
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
    if !loaded.is_complete {
        let message = format!("not all sources of {environment} can be read");
        return Err(Failure::outside(message).help(format!("`kalypso check -e {environment}` shows why")).into());
    }
    let compiled = compiling::compile(&loaded, watch.progress());
    watch.end();
    let by = branch::author(access).to_string();
    let request = ReleaseRequest { name, by: &by, created: jiff::Timestamp::now() };
    Ok(NamedRelease::new(request, &loaded, &compiled))
}

fn list(options: &ReleaseOptions) -> anyhow::Result<Exit> {
    let access = access(options)?;
    let mut releases = readable(&access)?;
    releases.sort_by_key(|release| std::cmp::Reverse(release.created));
    if options.output != Format::Human {
        let answer = json!({"items": releases.iter().map(json).collect::<Vec<_>>()});
        terminal::answer(&terminal::structured(&answer, options.output))?;
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

/// All releases whose files can be read. The others are warnings.
fn readable(access: &RepositoryAccess) -> anyhow::Result<Vec<NamedRelease>> {
    let mut releases = Vec::new();
    for (_, read) in named_releases::list(access).map_err(failure)? {
        match read {
            Ok(release) => releases.push(release),
            Err(error) => terminal::warn(&format!("{}: {error}", named_releases::BRANCH)),
        }
    }
    Ok(releases)
}

fn show(options: &ShowRelease) -> anyhow::Result<Exit> {
    let access = access(&options.common)?;
    let release = find(&access, &options.name)?;
    match options.common.output {
        Format::Human => terminal::answer(&format!("Release {}\n{}", release.name, text(&release)))?,
        format => terminal::answer(&terminal::structured(&json(&release), format))?,
    }
    Ok(Exit::Good)
}

/// The release with a name.
pub(super) fn find(access: &RepositoryAccess, name: &str) -> anyhow::Result<NamedRelease> {
    if let Some((_, read)) = named_releases::find(access, name).map_err(failure)? {
        return Ok(read.map_err(|error| Failure::refused(format!("{}: {error}", named_releases::BRANCH)))?);
    }
    let known: Vec<_> = named_releases::list(access).map_err(failure)?.into_iter().map(|(name, _)| name).collect();
    let failure = Failure::refused(format!("there is no release `{name}`"));
    Err(match similar::nearest(name, known.iter().map(|name| &**name)) {
        Some(nearest) => failure.help(format!("did you mean `{nearest}`?")),
        None => failure.help("`kalypso releases list` lists them"),
    }
    .into())
}

fn diff(options: &DiffReleases) -> anyhow::Result<Exit> {
    let access = access(&options.common)?;
    let from = find(&access, &options.from)?;
    let to = match (&options.to, &options.environment) {
        (Some(to), _) => find(&access, to)?,
        (None, Some(environment)) => of_environment(environment, environment, (&options.common, &access))?,
        (None, None) => return Err(Failure::usage("name another release, or an environment with -e").into()),
    };
    let differences = differences(&from, &to);
    if options.common.output != Format::Human {
        let of = |(what, before, after): &Difference| json!({"what": what, "from": before, "to": after});
        let answer =
            json!({"from": &*from.name, "to": &*to.name, "items": differences.iter().map(of).collect::<Vec<_>>()});
        terminal::answer(&terminal::structured(&answer, options.common.output))?;
        return Ok(Exit::Good);
    }
    if differences.is_empty() {
        terminal::answer(&format!("{} and {} have the same versions\n", from.name, to.name))?;
        return Ok(Exit::Good);
    }
    let heading = ["WHAT".to_owned(), from.name.to_string(), to.name.to_string()];
    let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let rows = differences.iter().map(|(what, before, after)| [what.clone(), shown(before), shown(after)]);
    terminal::answer(&table::table(std::iter::once(heading).chain(rows)))?;
    Ok(Exit::Good)
}

/// What differs, before and after.
type Difference = (String, Option<String>, Option<String>);

fn differences(from: &NamedRelease, to: &NamedRelease) -> Vec<Difference> {
    let id = |commit: Option<GitId>| commit.map(|commit| commit.short());
    let mut all = vec![("main".to_owned(), id(from.platform), id(to.platform))];
    let names: BTreeSet<_> = from.workloads.keys().chain(to.workloads.keys()).collect();
    for name in names {
        let [before, after] = [from, to].map(|release| release.workloads.get(name));
        let version = |workload: Option<&ReleasedWorkload>| workload.map(version);
        all.push((name.to_string(), version(before), version(after)));
        let configurations = |workload: Option<&ReleasedWorkload>| workload.map(configurations);
        all.push((format!("{name} configuration"), configurations(before), configurations(after)));
    }
    all.retain(|(_, before, after)| before != after);
    all
}

/// The version of a workload, for people.
fn version(workload: &ReleasedWorkload) -> String {
    workload.version.as_ref().map_or_else(|| "several".to_owned(), |(_, version)| hub_client::version(version))
}

/// The versions of a configuration, for people: the only one, or their number with a digest of all.
fn configurations(workload: &ReleasedWorkload) -> String {
    match workload.configurations.len() {
        0 => "none".to_owned(),
        1 => workload.configurations.keys().map(ToString::to_string).collect(),
        count => {
            let digest =
                model::digest::Digest::from_value(&workload.configurations.keys().collect::<Vec<_>>()).to_string();
            format!("{count} versions ({})", digest.get(..8).unwrap_or(&digest))
        }
    }
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
    let rows = release
        .workloads
        .iter()
        .map(|(name, workload)| [name.to_string(), version(workload), configurations(workload)]);
    text.push('\n');
    text.push_str(&table::indented(std::iter::once(heading).chain(rows), 2));
    text
}

fn json(release: &NamedRelease) -> Json {
    let workload = |(name, workload): (&Arc<str>, &ReleasedWorkload)| {
        let (key, version) = workload.version.as_ref().map(|(key, version)| (&**key, &**version)).unzip();
        let configurations: Vec<_> = workload
            .configurations
            .iter()
            .map(|(version, count)| json!({"version": &**version, "assignments": count}))
            .collect();
        json!({"name": &**name, "key": key, "version": version, "configurations": configurations})
    };
    let id = |commit: Option<GitId>| commit.map(|commit| commit.to_string());
    json!({
        "name": &*release.name,
        "createdOn": release.created.to_string(),
        "by": &*release.by,
        "environment": release.environment.as_str(),
        "platform": id(release.platform),
        "configuration": id(release.configuration),
        "workloads": release.workloads.iter().map(workload).collect::<Vec<_>>(),
    })
}

fn short(commit: Option<GitId>) -> String {
    commit.map_or_else(|| "-".to_owned(), |commit| commit.short())
}

fn access(options: &ReleaseOptions) -> anyhow::Result<Arc<RepositoryAccess>> {
    loading::access(options.config.as_deref(), Watch::start().progress())
}

fn failure(error: ReleaseError) -> Failure {
    let text = error.to_string();
    match error {
        ReleaseError::Repository(_) | ReleaseError::Open(_) => Failure::outside(text),
        ReleaseError::LostRace => Failure::outside(text).help("try again"),
        ReleaseError::Exists(_) => Failure::refused(text).help("choose another name"),
        ReleaseError::Name(..) => Failure::usage(text),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn release(name: &str, versions: &[(&str, &str)]) -> NamedRelease {
        let workload = |(name, version): &(&str, &str)| {
            let configurations = BTreeMap::from([(Arc::from("00112233aabbccdd"), 3)]);
            ((*name).into(), ReleasedWorkload { version: Some(("tag".into(), (*version).into())), configurations })
        };
        NamedRelease {
            name: name.into(),
            created: jiff::Timestamp::UNIX_EPOCH,
            by: "Ann".into(),
            environment: EnvironmentName::new("stage").unwrap(),
            platform: None,
            configuration: None,
            workloads: versions.iter().map(workload).collect(),
        }
    }

    #[test]
    fn only_differences_are_listed() {
        let (from, to) =
            (release("a", &[("cart", "1"), ("checkout", "2.0")]), release("b", &[("checkout", "2.1"), ("cart", "1")]));
        assert_eq!(differences(&from, &to), [("checkout".to_owned(), Some("2.0".to_owned()), Some("2.1".to_owned()))]);
        let less = differences(&from, &release("c", &[("cart", "1")]));
        assert_eq!(
            less.iter().map(|(what, ..)| what.as_str()).collect::<Vec<_>>(),
            ["checkout", "checkout configuration"]
        );
    }
}
