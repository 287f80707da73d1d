//! The differences between two environments: versions and configuration, target by target.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::compare::{Compared, ComparedConfig, ComparedSide, ComparedTarget, Comparison, Holding};
use hub_api::deployments::TargetNames;
use hub_api::filter::Filter;
use hub_api::page::Page;
use model::rollout::Counts;
use model::similar::nearest;

use super::counted::counted_alone;
use super::cursor::Cursor;
use super::manifests::IS_DESIRED;
use super::released::Released;
use super::scope::Scope;
use super::{Question, QuestionError, facts, groups, question};
use crate::limits::COUNTED_BY_PLACE_MAX;
use crate::store::{Database, DatabaseError, PlaceGroupId, TargetId, Transaction};

/// The targets in which two environments differ.
///
/// # Errors
/// An environment is not known; the mapping of names can't be parsed; the database can't answer.
pub async fn compare(
    database: &Database,
    compared: &Compared,
    question: impl Into<Question<'_>>,
    page: &Page,
) -> Result<Comparison, QuestionError> {
    let question = question.into();
    question.refuse_hosts()?;
    let after = page.cursor.as_deref().map(|cursor| Cursor::<2>::read(cursor, LIST)).transpose()?;
    let limit = question::limit(page)?;
    let map = Map::parse(compared.map.as_deref())?;
    let mut transaction = database.begin_reading().await?;
    let mut sides = Vec::new();
    for environment in [&compared.from, &compared.to] {
        let filter = Filter { environment: Some(environment.clone()), ..question.filter.clone() };
        let question = Question { filter: &filter, ..question };
        let scope = Scope::read(&mut transaction, question).await?;
        sides.push(targets(&mut transaction, &scope).await?);
    }
    let (to, from) = (sides.pop().unwrap_or_default(), sides.pop().unwrap_or_default());
    if scope_is_whole(question) {
        map.check([&from, &to])?;
    }
    let mut pairs: Vec<Pair> = pairs(&from, &to, &map).into_iter().collect();
    pairs.retain(|pair| after.is_none_or(|after| cursor(*pair) > after));
    let released = released(&mut transaction, pairs.iter().take(limit)).await?;
    let limit = released.pairs.clamp(1, limit);
    let turn;
    (transaction, turn) = counted_alone(database, transaction, released.places).await?;
    // The differences are known only after all pairs of a step are read. A step is a page, so a page may have fewer rows than its limit.
    let next = (pairs.len() > limit).then(|| pairs.truncate(limit)).and_then(|()| pairs.last());
    let next = next.map(|last| cursor(*last).write(LIST));
    let from = sides_of(&mut transaction, (from, &released), pairs.iter().filter_map(|(one, _)| *one)).await?;
    let to = sides_of(&mut transaction, (to, &released), pairs.iter().filter_map(|(_, other)| *other)).await?;
    drop(turn);
    let rows = pairs
        .iter()
        .map(|(one, other)| row(one.and_then(|one| from.get(&one)), other.and_then(|other| to.get(&other))));
    let differs = |row: &ComparedTarget| !row.same_version || !row.config_differs.is_empty();
    let items = rows.filter(|row| !compared.differing || differs(row)).collect();
    Ok(Comparison { from: compared.from.clone(), to: compared.to.clone(), items, next })
}

/// The name of this list in cursors.
const LIST: &str = "compared";

/// Names of targets that correspond: from (workload, name) in the one environment to the name in the other. Without a workload, the names apply to
/// all workloads.
#[derive(Debug, Default)]
struct Map(BTreeMap<(Option<String>, String), String>);

