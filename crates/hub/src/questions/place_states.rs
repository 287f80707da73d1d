//! The state of places: for each folder of the platform, the desired content, and how many reconcilers have applied it.
//!
//! Most reconcilers apply the folder of a cluster type or a cluster, which contains the folders of its assignments. For the folder of an assignment, the content
//! that they hold is what this folder had at their commit. So a commit that changes only other assignments changes no state of this one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use hub_api::limits::{PLACES_PAGE_DEFAULT, PLACES_PAGE_MAX};
use hub_api::page::Page;
use hub_api::places::{PlaceState, PlaceStates};
use model::rollout::Counts;

use super::cursor::Cursor;
use super::groups::StateCount;
use super::reconciler_state::{self, LIVENESS};
use super::scope::Scope;
use super::{Question, QuestionError, conditions, facts};
use crate::store::{
    ColumnError, ColumnType, Columns, Database, DatabaseError, FromRow, Parameters, PlaceGroupId, PlaceId, Rows,
    SqlValue, Transaction,
};

/// The states of the places that the filter selects: with a condition on targets, those of the folders of their assignments.
///
/// # Errors
/// The filter or the page is invalid; the database can't answer.
pub async fn place_states(
    database: &Database,
    question: impl Into<Question<'_>>,
    page: &Page,
) -> Result<PlaceStates, QuestionError> {
    let question = question.into();
    refuse_hosts(question)?;
    let after = page.cursor.as_deref().map(|cursor| Cursor::read(cursor, LIST)).transpose()?;
    let limit = match page.limit.unwrap_or(PLACES_PAGE_DEFAULT) {
        limit @ 1..=PLACES_PAGE_MAX => limit,
        limit => {
            let message = format!("{limit}; 1 to {PLACES_PAGE_MAX} are possible");
            return Err(QuestionError::Wrong { parameter: "limit", message });
        }
    };
    let mut transaction = database.begin_reading().await?;
    let scope = Scope::read(&mut transaction, question).await?;
    transaction.follow_indexes().await?;
    let (found, next) = find(&mut transaction, &scope, (after.unwrap_or(Cursor([0, 0])), limit)).await?;
    let mut counts = own(&mut transaction, &found).await?;
    let mut applications = HashMap::new();
    if scope.targets.is_some() {
        let around = around(&mut transaction, &found).await?;
        for (place, state) in above(&mut transaction, (&found, &around)).await? {
            state.add_to(counts.entry(place).or_default());
        }
        applications = of_applications(&mut transaction, &scope, (&found, &around)).await?;
    }
    let groups = found.iter().map(|place| place.group_id).collect();
    let targets = facts::targets(&mut transaction, groups).await?;
    let row = |found: FoundPlace| {
        // A reader that may see one workspace must not see the names of others.
        let of_group = targets.get(&found.group_id).into_iter().flatten();
        let mut of_scope = of_group.filter(|(id, _)| scope.targets.as_ref().is_none_or(|some| some.contains(id)));
        let target = of_scope.next().map(|(_, names)| names.clone());
        let applications = scope.targets.as_ref().map(|_| applications.get(&found.id).copied().unwrap_or_default());
        PlaceState { target, applications, counts: counts.get(&found.id).copied().unwrap_or_default(), ..found.state }
    };
    let items = found.into_iter().map(row).collect();
    Ok(PlaceStates { items, next: next.map(|next| next.write(LIST)) })
}

/// The name of this list in cursors.
const LIST: &str = "places";

/// Refuses filters that select some reconcilers of a place.
fn refuse_hosts(question: Question<'_>) -> Result<(), QuestionError> {
    let filter = question.filter;
    let given = [("host", &filter.host), ("selector", &filter.selector), ("status", &filter.status)];
    match given.into_iter().find(|(_, value)| value.is_some()) {
        Some((parameter, _)) => {
            let message = "a place has one state of all its reconcilers; ask for `deployments`".to_owned();
            Err(QuestionError::Wrong { parameter, message })
        }
        None => Ok(()),
    }
}

/// A place with desired content. Its counts are read later.
struct FoundPlace {
    id: PlaceId,
    group_id: PlaceGroupId,
    endpoint: String,
    state: PlaceState,
}

