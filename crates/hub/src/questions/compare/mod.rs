//! The differences between two environments, or between two times of one: versions and configuration, target by target.

mod sides;

use std::collections::{BTreeMap, BTreeSet};

use hub_api::compare::{Compared, ComparedConfig, ComparedTarget, Comparison};
use hub_api::deployments::TargetNames;
use hub_api::filter::Filter;
use hub_api::page::Page;
use model::similar::nearest;

use self::sides::{Side, Then};
use super::counted::counted_alone;
use super::cursor::Cursor;
use super::released::Released;
use super::{Question, QuestionError, question};
use crate::limits::COUNTED_BY_PLACE_MAX;
use crate::store::{Database, DatabaseError, TargetId, Transaction};

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
    let of_from = Then::read(&mut transaction, question, (&compared.from, compared.from_at)).await?;
    let of_to = Then::read(&mut transaction, question, (&compared.to, compared.to_at)).await?;
    let (from, to) = (of_from.targets(&mut transaction).await?, of_to.targets(&mut transaction).await?);
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
    let (first, second): (BTreeSet<_>, BTreeSet<_>) = pairs.iter().copied().unzip();
    let (from, to) = (only(from, &first), only(to, &second));
    let from = of_from.sides(&mut transaction, (from, &released.targets)).await?;
    let to = of_to.sides(&mut transaction, (to, &released.targets)).await?;
    drop(turn);
    let rows = pairs
        .iter()
        .map(|(one, other)| row(one.and_then(|one| from.get(&one)), other.and_then(|other| to.get(&other))));
    let differs = |row: &ComparedTarget| !row.same_version || !row.config_differs.is_empty();
    let items = rows.filter(|row| !compared.differing || differs(row)).collect();
    let [from_recorded_on, to_recorded_on] = [of_from.recorded_on, of_to.recorded_on];
    let (from, to) = (compared.from.clone(), compared.to.clone());
    Ok(Comparison { from, to, items, from_recorded_on, to_recorded_on, next })
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

/// Those of the targets that a page has.
fn only(
    mut targets: BTreeMap<TargetId, TargetNames>,
    page: &BTreeSet<Option<TargetId>>,
) -> BTreeMap<TargetId, TargetNames> {
    targets.retain(|id, _| page.contains(&Some(*id)));
    targets
}

/// The cursor behind a pair. 0 stands for no target.
fn cursor((from, to): Pair) -> Cursor<2> {
    Cursor([TargetId::or_zero(from), TargetId::or_zero(to)])
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
