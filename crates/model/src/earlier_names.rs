//! The earlier names of renamed objects, which their annotations list.

use std::sync::Arc;

use crate::label::Labels;
use crate::name;

/// The annotation with the earlier names of a cluster type, a cluster, a workload, a deployment target or a registration.
pub const RENAMED_FROM: &str = "names.kalypso.io/renamed-from";
/// The annotation of a workload with the earlier names of its deployment targets.
pub const RENAMED_TARGETS: &str = "names.kalypso.io/renamed-targets";

/// The earlier names of an object, the latest first. Texts that are no names are left out.
pub fn of_object(annotations: &Labels) -> Vec<&str> {
    parts(annotations, RENAMED_FROM).filter(|name| name::check(name).is_ok()).collect()
}

/// The earlier names of a workload's targets: pairs of the present and an earlier name, both without the name of the workload. Wrong pairs are left out.
pub fn of_targets(annotations: &Labels) -> Vec<(&str, &str)> {
    parts(annotations, RENAMED_TARGETS).filter_map(pair).collect()
}

/// The first part of an annotation's value that has no effect. The empty text if the value has no parts. None: all have one, or it is another annotation.
pub fn first_wrong<'v>(key: &str, value: &'v str) -> Option<&'v str> {
    let is_wrong = match key {
        RENAMED_FROM => |part: &str| name::check(part).is_err(),
        RENAMED_TARGETS => |part: &str| pair(part).is_none(),
        _ => return None,
    };
    let mut parts = split(value).peekable();
    if parts.peek().is_none() { Some("") } else { parts.find(|part| is_wrong(part)) }
}

fn parts<'l>(annotations: &'l Labels, key: &str) -> impl Iterator<Item = &'l str> {
    split(annotations.get(key).map_or("", |value| value))
}

fn split(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|part| !part.is_empty())
}

/// A pair `NEW=OLD`.
fn pair(part: &str) -> Option<(&str, &str)> {
    let (new, old) = part.split_once('=')?;
    let (new, old) = (new.trim(), old.trim());
    [new, old].iter().all(|name| name::check(name).is_ok()).then_some((new, old))
}

/// The value of [`RENAMED_FROM`] after a rename: the name until now is the latest one. A name that the object has again is left out.
pub fn renamed(annotation: Option<&Arc<str>>, (old, new): (&str, &str)) -> String {
    let before = split(annotation.map_or("", |value| value)).filter(|name| ![old, new].contains(name));
    [old].into_iter().chain(before).collect::<Vec<_>>().join(", ")
}

/// The value of [`RENAMED_TARGETS`] after a target is renamed. Earlier names of the target stay its earlier names.
pub fn target_renamed(annotation: Option<&Arc<str>>, (old, new): (&str, &str)) -> String {
    let earlier = split(annotation.map_or("", |value| value)).filter_map(|part| {
        let (present, earlier) = pair(part)?;
        let present = if present == old { new } else { present };
        (present != earlier && (present, earlier) != (new, old)).then(|| format!("{present}={earlier}"))
    });
    [format!("{new}={old}")].into_iter().chain(earlier).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotations(key: &str, value: &str) -> Labels {
        Labels::from_iter([(key, value)])
    }

    #[test]
    fn names_are_read_with_commas_between_them() {
        assert_eq!(of_object(&annotations(RENAMED_FROM, "b, a,B!,")), ["b", "a"]);
        assert_eq!(
            of_targets(&annotations(RENAMED_TARGETS, "eu=europe, x, us = usa")),
            [("eu", "europe"), ("us", "usa")]
        );
        assert!(of_object(&Labels::default()).is_empty());
    }

    #[test]
    fn the_first_wrong_part_is_found() {
        assert_eq!(first_wrong(RENAMED_FROM, "a, B!"), Some("B!"));
        assert_eq!(first_wrong(RENAMED_FROM, "a, b"), None);
        assert_eq!(first_wrong(RENAMED_FROM, " "), Some(""));
        assert_eq!(first_wrong(RENAMED_TARGETS, "a=b, c"), Some("c"));
        assert_eq!(first_wrong("other", "!"), None);
    }

    #[test]
    fn a_rename_keeps_the_names_before() {
        let text = |value: &str| Arc::from(value);
        assert_eq!(renamed(None, ("a", "b")), "a");
        assert_eq!(renamed(Some(&text("a")), ("b", "c")), "b, a");
        assert_eq!(renamed(Some(&text("b, a")), ("c", "a")), "c, b");
        assert_eq!(target_renamed(None, ("a", "b")), "b=a");
        assert_eq!(target_renamed(Some(&text("b=a, x=y")), ("b", "c")), "c=b, c=a, x=y");
        assert_eq!(target_renamed(Some(&text("b=a")), ("b", "a")), "a=b");
    }
}
