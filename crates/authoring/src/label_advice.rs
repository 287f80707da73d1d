//! Advice about labels that no other object has, and that are similar to one that others have.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::kind::Kind;
use model::selector::{LabelSelector, Operator, Requirement};
use model::similar;

use crate::branch_files::BranchFiles;
use crate::objects::LabelList;

/// The maximum number of different values of a label that are compared.
const VALUES_MAX: usize = 1_000;

/// The labels of objects, with the number of objects for each value.
type Known = BTreeMap<Arc<str>, BTreeMap<Arc<str>, usize>>;

/// Advice about the labels of new cluster types and clusters.
pub fn of_places(files: &BranchFiles<'_>, labels: &LabelList) -> Vec<String> {
    let known = known(files);
    labels.iter().filter_map(|(key, value)| advice(&known, (key, value))).collect()
}

/// Advice about the lists of values in the selector of a policy. If a condition selects nothing, its diagnostic has the nearest label.
pub fn of_lists(files: &BranchFiles<'_>, selector: &LabelSelector) -> Vec<String> {
    let is_list = |requirement: &&Requirement| match &requirement.operator {
        Operator::In(values) | Operator::NotIn(values) => values.len() > 1,
        Operator::Exists | Operator::DoesNotExist => false,
    };
    let requirements = selector.requirements.iter().filter(is_list).cloned().collect();
    of_selector(files, &LabelSelector { requirements })
}

/// Advice about a selector of cluster types and clusters.
pub fn of_selector(files: &BranchFiles<'_>, selector: &LabelSelector) -> Vec<String> {
    let known = known(files);
    let of = |requirement: &Requirement| -> Vec<String> {
        let key = &*requirement.key;
        let values = match &requirement.operator {
            Operator::In(values) | Operator::NotIn(values) => values.as_slice(),
            Operator::Exists | Operator::DoesNotExist => &[],
        };
        let Some(found) = known.get(key) else {
            let nearest = similar::nearest(key, known.keys().map(|key| &**key));
            return nearest.map(|nearest| no_key(key, nearest)).into_iter().collect();
        };
        let missing = values.iter().filter(|value| !found.contains_key(*value));
        let nearest =
            |value: &Arc<str>| Some((Arc::clone(value), similar::nearest(value, found.keys().map(|key| &**key))?));
        missing.filter_map(nearest).map(|(value, nearest)| no_value(key, &value, nearest)).collect()
    };
    selector.requirements.iter().flat_map(of).collect()
}

fn known(files: &BranchFiles<'_>) -> Known {
    let mut known = Known::new();
    for object in files.of_kind(Kind::ClusterType).chain(files.of_kind(Kind::Cluster)) {
        for (key, value) in object.labels() {
            *known.entry(key).or_default().entry(value).or_default() += 1;
        }
    }
    known
}

fn no_key(key: &str, nearest: &str) -> String {
    format!("no other cluster type or cluster has the label `{key}`: did you mean `{nearest}`?")
}

fn no_value(key: &str, value: &str, nearest: &str) -> String {
    format!("no other cluster type or cluster has `{key}={value}`: did you mean `{key}={nearest}`?")
}

fn advice(known: &Known, (key, value): (&str, &str)) -> Option<String> {
    let Some(values) = known.get(key) else {
        let nearest = similar::nearest(key, known.keys().map(|key| &**key))?;
        return Some(no_key(key, nearest));
    };
    if values.contains_key(value) || values.len() > VALUES_MAX {
        return None;
    }
    // Values that only one object has are usually names, and similar names are no mistake.
    let shared = values.iter().filter(|(_, count)| **count > 1).map(|(value, _)| &**value);
    let nearest = similar::nearest(value, shared.filter(|known| without_digits(known) != without_digits(value)))?;
    Some(no_value(key, value, nearest))
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
    fn nearly_known_labels_get_a_suggestion() {
        check("regoin", "west-us", Some("`region`?"));
        check("region", "wset-us", Some("`region=west-us`?"));
        check("region", "west-us", None);
        check("region", "europe", None);
        check("site", "s-3", None);
        check("color", "red", None);
    }
}
