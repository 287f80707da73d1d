//! What has changed since somebody last looked: what became wanted, what was reported, who has gone silent.
//!
//! Changes are read from where they are stored, by the ids that they got there. A [`Position`] says how far somebody has read; up to which position
//! everything is there that ever will be, [`settled`] says. So whoever goes on from a position misses nothing and gets nothing twice, whatever
//! happened to him, to the hub, or to the connection between them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use hub_api::deployments::TargetNames;
use hub_api::events::{Change, DesiredChange, ReportChange, SilenceChange};
use hub_api::report::Status;
use hub_api::rollouts::RolloutVersion;
use model::rollout::RolloutState;

use super::above::{Above, TOLD_MAX};
use super::cursor::Cursor;
use super::scope::Scope;
use super::{Question, QuestionError, facts, history, rollout_state};
use crate::ingest::placing::PLACE_ID;
use crate::limits::EVENTS_EXAMINED_MAX;
use crate::store::{Database, DatabaseError, Dialect, Row, Transaction, Value};

/// How far somebody has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The last revision of a place.
    wanted: i64,
    /// The last report.
    reports: i64,
    /// The last one who has gone silent, or was heard again.
    silences: i64,
}

/// The word for these positions.
const LIST: &str = "events";

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Cursor([self.wanted, self.reports, self.silences]).write(LIST))
    }
}

impl FromStr for Position {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, QuestionError> {
        let Cursor([wanted, reports, silences]) = Cursor::read(text, LIST).map_err(|_| {
            let message = "is the `id` of no event: give that of the last one that came, or nothing, to begin now";
            QuestionError::Wrong { parameter: "after", message: message.to_owned() }
        })?;
        Ok(Self { wanted, reports, silences })
    }
}

impl Position {
    /// Whether there is nothing behind another one that is not behind this one, too.
    pub fn has_reached(&self, other: &Self) -> bool {
        self.wanted >= other.wanted && self.reports >= other.reports && self.silences >= other.silences
    }
}

/// How long to wait before it is asked again whether transactions that were under way have ended.
const UNDER_WAY: Duration = Duration::from_millis(20);

/// The position up to which everything is there that ever will be, as late as possible.
///
/// In SQLite there is one writer, so that ids appear in their order. In PostgreSQL, transactions take ids and are committed in any order. Whoever takes an
/// id has an id of its transaction by then, for it has locked rows; so when all transactions have ended that were there after we saw how many ids are
/// taken, each of these rows is there, or never will be.
///
/// # Errors
/// The database can't answer. It takes as long as the longest transaction that writes.
pub async fn settled(database: &Database) -> Result<Position, DatabaseError> {
    let last = |table: &str| match database.dialect() {
        Dialect::Sqlite => format!("(select coalesce(max(id), 0) from {table})"),
        Dialect::Postgres => {
            format!("(select case when is_called then last_value else last_value - 1 end from {table}_id_seq)")
        }
    };
    let sql = format!("select {}, {}, {}", last("place_revision"), last("deployment"), last("silence"));
    let rows = database.query(&sql, Vec::new()).await?;
    let position = rows.first().map_or_else(Position::default, |row| Position {
        wanted: row.int(0),
        reports: row.int(1),
        silences: row.int(2),
    });
    if database.dialect() == Dialect::Postgres {
        // Its own number is higher than those of all that have begun to write. What a snapshot calls its end is not: it is behind the last that has ended.
        let now = number(database, "pg_current_xact_id()").await?;
        while number(database, "pg_snapshot_xmin(pg_current_snapshot())").await? < now {
            tokio::time::sleep(UNDER_WAY).await;
        }
    }
    Ok(position)
}

async fn number(database: &Database, expression: &str) -> Result<i64, DatabaseError> {
    let rows = database.query(&format!("select ({expression})::text::bigint"), Vec::new()).await?;
    Ok(rows.first().map_or(0, |row| row.int(0)))
}

/// Some changes, and how far one has read with each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The changes, each with the position behind it.
    pub items: Vec<(Position, Change)>,
    /// The position behind all of them, and behind those that are not selected.
    pub end: Position,
}

