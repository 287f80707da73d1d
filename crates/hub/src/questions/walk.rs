//! Finds the reconcilers of a list, page by page, and examines a limited number for each page.
//!
//! The search follows lanes. A lane is an ordered part of an index: the reconcilers of a place, of a host, or the reconcilers of a tally that need
//! attention.

use std::collections::BTreeSet;

use model::rollout::ReconcilerState;

use super::cursor::Cursor;
use super::reconciler_state::StateNumber;
use super::scope::Scope;
use super::{QuestionError, conditions, reconciler_state};
use crate::limits::PAGE_EXAMINED_MAX;
use crate::store::{
    ColumnError, Columns, DatabaseError, FromRow, HostId, Parameters, PlaceGroupId, PlaceId, ReconcilerId, TallyId,
    Transaction,
};

/// Maximum number of lanes that one statement reads.
const LANES: usize = 1_000;

/// The kind of lanes along which reconcilers are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Along {
    Places,
    Unplaced,
    Hosts,
    Tallies,
}

/// A list of reconcilers.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    along: Along,
    scope: Scope,
    /// Only the reconcilers of these tallies.
    tallies: Option<Vec<TallyId>>,
    /// Also reconcilers that were at the places in the past: at an earlier timestamp, they may have been there.
    with_past: bool,
}

/// A page of reconcilers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReconcilerPage {
    /// The ids of the reconcilers.
    pub(super) reconcilers: Vec<ReconcilerId>,
    /// For each reconciler, the place along which it was found; none for lanes that are not places.
    pub(super) places: Vec<Option<PlaceId>>,
    /// The beginning of the next page; none if this is the last page.
    pub(super) next: Option<Cursor<2>>,
}

/// A selected tally: its id, its group, and the rollout state of its reconcilers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Selected {
    pub(super) id: TallyId,
    pub(super) group_id: PlaceGroupId,
    pub(super) state: ReconcilerState,
    /// Whether its reconcilers are in the index of reconcilers that need attention.
    pub(super) is_attention: bool,
}

/// The columns of a [`Selected`] for a tally `t`. `state` is the SQL expression for the rollout state.
pub(super) fn selected_columns(state: &str) -> String {
    format!(
        "t.id, t.place_group_id, {state}, \
         case when t.status <> 2 or t.is_silent <> 0 or t.held_commit_id = 0 then 1 else 0 end"
    )
}

impl FromRow for Selected {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, group_id, StateNumber(state), is_attention) = columns.take()?;
        Ok(Self { id, group_id, state, is_attention })
    }
}

impl Walk {
    /// The reconcilers of a scope, by their current rollout state. At the groups `any_state`, those in all states.
    pub(super) async fn of_scope(
        transaction: &mut Transaction,
        scope: Scope,
        any_state: &[PlaceGroupId],
    ) -> Result<Self, QuestionError> {
        let Some(states) = scope.states.clone() else {
            let along = if scope.hosts.is_some() { Along::Hosts } else { Along::Places };
            return Ok(Self { along, scope, tallies: None, with_past: false });
        };
        let columns = selected_columns(&reconciler_state::expression(reconciler_state::HOLDS_DESIRED));
        let mut parameters = Parameters::new(transaction.dialect());
        let of_groups = conditions::and(scope.of_groups("t.place_group_id", &mut parameters));
        let sql = format!(
            "select {columns} from tally t where t.desired_commit_id <> 0 and t.reconcilers > 0{of_groups} order by t.id"
        );
        let mut selected = transaction.query::<Selected>(&sql, parameters.into_values()).await?;
        selected.retain(|one| states.contains(&one.state) || any_state.contains(&one.group_id));
        Ok(Self::of_tallies(scope, selected))
    }

    /// The reconcilers of tallies.
    pub(super) fn of_tallies(mut scope: Scope, selected: Vec<Selected>) -> Self {
        let along = match (scope.hosts.is_some(), selected.iter().all(|selected| selected.is_attention)) {
            (true, _) => Along::Hosts,
            (false, true) => Along::Tallies,
            (false, false) => Along::Places,
        };
        scope.groups =
            Some(selected.iter().map(|selected| selected.group_id).collect::<BTreeSet<_>>().into_iter().collect());
        let tallies = Some(selected.iter().map(|selected| selected.id).collect());
        Self { along, scope, tallies, with_past: false }
    }

