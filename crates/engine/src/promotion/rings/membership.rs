//! The rings of places: which ring, which failure domain and which position in the ring each place of a fleet has.
//!
//! Clusters that share a folder are one place, so they are in one ring. All decisions use only the names and labels of places, and the rings. A place has the
//! same position in every run, and places that are added or removed do not change the positions of others.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use model::fleet::Fleet;
use model::object::promotion::{Amount, Promotion, Ring, RingMembers, Share};
use model::selector::LabelSelector;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::compile::renames::{PresentNames, renamed_places};
use crate::schedule::place::Place;

/// The name of the implicit last ring, which has the places that no ring selects.
pub const REST: &str = "rest";

/// The prefix of a place's name in the hash that orders the places of a ring.
const ORDER_SALT: &[u8] = b"kalypso/ring/order\0";

/// The prefix of a place's name in the hash that decides about rings with a share. It differs from [`ORDER_SALT`], so that the places of such a ring do not all
/// come first in the order.
const SHARE_SALT: &[u8] = b"kalypso/ring/share\0";

/// The rings of all places of a fleet, in columns. The places are sorted by name.
#[derive(Clone, Debug)]
pub struct Membership {
    /// The rings, with the implicit last one.
    pub rings: Arc<[Ring]>,
    /// The names of the places.
    pub places: Vec<Arc<str>>,
    /// The index of the ring of each place.
    pub ring: Vec<u16>,
    /// The index of the failure domain of each place, in [`Self::domains`].
    pub domain: Vec<u32>,
    /// The hash of each place, which orders the places of a ring.
    pub hash: Vec<u64>,
    /// The present names of renamed places, by earlier names. Both have one position, so the folder under the earlier name goes when the one under the
    /// present name comes.
    pub renamed: BTreeMap<Arc<str>, Arc<str>>,
    /// The keys of the failure domains, such as `site=a`. A ring without limits by label has one domain with an empty key. Rings with the same labels share domains.
    pub domains: Vec<Arc<str>>,
}

/// The position of a place in the rings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingLocation {
    /// The index of the ring.
    pub ring: usize,
    /// The key of the failure domain.
    pub domain: Arc<str>,
    /// The hash that orders the places of the ring.
    pub hash: u64,
}

/// A name in a ring that is not the name of a place. Clusters that share a folder are in one ring: `Cluster` objects give them folders of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMember {
    /// The index of the ring.
    pub ring: usize,
    /// The index of the name in the ring's list.
    pub position: usize,
    /// The name.
    pub name: Arc<str>,
}

/// The rings of a promotion, with the implicit last ring if no ring has the remaining places. Empty if the promotion has no rings.
pub fn effective_rings(promotion: &Promotion) -> Vec<Ring> {
    let mut rings = promotion.rings.clone();
    if !rings.is_empty() && !rings.iter().any(|ring| ring.members == RingMembers::Rest) {
        rings.push(rest());
    }
    rings
}

/// The ring of all remaining places, without limits.
fn rest() -> Ring {
    let (per, enter, prove) = (Vec::new(), Vec::new(), Vec::new());
    let (members, failures) = (RingMembers::Rest, Amount::Count(0));
    Ring { name: REST.into(), members, at_once: None, per, pause: Duration::ZERO, failures, canary: None, enter, prove }
}

/// The hash that orders the places of a ring: the first 64 bits of the SHA-256 of a fixed text and the name.
pub fn order_hash(name: &str) -> u64 {
    salted_hash(ORDER_SALT, name)
}

/// The names in the rings of a promotion that are not names of places of the fleet.
pub fn unknown_members(fleet: &Fleet, promotion: &Promotion) -> Vec<UnknownMember> {
    let renamed = renamed_places(fleet);
    let is_known = |name: &str| Place::find(fleet, name).is_some() || renamed.contains_key(name);
    let mut found = Vec::new();
    for (ring, members) in promotion.rings.iter().map(|ring| &ring.members).enumerate() {
        let RingMembers::Names(names) = members else { continue };
        let unknown = names.iter().enumerate().filter(|(_, name)| !is_known(name));
        found.extend(unknown.map(|(position, name)| UnknownMember { ring, position, name: Arc::clone(name) }));
    }
    found
}

