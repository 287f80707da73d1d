//! The fuzz target for label selectors.

use model::label::Labels;
use model::object::AnyObject;
use model::selector::Operator;
use model::source::{File, Files, Source};

/// Checks arbitrary selectors of a policy. They are read with or without a diagnostic. A selector that was read can be printed and matched. A
/// requirement and its opposite never match together.
pub fn selector(input: &[u8]) {
    let mut content =
        b"apiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\nmetadata: {name: p}\nspec:\n".to_vec();
    content.extend_from_slice(input);
    let id = model::git_id::GitId::of_blob(&content);
    let file =
        File { source: Source::directory().into(), path: "p.yaml".into(), id, content: content.as_slice().into() };
    let read = model::read::read_file(Files::default().add(file), "p.yaml", &content);
    let labels = Labels::from_iter([("region", "east"), ("size", "large"), ("", "")]);
    for object in &read.objects {
        let AnyObject::SchedulingPolicy(policy) = object else { continue };
        for requirement in policy.spec.targets.requirements.iter().chain(&policy.spec.cluster_types.requirements) {
            let mut opposite = requirement.clone();
            opposite.operator = match requirement.operator.clone() {
                Operator::In(values) => Operator::NotIn(values),
                Operator::NotIn(values) => Operator::In(values),
                Operator::Exists => Operator::DoesNotExist,
                Operator::DoesNotExist => Operator::Exists,
            };
            assert_ne!(requirement.matches(&labels), opposite.matches(&labels), "{requirement}");
        }
    }
}
