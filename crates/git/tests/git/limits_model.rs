//! Random hierarchies of limited repositories, compared with a model that follows every way through them.

use std::collections::{BTreeMap, BTreeSet};

use git::MemoryRepositories;
use model::fleet::Fleet;
use model::object::AnyObject;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use crate::limits::{base, environment, object};
use crate::load::load_dev;
use crate::playground::{commit, url};

/// The repositories: the branch of the environment, the main branch of the control plane, and others.
const REPOSITORIES: [&str; 6] = ["dev", "main", "a", "b", "c", "d"];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Allow {
    kinds: Option<Vec<&'static str>>,
    names: Option<Vec<&'static str>>,
    site: Option<&'static str>,
    key: Option<&'static str>,
    max: Option<i64>,
}

#[derive(Clone, Debug)]
struct Item {
    kind: &'static str,
    name: String,
    site: Option<&'static str>,
    key: &'static str,
    priority: i64,
    /// For a `BaseRepo`.
    leads_to: usize,
    allow: Option<Allow>,
}

#[derive(Clone, Debug)]
struct World {
    environment: Option<Allow>,
    repositories: Vec<Vec<Item>>,
}

fn allow() -> impl Strategy<Value = Option<Allow>> {
    let kinds = of(proptest::sample::subsequence(vec!["ConfigMap", "Cluster", "BaseRepo"], 1..=3));
    let names = of(proptest::sample::subsequence(vec!["n", "x", "y"], 1..=3));
    let site = prop_oneof![3 => Just(None), 1 => of(prop_oneof![Just("one"), Just("two")])];
    let key = prop_oneof![2 => Just(None), 1 => of(prop_oneof![Just("A"), Just("B")])];
    let max = prop_oneof![2 => Just(None), 1 => of(0_i64..2)];
    (kinds, names, site, key, max).prop_map(|(kinds, names, site, key, max)| {
        let allow = Allow { kinds, names, site, key, max };
        (allow != Allow { kinds: None, names: None, site: None, key: None, max: None }).then_some(allow)
    })
}

fn item() -> impl Strategy<Value = Item> {
    let kind = prop_oneof![1 => Just("ConfigMap"), 1 => Just("Cluster"), 2 => Just("BaseRepo")];
    let site = of(prop_oneof![Just("one"), Just("two")]);
    let key = prop_oneof![Just("A"), Just("B")];
    let limited = prop_oneof![1 => Just(None), 2 => allow()];
    (kind, "[nxy][12]", site, key, 0_i64..3, 1..REPOSITORIES.len(), limited).prop_map(
        |(kind, name, site, key, priority, leads_to, allow)| Item { kind, name, site, key, priority, leads_to, allow },
    )
}

fn world() -> impl Strategy<Value = World> {
    (of(allow()), vec(vec(item(), 0..6), REPOSITORIES.len())).prop_map(|(environment, mut repositories)| {
        // The main branch is above the environment, and still reached through it. An object on this way that has the name of one in the main branch would
        // hide itself, so only the branch of the environment leads there, by objects with names of their own.
        for (number, items) in repositories.iter_mut().enumerate() {
            let to_main = items.iter_mut().enumerate().filter(|(_, item)| item.leads_to == 1);
            for (at, item) in to_main {
                if number == 0 {
                    item.name = format!("{}-{at}", item.name);
                } else {
                    item.leads_to = 2;
                }
            }
        }
        World { environment: environment.flatten(), repositories }
    })
}

