//! The question: its words on the command line, and their meaning in an environment.

use engine::answers::overview::Meanings;
use engine::answers::why_not::AppliedKind;
use engine::compile::Prepared;
use model::name::{DeploymentTargetName, PlaceName};
use workbench::answers::why_not::{AppliedObject, WhyNotQuestion};

use crate::exit::Failure;

/// The maximum number of targets of a workload that a message names.
const TARGETS_MAX: usize = 5;

/// The words of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    subject: Subject,
    object: Option<AppliedObject>,
    key: Option<String>,
}

/// What the first words name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    /// A place and a target.
    Assignment([String; 2]),
    /// A target and a place, or the other way round.
    Names([String; 2]),
    /// A place or a target.
    Name(String),
}

/// Parses the words.
pub(super) fn parse(words: &[String]) -> Result<Words, Failure> {
    let position = words.iter().position(|word| AppliedObject::parse(word).is_some());
    let (subject, rest) = words.split_at(position.unwrap_or(words.len()));
    let usage = || {
        Failure::usage(format!("`{}` is not a question", words.join(" ")))
            .help("write CLUSTER_TYPE/TARGET, then configmap/NAME or schema/NAME, then a key of the ConfigMap")
    };
    let subject = match subject {
        [one] => match one.split_once('/') {
            Some((place, target)) => Subject::Assignment([place.to_owned(), target.trim_end_matches('/').to_owned()]),
            None => Subject::Name(one.clone()),
        },
        [one, other] => Subject::Names([one.clone(), other.clone()]),
        _ => return Err(usage()),
    };
    let (object, key) = match rest {
        [] => (None, None),
        [object] => (AppliedObject::parse(object), None),
        [object, key] => (AppliedObject::parse(object), Some(key.clone())),
        _ => return Err(usage()),
    };
    let is_schema = object.as_ref().is_some_and(|object| object.kind == AppliedKind::Schema);
    if (is_schema && key.is_some()) || (object.is_some() && matches!(subject, Subject::Name(_))) {
        return Err(usage());
    }
    let names: &[String] = match &subject {
        Subject::Assignment(names) | Subject::Names(names) => names,
        Subject::Name(name) => std::slice::from_ref(name),
    };
    match names
        .iter()
        .find(|name| PlaceName::new(name.as_str()).is_err() && DeploymentTargetName::new(name.as_str()).is_err())
    {
        Some(_) => Err(super::invalid_name(&words.join(" "))),
        None => Ok(Words { subject, object, key }),
    }
}

/// The questions that the words mean in an environment: more than one if a name has several meanings.
pub(super) fn questions(words: &Words, prepared: &Prepared) -> Result<Vec<WhyNotQuestion>, Failure> {
    let Words { subject, object, key } = words;
    let of = |place: Option<&str>, target: Option<&str>| WhyNotQuestion {
        place: place.map(str::to_owned),
        target: target.map(str::to_owned),
        object: object.clone(),
        key: key.clone(),
    };
    match subject {
        Subject::Assignment([kind, name]) if !prepared.meanings(kind).is_place && is_kind(kind).is_some() => {
            let is_place = is_kind(kind) == Some(true);
            Ok(vec![if is_place { of(Some(name), None) } else { of(None, Some(name)) }])
        }
        Subject::Assignment([place, target]) => Ok(vec![of(Some(place), Some(target))]),
        Subject::Names([one, other]) => {
            let (first, second) = (prepared.meanings(one), prepared.meanings(other));
            let written = u8::from(first.is_target) + u8::from(second.is_place);
            let swapped = u8::from(first.is_place) + u8::from(second.is_target);
            let (target, place) = if swapped > written { (other, one) } else { (one, other) };
            Ok(vec![of(Some(place), Some(target))])
        }
        Subject::Name(name) => match prepared.meanings(name) {
            Meanings { is_place: true, is_target: true, .. } => Ok(vec![of(Some(name), None), of(None, Some(name))]),
            Meanings { is_place: true, .. } => Ok(vec![of(Some(name), None)]),
            Meanings { is_target: true, .. } => Ok(vec![of(None, Some(name))]),
            Meanings { is_workload: true, .. } => {
                of_workload(prepared, name).map(|target| vec![of(None, Some(&target))])
            }
            // A cluster whose cluster type does not exist is not a place.
            _ if prepared.fleet().clusters.contains_key(name.as_str()) => Ok(vec![of(Some(name), None)]),
            _ => Ok(vec![of(None, Some(name))]),
        },
    }
}

/// Whether a word is the kind of a place or of a target.
fn is_kind(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().replace('-', "").trim_end_matches('s') {
        "clustertype" | "cluster" => Some(true),
        "target" | "deploymenttarget" => Some(false),
        _ => None,
    }
}

/// The only target of a workload.
fn of_workload(prepared: &Prepared, name: &str) -> Result<String, Failure> {
    let environment = &prepared.fleet().environment;
    let overview = prepared.workload_overview(name);
    let targets: Vec<_> = overview.iter().flat_map(|workload| &workload.targets).map(|(name, _)| name).collect();
    match &targets[..] {
        [only] => Ok(only.to_string()),
        [] => Err(Failure::refused(format!("workload `{name}` has no deployment target for {environment}"))
            .help(format!("kalypso explain -e {environment} {name} shows the environments that it has targets for"))),
        several => {
            let shown: Vec<_> = several.iter().take(TARGETS_MAX).map(|name| format!("`{name}`")).collect();
            let more = if several.len() > TARGETS_MAX { " and more" } else { "" };
            Err(Failure::refused(format!("`{name}` is a workload with several deployment targets"))
                .help(format!("name one of them: {}{more}", shown.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expected: Option<(Subject, Option<&str>, Option<&str>)>) {
        let words: Vec<_> = words.iter().map(ToString::to_string).collect();
        let parsed = parse(&words).ok();
        let shown = parsed.map(|words| (words.subject, words.object.map(|object| object.name), words.key));
        let expected =
            expected.map(|(subject, object, key)| (subject, object.map(str::to_owned), key.map(str::to_owned)));
        assert_eq!(shown, expected, "{words:?}");
    }

    #[test]
    fn arguments_name_an_assignment_then_an_object_then_a_key() {
        let assignment = || Subject::Assignment(["west".to_owned(), "shop-test".to_owned()]);
        let names = || Subject::Names(["shop-test".to_owned(), "west".to_owned()]);
        check(&["west/shop-test"], Some((assignment(), None, None)));
        check(&["shop-test", "west"], Some((names(), None, None)));
        check(&["west"], Some((Subject::Name("west".to_owned()), None, None)));
        check(&["west/shop-test", "configmap/a"], Some((assignment(), Some("a"), None)));
        check(&["shop-test", "west", "cm/a", "KEY"], Some((names(), Some("a"), Some("KEY"))));
        check(&["west/shop-test", "ConfigSchema/a"], Some((assignment(), Some("a"), None)));
    }

    #[test]
    fn other_words_are_refused() {
        check(&["west/shop-test", "schema/a", "KEY"], None);
        check(&["west", "configmap/a"], None);
        check(&["a", "b", "c"], None);
        check(&["configmap/a"], None);
        check(&["../x"], None);
    }
}