/// The next changes behind a position that are selected, up to another position, which is settled. What became wanted comes first, then what was
/// reported, then who is silent; each in the order in which the hub heard of it. It looks at a bounded number: there may be more.
///
/// # Errors
/// The filter is invalid; the database can't answer.
pub async fn changes(
    database: &Database,
    question: impl Into<Question<'_>>,
    after: Position,
    until: Position,
) -> Result<Changes, QuestionError> {
    let question = question.into();
    let states = states(question)?;
    let mut transaction = database.begin_reading().await?;
    let is_of_hosts = question.filter.host.is_some() || question.filter.selector.is_some();
    let selection = Selection { scope: Scope::of(&mut transaction, question).await?, is_of_hosts, states };
    if after.wanted < until.wanted {
        let range = range(&mut transaction, "place_revision", (after.wanted, until.wanted)).await?;
        let found = selection.wanted(&mut transaction, range).await?;
        let behind = |id| Position { wanted: id, ..after };
        return Ok(Changes { items: placed(found, behind), end: behind(range.1) });
    }
    if after.reports < until.reports {
        let range = range(&mut transaction, "deployment", (after.reports, until.reports)).await?;
        let found = selection.reports(&mut transaction, range).await?;
        let behind = |id| Position { reports: id, ..after };
        return Ok(Changes { items: placed(found, behind), end: behind(range.1) });
    }
    let range = range(&mut transaction, "silence", (after.silences, until.silences)).await?;
    let found = selection.silences(&mut transaction, range).await?;
    let behind = |id| Position { silences: id, ..after };
    Ok(Changes { items: placed(found, behind), end: behind(range.1) })
}

fn placed(found: Vec<(i64, Change)>, behind: impl Fn(i64) -> Position) -> Vec<(Position, Change)> {
    found.into_iter().map(|(id, change)| (behind(id), change)).collect()
}

/// The ids behind the first and up to the last: so many of them as are looked at once.
async fn range(
    transaction: &mut Transaction,
    table: &str,
    (after, until): (i64, i64),
) -> Result<(i64, i64), DatabaseError> {
    let sql = format!(
        "select count(*), max(x.id) from (select id from {table} where id > $1 and id <= $2 order by id limit {EVENTS_EXAMINED_MAX}) as x"
    );
    let rows = transaction.query(&sql, vec![after.into(), until.into()]).await?;
    let full = rows.first().filter(|row| row.int(0) as usize == EVENTS_EXAMINED_MAX);
    Ok((after, full.map_or(until, |row| row.int(1)).max(after)))
}

/// How far those are who are asked about; none if nothing is said of that.
fn states(question: Question<'_>) -> Result<Option<Vec<RolloutState>>, QuestionError> {
    let states = rollout_state::parse_list(question.filter.status.as_deref())?;
    let is_no_event = |state: &&RolloutState| matches!(state, RolloutState::Outdated | RolloutState::NeverReported);
    match states.iter().flatten().find(is_no_event) {
        Some(state) => {
            let message = format!(
                "no report has the status `{}`; succeeded, failed, inProgress and silent are possible",
                state.as_str()
            );
            Err(QuestionError::Wrong { parameter: "status", message })
        }
        None => Ok(states),
    }
}

/// Which changes are asked about.
struct Selection {
    scope: Scope,
    /// Whether it is about some hosts only, whatever their cluster type.
    is_of_hosts: bool,
    states: Option<Vec<RolloutState>>,
}

const OF_PLACE: &str = "left join place p on p.id = r.place_id left join place_group g on g.id = p.place_group_id \
    left join environment e on e.id = g.environment_id";

impl Selection {
    /// The condition that a host, in that column, is one of those that are asked about.
    fn of_hosts(&self, dialect: Dialect, host_id: &str, values: &mut Vec<Value>) -> String {
        match &self.scope.hosts {
            Some(hosts) => {
                values.push(hosts.clone().into());
                dialect.any_int(host_id, &format!("${}", values.len()))
            }
            None => self.scope.kind.condition(dialect, host_id, values).unwrap_or_else(|| ANY.to_owned()),
        }
    }