impl FromRow for FoundPlace {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, endpoint, path, cluster) = columns.take::<(_, _, _, Option<String>)>()?;
        let (repository, branch) = columns.take()?;
        let (tree, commit, desired_since) = columns.take()?;
        let state = PlaceState {
            place: cluster.unwrap_or_default(),
            repository,
            branch,
            path,
            tree,
            commit,
            desired_since,
            ..PlaceState::default()
        };
        Ok(Self { id, group_id: PlaceGroupId::new(0), endpoint, state })
    }
}

/// A group of places: its id, its environment and its cluster type.
type Group = (PlaceGroupId, Option<String>, Option<String>);

/// The next places behind a cursor, group by group. Each statement reads an ordered range of an index.
async fn find(
    transaction: &mut Transaction,
    scope: &Scope,
    (Cursor([group, place]), limit): (Cursor<2>, usize),
) -> Result<(Vec<FoundPlace>, Option<Cursor<2>>), DatabaseError> {
    let mut found: Vec<FoundPlace> = Vec::new();
    for (group_id, environment, cluster_type) in groups(transaction, scope, group).await? {
        let after = if group_id.number() == group { place } else { 0 };
        let left = limit - found.len();
        if left == 0 {
            let last = found.last().map(|place| Cursor([place.group_id.number(), place.id.number()]));
            return Ok((found, last));
        }
        let mut places = of_group(transaction, group_id, (after, left + 1)).await?;
        let are_more = places.len() > left;
        places.truncate(left);
        for mut place in places {
            place.group_id = group_id;
            place.state.environment = environment.clone().unwrap_or_default();
            if place.state.place.is_empty() {
                place.state.place = cluster_type.clone().unwrap_or_default();
            }
            place.state.cluster_type.clone_from(&cluster_type);
            found.push(place);
        }
        if are_more {
            let last = found.last().map(|place| Cursor([place.group_id.number(), place.id.number()]));
            return Ok((found, last));
        }
    }
    Ok((found, None))
}

/// The groups of the platform in scope, beginning with one, in the order of their ids.
async fn groups(transaction: &mut Transaction, scope: &Scope, from: i64) -> Result<Vec<Group>, DatabaseError> {
    let mut parameters = Parameters::with(transaction.dialect(), vec![from.into()]);
    let selected = conditions::and(scope.of_desired("g.id", &mut parameters));
    let sql = format!(
        "select g.id, e.name, g.cluster_type from place_group g left join environment e on e.id = g.environment_id \
         where g.id >= $1 and g.role = 'platform'{selected} order by g.id"
    );
    transaction.query(&sql, parameters.into_values()).await
}

async fn of_group(
    transaction: &mut Transaction,
    group_id: PlaceGroupId,
    (after, limit): (i64, usize),
) -> Result<Vec<FoundPlace>, DatabaseError> {
    let sql = format!(
        "select p.id, p.endpoint, p.path, p.cluster, coalesce(b.repository, ''), coalesce(b.branch, ''), w.tree, c.commit_id, {} \
         from place p join place_revision w on w.id = p.desired_revision_id join gitops_commit c on c.id = w.gitops_commit_id \
         left join gitops_branch b on b.id = p.branch_id \
         where p.place_group_id = $1 and p.id > $2 and w.tree is not null order by p.id limit $3",
        transaction.dialect().millis("w.desired_on")
    );
    let values = vec![group_id.into(), after.into(), (limit as i64).into()];
    transaction.query(&sql, values).await
}

/// Those of these groups that have one place, also counting removed ones. Their tallies are those of the place.
async fn alone(
    transaction: &mut Transaction,
    groups: BTreeSet<PlaceGroupId>,
) -> Result<HashSet<PlaceGroupId>, DatabaseError> {
    let mut rows = sources(&["group_id"]);
    groups.into_iter().for_each(|id| rows.push(vec![id.into()]));
    let statement = "select s.group_id from source s where \
        (select count(*) from (select q.id from place q where q.place_group_id = s.group_id limit 2) as x) = 1";
    Ok(transaction.with(rows, statement).await?.into_iter().collect())
}