impl Map {
    fn parse(text: Option<&str>) -> Result<Self, QuestionError> {
        let mut map = BTreeMap::new();
        for pair in text.unwrap_or_default().split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let wrong = || {
                let message = format!("`{pair}` is not `NAME=NAME` or `WORKLOAD/NAME=NAME`");
                QuestionError::Wrong { parameter: "map", message }
            };
            let (from, to) = pair.split_once('=').ok_or_else(wrong)?;
            let (workload, from) =
                from.rsplit_once('/').map_or((None, from), |(workload, from)| (Some(workload), from));
            if from.is_empty() || to.is_empty() {
                return Err(wrong());
            }
            map.insert((workload.map(str::to_owned), from.to_owned()), to.to_owned());
        }
        Ok(Self(map))
    }

    /// Refuses a name that no target of its environment has.
    fn check(&self, [from, to]: [&BTreeMap<TargetId, TargetNames>; 2]) -> Result<(), QuestionError> {
        for ((workload, one), other) in &self.0 {
            for (name, targets) in [(one, from), (other, to)] {
                let of_workload = |names: &&TargetNames| workload.as_ref().is_none_or(|own| *own == names.workload);
                let known: BTreeSet<&str> =
                    targets.values().filter(of_workload).map(|names| names.target.as_str()).collect();
                if !known.contains(name.as_str()) {
                    let similar = nearest(name, known).map(str::to_owned).into_iter().collect();
                    let name = workload.iter().map(|workload| format!("{workload}/")).collect::<String>() + name;
                    return Err(QuestionError::Unknown { what: "target", name, similar });
                }
            }
        }
        Ok(())
    }

    fn corresponding(&self, names: &TargetNames) -> TargetNames {
        let of = |workload: Option<&str>| self.0.get(&(workload.map(str::to_owned), names.target.clone()));
        let target = of(Some(&names.workload)).or_else(|| of(None)).unwrap_or(&names.target).clone();
        TargetNames { target, ..names.clone() }
    }
}

/// Whether the filter selects all targets of the environments.
fn scope_is_whole(question: Question<'_>) -> bool {
    *question.filter == Filter::default() && question.reach.is_all()
}

/// The targets of an environment of which content is desired.
async fn targets(
    transaction: &mut Transaction,
    scope: &Scope,
) -> Result<BTreeMap<TargetId, TargetNames>, DatabaseError> {
    let sql = format!(
        "select t.id, w.name, a.name, l.name, t.name from deployment_target t \
         join workload l on l.id = t.workload_id join application a on a.id = l.application_id \
         join workspace w on w.id = a.workspace_id where t.environment_id = $1 and {IS_DESIRED}"
    );
    let targets = transaction.query::<(TargetId, TargetNames)>(&sql, vec![scope.environment_id.into()]).await?;
    let is_selected = |id: &TargetId| scope.targets.as_ref().is_none_or(|targets| targets.contains(id));
    Ok(targets.into_iter().filter(|(id, _)| is_selected(id)).collect())
}

/// Two corresponding targets, the first of the one environment, the second of the other. Pairs are ordered by these ids.
type Pair = (Option<TargetId>, Option<TargetId>);

/// The pairs of corresponding targets.
fn pairs(from: &BTreeMap<TargetId, TargetNames>, to: &BTreeMap<TargetId, TargetNames>, map: &Map) -> BTreeSet<Pair> {
    let by_names: BTreeMap<_, _> = to.iter().map(|(id, names)| (names, *id)).collect();
    let found = |names| by_names.get(&map.corresponding(names)).copied();
    let mut pairs: BTreeSet<_> = from.iter().map(|(id, names)| (Some(*id), found(names))).collect();
    let taken: BTreeSet<_> = pairs.iter().filter_map(|(_, to)| *to).collect();
    pairs.extend(to.keys().filter(|id| !taken.contains(id)).map(|id| (None, Some(*id))));
    pairs
}

/// The cursor behind a pair. 0 stands for no target.
fn cursor((from, to): Pair) -> Cursor<2> {
    Cursor([TargetId::or_zero(from), TargetId::or_zero(to)])
}

/// A target in one environment, with its configuration versions by cluster type.
struct Side {
    names: TargetNames,
    content: ComparedSide,
    configs: BTreeMap<String, String>,
}

/// The targets of a page whose platform folders are counted, because the hub does not know their manifests.
#[derive(Default)]
struct ReleasedTargets {
    targets: BTreeMap<TargetId, Released>,
    /// The number of pairs whose places are few enough for one page.
    pairs: usize,
    /// The number of places of these pairs.
    places: i64,
}

