//! The index finds the same as a comparison of everything with everything.

use model::label::Labels;
use proptest::prelude::*;

use super::*;

fn conditions() -> impl Strategy<Value = Conditions> {
    let labels = proptest::collection::vec(("[abc]", "[xyz]"), 0..3);
    labels.prop_map(|pairs| Conditions::from_labels(&pairs.into_iter().collect::<Labels>()))
}

fn numbers(pairs: &LabelPairs, labels: &Labels) -> Vec<u32> {
    let mut numbers: Vec<_> = labels.iter().filter_map(|(key, value)| pairs.get(key, value)).collect();
    numbers.sort_unstable();
    numbers
}

proptest! {
    #[test]
    fn containers_match_if_all_their_conditions_are_met(
        all in proptest::collection::vec(conditions(), 0..12),
        place in proptest::collection::vec(("[abc]", "[xyz]"), 0..3),
        target in proptest::collection::vec(("[abc]", "[xyz]"), 0..3),
    ) {
        let (place, target): (Labels, Labels) = (place.into_iter().collect(), target.into_iter().collect());
        let mut pairs = LabelPairs::default();
        let matcher = Matcher::new(&mut pairs, all.iter());
        let is_met = |(key, value): &(Arc<str>, Arc<str>)| place.get(key) == Some(value) || target.get(key) == Some(value);
        let matching = all.iter().enumerate().filter(|(_, conditions)| conditions.iter().all(is_met));
        let expected: Vec<_> = matching.map(|(position, _)| position as u32).collect();
        let (found, examined) = matcher.matching(&numbers(&pairs, &place), &numbers(&pairs, &target));
        prop_assert_eq!(&found, &expected);
        prop_assert!(examined >= found.len() && examined <= all.len());
    }
}