/// The states of the reconcilers that apply these folders.
async fn own(transaction: &mut Transaction, found: &[FoundPlace]) -> Result<HashMap<PlaceId, Counts>, DatabaseError> {
    let (state, dialect) = (reconciler_state::expression(reconciler_state::HOLDS_DESIRED), transaction.dialect());
    let of_one = self::alone(transaction, found.iter().map(|place| place.group_id).collect()).await?;
    let (mut alone, mut others) = (sources(&["place_id", "group_id"]), sources(&["place_id", "group_id"]));
    for place in found {
        let rows = if of_one.contains(&place.group_id) { &mut alone } else { &mut others };
        rows.push(vec![place.id.into(), place.group_id.into()]);
    }
    let of_groups = format!(
        "select s.place_id, {state} as state, {LIVENESS}, {} from source s cross join tally t \
         where t.place_group_id = s.group_id and t.desired_commit_id <> 0 and t.reconcilers > 0 group by 1, 2, 3",
        dialect.int("sum(t.reconcilers)")
    );
    // Cross joins keep SQLite from beginning with all reconcilers. Those that are out of service are in no tally.
    let of_places = format!(
        "select s.place_id, {state} as state, {LIVENESS}, count(*) from source s cross join reconciler r \
         cross join reconciler_state z cross join tally t \
         where r.place_id = s.place_id and z.reconciler_id = r.id and t.id = z.tally_id and t.desired_commit_id <> 0 \
         group by 1, 2, 3"
    );
    let mut counts: HashMap<_, Counts> = HashMap::new();
    for (rows, statement) in [(alone, of_groups), (others, of_places)] {
        for (place, in_state) in transaction.with::<(PlaceId, StateCount)>(rows, &statement).await? {
            in_state.add_to(counts.entry(place).or_default());
        }
    }
    Ok(counts)
}

/// The states of the reconcilers that apply the folders around these folders.
async fn above(
    transaction: &mut Transaction,
    (found, around): (&[FoundPlace], &BTreeMap<String, Around>),
) -> Result<Vec<(PlaceId, StateCount)>, DatabaseError> {
    let columns = [
        ("place_id", ColumnType::Int),
        ("above_id", ColumnType::Int),
        ("group_id", ColumnType::Int),
        ("tree", ColumnType::Text),
    ];
    let (mut alone, mut others) = (Rows::new(&columns), Rows::new(&columns));
    for place in found {
        let Some(Around { id, group_id, is_alone }) = parent(&place.endpoint).and_then(|name| around.get(name)) else {
            continue;
        };
        let rows = if *is_alone { &mut alone } else { &mut others };
        let tree = SqlValue::from(place.state.tree.as_str());
        rows.push(vec![place.id.into(), (*id).into(), (*group_id).into(), tree]);
    }
    let number = transaction.dialect().int("sum(t.reconcilers)");
    let of_groups = statement("source s", ("y.place_group_id = s.group_id", "y.reconcilers"), &number);
    // The content that reconcilers hold is searched once for those of a tally, as for groups.
    let counted = "(select s.place_id, s.tree, z.tally_id, count(*) as reconcilers from source s cross join reconciler r \
         cross join reconciler_state z where r.place_id = s.above_id and z.reconciler_id = r.id group by 1, 2, 3) as s";
    let of_places = statement(counted, ("y.id = s.tally_id", "s.reconcilers"), &number);
    let mut states: Vec<(PlaceId, StateCount)> = transaction.with(alone, &of_groups).await?;
    states.append(&mut transaction.with(others, &of_places).await?);
    Ok(states)
}

/// A statement over tallies `y` of the folders around the rows `s`. Their reconcilers hold the content of `s` if its folder had the desired tree at the commit
/// that they hold. If they hold all that is desired around it, that needs no search.
fn statement(source: &str, (of_source, reconcilers): (&str, &str), number: &str) -> String {
    let state = reconciler_state::expression("t.holds = 1");
    let held = "(select v.tree from place_revision v join gitops_commit o on o.id = v.gitops_commit_id \
        where v.place_id = s.place_id and o.sequence <= hc.sequence order by o.sequence desc, v.id desc limit 1)";
    format!(
        "select t.place_id, {state} as state, {LIVENESS}, {number} from (\
           select s.place_id, y.status, y.is_silent, y.has_heartbeat, y.held_commit_id, {reconcilers} as reconcilers, \
           case when y.is_current = 1 then 1 when hc.id is null then 0 when {held} = s.tree then 1 else 0 end as holds \
           from {source} cross join tally y left join gitops_commit hc on hc.id = y.held_commit_id \
           where {of_source} and {reconcilers} > 0 and y.desired_commit_id <> 0) as t group by 1, 2, 3"
    )
}

