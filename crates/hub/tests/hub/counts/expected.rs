//! The expected table, from the reports and commits of a fleet.

use std::collections::BTreeSet;

use hub_api::counts::{CountCell, CountDimension, CountGroup, CountOrder, CountTable};
use hub_api::report::Status;
use hub_api::timestamp::Timestamp;
use model::rollout::{Counts, Liveness, ReconcilerState};

use super::Asked;
use super::fleet::{ENVIRONMENTS, FOLDERS, Fleet, Folder, Reconciler, Said, TARGETS, host_name, region};

type Value = Option<String>;

/// A reconciler of the answer: its state, and the rows and columns that it counts in.
struct Counted {
    state: ReconcilerState,
    pairs: Vec<(Value, Value)>,
}

pub(super) fn table(fleet: &Fleet, asked: &Asked) -> CountTable {
    let counted: Vec<_> = fleet.reconcilers.iter().filter_map(|one| counted(fleet, asked, one)).collect();
    let liveness = if asked.query.at.is_some() { Liveness::Alive } else { Liveness::Unknown };
    let count = |is: &dyn Fn(&(Value, Value)) -> bool| {
        let mut counts = Counts::default();
        for one in counted.iter().filter(|one| one.pairs.iter().any(is)) {
            counts.add(one.state, liveness, 1);
        }
        counts
    };
    let pairs = || counted.iter().flat_map(|one| &one.pairs);
    let group = |value: &Value, counts: Counts| CountGroup { value: value.clone(), counts };
    let rows: BTreeSet<_> = pairs().map(|(row, _)| row).collect();
    let columns: BTreeSet<_> = pairs().map(|(_, column)| column).filter(|_| asked.query.columns.is_some()).collect();
    let (row_count, column_count) = (rows.len(), columns.len());
    let rows = rows.into_iter().map(|value| group(value, count(&|(row, _)| row == value))).collect();
    let columns = columns.into_iter().map(|value| group(value, count(&|(_, column)| column == value))).collect();
    let order = asked.query.sort.unwrap_or_default();
    let (rows, other_rows) = cut(rows, order, asked.query.row_limit);
    let (columns, other_columns) = cut(columns, order, asked.query.column_limit);
    let mut cells = Vec::new();
    for (row, of_row) in rows.iter().enumerate() {
        for (column, of_column) in columns.iter().enumerate() {
            let counts = count(&|(row, column)| *row == of_row.value && *column == of_column.value);
            cells.extend((counts.expected > 0).then_some(CountCell { row, column, counts }));
        }
    }
    let total = count(&|_| true);
    CountTable { rows, columns, cells, total, row_count, column_count, other_rows, other_columns, recorded_on: None }
}

/// Whether the host and the cluster type of the filter have anything within the reach. Otherwise they are as unknown as any other name.
pub(super) fn is_known(fleet: &Fleet, asked: &Asked) -> bool {
    let Asked { filter, reach, .. } = asked;
    let has_folder = |folder: &Folder| {
        let is_within = |target: &usize| reach.has_workspace(TARGETS[*target].workspace);
        reach.workspaces.is_empty() || folder.targets.iter().any(is_within)
    };
    let is_at_place = |one: &&Reconciler| {
        let last = one.reports.last();
        last.is_some_and(|said| {
            reach.has_environment(ENVIRONMENTS[said.environment]) && has_folder(&FOLDERS[said.folder])
        })
    };
    let mut of_host = fleet.reconcilers.iter().filter(|one| filter.host == Some(host_name(one.host)));
    let has_host = filter.host.is_none() || reach.is_all() || of_host.any(|one| is_at_place(&one));
    let mut of_type = FOLDERS.iter().filter(|folder| folder.cluster_type == filter.cluster_type.as_deref());
    has_host && (filter.cluster_type.is_none() || of_type.any(has_folder))
}

fn cut(mut groups: Vec<CountGroup>, order: CountOrder, limit: Option<usize>) -> (Vec<CountGroup>, Counts) {
    groups.sort_by_key(|group| (group.value.is_none(), group.value.clone()));
    if order == CountOrder::Worst {
        let others = |counts: Counts| counts.expected - counts.succeeded - counts.failed - counts.silent;
        groups.sort_by_key(|group| (-group.counts.failed, -group.counts.silent, -others(group.counts)));
    }
    let mut rest = Counts::default();
    let left = groups.split_off(limit.unwrap_or(40).min(groups.len()));
    left.iter().for_each(|group| rest.merge(&group.counts));
    (groups, rest)
}

