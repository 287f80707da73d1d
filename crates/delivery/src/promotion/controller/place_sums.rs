//! The state of a workload's places, from the rows of the hub about its folders at all destinations.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::evidence::PlaceReports;
use hub_api::places::PlaceState;
use model::git_id::GitId;
use model::rollout::Counts;

/// The folders that each place is to have, by target.
pub(super) type Expected = Vec<BTreeMap<Arc<str>, GitId>>;

/// The sums of all places of a workload.
pub(super) struct PlaceSums<'a> {
    places: &'a [Arc<str>],
    sums: Vec<Sum>,
}

#[derive(Clone, Default)]
struct Sum {
    counts: Counts,
    has_folders: bool,
    /// Whether the hub does not show what the place is to have.
    is_other: bool,
}

impl<'a> PlaceSums<'a> {
    pub(super) fn new(places: &'a [Arc<str>]) -> Self {
        Self { places, sums: vec![Sum::default(); places.len()] }
    }

    /// Adds a destination: its rows, and the folders that it is to have.
    pub(super) fn add<'r>(&mut self, rows: impl Iterator<Item = &'r PlaceState>, expected: &Expected) {
        let mut rows_of: BTreeMap<(&str, &str), &PlaceState> = BTreeMap::new();
        // The folder of an assignment has the name of its target.
        for row in rows.filter(|row| row.target.is_some()) {
            rows_of.insert((&row.place, row.path.rsplit('/').next().unwrap_or_default()), row);
        }
        for ((place, folders), sum) in self.places.iter().zip(expected).zip(&mut self.sums) {
            sum.has_folders |= !folders.is_empty();
            if folders.is_empty() {
                let mut rows = rows_of.range((&**place, "")..);
                sum.is_other |= rows.next().is_some_and(|((name, _), _)| **name == **place);
            }
            for (target, folder) in folders {
                match rows_of.get(&(&**place, &**target)) {
                    Some(row) if row.tree == folder.to_string() => sum.counts.merge(&row.counts),
                    _ => sum.is_other = true,
                }
            }
        }
    }

    /// The state of each place. The removal of a workload is proved when the hub does not show its folders any more: no reconciler can report it, so it counts as one
    /// that applied it.
    pub(super) fn states(&self) -> Vec<PlaceReports> {
        let state = |sum: &Sum| match (sum.has_folders, !sum.is_other) {
            (true, is_published) => PlaceReports::reported(&sum.counts, is_published),
            (false, is_published) => {
                PlaceReports { expected: 1, succeeded: 1, is_published, ..PlaceReports::default() }
            }
        };
        self.sums.iter().map(state).collect()
    }
}

#[cfg(test)]
mod tests {
    use hub_api::deployments::TargetNames;

    use super::*;

    /// The states of `east` and `west` as `published expected/succeeded`, with a row of `east` for the target `shop`.
    fn check(folders: [Option<&str>; 2], expected: [&str; 2]) {
        let counts = Counts { expected: 3, succeeded: 2, ..Counts::default() };
        let tree = GitId::of_blob(b"1").to_string();
        let (place, path) = ("east".to_owned(), "prod/east/shop".to_owned());
        let row =
            PlaceState { place, path, tree, counts, target: Some(TargetNames::default()), ..PlaceState::default() };
        let of = |text: &str| BTreeMap::from([("shop".into(), GitId::of_blob(text.as_bytes()))]);
        let wanted: Expected = folders.map(|folder| folder.map(of).unwrap_or_default()).into();
        let places = ["east", "west"].map(Arc::from);
        let mut sums = PlaceSums::new(&places);
        sums.add([&row].into_iter(), &wanted);
        let text = |state: PlaceReports| format!("{} {}/{}", state.is_published, state.succeeded, state.expected);
        let found: Vec<_> = sums.states().into_iter().map(text).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn only_reports_about_the_folder_of_a_place_count() {
        check([Some("1"), Some("1")], ["true 2/3", "false 0/0"]);
        check([Some("2"), None], ["false 0/0", "true 1/1"]);
    }

    #[test]
    fn a_removal_is_proved_when_the_hub_does_not_show_the_folder() {
        check([None, None], ["false 1/1", "true 1/1"]);
    }
}