async fn released(
    transaction: &mut Transaction,
    pairs: impl Iterator<Item = &Pair>,
) -> Result<ReleasedTargets, DatabaseError> {
    let mut found = ReleasedTargets::default();
    for (one, other) in pairs {
        let mut places = 0;
        for id in [one, other].into_iter().flatten() {
            let Some(released) = Released::of_target(transaction, *id).await? else { continue };
            places += released.places(transaction).await?;
            found.targets.insert(*id, released);
        }
        if found.pairs > 0 && found.places + places > COUNTED_BY_PLACE_MAX {
            break;
        }
        found.pairs += 1;
        found.places += places;
    }
    Ok(found)
}

/// A target as its platform folders have it. If its rings or pins have several releases, all of them are named.
async fn released_side(
    transaction: &mut Transaction,
    released: &Released,
    side: ComparedSide,
) -> Result<ComparedSide, DatabaseError> {
    let scope = Scope::default();
    let desired = released.desired(transaction, (&scope, None)).await?;
    let versions: BTreeSet<_> = desired.iter().filter_map(|one| Some(one.release.as_ref()?.1.as_str())).collect();
    let versions = versions.into_iter().collect::<Vec<_>>().join(", ");
    let mut counts = Counts::default();
    released.stands(transaction, &scope).await?.values().for_each(|stand| counts.merge(&stand.counts));
    let holding = released.holding(transaction).await?.into_iter();
    let holding = holding.map(|(version, reconcilers)| Holding { version, commit: None, reconcilers });
    Ok(ComparedSide {
        version: Some(versions).filter(|versions| !versions.is_empty()),
        desired_since: desired.iter().map(|one| one.since).max(),
        counts,
        holding: holding.collect(),
        ..side
    })
}

async fn sides_of(
    transaction: &mut Transaction,
    (mut named, released): (BTreeMap<TargetId, TargetNames>, &ReleasedTargets),
    ids: impl Iterator<Item = TargetId>,
) -> Result<BTreeMap<TargetId, Side>, DatabaseError> {
    let ids: BTreeSet<TargetId> = ids.collect();
    named.retain(|id, _| ids.contains(id));
    if named.is_empty() {
        return Ok(BTreeMap::new());
    }
    let groups = application_groups(transaction, named.keys().copied().collect()).await?;
    let all: Vec<PlaceGroupId> = groups.values().flatten().copied().collect();
    let desired = groups::desired(transaction, all.clone(), None).await?;
    let counts = groups::counts(transaction, &Scope::default(), all.clone()).await?;
    let held = held(transaction, all).await?;
    let none = Vec::new();
    let of_target = |id: &TargetId| groups.get(id).unwrap_or(&none);
    let keys = named.keys().flat_map(|id| {
        let desired = of_target(id).iter().filter_map(|group| Some(desired.get(group)?.commit.clone()));
        let held = of_target(id).iter().filter_map(|group| held.get(group)).flatten();
        desired.chain(held.filter_map(|(commit, _)| commit.clone())).map(|commit| (*id, commit)).collect::<Vec<_>>()
    });
    let versions = facts::versions(transaction, &keys.collect()).await?;
    let mut configs = configs(transaction, named.keys().copied().collect()).await?;
    let side = |(id, names): (TargetId, TargetNames)| {
        let group = of_target(&id).iter().find(|group| desired.contains_key(group)).copied();
        let desired = group.and_then(|group| desired.get(&group));
        let version = |commit: &str| versions.get(&(id, commit.to_owned())).cloned();
        let holding = of_target(&id).iter().filter_map(|group| held.get(group)).flatten();
        let holding = holding.map(|(commit, reconcilers)| Holding {
            version: commit.as_deref().and_then(version),
            commit: commit.clone(),
            reconcilers: *reconcilers,
        });
        let side = ComparedSide {
            target: names.target.clone(),
            version: desired.and_then(|desired| version(&desired.commit)),
            commit: desired.map(|desired| desired.commit.clone()),
            desired_since: desired.and_then(|desired| desired.since),
            counts: group.and_then(|group| counts.get(&group)).copied().unwrap_or_default(),
            holding: holding.collect(),
        };
        (id, Side { names, content: side, configs: configs.remove(&id).unwrap_or_default() })
    };
    let mut sides: BTreeMap<_, _> = named.into_iter().map(side).collect();
    for (id, side) in &mut sides {
        if let Some(released) = released.targets.get(id) {
            side.content = released_side(transaction, released, std::mem::take(&mut side.content)).await?;
        }
    }
    Ok(sides)
}