impl Membership {
    /// Finds the rings of all places of a fleet. None if the promotion has no rings.
    pub fn new(fleet: &Fleet, promotion: &Promotion) -> Option<Self> {
        let rings = effective_rings(promotion);
        (!rings.is_empty()).then(|| Self::of_rings(fleet, rings.into()))
    }

    /// All places in one ring, for an environment whose rings are not known.
    pub fn in_one_ring(fleet: &Fleet) -> Self {
        Self::of_rings(fleet, Arc::new([rest()]))
    }

    fn of_rings(fleet: &Fleet, rings: Arc<[Ring]>) -> Self {
        let places = places(fleet);
        let names = places.iter().map(|place| Arc::clone(place.name_text())).collect();
        Self::of_columns((names, renamed_places(fleet)), |place, key| places.get(place)?.label(key), rings)
    }

    /// Finds the rings of places by their names, which are sorted, and their labels: `label` gets the index of a place and a key. None if the promotion has no rings.
    pub fn of_places<'l>(
        names: Vec<Arc<str>>,
        label: impl Fn(usize, &str) -> Option<&'l Arc<str>> + Sync,
        promotion: &Promotion,
    ) -> Option<Self> {
        let rings = effective_rings(promotion);
        (!rings.is_empty()).then(|| Self::of_columns((names, BTreeMap::new()), label, rings.into()))
    }

    fn of_columns<'l>(
        (names, renamed): (Vec<Arc<str>>, PresentNames),
        label: impl Fn(usize, &str) -> Option<&'l Arc<str>> + Sync,
        rings: Arc<[Ring]>,
    ) -> Self {
        let rules = Rules::new(&rings, &renamed);
        let found: Vec<_> =
            names.par_iter().enumerate().map(|(place, name)| rules.apply(name, |key| label(place, key))).collect();
        let mut domains = Domains::default();
        let mut membership = Self {
            rings: Arc::clone(&rings),
            ring: Vec::with_capacity(found.len()),
            domain: Vec::with_capacity(found.len()),
            hash: Vec::with_capacity(found.len()),
            domains: Vec::new(),
            places: names,
            renamed,
        };
        for (place, (ring, hash)) in found.into_iter().enumerate() {
            membership.ring.push(ring as u16);
            membership.domain.push(rings.get(ring).map_or(0, |ring| domains.index(ring, |key| label(place, key))));
            membership.hash.push(hash);
        }
        membership.domains = domains.keys;
        membership
    }

    /// The position of a place. A renamed place has that of its present name. Another place that the fleet does not have, for example because it was removed, is
    /// in the last ring, in the domain without labels.
    pub fn locate(&self, name: &str) -> RingLocation {
        let index = self.index(name).or_else(|| self.index(self.renamed.get(name)?));
        index.and_then(|at| self.location(at)).unwrap_or_else(|| self.removed(name))
    }

    /// The index of a place in the columns. None: the fleet does not have it.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.places.binary_search_by(|place| (**place).cmp(name)).ok()
    }

    fn location(&self, at: usize) -> Option<RingLocation> {
        let domain = *self.domain.get(at)? as usize;
        Some(RingLocation {
            ring: usize::from(*self.ring.get(at)?),
            domain: Arc::clone(self.domains.get(domain)?),
            hash: *self.hash.get(at)?,
        })
    }

    fn removed(&self, name: &str) -> RingLocation {
        let ring = self.rings.len().saturating_sub(1);
        let domain = self.rings.iter().last().map_or_else(String::new, |ring| domain_key(ring, |_| None));
        RingLocation { ring, domain: domain.into(), hash: order_hash(name) }
    }

    /// The number of places in each ring.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.rings.len()];
        for ring in &self.ring {
            if let Some(count) = counts.get_mut(usize::from(*ring)) {
                *count += 1;
            }
        }
        counts
    }
}

