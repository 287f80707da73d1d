//! `kalypso demo`: an example company on this machine, with all steps from its repositories to its hosts.

mod answers;
mod life;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use delivery::branches::push::Delivered;
use delivery::output::compilation::{CompiledEnvironment, reuse};
use delivery::output::planned::{Planned, targets};
use delivery::publication::publish::{PlaceOutcome, PublishOptions, deliver};
use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use engine::output::Adoption;
use model::name::ClusterTypeName;
use workbench::answers::publish::publication_diagnostics;
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport, Fallback};

use self::life::Life;
use super::serve;
use crate::arguments::{Demo, SourceOptions};
use crate::configuration::Settings;
use crate::demo::{self, DemoHub, FolderState};
use crate::diagnostics::reuse_text;
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{compiling, configuration, loading, reporting, terminal};

pub(super) fn run(options: &Demo) -> anyhow::Result<Exit> {
    let folder = &options.directory;
    let found = demo::make(folder, options.force, &super::app::first_deployment)?;
    let config = folder.join(configuration::FILE_NAME);
    let _lock = without_service(folder, &config)?;
    let source = SourceOptions { from: None, config: Some(config), strict: false };
    let mut watch = Watch::start();
    let load = |name: &&str| loading::environment(&source, name, ReadAt::Admitted, &watch).map(Arc::new);
    let environments = demo::ENVIRONMENTS.iter().map(load).collect::<anyhow::Result<Vec<_>>>()?;
    let started = Instant::now();
    let begin = |loaded: &Arc<Loaded>| {
        let (compiled, known) = compiling::begin(loaded, watch.progress());
        (Arc::new(compiled), known)
    };
    let (compiled, known): (Vec<_>, Vec<_>) = environments.iter().map(begin).unzip();
    let took = started.elapsed();
    let mut life = if options.no_hub { None } else { Some(Life::begin(DemoHub::start(folder)?)?) };
    let mut report = DiagnosticReport::new();
    let mut published = Vec::new();
    for ((loaded, compiled), mut known) in environments.iter().zip(&compiled).zip(known) {
        for mut target in targets(loaded, None, None)? {
            // Publishes directly, so that clusters can pull the files immediately.
            let mut options = PublishOptions { is_direct: true, ..PublishOptions::default() };
            if let Some(life) = &mut life {
                let planned = Planned::new(
                    loaded,
                    CompiledEnvironment { compiled, known: &mut known },
                    target,
                    &Adoption::Nothing,
                )?;
                options.committed_on = Some(life.prepare(loaded, compiled, &planned)?);
                target = planned.target;
            }
            let outcome = deliver(&options, loaded, CompiledEnvironment { compiled, known: &mut known }, target)?;
            if matches!(outcome.delivered, Some(Delivered::LostRace)) {
                let failure = Failure::outside("another program pushed to the demo's repositories");
                return Err(failure.help("try again").into());
            }
            if let Some(life) = &mut life {
                life.publish(loaded, &outcome)?;
            }
            published.push(outcome);
        }
    }
    for outcome in &published {
        let found = publication_diagnostics(outcome, &outcome.loaded.enforced.not_admitted);
        let batch = DiagnosticBatch::of_compiled(&found, &outcome.planned.compiled);
        report
            .add_problems(&outcome.loaded, DiagnosticBatch { fallback: Fallback::of_plan(&outcome.planned), ..batch });
    }
    watch.end();
    reporting::to_stderr(&report)?;
    let has_news = life.as_ref().is_some_and(Life::has_news);
    let was_published = life.as_ref().is_some_and(|life| life.was_published);
    let company = Company {
        folder,
        environments: &environments,
        compiled: &compiled,
        took,
        published: &published,
        has_news,
        was_published,
    };
    terminal::answer(&company.text(found))?;
    if let Some(life) = life {
        go_on(life)?;
    }
    terminal::answer(&format!("\n{}", demo::trying::text(folder)))?;
    Ok(Exit::Good.unless(report.has_problems(false)))
}

/// Refuses to work beside the service, which publishes and has a hub and hosts itself.
fn without_service(folder: &Path, config: &Path) -> anyhow::Result<File> {
    let refused = || {
        let message =
            format!("`kalypso serve` runs in {}, and proposes what you commit there", shown(folder).display());
        Failure::refused(message).help("merge its pull requests, or stop it first")
    };
    Ok(serve::lock(&Settings::read(Some(config))?.control_plane()?)?.ok_or_else(refused)?)
}

/// Lets the hosts pull the published files, and shows answers of the hub.
fn go_on(mut life: Life) -> anyhow::Result<()> {
    if let Some(lived) = life.live()? {
        terminal::answer(&lived.rows().map(|(name, text)| format!("{name:<16}{text}\n")).concat())?;
    }
    answers::show(&life.hub.url, "prod-chicago-edge-02")?;
    Ok(life.hub.stop()?)
}