/// The groups of places with the manifests of targets.
async fn application_groups(
    transaction: &mut Transaction,
    targets: Vec<TargetId>,
) -> Result<BTreeMap<TargetId, Vec<PlaceGroupId>>, DatabaseError> {
    let sql = format!(
        "select m.deployment_target_id, g.id from place_group_target m join place_group g on g.id = m.place_group_id \
         where {} and g.role = 'application' order by 1, 2",
        transaction.dialect().any_int("m.deployment_target_id", "$1")
    );
    let mut groups: BTreeMap<TargetId, Vec<PlaceGroupId>> = BTreeMap::new();
    for (target, group) in transaction.query(&sql, vec![targets.into()]).await? {
        groups.entry(target).or_default().push(group);
    }
    Ok(groups)
}

/// The commits that the reconcilers of groups hold, with the number of reconcilers for each.
async fn held(
    transaction: &mut Transaction,
    groups: Vec<PlaceGroupId>,
) -> Result<BTreeMap<PlaceGroupId, Vec<(Option<String>, i64)>>, DatabaseError> {
    let sql = format!(
        "select t.place_group_id, c.commit_id, {} from tally t left join gitops_commit c on c.id = t.held_commit_id \
         where {} and t.reconcilers > 0 group by 1, 2 order by 1, 3 desc, 2",
        transaction.dialect().int("sum(t.reconcilers)"),
        transaction.dialect().any_int("t.place_group_id", "$1")
    );
    let mut held: BTreeMap<PlaceGroupId, Vec<_>> = BTreeMap::new();
    for (group, commit, reconcilers) in transaction.query(&sql, vec![groups.into()]).await? {
        held.entry(group).or_default().push((commit, reconcilers));
    }
    Ok(held)
}

/// The desired configuration versions, by target and cluster type.
async fn configs(
    transaction: &mut Transaction,
    targets: Vec<TargetId>,
) -> Result<BTreeMap<TargetId, BTreeMap<String, String>>, DatabaseError> {
    let sql = format!(
        "select m.deployment_target_id, g.cluster_type, w.config_version from place_group_target m \
         join place_group g on g.id = m.place_group_id join place p on p.place_group_id = g.id \
         join place_revision w on w.id = p.desired_revision_id \
         where {} and g.role = 'platform' and w.config_version is not null order by p.id",
        transaction.dialect().any_int("m.deployment_target_id", "$1")
    );
    let mut configs: BTreeMap<TargetId, BTreeMap<String, String>> = BTreeMap::new();
    for (target, cluster_type, version) in
        transaction.query::<(_, Option<String>, _)>(&sql, vec![targets.into()]).await?
    {
        configs.entry(target).or_default().insert(cluster_type.unwrap_or_default(), version);
    }
    Ok(configs)
}

fn row(from: Option<&Side>, to: Option<&Side>) -> ComparedTarget {
    let names = from.or(to).map(|side| side.names.clone()).unwrap_or_default();
    let none = BTreeMap::new();
    let (one, other) = (from.map_or(&none, |side| &side.configs), to.map_or(&none, |side| &side.configs));
    let cluster_types: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let (same, differing): (Vec<_>, Vec<_>) =
        cluster_types.into_iter().partition(|name| one.get(*name) == other.get(*name));
    let config = |name: &String| ComparedConfig {
        cluster_type: name.clone(),
        from: one.get(name).cloned(),
        to: other.get(name).cloned(),
    };
    let version = |side: Option<&Side>| side.and_then(|side| side.content.version.clone());
    ComparedTarget {
        workspace: names.workspace,
        application: names.application,
        workload: names.workload,
        from: from.map(|side| side.content.clone()),
        to: to.map(|side| side.content.clone()),
        same_version: from.is_some() && to.is_some() && version(from) == version(to),
        config_differs: differing.into_iter().map(config).collect(),
        config_same: same.len(),
    }
}
