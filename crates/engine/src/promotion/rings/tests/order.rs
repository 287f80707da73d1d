//! The order in which the places of a ring are released, compared with a simple model.

use std::collections::BTreeMap;

use model::object::promotion::{Amount, DomainLimit, Ring};
use proptest::prelude::*;

use super::world::{World, ring};
use crate::promotion::state::Content;

/// Hashes of places, equally distributed or not. Some occur more than once.
fn hashes() -> impl Strategy<Value = Vec<u64>> {
    let hash = |low: u32| any::<u64>().prop_map(move |hash| hash >> low);
    let kinds = prop_oneof![
        proptest::collection::vec(hash(0), 1..500),
        proptest::collection::vec(hash(40), 1..500),
        proptest::collection::vec(hash(57), 1..500),
        proptest::collection::vec(hash(40).prop_map(|hash| u64::MAX - hash), 1..500),
        proptest::collection::vec(prop_oneof![hash(0), hash(50)], 1..500),
    ];
    // The hashes of two sites are never the same, so that their order does not depend on the number of the site.
    kinds.prop_map(|hashes| {
        hashes.into_iter().enumerate().map(|(place, hash)| (hash & !3) | (place as u64 % 3)).collect()
    })
}

/// The places that are released next, if those before have finished: one after another, and those with the same hash at the same site together.
fn expected(world: &World, (at_once, per_site): (Option<u32>, Option<u32>)) -> Vec<bool> {
    let mut pending: Vec<_> = (0..world.hash.len()).filter(|place| world.content(*place) != Content::Moving).collect();
    pending.sort_unstable_by_key(|place| world.hash[*place]);
    let mut sites: BTreeMap<usize, u32> = BTreeMap::new();
    let mut released: Vec<_> = (0..world.hash.len()).map(|place| world.content(place) == Content::Moving).collect();
    let mut total = 0;
    let mut last = BTreeMap::new();
    for place in pending {
        let site = sites.entry(place % 3).or_default();
        if at_once.is_none_or(|limit| total < limit) && per_site.is_none_or(|limit| *site < limit) {
            *site += 1;
            total += 1;
            last.insert(place % 3, world.hash[place]);
        }
        released[place] = released[place] || last.get(&(place % 3)) == Some(&world.hash[place]);
    }
    released
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_lowest_hashes_are_released_first_as_many_as_the_limits_allow(
        hashes in hashes(),
        at_once in proptest::option::of(1..200_u32),
        per_site in proptest::option::of(1..120_u32),
    ) {
        let per = per_site.map(|at_once| DomainLimit { label: "site".into(), at_once }).into_iter().collect();
        let limited = Ring { at_once: at_once.map(Amount::Count), per, ..ring("all") };
        let mut world = World::new(vec![limited], &[hashes.len()]);
        world.hash = hashes;
        world.change(2);
        world.step();
        for _ in 0..3 {
            if world.state.current.is_none() {
                break;
            }
            let expected = expected(&world, (at_once, per_site));
            world.step();
            let content = |place| world.content(place) == Content::Moving;
            let released: Vec<_> = (0..expected.len()).map(content).collect();
            prop_assert!(world.state.current.is_none() || released == expected, "{released:?}\n{expected:?}");
            world.publish();
        }
    }
}
