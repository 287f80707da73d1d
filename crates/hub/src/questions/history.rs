//! The history: what became desired, what was reported, and what was decided about promotions, the newest first.

use std::collections::BTreeSet;

use hub_api::deployments::TargetNames;
use hub_api::history::{Event, History, HistoryKind, HistorySelection, Published, Reported};
use hub_api::page::Page;
use hub_api::promotions::{PromotionChange, PromotionEvent};
use hub_api::report::Status;
use hub_api::rollouts::{ListedRollout, RolloutVersion};
use hub_api::timestamp::Timestamp;
use hub_api::tokens::Reach;

use super::cursor::{Cursor, ListPart};
use super::place_folders::{self, Above};
use super::scope::Scope;
use super::{Question, QuestionError, conditions, earlier_names, facts, promotions, question, rollouts};
use crate::ingest::report_places::{PLACE_ID, PLACE_ID_OF_ROW};
use crate::store::{
    ColumnError, Columns, CommitId, Database, DatabaseError, DeploymentId, Dialect, FromRow, HostId, Parameters,
    PlaceGroupId, Transaction,
};

/// The history of what the filter selects. For one host, entries are ordered by the time at which they happened. Otherwise, they are ordered by the time at
/// which the hub received them.
///
/// # Errors
/// The filter or the page is invalid; the database can't answer.
pub async fn history(
    database: &Database,
    (question, selection): (impl Into<Question<'_>>, &HistorySelection),
    page: &Page,
) -> Result<History, QuestionError> {
    let question = question.into();
    if question.filter.status.is_some() {
        let message = "is not available for earlier times; `deployments` is".to_owned();
        return Err(QuestionError::Wrong { parameter: "status", message });
    }
    let after = page.cursor.as_deref().map(|cursor| Cursor::read(cursor, LIST)).transpose()?;
    let limit = question::limit(page)?;
    let mut transaction = database.begin_reading().await?;
    let earlier = earlier_names::read(&mut transaction, question).await?;
    let question = Question { earlier: &earlier, ..question };
    let after = match (after, selection.until) {
        (Some(after), _) => after,
        (None, Some(until)) => before(&mut transaction, until).await?,
        (None, None) => Cursor([i64::MAX; 6]),
    };
    let Cursor([time, report, committed, commit, happened, event]) = after;
    let scope = Scope::read(&mut transaction, question).await?;
    let reports = match (&question.filter.host, &scope.hosts) {
        _ if !selection.has(HistoryKind::Report) => Reports { order: Order::Received, rows: Vec::new(), rest: None },
        (Some(_), Some(hosts)) => {
            let part = ListPart { after: Cursor([time, report]), limit };
            of_hosts(&mut transaction, &scope, hosts.clone(), part).await?
        }
        _ => of_all(&mut transaction, &scope, (report, limit)).await?,
    };
    let publications = if selection.has(HistoryKind::Publication) {
        rollouts::listed(&mut transaction, &scope, ListPart { after: Cursor([committed, commit]), limit }).await?
    } else {
        Vec::new()
    };
    let part = ListPart { after: Cursor([happened, event]), limit };
    let events = promotions::listed(&mut transaction, question, selection, part).await?;
    let hosts = scope.desired_hosts.as_deref();
    let streams = Streams { reports, publications, events, since: selection.since, reach: question.reach, hosts };
    streams.merge(&mut transaction, [time, report, committed, commit, happened, event], limit).await
}

/// The beginning of the list of what happened before a time.
async fn before(transaction: &mut Transaction, until: Timestamp) -> Result<Cursor<6>, DatabaseError> {
    let last = until.millis().saturating_sub(1);
    let report = first_received(transaction, until).await?;
    Ok(Cursor([last, report, last, i64::MAX, last, i64::MAX]))
}

/// The id of the first report that the hub received at or after a time. Ids grow with the time of receipt, which has no index, so each step halves the ids.
async fn first_received(transaction: &mut Transaction, since: Timestamp) -> Result<i64, DatabaseError> {
    let received = transaction.dialect().millis("d.received_on");
    let sql = format!("select d.id, {received} from deployment d where d.id >= $1 order by d.id limit 1");
    let last: Option<i64> = transaction.one("select max(id) from deployment", Vec::new()).await?;
    let (mut low, mut high) = (0, last.map_or(0, |last| last.saturating_add(1)));
    while low < high {
        let middle = low + (high - low) / 2;
        match transaction.first::<(i64, Timestamp)>(&sql, vec![middle.into()]).await? {
            Some((id, received)) if received < since => low = id + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The name of this list in cursors.
const LIST: &str = "history";

/// Maximum number of reports that one page examines, for any filter. Each is read with its host and place.
const EXAMINED_MAX: usize = 5_000;

/// Reports, the newest first.
struct Reports {
    order: Order,
    rows: Vec<FoundReport>,
    /// The report at which the search continues, and the timestamp down to which all reports are read; none if there are no more.
    rest: Option<(DeploymentId, Timestamp)>,
}

/// A report with its host and place.
pub(super) struct FoundReport {
    pub(super) id: DeploymentId,
    group_id: Option<PlaceGroupId>,
    is_application: bool,
    /// The place of the report.
    endpoint: Option<String>,
    pub(super) reported: Reported,
}

/// What happened, the newest first in each list.
struct Streams<'a> {
    reports: Reports,
    publications: Vec<(CommitId, ListedRollout)>,
    events: Vec<(i64, PromotionEvent)>,
    /// Nothing that is older counts.
    since: Option<Timestamp>,
    /// The reach of the token.
    reach: &'a Reach,
    /// The hosts whose places count. None: all places.
    hosts: Option<&'a [HostId]>,
}

/// A list of [`Streams`].
#[derive(Clone, Copy)]
enum Stream {
    Reports,
    Publications,
    Events,
}

impl Streams<'_> {
    /// Merges all lists into one order, and returns the beginning of the next page.
    async fn merge(
        self,
        transaction: &mut Transaction,
        [mut time, mut report, mut committed, mut commit, mut happened, mut event]: [i64; 6],
        limit: usize,
    ) -> Result<History, QuestionError> {
        let Self { reports, publications, events, since, reach, hosts } = self;
        let are_more =
            [publications.len(), events.len(), reports.rows.len()].contains(&limit) || reports.rest.is_some();
        let known_from = reports.rest.map_or(Timestamp::MIN, |(_, timestamp)| timestamp);
        let order = reports.order;
        let mut rows = with_versions(transaction, reports.rows, reach).await?.into_iter().peekable();
        let commits = publications.iter().map(|(_, publication)| publication.commit.clone()).collect();
        let versions = rollouts::versions(transaction, commits, hosts).await?;
        let (mut publications, mut events) = (publications.into_iter().peekable(), events.into_iter().peekable());
        let (mut items, mut is_end) = (Vec::new(), false);
        while items.len() < limit {
            let newest = [
                (rows.peek().map(|found| order.time(&found.reported)), Stream::Reports),
                (publications.peek().map(|(_, publication)| publication.committed_on), Stream::Publications),
                (events.peek().map(|(_, event)| event.at), Stream::Events),
            ];
            let newest = newest.into_iter().filter_map(|(at, stream)| Some((at?, stream)));
            let Some((at, stream)) = newest.reduce(|one, other| if other.0 > one.0 { other } else { one }) else {
                break;
            };
            is_end = since.is_some_and(|since| at < since);
            // Older reports than those that were read are not known yet.
            if is_end || (at < known_from && !matches!(stream, Stream::Reports)) {
                break;
            }
            match stream {
                Stream::Reports => {
                    let Some(found) = rows.next() else { break };
                    (time, report) = (at.millis(), found.id.number());
                    items.push(Event::Reported(found.reported));
                }
                Stream::Publications => {
                    let Some((id, publication)) = publications.next() else { break };
                    (committed, commit) = (at.millis(), id.number());
                    let versions = versions.get(&publication.commit).cloned().unwrap_or_default();
                    items.push(Event::Published(published_event(publication, versions)));
                }
                Stream::Events => {
                    let Some((id, found)) = events.next() else { break };
                    (happened, event) = (at.millis(), id);
                    items.push(Event::Promotion(PromotionChange { event: found }));
                }
            }
        }
        if let Some((rest, received)) = reports.rest.filter(|_| rows.peek().is_none()) {
            report = rest.number();
            is_end |=
                since.is_some_and(|since| received < since) && publications.peek().is_none() && events.peek().is_none();
        }
        let are_left = rows.peek().is_some() || publications.peek().is_some() || events.peek().is_some();
        let next = (!is_end && (are_more || are_left))
            .then(|| Cursor([time, report, committed, commit, happened, event]).write(LIST));
        Ok(History { items, next })
    }
}

fn published_event(publication: ListedRollout, versions: Vec<RolloutVersion>) -> Published {
    Published {
        at: publication.committed_on,
        commit: publication.commit,
        repository: publication.repository,
        branch: publication.branch,
        places: publication.places,
        removed: publication.removed,
        versions,
    }
}

/// The time by which reports are ordered.
#[derive(Clone, Copy)]
enum Order {
    /// The time at which it happened.
    Happened,
    /// The time at which the hub received it.
    Received,
}

impl Order {
    fn time(self, reported: &Reported) -> Timestamp {
        match self {
            Self::Happened => reported.at,
            Self::Received => reported.received,
        }
    }
}

const COLUMNS: &str = "d.id, h.name, r.name, e.name, g.id, case when g.role = 'application' then 1 else 0 end, \
    d.gitops_commit_id, d.version, d.status, d.status_message";

/// The columns of [`FoundReport`].
pub(super) fn columns(dialect: Dialect) -> String {
    format!("{COLUMNS}, {}, {}, p.endpoint", dialect.millis("d.created_on"), dialect.millis("d.received_on"))
}

/// The tables to join with a report `d`, which is about the place with this id.
pub(super) fn from(place_id: &str) -> String {
    format!(
        "join reconciler r on r.id = d.reconciler_id join host h on h.id = r.host_id \
         left join place p on p.id = {place_id} left join place_group g on g.id = p.place_group_id \
         left join environment e on e.id = g.environment_id"
    )
}

/// The columns of reports that [`columns`] and the conditions of a question read.
const EXAMINED: &str =
    "o.id, o.reconciler_id, o.gitops_commit_id, o.version, o.status, o.status_message, o.created_on, o.received_on";

/// The latest reports that the hub received before a report.
async fn of_all(
    transaction: &mut Transaction,
    scope: &Scope,
    (before, limit): (i64, usize),
) -> Result<Reports, DatabaseError> {
    let dialect = transaction.dialect();
    let examined = format!("from deployment o where o.id < $1 order by o.id desc limit {EXAMINED_MAX}");
    let mut parameters = Parameters::with(dialect, vec![before.into()]);
    let of_hosts = scope.of_hosts("r.host_id", &mut parameters);
    let of_places = Above::read(transaction, scope).await?.condition(scope, &mut parameters);
    let sql = format!(
        "select {} from (select {EXAMINED}, {PLACE_ID_OF_ROW} as place_id {examined}) as d {} where {} \
         order by d.id desc limit {limit}",
        columns(dialect),
        from("d.place_id"),
        conditions::all(of_hosts.into_iter().chain(of_places)),
    );
    let rows: Vec<FoundReport> = transaction.query(&sql, parameters.into_values()).await?;
    let order = Order::Received;
    if rows.len() == limit {
        return Ok(Reports { order, rows, rest: None });
    }
    let received = dialect.millis("min(x.received_on)");
    let sql = format!("select count(*), min(x.id), {received} from (select o.id, o.received_on {examined}) as x");
    let (examined, first, received): (usize, _, _) = transaction.one(&sql, vec![before.into()]).await?;
    let rest = Option::zip(first, received).filter(|_| examined == EXAMINED_MAX);
    Ok(Reports { order, rows, rest })
}

/// Maximum number of reports of one chain that are read. Retention keeps chains shorter.
const CHAIN_MAX: i64 = 20_000;

/// The latest reports of hosts before a report: follows the chains of their reconcilers.
async fn of_hosts(
    transaction: &mut Transaction,
    scope: &Scope,
    hosts: Vec<HostId>,
    ListPart { after: Cursor([time, before]), limit }: ListPart,
) -> Result<Reports, DatabaseError> {
    let dialect = transaction.dialect();
    // A cross join prevents SQLite from beginning with the whole history.
    let behind = vec![hosts.into(), Timestamp::from_millis(time).into(), before.into()];
    let mut parameters = Parameters::with(dialect, behind);
    let of_groups = Above::read(transaction, scope).await?.condition(scope, &mut parameters);
    let instant = dialect.instant("$2");
    let sql = format!(
        "with recursive chain(id, previous_id, depth) as (\
           select d.id, d.previous_id, 1 from reconciler r join reconciler_state s on s.reconciler_id = r.id \
           join deployment d on d.id = s.deployment_id where {} \
           union all select d.id, d.previous_id, c.depth + 1 from chain c join deployment d on d.id = c.previous_id \
           where c.depth < {CHAIN_MAX}) \
         select {} from chain x cross join deployment d {} \
         where d.id = x.id and (d.created_on < {instant} or d.created_on = {instant} and d.id < $3){} \
         order by d.created_on desc, d.id desc limit {limit}",
        dialect.any_int("r.host_id", "$1"),
        columns(dialect),
        from(PLACE_ID),
        conditions::and(of_groups),
    );
    Ok(Reports { order: Order::Happened, rows: transaction.query(&sql, parameters.into_values()).await?, rest: None })
}

impl FromRow for FoundReport {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, host, reconciler, environment) = columns.take()?;
        let (group_id, is_application) = columns.take()?;
        let (commit, version) = columns.take::<(Option<String>, _)>()?;
        let (status, message) = columns.take::<(Option<String>, _)>()?;
        let (at, received, endpoint) = columns.take()?;
        let reported = Reported {
            at,
            received,
            host,
            reconciler,
            environment,
            target: None,
            targets: Vec::new(),
            version,
            commit: commit.filter(|commit| !commit.is_empty()),
            status: status.as_deref().and_then(Status::parse),
            message,
        };
        Ok(Self { id, group_id, is_application, endpoint, reported })
    }
}