/// The places of a fleet, sorted by name.
fn places(fleet: &Fleet) -> Vec<Place> {
    let types = fleet.cluster_types.values();
    let types = types.map(|cluster_type| Place { cluster_type: Arc::clone(cluster_type), cluster: None });
    let clusters = fleet.clusters.values().filter_map(|cluster| Place::of_cluster(fleet, cluster));
    let mut places: Vec<_> = types.chain(clusters).collect();
    // Both parts are sorted, and the stable sort merges them.
    places.sort_by(|one, other| one.name_text().cmp(other.name_text()));
    places
}

/// The rule of each ring.
struct Rules<'a> {
    rules: Vec<Rule<'a>>,
    has_shares: bool,
}

/// Which places a ring selects.
enum Rule<'a> {
    Labels(&'a LabelSelector),
    /// Hashes in this range. The end is not included.
    Share(Range<u128>),
    Names(HashSet<&'a str>),
    Rest,
}

impl<'a> Rules<'a> {
    fn new(rings: &'a [Ring], renamed: &'a BTreeMap<Arc<str>, Arc<str>>) -> Self {
        // The shares of rings follow one another, so that a larger share of a ring keeps the earlier places of the ring.
        let mut sum = 0;
        let mut share = |share: Share| {
            let begin = sum;
            sum = (sum + u128::from(share.hundredths())).min(u128::from(Share::ALL.hundredths()));
            Rule::Share(hash_limit(begin)..hash_limit(sum))
        };
        let rule = |ring: &'a Ring| match &ring.members {
            RingMembers::Labels(selector) => Rule::Labels(selector),
            RingMembers::Percent(part) => share(*part),
            RingMembers::Names(names) => {
                // An earlier name stands for the present one, until the ring names that.
                let present = |name: &'a Arc<str>| &**renamed.get(name).unwrap_or(name);
                Rule::Names(names.iter().map(present).collect())
            }
            RingMembers::Rest => Rule::Rest,
        };
        let rules: Vec<_> = rings.iter().map(rule).collect();
        let has_shares = rules.iter().any(|rule| matches!(rule, Rule::Share(_)));
        Self { rules, has_shares }
    }

    /// The ring of a place, and its hash.
    fn apply<'l>(&self, name: &Arc<str>, label: impl Fn(&str) -> Option<&'l Arc<str>>) -> (usize, u64) {
        let share = if self.has_shares { u128::from(salted_hash(SHARE_SALT, name)) } else { 0 };
        let selects = |rule: &Rule<'_>| match rule {
            Rule::Labels(selector) => selector.matches_by(&label),
            Rule::Share(range) => range.contains(&share),
            Rule::Names(names) => names.contains(&**name),
            Rule::Rest => true,
        };
        let ring = self.rules.iter().position(selects).unwrap_or(self.rules.len().saturating_sub(1));
        (ring, order_hash(name))
    }
}

/// The first hash that is not in a share of all hashes, in hundredths of a percent.
fn hash_limit(hundredths: u128) -> u128 {
    (hundredths << 64) / u128::from(Share::ALL.hundredths())
}

fn salted_hash(salt: &[u8], name: &str) -> u64 {
    let digest = Sha256::new().chain_update(salt).chain_update(name).finalize();
    digest.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// The labels that divide the places of a ring into domains: those of its limits, and then the one that names the time zone.
pub(super) fn labels(ring: &Ring) -> impl Iterator<Item = &Arc<str>> {
    let zone = ring.zone_label().filter(|zone| !ring.per.iter().any(|limit| limit.label == **zone));
    ring.per.iter().map(|limit| &limit.label).chain(zone)
}

/// The key of the failure domain of a place in a ring: a part `LABEL=VALUE` for each label that divides the ring, in this order, with commas between. A
/// place without the label has an empty value: `site=a,rack=`. Keys and values of labels have neither commas nor equals signs, so a key is unambiguous.
pub fn domain_key<'l>(ring: &Ring, label: impl Fn(&str) -> Option<&'l Arc<str>>) -> String {
    let mut key = String::new();
    write_domain_key(&mut key, ring, label);
    key
}

fn write_domain_key<'l>(key: &mut String, ring: &Ring, label: impl Fn(&str) -> Option<&'l Arc<str>>) {
    key.clear();
    for name in labels(ring) {
        if !key.is_empty() {
            key.push(',');
        }
        key.push_str(name);
        key.push('=');
        key.push_str(label(name).map_or("", |value| value));
    }
}

