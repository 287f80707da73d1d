//! Finds the place of a reconciler by its name, for reports that name no place.
//!
//! Events of Flux without annotations, and objects below a configuration of Azure Arc, identify the reconciler but not its folder. A name such as
//! `prod.web-team.greetings.hello-world.functional-test.edge` identifies the folder if such a deployment target exists.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hub_api::report::names::TargetName;

use super::{assigned, report_places};
use crate::store::{ColumnType, DatabaseError, PlaceId, ReconcilerId, Rows, SqlValue, Transaction};

/// The folder with the manifests of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) place_id: PlaceId,
    pub(crate) endpoint: String,
}

/// The folders of the targets that these names identify. The result has no entry for a name that matches no target, or that can be split in several
/// ways which match different targets.
pub(crate) async fn homes(
    transaction: &mut Transaction,
    names: BTreeSet<&str>,
) -> Result<HashMap<String, Home>, DatabaseError> {
    let columns = ["environment", "workspace", "application", "workload", "target"];
    let mut kinds = vec![("number", ColumnType::Int), ("is_whole", ColumnType::Int)];
    kinds.extend(columns.map(|column| (column, ColumnType::Text)));
    let (mut long, mut short) = (Rows::new(&kinds), Rows::new(&kinds));
    let names: Vec<_> = names.into_iter().filter_map(|name| Some((name, TargetName::parse(name)?))).collect();
    for (number, (_, name)) in names.iter().enumerate() {
        for (is_whole, target) in targets(name).into_iter().enumerate() {
            let rows = if name.application.is_some() { &mut long } else { &mut short };
            rows.push(vec![
                SqlValue::from(number as i64),
                (is_whole as i64).into(),
                name.environment.as_str().into(),
                name.workspace.as_deref().into(),
                name.application.as_deref().into(),
                name.workload.as_str().into(),
                target.into(),
            ]);
        }
    }
    let mut found = transaction.with::<(usize, usize, PlaceId, String)>(long, &statement(LONG)).await?;
    found.extend(transaction.with(short, &statement(SHORT)).await?);
    let mut by_number: BTreeMap<(usize, usize), Vec<Home>> = BTreeMap::new();
    for (number, is_whole, place_id, endpoint) in found {
        let homes = by_number.entry((number, is_whole)).or_default();
        let home = Home { place_id, endpoint };
        if !homes.contains(&home) {
            homes.push(home);
        }
    }
    let mut homes = HashMap::new();
    for ((number, _), found) in by_number {
        if let (Some((name, _)), Ok([home])) = (names.get(number), <[Home; 1]>::try_from(found)) {
            // The target's name itself comes first and has precedence.
            homes.entry((*name).to_owned()).or_insert(home);
        }
    }
    Ok(homes)
}

/// The possible names of the target: the one in the name, and that one without the name of its workload, because templates write
/// `<workload>-<target>`.
fn targets(name: &TargetName) -> Vec<&str> {
    let own = name.target.strip_prefix(&name.workload).and_then(|rest| rest.strip_prefix('-'));
    [Some(name.target.as_str()), own.filter(|own| !own.is_empty())].into_iter().flatten().collect()
}

fn statement(workloads: &str) -> String {
    format!(
        "select s.number, s.is_whole, p.id, p.endpoint from source s {workloads} \
         join environment e on e.name = s.environment \
         join deployment_target t on t.workload_id = l.id and t.environment_id = e.id and t.name = s.target \
         join place p on p.endpoint = t.manifests_endpoint"
    )
}

const LONG: &str = "join workspace w on w.name = s.workspace \
    join application a on a.workspace_id = w.id and a.name = s.application \
    join workload l on l.application_id = a.id and l.name = s.workload";

const SHORT: &str = "join workload l on l.name = s.workload";

/// A target whose folder has just become known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Named<'a> {
    pub(crate) environment: &'a str,
    pub(crate) workspace: &'a str,
    pub(crate) application: &'a str,
    pub(crate) workload: &'a str,
    pub(crate) target: &'a str,
}