/// A folder that contains the folders of assignments.
struct Around {
    id: PlaceId,
    group_id: PlaceGroupId,
    is_alone: bool,
}

/// The folders around these folders, by endpoint.
async fn around(
    transaction: &mut Transaction,
    found: &[FoundPlace],
) -> Result<BTreeMap<String, Around>, DatabaseError> {
    let endpoints: BTreeSet<_> = found.iter().filter_map(|place| parent(&place.endpoint)).collect();
    let mut rows = Rows::new(&[("endpoint", ColumnType::Text)]);
    endpoints.into_iter().for_each(|endpoint| rows.push(vec![endpoint.into()]));
    let statement = "select p.endpoint, p.id, p.place_group_id from source s cross join place p cross join place_group g \
        where p.endpoint = s.endpoint and g.id = p.place_group_id and g.role = 'platform'";
    let rows: Vec<(String, PlaceId, PlaceGroupId)> = transaction.with(rows, statement).await?;
    let alone = alone(transaction, rows.iter().map(|(_, _, group_id)| *group_id).collect()).await?;
    let around = |(endpoint, id, group_id)| (endpoint, Around { id, group_id, is_alone: alone.contains(&group_id) });
    Ok(rows.into_iter().map(around).collect())
}

/// The states of the reconcilers of the manifests of the selected targets, on the hosts with a reconciler of these folders, or of the folders around them.
async fn of_applications(
    transaction: &mut Transaction,
    scope: &Scope,
    (found, around): (&[FoundPlace], &BTreeMap<String, Around>),
) -> Result<HashMap<PlaceId, Counts>, DatabaseError> {
    let mut parameters = Parameters::new(transaction.dialect());
    let selected = conditions::and(scope.of_desired("g.id", &mut parameters));
    let sql = format!("select g.id from place_group g where g.role = 'application'{selected} order by g.id");
    let groups: Vec<PlaceGroupId> = transaction.query(&sql, parameters.into_values()).await?;
    let mut counts: HashMap<_, Counts> = HashMap::new();
    if groups.is_empty() {
        return Ok(counts);
    }
    let groups: Vec<_> = groups.into_iter().map(|id| id.number().to_string()).collect();
    let mut rows = sources(&["place_id", "above_id"]);
    for place in found {
        let above = parent(&place.endpoint).and_then(|name| around.get(name)).map_or(place.id, |around| around.id);
        rows.push(vec![place.id.into(), place.id.into()]);
        rows.push(vec![place.id.into(), above.into()]);
    }
    if !rows.len().is_multiple_of(4) {
        // SQLite reads rows in pieces. With multiples of four, both rows of a place are in one piece, so that a host counts once.
        rows.push(vec![0.into(), 0.into()]);
        rows.push(vec![0.into(), 0.into()]);
    }
    let statement = format!(
        "select n.place_id, {} as state, {LIVENESS}, {} from (\
           select x.place_id, x.tally_id, count(*) as reconcilers from (\
             select distinct s.place_id, r.id, z.tally_id from source s cross join reconciler o cross join reconciler r \
             cross join place q cross join reconciler_state z \
             where o.place_id = s.above_id and o.retired_on is null and r.host_id = o.host_id \
             and q.id = r.place_id and q.place_group_id in ({}) and z.reconciler_id = r.id) as x group by 1, 2) as n \
         join tally t on t.id = n.tally_id where t.desired_commit_id <> 0 group by 1, 2, 3",
        reconciler_state::expression(reconciler_state::HOLDS_DESIRED),
        transaction.dialect().int("sum(n.reconcilers)"),
        groups.join(", "),
    );
    for (place, in_state) in transaction.with::<(PlaceId, StateCount)>(rows, &statement).await? {
        in_state.add_to(counts.entry(place).or_default());
    }
    Ok(counts)
}

/// The endpoint of the folder around a folder.
fn parent(endpoint: &str) -> Option<&str> {
    endpoint.rsplit_once('/').map(|(parent, _)| parent)
}

fn sources(columns: &[&str]) -> Rows {
    Rows::new(&columns.iter().map(|name| (*name, ColumnType::Int)).collect::<Vec<_>>())
}