/// The data for the text output.
struct Company<'a> {
    folder: &'a Path,
    environments: &'a [Arc<Loaded>],
    compiled: &'a [Arc<Compiled>],
    took: Duration,
    published: &'a [PlaceOutcome],
    /// Whether hosts pull something new.
    has_news: bool,
    /// Whether there is a publication since the last run that the demo did not make itself.
    was_published: bool,
}

impl Company<'_> {
    fn text(&self, found: FolderState) -> String {
        let folder = shown(self.folder).display().to_string();
        let outcomes = || self.published.iter();
        let what = format!("{} git repositories, no network needed", demo::REPOSITORIES.len());
        let first = match found {
            FolderState::Nothing => format!("Made a small company in {folder} ({what})"),
            FolderState::Pieces => format!("An earlier run ended early: made the company in {folder} anew ({what})"),
            FolderState::Company if outcomes().all(is_unchanged) && self.was_published => {
                format!("Hosts pull what was published in {folder} since the last run")
            }
            FolderState::Company if outcomes().all(is_unchanged) && self.has_news => {
                format!("Manifests in {folder} have changed")
            }
            FolderState::Company if outcomes().all(is_unchanged) => format!("Nothing changed in {folder}"),
            FolderState::Company if outcomes().any(|outcome| outcome.delivered.is_none()) => {
                format!("Not everything in {folder} could be published")
            }
            FolderState::Company => format!("Published what had changed in {folder}"),
        };
        let rows = [
            ("  control plane", self.control_plane()),
            ("  applications", self.applications()),
            ("Compiled", self.compilation()),
            ("Published", self.publication()),
        ];
        let rows = rows.map(|(name, text)| format!("{name:<16}{text}\n")).concat();
        format!("{first}\n{rows}")
    }

    fn control_plane(&self) -> String {
        let names: Vec<_> = self.environments.iter().map(|loaded| loaded.fleet.environment.as_str()).collect();
        let fleets = || self.environments.iter().map(|loaded| &loaded.fleet);
        let types: BTreeSet<&ClusterTypeName> = fleets().flat_map(|fleet| fleet.cluster_types.keys()).collect();
        let regions = fleets().flat_map(|fleet| fleet.cluster_types.values());
        let regions: BTreeSet<_> = regions.filter_map(|object| object.labels.get("region")).collect();
        let policies: BTreeSet<_> = fleets().flat_map(|fleet| fleet.policies.keys()).collect();
        format!(
            "{}: {} · {} in {} · {}",
            terminal::count(names.len(), "environment"),
            names.join(", "),
            terminal::count(types.len(), "cluster type"),
            terminal::count(regions.len(), "region"),
            if policies.len() == 1 { "1 policy".to_owned() } else { format!("{} policies", policies.len()) },
        )
    }

    fn applications(&self) -> String {
        let workloads = self.environments.iter().flat_map(|loaded| loaded.fleet.workloads.iter());
        let (mut names, mut targets) = (BTreeSet::new(), BTreeSet::new());
        for (name, workload) in workloads {
            names.insert(name.as_str());
            targets.extend(workload.object.spec.deployment_targets.iter().map(|target| (name, &target.name)));
        }
        let names: Vec<_> = names.into_iter().collect();
        format!("{} · {}", names.join(", "), terminal::count(targets.len(), "deployment target"))
    }

    fn compilation(&self) -> String {
        let count = |(loaded, compiled): (&Arc<Loaded>, &Arc<Compiled>)| {
            format!("{} {}", loaded.fleet.environment, terminal::thousands(compiled.len()))
        };
        let counts: Vec<_> = self.environments.iter().zip(self.compiled).map(count).collect();
        let reuse = reuse(self.compiled.iter().map(|compiled| &**compiled));
        let recomputed =
            if reuse.recomputed == reuse.assignments { String::new() } else { format!(", {}", reuse_text(reuse)) };
        format!("{} assignments in {} ms{recomputed}", counts.join(" · "), self.took.as_millis().max(1))
    }

    fn publication(&self) -> String {
        let place = self.folder.join(demo::GITOPS);
        let place = shown(&place);
        let place = place.display();
        let branches = |count| if count == 1 { "1 branch".to_owned() } else { format!("{count} branches") };
        let pushed: Vec<_> = self
            .published
            .iter()
            .filter_map(|outcome| match &outcome.delivered {
                Some(Delivered::Pushed { commit, .. }) => {
                    Some(format!("{} {}", outcome.loaded.fleet.environment, commit.short()))
                }
                _ => None,
            })
            .collect();
        let unchanged = self.published.iter().filter(|outcome| is_unchanged(outcome)).count();
        if pushed.is_empty() {
            return format!("nothing: {} of {place} are up to date", branches(unchanged));
        }
        format!("{} of {place}, directly: {}", branches(pushed.len()), pushed.join(" · "))
    }
}

fn is_unchanged(outcome: &PlaceOutcome) -> bool {
    matches!(outcome.delivered, Some(Delivered::UpToDate))
}

/// A path as users type it: `./kalypso-demo`.
fn shown(path: &Path) -> PathBuf {
    let is_marked = path.is_absolute() || path.starts_with(".") || path.starts_with("..");
    if is_marked { path.to_owned() } else { Path::new(".").join(path) }
}