    async fn wanted(
        &self,
        transaction: &mut Transaction,
        (after, until): (i64, i64),
    ) -> Result<Vec<(i64, Change)>, DatabaseError> {
        if self.states.is_some() {
            return Ok(Vec::new());
        }
        let dialect = transaction.dialect();
        let mut values = vec![Value::from(after), until.into()];
        // What is wanted of a cluster type is wanted before any host is there.
        let of_places = of_places(dialect, self.scope.told.as_ref(), &mut values);
        let of_hosts = if self.is_of_hosts {
            let is_one = self.of_hosts(dialect, "r.host_id", &mut values);
            format!("exists (select 1 from reconciler r where r.place_id = p.id and r.retired_on is null and {is_one})")
        } else {
            ANY.to_owned()
        };
        let sql = format!(
            "select v.id, {}, c.commit_id, p.endpoint, case when v.tree is null then 1 else 0 end, e.name, g.cluster_type, \
             p.cluster, v.config_version, g.id from place_revision v join gitops_commit c on c.id = v.gitops_commit_id \
             join place p on p.id = v.place_id join place_group g on g.id = p.place_group_id \
             left join environment e on e.id = g.environment_id \
             where v.id > $1 and v.id <= $2 and {of_places} and {of_hosts} order by v.id",
            dialect.millis("v.wanted_on")
        );
        let rows = transaction.query(&sql, values).await?;
        let told = told(transaction, &rows).await?;
        let change = |row: &Row| {
            let (versions, targets) = told(row);
            let text = |column| row.optional_text(column).map(str::to_owned);
            let wanted = DesiredChange {
                at: row.moment(1).unwrap_or_default(),
                commit: row.text(2),
                place: row.text(3),
                is_removed: row.is(4),
                environment: text(5),
                cluster_type: text(6),
                cluster: text(7),
                config_version: text(8),
                versions,
                targets,
            };
            (row.int(0), Change::Desired(wanted))
        };
        Ok(rows.iter().map(change).collect())
    }

    async fn reports(
        &self,
        transaction: &mut Transaction,
        (after, until): (i64, i64),
    ) -> Result<Vec<(i64, Change)>, DatabaseError> {
        let dialect = transaction.dialect();
        let mut values = vec![Value::from(after), until.into()];
        let mut conditions = vec![self.of_hosts(dialect, "r.host_id", &mut values)];
        conditions.extend(Above::of(transaction, &self.scope).await?.condition(&self.scope, dialect, &mut values));
        if let Some(states) = &self.states {
            let words: Vec<String> = states.iter().filter_map(|one| reported(*one)).map(str::to_owned).collect();
            values.push(words.into());
            conditions.push(dialect.any_text("d.status", &format!("${}", values.len())));
        }
        let sql = format!(
            "select {}, b.status, p.endpoint, g.cluster_type, case when s.deployment_id = d.id then 0 else 1 end \
             from deployment d {} left join deployment b on b.id = d.previous_id \
             left join reconciler_state s on s.reconciler_id = r.id \
             where d.id > $1 and d.id <= $2 and {} order by d.id",
            history::columns(dialect),
            history::from(PLACE_ID),
            conditions.join(" and "),
        );
        let rows = transaction.query(&sql, values).await?;
        let found = rows.iter().map(|row| history::of_row(row, None)).collect();
        let found = history::with_versions(transaction, found).await?;
        let change = |(row, found): (&Row, history::Found)| {
            let text = |column| row.optional_text(history::COLUMN_COUNT + column).map(str::to_owned);
            let report = ReportChange {
                reported: found.reported,
                previous_status: text(0).as_deref().and_then(Status::parse),
                place: text(1),
                cluster_type: text(2),
                is_superseded: row.is(history::COLUMN_COUNT + 3),
            };
            (found.id, Change::Report(report))
        };
        Ok(rows.iter().zip(found).map(change).collect())
    }