fn counted(fleet: &Fleet, asked: &Asked, reconciler: &Reconciler) -> Option<Counted> {
    let at = asked.query.at.map(Timestamp::millis);
    let said = *reconciler.reports.iter().rfind(|said| at.is_none_or(|at| said.at <= at))?;
    let (desired, held) = (fleet.desired(said, at)?, fleet.held(said));
    let state = match (said.status, held) {
        (Status::Success, Some(held)) if held == desired => ReconcilerState::Succeeded,
        (Status::Failure, held) if held.is_none_or(|held| held == desired) => ReconcilerState::Failed,
        (Status::InProgress, held) if held.is_none_or(|held| held == desired) => ReconcilerState::InProgress,
        _ => ReconcilerState::Outdated,
    };
    let targets = selected_targets(asked, said)?;
    if !is_host_selected(fleet, asked, reconciler) || !is_state_selected(asked, state) {
        return None;
    }
    let is_of_targets = |dimension: &CountDimension| {
        !matches!(
            dimension,
            CountDimension::Environment
                | CountDimension::ClusterType
                | CountDimension::ConfigVersion
                | CountDimension::State
                | CountDimension::Host
                | CountDimension::HostLabel(_)
        )
    };
    let (rows, columns) = (&asked.query.rows, asked.query.columns.as_ref());
    let targets: Vec<_> = match targets.as_slice() {
        targets @ [_, ..] if is_of_targets(rows) || columns.is_some_and(is_of_targets) => {
            targets.iter().copied().map(Some).collect()
        }
        _ => vec![None],
    };
    let value = |dimension: &CountDimension, target: Option<usize>| {
        let of_target = target.map(|target| &TARGETS[target]);
        let folder = &FOLDERS[said.folder];
        match dimension {
            CountDimension::Environment => Some(ENVIRONMENTS[said.environment].to_owned()),
            CountDimension::Workspace => of_target.map(|target| target.workspace.to_owned()),
            CountDimension::Workload => of_target.map(|target| target.workload.to_owned()),
            CountDimension::Target => of_target.map(|target| target.name.to_owned()),
            CountDimension::ClusterType => folder.cluster_type.map(str::to_owned),
            CountDimension::Version => {
                let version = folder.version.filter(|_| folder.is_versioned && of_target.is_some())?;
                held.map(|content| format!("{version}{content}"))
            }
            CountDimension::ConfigVersion => held.filter(|_| folder.has_config()).map(|content| format!("c{content}")),
            CountDimension::State => Some(state.as_str().to_owned()),
            CountDimension::Host => Some(host_name(reconciler.host)),
            CountDimension::HostLabel(_) => region(reconciler.host).map(str::to_owned),
            CountDimension::TargetLabel(_) => of_target.and_then(|target| target.ring).map(str::to_owned),
        }
    };
    let pair = |target| (value(rows, target), columns.and_then(|columns| value(columns, target)));
    Some(Counted { state, pairs: targets.into_iter().map(pair).collect() })
}

/// The selected targets of the folder. None: the folder is not selected.
fn selected_targets(asked: &Asked, said: Said) -> Option<Vec<usize>> {
    let (filter, reach) = (&asked.filter, &asked.reach);
    let environment = ENVIRONMENTS[said.environment];
    if filter.environment.as_deref().is_some_and(|name| name != environment) || !reach.has_environment(environment) {
        return None;
    }
    let is = |wanted: &Option<String>, name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    let is_selected = |target: &usize| {
        let target = &TARGETS[*target];
        is(&filter.workspace, target.workspace)
            && is(&filter.workload, target.workload)
            && is(&filter.target, target.name)
            && filter.target_selector.as_ref().is_none_or(|_| target.ring == Some("early"))
            && reach.has_workspace(target.workspace)
    };
    let targets: Vec<_> = FOLDERS[said.folder].targets.iter().copied().filter(is_selected).collect();
    let given = [&filter.workspace, &filter.workload, &filter.target, &filter.target_selector];
    let is_of_targets = given.into_iter().any(Option::is_some) || !reach.workspaces.is_empty();
    (!is_of_targets || !targets.is_empty()).then_some(targets)
}

/// Whether the filter selects the host. Its cluster type is that of a folder that one of its reconcilers applies now.
fn is_host_selected(fleet: &Fleet, asked: &Asked, reconciler: &Reconciler) -> bool {
    let filter = &asked.filter;
    let is_labelled = match filter.selector.as_deref() {
        Some("region=north") => region(reconciler.host) == Some("north"),
        Some("region!=north") => region(reconciler.host) != Some("north"),
        Some("region") => region(reconciler.host).is_some(),
        _ => true,
    };
    let of_host = || fleet.reconcilers.iter().filter(|one| one.host == reconciler.host);
    let mut now = of_host().filter_map(|one| one.reports.last());
    let is_of_type = filter.cluster_type.as_deref().is_none_or(|cluster_type| {
        now.any(|said| {
            let is_there = |name: &str| name == ENVIRONMENTS[said.environment];
            FOLDERS[said.folder].cluster_type == Some(cluster_type)
                && filter.environment.as_deref().is_none_or(is_there)
        })
    });
    is_labelled && is_of_type && filter.host.as_deref().is_none_or(|host| host == host_name(reconciler.host))
}

fn is_state_selected(asked: &Asked, state: ReconcilerState) -> bool {
    asked.filter.status.as_deref().is_none_or(|states| states.split(',').any(|one| one == state.as_str()))
}