/// Adds the targets and the versions to reports. Of a report about the folder of a whole cluster, a limited reach gets only what is about its workspaces: not the
/// message, which can be about any workload in the folder.
pub(super) async fn with_versions(
    transaction: &mut Transaction,
    mut rows: Vec<FoundReport>,
    reach: &Reach,
) -> Result<Vec<FoundReport>, DatabaseError> {
    let groups: BTreeSet<PlaceGroupId> = rows.iter().filter_map(|found| found.group_id).collect();
    let targets = facts::targets(transaction, groups).await?;
    let target = |found: &FoundReport| {
        let targets = targets.get(&found.group_id?)?;
        let is_one = found.is_application || targets.len() == 1;
        targets.first_key_value().filter(|_| is_one).map(|(id, names)| (*id, names.clone()))
    };
    let folder = |found: &FoundReport| Some((found.endpoint.clone()?, found.reported.commit.clone()?));
    let around = rows.iter().filter(|found| target(found).is_none() && !found.is_application);
    let changed = place_folders::changed(transaction, around.filter_map(folder).collect()).await?;
    let keys = rows.iter().filter_map(|found| Some((target(found)?.0, found.reported.commit.clone()?)));
    let versions = facts::versions(transaction, &keys.collect()).await?;
    for found in &mut rows {
        let Some((id, names)) = target(found) else {
            let mut targets = folder(found).and_then(|folder| changed.get(&folder)).cloned().unwrap_or_default();
            targets.retain(|target| reach.has_workspace(&target.workspace));
            found.reported.message.take_if(|_| !found.is_application && !reach.workspaces.is_empty());
            match <[TargetNames; 1]>::try_from(targets) {
                Ok([only]) => found.reported.target = Some(only),
                Err(several) => found.reported.targets = several,
            }
            continue;
        };
        let commit = found.reported.commit.clone().unwrap_or_default();
        if let Some(version) = versions.get(&(id, commit)) {
            found.reported.version = Some(version.clone());
        }
        found.reported.target = Some(names);
    }
    Ok(rows)
}