impl<'a> Named<'a> {
    /// The names from workspace to target, without the environment.
    pub(crate) fn path(self) -> [&'a str; 4] {
        [self.workspace, self.application, self.workload, self.target]
    }

    /// The prefixes of the names that identify this target.
    fn beginnings(self) -> [String; 4] {
        let Self { environment, workspace, application, workload, target } = self;
        [
            format!("{environment}.{workspace}.{application}.{workload}.{target}"),
            format!("{environment}.{workspace}.{application}.{workload}.{workload}-{target}"),
            format!("{environment}.{workload}.{target}"),
            format!("{environment}.{workload}.{workload}-{target}"),
        ]
    }
}

/// Moves reconcilers that are named after these targets, and whose reports name no other place, to the folders of the targets. Returns the moved
/// reconcilers.
pub(crate) async fn bring_home(
    transaction: &mut Transaction,
    targets: BTreeMap<Named<'_>, String>,
) -> Result<BTreeSet<ReconcilerId>, DatabaseError> {
    let mut rows = Rows::new(&[("low", ColumnType::Text), ("high", ColumnType::Text), ("endpoint", ColumnType::Text)]);
    for (target, endpoint) in targets {
        for low in target.beginnings() {
            // After the dot before a cluster type, the next character in sort order is the slash. Other names in this range are checked one by one.
            let high = format!("{low}/");
            rows.push(vec![low.into(), high.into(), endpoint.as_str().into()]);
        }
    }
    let name = transaction.dialect().in_bytes("r.name");
    let statement = format!(
        "select r.id, r.name, r.place_id from source s join place p on p.endpoint = s.endpoint \
         join reconciler r on {name} >= s.low and {name} < s.high \
         where (r.manifests_endpoint is null or r.is_named = 1) and (r.place_id is null or r.place_id <> p.id)"
    );
    let found = transaction.with::<(ReconcilerId, String, Option<PlaceId>)>(rows, &statement).await?;
    let homes = homes(transaction, found.iter().map(|(_, name, _)| name.as_str()).collect()).await?;
    let home = |(id, name, place_id): &(ReconcilerId, String, Option<PlaceId>)| {
        Some((*id, homes.get(name).filter(|home| Some(home.place_id) != *place_id)?.clone()))
    };
    move_to(transaction, found.iter().filter_map(home).collect()).await
}

/// Moves reconcilers to these folders, if their hosts are registered for them. Returns the moved reconcilers.
pub(super) async fn move_to(
    transaction: &mut Transaction,
    homes: BTreeMap<ReconcilerId, Home>,
) -> Result<BTreeSet<ReconcilerId>, DatabaseError> {
    let moves = homes.iter().map(|(id, home)| (*id, home.endpoint.as_str()));
    let moving = assigned::may_move(transaction, moves).await?;
    let mut rows = Rows::new(&[("id", ColumnType::Int), ("place_id", ColumnType::Int), ("endpoint", ColumnType::Text)]);
    for (id, home) in homes.iter().filter(|(id, _)| moving.contains(id)) {
        rows.push(vec![(*id).into(), home.place_id.into(), home.endpoint.as_str().into()]);
    }
    report_places::leave(transaction, moving.clone()).await?;
    transaction.execute_with(rows, MOVE).await?;
    Ok(moving)
}

/// Moves reconcilers to the folders that their names give.
const MOVE: &str = "update reconciler set place_id = s.place_id, manifests_endpoint = s.endpoint, is_named = 1 \
    from source s where reconciler.id = s.id";

/// Moves a reconciler for which no place is known to the folder that its name gives, if there is one.
pub(crate) async fn send_home(
    transaction: &mut Transaction,
    id: ReconcilerId,
    name: &str,
) -> Result<(), DatabaseError> {
    let homes = homes(transaction, BTreeSet::from([name])).await?;
    let Some(Home { place_id, endpoint }) = homes.get(name) else { return Ok(()) };
    let sql = "update reconciler set place_id = $2, manifests_endpoint = $3, is_named = 1 \
        where id = $1 and manifests_endpoint is null";
    transaction.execute(sql, vec![id.into(), SqlValue::from(*place_id), endpoint.as_str().into()]).await
}