/// The failure domains that were found, each with an index.
#[derive(Default)]
struct Domains {
    keys: Vec<Arc<str>>,
    indexes: HashMap<Arc<str>, u32>,
    key: String,
}

impl Domains {
    fn index<'l>(&mut self, ring: &Ring, label: impl Fn(&str) -> Option<&'l Arc<str>>) -> u32 {
        write_domain_key(&mut self.key, ring, label);
        if let Some(known) = self.indexes.get(&*self.key) {
            return *known;
        }
        let (key, index) = (Arc::from(&*self.key), self.keys.len() as u32);
        self.keys.push(Arc::clone(&key));
        self.indexes.insert(key, index);
        index
    }
}

#[cfg(test)]
pub(super) mod tests {
    use model::object::promotion::{ChangeDelivery, DomainLimit, Newer, OnFailure, Require, Selection, Start};
    use model::selector::{Operator, Requirement};
    use testkit::generator::clusters;

    use super::*;

    /// A fleet of two cluster types with clusters, each in a region and a site.
    fn fleet(count: usize) -> Fleet {
        let size = clusters::Clusters { clusters: count, cluster_types: 2, targets: 1 };
        let files = clusters::files(size, 1).map(|(path, text)| (path, text.into_bytes())).collect();
        testkit::directory::fleet_of(files, "prod").unwrap().0
    }

    /// A ring without limits and gates.
    pub(in crate::promotion) fn ring(name: &str, members: RingMembers) -> Ring {
        let (per, enter, prove) = (Vec::new(), Vec::new(), Vec::new());
        let failures = Amount::Count(0);
        Ring {
            name: name.into(),
            members,
            at_once: None,
            per,
            pause: Duration::ZERO,
            failures,
            canary: None,
            enter,
            prove,
        }
    }

    fn promotion(rings: Vec<Ring>) -> Promotion {
        Promotion {
            to: "prod".into(),
            from: Vec::new(),
            require: Require::default(),
            select: Selection { platform: true, workloads: None },
            delivery: ChangeDelivery::default(),
            start: Start::default(),
            newer: Newer::default(),
            on_failure: OnFailure::default(),
            gates: Vec::new(),
            rings,
        }
    }

    fn percent(hundredths: u16) -> RingMembers {
        RingMembers::Percent(Share::of_hundredths(hundredths))
    }

    fn labels(key: &str, value: &str) -> RingMembers {
        let operator = Operator::In(vec![value.into()]);
        let requirements = vec![Requirement { key: key.into(), operator }];
        RingMembers::Labels(LabelSelector { requirements })
    }

    fn names(names: &[&str]) -> RingMembers {
        RingMembers::Names(names.iter().map(|name| (*name).into()).collect())
    }

    /// The names of the places of each ring.
    fn check(fleet: &Fleet, rings: Vec<Ring>) -> Vec<Vec<String>> {
        let found = Membership::new(fleet, &promotion(rings)).unwrap();
        let mut members = vec![Vec::new(); found.rings.len()];
        for (place, ring) in found.places.iter().zip(&found.ring) {
            members[usize::from(*ring)].push(place.to_string());
        }
        assert_eq!(members.iter().map(Vec::len).collect::<Vec<_>>(), found.counts());
        members
    }