    /// The same list, and reconcilers that were at the places of the scope in the past. For a question about a timestamp, the caller checks their
    /// place at that time.
    pub(super) fn with_past(self) -> Self {
        Self { with_past: true, ..self }
    }

    /// The reconcilers whose place is not known.
    pub(super) fn of_unplaced(scope: Scope) -> Self {
        Self { along: Along::Unplaced, scope, tallies: None, with_past: false }
    }

    /// The page behind a cursor.
    pub(super) async fn page(
        &self,
        transaction: &mut Transaction,
        after: Option<Cursor<2>>,
        limit: usize,
    ) -> Result<ReconcilerPage, DatabaseError> {
        let mut progress = Progress {
            found: ReconcilerPage::default(),
            limit,
            left: PAGE_EXAMINED_MAX,
            position: after.unwrap_or(Cursor([0, 0])),
        };
        loop {
            let lanes = self.lanes(transaction, progress.position.0[0]).await?;
            for lane in &lanes {
                if *lane != progress.position.0[0] {
                    progress.position = Cursor([*lane, 0]);
                }
                if !self.follow(transaction, &mut progress).await? {
                    return Ok(ReconcilerPage { next: Some(progress.position), ..progress.found });
                }
            }
            match lanes.last() {
                Some(last) if lanes.len() >= LANES => progress.position = Cursor([last + 1, 0]),
                _ => return Ok(progress.found),
            }
        }
    }

    /// Examines the rest of a lane. Returns whether the lane is finished.
    async fn follow(&self, transaction: &mut Transaction, progress: &mut Progress) -> Result<bool, DatabaseError> {
        loop {
            if progress.needed() == 0 || progress.left == 0 {
                return Ok(false);
            }
            let range = self.range(transaction, progress).await?;
            progress.left = progress.left.saturating_sub(range.examined.max(1));
            let lane = PlaceId::new(progress.position.0[0]);
            let place = Some(lane).filter(|_| self.along == Along::Places && self.is_past());
            progress.found.places.extend(range.found.iter().map(|_| place));
            progress.found.reconcilers.extend(range.found);
            match range.end {
                Some(end) => progress.position.0[1] = end,
                None => return Ok(true),
            }
        }
    }

    /// Whether the search includes past places. Without conditions on places, the current places are enough to find all reconcilers.
    fn is_past(&self) -> bool {
        self.with_past && self.scope.groups.is_some()
    }

    /// The lanes of hosts, or of tallies, in the order of their ids.
    fn ids(&self) -> Vec<i64> {
        match self.along {
            Along::Hosts => self.scope.hosts.iter().flatten().copied().map(HostId::number).collect(),
            _ => self.tallies.iter().flatten().copied().map(TallyId::number).collect(),
        }
    }

    /// The next lanes, beginning with this one, in the order of their ids. Lane 0 has the reconcilers whose place is not known.
    async fn lanes(&self, transaction: &mut Transaction, from: i64) -> Result<Vec<i64>, DatabaseError> {
        if self.along == Along::Unplaced {
            return Ok(vec![0]);
        }
        if self.along != Along::Places {
            let ids = self.ids();
            let first = ids.partition_point(|id| *id < from);
            return Ok(ids[first..].iter().copied().take(LANES).collect());
        }
        let mut parameters = Parameters::with(transaction.dialect(), vec![from.into(), (LANES as i64).into()]);
        let of_groups = conditions::and(self.scope.of_groups("p.place_group_id", &mut parameters));
        // One `exists`, not several joined by `or`: for these, PostgreSQL may read all rows of their tables first.
        let has_some = if self.is_past() {
            "((select r.id from reconciler r where r.place_id = p.id limit 1) is not null \
              or (select d.id from deployment d where d.manifests_endpoint = p.endpoint limit 1) is not null)"
        } else {
            "exists (select 1 from reconciler r where r.place_id = p.id)"
        };
        let sql = format!("select p.id from place p where p.id >= $1{of_groups} and {has_some} order by p.id limit $2");
        let places = transaction.query::<i64>(&sql, parameters.into_values()).await?;
        let unplaced = (from == 0 && !self.scope.is_of_places()).then_some(0);
        Ok(unplaced.into_iter().chain(places).take(LANES).collect())
    }

