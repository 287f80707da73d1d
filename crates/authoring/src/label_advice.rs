//! Advice about labels that no other object has, and that are similar to one that others have.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::kind::Kind;
use model::similar;

use crate::branch_files::BranchFiles;
use crate::objects::LabelList;

/// The maximum number of different values of a label that are compared.
const VALUES_MAX: usize = 1_000;

/// Advice about the labels of new cluster types and clusters.
pub fn of_places(files: &BranchFiles<'_>, labels: &LabelList) -> Vec<String> {
    let mut known: BTreeMap<Arc<str>, BTreeMap<Arc<str>, usize>> = BTreeMap::new();
    for object in files.of_kind(Kind::ClusterType).chain(files.of_kind(Kind::Cluster)) {
        for (key, value) in object.labels() {
            *known.entry(key).or_default().entry(value).or_default() += 1;
        }
    }
    labels.iter().filter_map(|(key, value)| advice(&known, (key, value))).collect()
}

fn advice(known: &BTreeMap<Arc<str>, BTreeMap<Arc<str>, usize>>, (key, value): (&str, &str)) -> Option<String> {
    let Some(values) = known.get(key) else {
        let nearest = similar::nearest(key, known.keys().map(|key| &**key))?;
        return Some(format!("no other cluster type or cluster has the label `{key}`: did you mean `{nearest}`?"));
    };
    if values.contains_key(value) || values.len() > VALUES_MAX {
        return None;
    }
    // Values that only one object has are usually names, and similar names are no mistake.
    let shared = values.iter().filter(|(_, count)| **count > 1).map(|(value, _)| &**value);
    let nearest = similar::nearest(value, shared.filter(|known| without_digits(known) != without_digits(value)))?;
    Some(format!("no other cluster type or cluster has `{key}={value}`: did you mean `{key}={nearest}`?"))
}

fn without_digits(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use model::source::Source;

    use super::*;

    fn check(key: &str, value: &str, expected: Option<&str>) {
        let cluster = |region: &str, site: &str| {
            format!(
                "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata: {{name: a, labels: {{region: {region}, site: {site}}}}}\n"
            )
        };
        let text = [cluster("west-us", "s-1"), cluster("west-us", "s-2")].join("---\n");
        let contents = BTreeMap::from([("c.yaml".into(), text.as_bytes().into())]);
        let files = BranchFiles::new(Source::directory(), &contents, "");
        let found = of_places(&files, &vec![(key.into(), value.into())]);
        assert_eq!(found.first().and_then(|text| text.split("did you mean ").nth(1)), expected, "{found:?}");
    }

    #[test]
    fn labels_that_are_nearly_known_are_questioned() {
        check("regoin", "west-us", Some("`region`?"));
        check("region", "wset-us", Some("`region=west-us`?"));
        check("region", "west-us", None);
        check("region", "europe", None);
        check("site", "s-3", None);
        check("color", "red", None);
    }
}