/// The notation of `allow`.
fn written(allow: &Allow) -> String {
    let list = |name: &str, texts: &[&str], after: &str| {
        let texts: Vec<_> = texts.iter().map(|text| format!("'{text}{after}'")).collect();
        format!("{name}: [{}]", texts.join(", "))
    };
    let parts = [
        allow.kinds.as_ref().map(|kinds| list("kinds", kinds, "")),
        allow.names.as_ref().map(|names| list("names", names, "*")),
        allow.site.map(|site| format!("labels: {{site: {site}}}")),
        allow.key.map(|key| list("keys", &[key], "")),
        allow.max.map(|max| format!("priority: {{max: {max}}}")),
    ];
    format!("{{{}}}", parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn text(item: &Item) -> String {
    let labels = item.site.map_or_else(String::new, |site| format!(", labels: {{site: {site}}}"));
    match item.kind {
        "BaseRepo" => {
            let place = if item.leads_to == 1 { "control-plane" } else { REPOSITORIES[item.leads_to] };
            base(&item.name, place, &item.allow.as_ref().map(written).unwrap_or_default())
        }
        "Cluster" => object("Cluster", &item.name, (&labels, "spec: {clusterType: edge}")),
        kind => {
            let metadata = format!("{labels}, annotations: {{config.kalypso.io/priority: '{}'}}", item.priority);
            object(kind, &item.name, (&metadata, &format!("data: {{{}: x}}", item.key)))
        }
    }
}

/// Kind, name, repository and position.
type Place = (&'static str, String, usize, usize);

/// The objects that count, as Kalypso decides.
fn found(world: &World) -> BTreeSet<Place> {
    let repositories = MemoryRepositories::default();
    for (number, name) in REPOSITORIES.iter().enumerate() {
        let (name, branch) = if number < 2 { ("control-plane", *name) } else { (*name, "main") };
        if number != 1 {
            repositories.create(&url(name));
        }
        let items = world.repositories[number].iter().enumerate();
        let mut files: Vec<_> = items.map(|(at, item)| (format!("{at}.yaml"), text(item))).collect();
        files.push(("notes.txt".to_owned(), String::new()));
        if branch == "main" && number == 1 {
            let allow = world.environment.as_ref().map(written).unwrap_or_default();
            files.push((".environments/dev.yaml".to_owned(), environment(&allow)));
        }
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        commit(&repositories, &url(name), branch, &files);
    }
    let (fleet, _) = Fleet::build(load_dev(&repositories).input);
    let mut counting = BTreeSet::new();
    let mut add = |object: &AnyObject| {
        let file = fleet.files.get(object.address().file);
        let name = if &*file.source.label == "control-plane" { &file.source.revision } else { &file.source.label };
        let repository = REPOSITORIES.iter().position(|known| **known == **name).unwrap();
        let at = file.path.trim_end_matches(".yaml").parse().unwrap();
        counting.insert((object.kind().name(), object.name().to_string(), repository, at));
    };
    fleet.config_maps.values().for_each(|found| add(&AnyObject::ConfigMap(found.clone())));
    fleet.clusters.values().for_each(|found| add(&AnyObject::Cluster(found.clone())));
    fleet.base_repos.values().for_each(|found| add(&AnyObject::BaseRepo(found.clone())));
    fleet.duplicates.values().flatten().for_each(add);
    counting
}

/// The places of the objects that declare limits. The environment is at none.
type Limits = BTreeSet<Option<(usize, usize)>>;

/// The limits by which each object counts.
type Granted = BTreeMap<Place, Vec<Limits>>;

fn is_allowed(world: &World, limits: &Limits, item: &Item) -> bool {
    limits.iter().all(|limit| {
        let declared = match limit {
            None => world.environment.as_ref(),
            Some((repository, at)) => world.repositories[*repository][*at].allow.as_ref(),
        };
        let Some(Allow { kinds, names, site, key, max }) = declared else { return true };
        let is_map = item.kind == "ConfigMap";
        kinds.as_ref().is_none_or(|kinds| kinds.contains(&item.kind))
            && names.as_ref().is_none_or(|names| names.iter().any(|start| item.name.starts_with(start)))
            && (item.kind == "BaseRepo" || site.is_none() || item.site == *site)
            && (!is_map || key.is_none_or(|key| key == item.key))
            && (!is_map || max.is_none_or(|max| item.priority <= max))
    })
}

/// Whether an object of another place has the name, with a part of the limits.
fn is_outranked(granted: &Granted, (kind, name, repository, at): &Place, limits: &Limits) -> bool {
    granted.iter().any(|((other, of_other, in_other, at_other), ways)| {
        (other, of_other) == (kind, name)
            && (in_other, at_other) != (repository, at)
            && ways.iter().any(|above| above != limits && above.is_subset(limits))
    })
}

/// A walk along all ways through the repositories.
struct Walk<'w> {
    world: &'w World,
    /// What counts by fewer limits.
    known: &'w Granted,
    granted: Granted,
}

impl Walk<'_> {
    /// Follows all ways from the last repository of a way.
    fn follow(&mut self, way: &mut Vec<usize>, limits: &Limits) {
        let repository = way[way.len() - 1];
        for (at, item) in self.world.repositories[repository].iter().enumerate() {
            let place = (item.kind, item.name.clone(), repository, at);
            if !is_allowed(self.world, limits, item) {
                continue;
            }
            self.granted.entry(place.clone()).or_default().push(limits.clone());
            if item.kind != "BaseRepo" || way.contains(&item.leads_to) || is_outranked(self.known, &place, limits) {
                continue;
            }
            let mut below = limits.clone();
            if item.allow.is_some() {
                below.insert(Some((repository, at)));
            }
            if item.leads_to == 1 {
                below.remove(&None);
            }
            way.push(item.leads_to);
            self.follow(way, &below);
            way.pop();
        }
    }
}

/// The objects that count, as the model decides.
fn expected(world: &World) -> BTreeSet<Place> {
    let mut known = Granted::new();
    let start: Limits = world.environment.iter().map(|_| None).collect();
    for _ in 0..20 {
        let mut walk = Walk { world, known: &known, granted: Granted::new() };
        walk.follow(&mut vec![0], &start);
        let granted = walk.granted;
        if granted == known {
            break;
        }
        known = granted;
    }
    let counts = |(place, ways): &(&Place, &Vec<Limits>)| {
        // A way with more limits allows nothing more.
        let least = ways.iter().filter(|way| !ways.iter().any(|other| other != *way && other.is_subset(way)));
        least.into_iter().any(|limits| !is_outranked(&known, place, limits))
    };
    known.iter().filter(counts).map(|(place, _)| place.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn objects_count_if_the_limits_of_one_way_allow_them(world in world()) {
        prop_assert_eq!(found(&world), expected(&world));
    }
}