    async fn silences(
        &self,
        transaction: &mut Transaction,
        (after, until): (i64, i64),
    ) -> Result<Vec<(i64, Change)>, DatabaseError> {
        if self.states.as_ref().is_some_and(|states| !states.contains(&RolloutState::Silent)) {
            return Ok(Vec::new());
        }
        let dialect = transaction.dialect();
        let mut values = vec![Value::from(after), until.into()];
        let of_places = of_places(dialect, self.scope.groups.as_ref(), &mut values);
        let of_hosts = self.of_hosts(dialect, "r.host_id", &mut values);
        let is_silent = if self.states.is_some() { "n.is_silent = 1" } else { ANY };
        let sql = format!(
            "select n.id, n.is_silent, {}, {}, h.name, r.name, e.name, g.cluster_type, p.endpoint \
             from silence n join reconciler r on r.id = n.reconciler_id join host h on h.id = r.host_id {OF_PLACE} \
             where n.id > $1 and n.id <= $2 and r.retired_on is null and h.retired_on is null and {is_silent} \
             and {of_places} and {of_hosts} order by n.id",
            dialect.millis("n.noticed_on"),
            dialect.millis("n.silent_after"),
        );
        let change = |row: &Row| {
            let text = |column| row.optional_text(column).map(str::to_owned);
            let silence = SilenceChange {
                at: row.moment(2).unwrap_or_default(),
                due: row.moment(3),
                host: row.text(4),
                reconciler: row.text(5),
                environment: text(6),
                cluster_type: text(7),
                place: text(8),
            };
            (row.int(0), if row.is(1) { Change::Silent(silence) } else { Change::Heard(silence) })
        };
        Ok(transaction.query(&sql, values).await?.iter().map(change).collect())
    }
}

/// The condition that all fulfil.
const ANY: &str = "1 = 1";

/// The condition that a place `p` is in one of these groups, if any are named.
fn of_places(dialect: Dialect, groups: Option<&Vec<i64>>, values: &mut Vec<Value>) -> String {
    let Some(groups) = groups else { return ANY.to_owned() };
    values.push(groups.clone().into());
    dialect.any_int("p.place_group_id", &format!("${}", values.len()))
}

/// What somebody reports who stands there.
fn reported(state: RolloutState) -> Option<&'static str> {
    match state {
        RolloutState::Succeeded => Some(Status::Success.as_str()),
        RolloutState::Failed => Some(Status::Failure.as_str()),
        RolloutState::InProgress => Some(Status::InProgress.as_str()),
        RolloutState::Silent | RolloutState::Outdated | RolloutState::NeverReported => None,
    }
}

/// The versions that became wanted with revisions of places, or else the targets that the places are for: their commits and groups are in columns 2 and 9,
/// the environments in 5.
async fn told(
    transaction: &mut Transaction,
    rows: &[Row],
) -> Result<impl Fn(&Row) -> (Vec<RolloutVersion>, Vec<TargetNames>) + use<>, DatabaseError> {
    let groups: BTreeSet<i64> = rows.iter().map(|row| row.int(9)).collect();
    let targets = facts::targets(transaction, groups).await?;
    let of_row = |row: &Row| {
        let commit = row.text(2);
        let ids = targets.get(&row.int(9)).into_iter().flatten().map(|(id, _)| *id);
        ids.map(|id| (id, commit.clone())).collect::<Vec<_>>()
    };
    let versions = facts::versions(transaction, &rows.iter().flat_map(of_row).collect()).await?;
    Ok(move |row: &Row| {
        let (commit, environment) = (row.text(2), row.text(5));
        let version = |(id, target): (&i64, &TargetNames)| {
            let version = versions.get(&(*id, commit.clone()))?.clone();
            Some(RolloutVersion { target: target.clone(), environment: environment.clone(), version })
        };
        let of_place = || targets.get(&row.int(9)).into_iter().flatten();
        let versions: Vec<_> = of_place().filter_map(version).collect();
        let named = of_place().map(|(_, target)| target.clone()).take(TOLD_MAX);
        let named = if versions.is_empty() { named.collect() } else { Vec::new() };
        (versions, named)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_were_written() {
        let position = Position { wanted: 1, reports: 2, silences: 3 };
        assert_eq!(position.to_string().parse::<Position>().unwrap(), position);
        let error = "aG9zdHMgMSAyIDM".parse::<Position>().unwrap_err().to_string();
        assert!(error.starts_with("`after`: is the `id` of no event"), "{error}");
    }

    #[test]
    fn a_position_has_reached_another_in_every_kind() {
        let check = |wanted, reports| {
            Position { wanted, reports, silences: 1 }.has_reached(&Position { wanted: 2, reports: 2, silences: 1 })
        };
        assert_eq!([check(2, 2), check(3, 2), check(1, 9), check(9, 1)], [true, true, false, false]);
    }
}