    #[test]
    fn a_place_is_in_the_first_ring_that_selects_it_and_else_in_the_last_one() {
        let fleet = fleet(20);
        let first = names(&["edge-0000003", "edge-0000001"]);
        let rings = vec![ring("first", first), ring("types", labels("ring", "canary")), ring("again", percent(10_000))];
        let found = check(&fleet, rings);
        assert_eq!(found[0], ["edge-0000001", "edge-0000003"]);
        assert!(!found[1].is_empty() && found[1].iter().all(|name| !found[0].contains(name)), "{found:?}");
        assert_eq!(found.iter().map(Vec::len).sum::<usize>(), 22);
        assert!(found[3].is_empty());
        let found = check(&fleet, vec![ring("first", names(&["edge-0000003"]))]);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [1, 21]);
        let found = check(&fleet, vec![ring("all", RingMembers::Rest)]);
        assert_eq!(found.len(), 1, "the ring with the remaining places is the last one");
    }

    #[test]
    fn a_renamed_place_has_one_position_under_both_names() {
        let size = clusters::Clusters { clusters: 3, cluster_types: 2, targets: 1 };
        let renamed = "name: store-1\n  annotations: {names.kalypso.io/renamed-from: edge-0000001}\n";
        let files = clusters::files(size, 1).map(|(path, text)| (path, text.replace("name: edge-0000001\n", renamed)));
        let files = files.map(|(path, text)| (path, text.into_bytes())).collect();
        let fleet = testkit::directory::fleet_of(files, "prod").unwrap().0;
        let rings = vec![ring("first", names(&["edge-0000001"])), ring("all", RingMembers::Rest)];
        let found = Membership::new(&fleet, &promotion(rings.clone())).unwrap();
        // A ring that still has the earlier name has the place.
        assert_eq!(found.locate("store-1").ring, 0);
        assert_eq!(found.locate("edge-0000001"), found.locate("store-1"));
        assert_eq!(unknown_members(&fleet, &promotion(rings)), []);
    }

    #[test]
    fn a_larger_share_keeps_the_places_of_a_smaller_one() {
        let fleet = fleet(4_000);
        let small = check(&fleet, vec![ring("few", percent(500)), ring("more", percent(2_000))]);
        let large = check(&fleet, vec![ring("few", percent(1_000)), ring("more", percent(2_000))]);
        assert!(small[0].iter().all(|name| large[0].contains(name)));
        let about = |members: &[String], share: f64| (members.len() as f64 / 4_002.0 - share).abs() < 0.02;
        assert!(about(&small[0], 0.05) && about(&small[1], 0.2) && about(&large[0], 0.1) && about(&large[1], 0.2));
        let all = check(&fleet, vec![ring("most", percent(9_000)), ring("others", percent(2_000))]);
        assert!(all[2].is_empty(), "more than 100% is everything");
    }

    #[test]
    fn positions_do_not_depend_on_other_places() {
        let rings = || vec![ring("few", percent(3_000))];
        let (small, large) = (fleet(50), fleet(60));
        let (small, large) =
            (Membership::new(&small, &promotion(rings())), Membership::new(&large, &promotion(rings())));
        let (small, large) = (small.unwrap(), large.unwrap());
        for place in &small.places {
            assert_eq!(small.locate(place), large.locate(place));
        }
        assert_eq!(
            order_hash("edge-0000001"),
            10_102_198_806_994_256_591,
            "released places stay released in later versions"
        );
    }

    #[test]
    fn domains_are_the_values_of_the_labels_of_the_limits() {
        let limit = |label: &str| DomainLimit { label: label.into(), at_once: 1 };
        let per = vec![limit("region"), limit("none")];
        let rings = vec![Ring { per, ..ring("limited", names(&["edge-0000001"])) }, ring("all", RingMembers::Rest)];
        let fleet = fleet(3);
        let found = Membership::new(&fleet, &promotion(rings)).unwrap();
        let region = Place::find(&fleet, "edge-0000001").unwrap().label("region").unwrap().to_string();
        assert_eq!(&*found.locate("edge-0000001").domain, format!("region={region},none="));
        assert_eq!(&*found.locate("edge-0000002").domain, "");
        let removed = RingLocation { ring: 1, domain: "".into(), hash: order_hash("gone") };
        assert_eq!(found.locate("gone"), removed);
    }

    #[test]
    fn names_of_no_places_are_found() {
        let rings = vec![ring("first", percent(1)), ring("named", names(&["edge-0000001", "host-1"]))];
        let found = unknown_members(&fleet(3), &promotion(rings));
        assert_eq!(found, [UnknownMember { ring: 1, position: 1, name: "host-1".into() }]);
    }

    #[test]
    fn a_promotion_without_rings_has_none() {
        assert!(Membership::new(&fleet(1), &promotion(Vec::new())).is_none());
    }
}
