//! `kalypso contract`: the values that workloads ask for, and the values that the platform gives.

mod blocks;
mod markdown;
mod text;

use std::collections::BTreeSet;

use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use engine::answers::contract::{AskedValue, Contract, ContractScope, WorkloadContract};
use engine::compile::Prepared;
use model::name::{ClusterName, ClusterTypeName};
use workbench::answers::contract::{EnvironmentContract, contract_fields};
use workbench::source::complete;

use crate::arguments::{self, Format, PlanFormat};
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{loading, paint, terminal};

pub(super) fn run(options: &arguments::Contract) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let environments =
        loading::environments(&options.source, options.environment.as_deref(), ReadAt::Heads, watch.progress())?;
    let whole = environments.into_iter().map(complete);
    let environments = whole.collect::<Result<Vec<_>, _>>()?;
    let scope = ContractScope {
        workload: options.workload.as_deref(),
        place: options.cluster_type.as_deref(),
        has_details: options.workload.is_some() || options.cluster_type.is_some(),
    };
    let contracts: Vec<_> = environments
        .iter()
        .map(|loaded| Prepared::with_progress(&loaded.fleet, watch.progress()).contract(scope))
        .collect();
    if let Some(unknown) = unknown(options, &environments, &contracts) {
        return Err(unknown.into());
    }
    watch.end();
    let mut shown: Vec<_> = environments
        .iter()
        .zip(&contracts)
        .map(|(loaded, contract)| EnvironmentContract::new(loaded, contract))
        .collect();
    if scope.has_details {
        shown.retain(|shown| !shown.contract.workloads.is_empty());
    }
    let view = View { workload: scope.workload, place: scope.place };
    match options.output {
        PlanFormat::Human => terminal::answer_fitted(&text::answer(view, &mut shown), paint::contract)?,
        PlanFormat::Markdown => terminal::answer(&markdown::answer(view, &mut shown))?,
        PlanFormat::Json => terminal::answer(&terminal::structured(&contract_fields(&mut shown), Format::Json))?,
        PlanFormat::Yaml => terminal::answer(&terminal::structured(&contract_fields(&mut shown), Format::Yaml))?,
    }
    let has_problems = contracts.iter().flat_map(|contract| &contract.workloads).any(WorkloadContract::has_problems);
    Ok(Exit::Good.unless(has_problems))
}

/// What is shown of the contracts.
#[derive(Clone, Copy, Debug)]
struct View<'a> {
    workload: Option<&'a str>,
    place: Option<&'a str>,
}

/// The state of a value, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Wrong,
    Missing,
    /// Some or all assignments do not get it, and need not.
    NotGiven,
    Given,
}

impl State {
    fn new(value: &AskedValue) -> Self {
        if !value.wrong.is_empty() {
            Self::Wrong
        } else if value.missing.is_some() {
            Self::Missing
        } else if value.given < value.asked {
            Self::NotGiven
        } else {
            Self::Given
        }
    }
}

/// The error for a workload or a cluster type that no environment has.
fn unknown(options: &arguments::Contract, environments: &[Loaded], contracts: &[Contract]) -> Option<Failure> {
    let fleets = || environments.iter().map(|loaded| &loaded.fleet);
    let message = |what: &str, name: &str| match &options.environment {
        Some(environment) => format!("{environment} has no {what} `{name}`"),
        None => format!("no environment has a {what} `{name}`"),
    };
    if let Some(name) = &options.workload {
        let is_known = contracts.iter().any(|contract| !contract.workloads.is_empty());
        let known: BTreeSet<_> =
            fleets().flat_map(|fleet| fleet.workloads.keys().map(model::name::WorkloadName::as_str)).collect();
        let elsewhere = || {
            Failure::refused(format!("workload `{name}` has no deployment target here"))
                .help("its targets are for other environments")
        };
        let failure = || with_nearest(Failure::refused(message("workload", name)), name, known.iter().copied());
        return (!is_known).then(|| if known.contains(name.as_str()) { elsewhere() } else { failure() });
    }
    let name = options.cluster_type.as_ref()?;
    let types = fleets().flat_map(|fleet| fleet.cluster_types.keys().map(ClusterTypeName::as_str));
    let clusters = fleets().flat_map(|fleet| fleet.clusters.keys().map(ClusterName::as_str));
    let known: BTreeSet<_> = types.chain(clusters).collect();
    let failure = Failure::refused(message("cluster type or cluster", name));
    (!known.contains(name.as_str())).then(|| with_nearest(failure, name, known.iter().copied()))
}

fn with_nearest<'k>(failure: Failure, name: &str, known: impl Iterator<Item = &'k str>) -> Failure {
    let nearest = known.map(|known| (strsim::damerau_levenshtein(name, known), known)).min();
    match nearest {
        Some((_, nearest)) => failure.help(format!("the nearest name is `{nearest}`")),
        None => failure,
    }
}