    /// Examines the next reconcilers of a lane.
    async fn range(&self, transaction: &mut Transaction, progress: &Progress) -> Result<LaneRange, DatabaseError> {
        let (Cursor([lane, after]), needed, examined_max) = (progress.position, progress.needed(), progress.left);
        let mut parameters = Parameters::with(transaction.dialect(), vec![after.into(), (examined_max as i64).into()]);
        let inner = self.inner(lane, &mut parameters);
        let mut selecting = parameters.clone();
        let conditions = self.conditions(&mut selecting);
        let is_any = conditions.is_empty();
        let (conditions, limit) = (conditions::all(conditions), selecting.add(needed as i64));
        let sql = format!("select x.id from ({inner}) as x where {conditions} order by x.id limit {limit}");
        let found: Vec<ReconcilerId> = transaction.query(&sql, selecting.into_values()).await?;
        if found.len() == needed || is_any {
            let end = found.last().copied().map(ReconcilerId::number).filter(|_| found.len() == needed);
            return Ok(LaneRange { examined: found.len(), found, end });
        }
        let sql = format!("select count(*), max(y.id) from ({inner}) as y");
        let (examined, end): (usize, Option<i64>) = transaction.one(&sql, parameters.into_values()).await?;
        Ok(LaneRange { found, examined, end: end.filter(|_| examined == examined_max) })
    }

    /// The reconcilers of a lane behind `$1`, at most `$2`.
    fn inner(&self, lane: i64, parameters: &mut Parameters) -> String {
        // At an earlier timestamp, reconcilers that are retired now may have been in service.
        let in_service = if self.with_past { "" } else { " and r.retired_on is null" };
        let of_reconciler = |condition: &str| {
            format!(
                "select r.id, r.host_id, r.place_id from reconciler r where {condition} and r.id > $1{in_service} \
                 order by r.id limit $2"
            )
        };
        if lane == 0 {
            return of_reconciler("r.place_id is null");
        }
        let parameter = parameters.add(lane);
        match self.along {
            Along::Places if self.is_past() => {
                // Each part uses its own index, in order, and ends at the limit.
                let now = format!("select r.id from reconciler r where r.place_id = {parameter} and r.id > $1");
                let once = format!(
                    "select distinct d.reconciler_id as id from deployment d where d.reconciler_id > $1 \
                     and d.manifests_endpoint = (select q.endpoint from place q where q.id = {parameter})"
                );
                format!(
                    "select r.id, r.host_id, r.place_id from (\
                       select a.id from ({now} order by r.id limit $2) as a \
                       union select b.id from ({once} order by 1 limit $2) as b order by 1 limit $2) as u \
                     join reconciler r on r.id = u.id order by r.id limit $2"
                )
            }
            Along::Places | Along::Unplaced => of_reconciler(&format!("r.place_id = {parameter}")),
            Along::Hosts => of_reconciler(&format!("r.host_id = {parameter}")),
            Along::Tallies => format!(
                "select a.reconciler_id as id, r.host_id, r.place_id from attention a \
                 join reconciler r on r.id = a.reconciler_id where a.tally_id = {parameter} and a.reconciler_id > $1 \
                 order by a.reconciler_id limit $2"
            ),
        }
    }

    /// The other conditions on the reconcilers `x` of a lane.
    fn conditions(&self, parameters: &mut Parameters) -> Vec<String> {
        let mut conditions = Vec::new();
        if self.along != Along::Hosts {
            conditions.extend(self.scope.kind.condition("x.host_id", parameters));
        }
        if let Some(tallies) = self.tallies.as_ref().filter(|_| self.along != Along::Tallies) {
            let of_tallies = parameters.any_int("s.tally_id", tallies.clone());
            conditions.push(format!(
                "exists (select 1 from reconciler_state s where s.reconciler_id = x.id and {of_tallies})"
            ));
        } else if self.along == Along::Hosts
            && !self.with_past
            && let Some(of_groups) = self.scope.of_groups("p.place_group_id", parameters)
        {
            conditions.push(format!("exists (select 1 from place p where p.id = x.place_id and {of_groups})"));
        }
        conditions
    }
}

/// The progress of reading a page.
struct Progress {
    found: ReconcilerPage,
    limit: usize,
    /// The number of reconcilers that may still be examined.
    left: usize,
    position: Cursor<2>,
}

impl Progress {
    /// The number of reconcilers that the page still needs.
    fn needed(&self) -> usize {
        self.limit - self.found.reconcilers.len()
    }
}

/// The reconcilers of a part of a lane.
struct LaneRange {
    found: Vec<ReconcilerId>,
    examined: usize,
    /// The last reconciler that was examined; none if the lane ends in this part.
    end: Option<i64>,
}
