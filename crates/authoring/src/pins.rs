//! Release pins: new ones, and other releases in existing ones.

use std::sync::Arc;

use model::field_path::FieldPath;
use model::kind::Kind;
use model::name::ReleasePinName;
use model::object::release_pin::{EXPIRES, MANIFESTS};

use crate::additions::PlacedObject;
use crate::branch_files::{BranchFiles, EditRefusal};
use crate::edit::{Change, edit};
use crate::file_edits::FileEdits;
use crate::new_object::NewObject;
use crate::objects::{LabelList, PolicySelection, selection};
use crate::value::NewValue;

/// The path of the reason.
const REASON: [&str; 2] = ["spec", "reason"];

/// The release of a pin.
#[derive(Clone, Debug, Default)]
pub struct PinnedRelease {
    /// The keys of `manifests` that it sets.
    pub manifests: LabelList,
    /// The reason. None: an existing pin keeps its reason.
    pub reason: Option<Arc<str>>,
    /// The day or timestamp of its review. None: an existing pin keeps it.
    pub expires: Option<Arc<str>>,
}

/// A changed pin, with the file that contains it.
#[derive(Clone, Debug, Default)]
pub struct ChangedPin {
    /// The files to write. Empty if the pin has this release already.
    pub edits: FileEdits,
    /// The pin.
    pub object: Vec<PlacedObject>,
}

/// A `ReleasePin`.
pub fn release_pin(name: &ReleasePinName, selected: &PolicySelection, release: &PinnedRelease) -> NewObject {
    let texts = |pairs: &LabelList| NewValue::texts(pairs.iter().map(|(key, value)| (key, value)));
    let mut spec = selection(selected);
    spec.push((MANIFESTS[1].into(), texts(&release.manifests)));
    spec.extend(release.reason.iter().map(|reason| (REASON[1].into(), NewValue::Text(Arc::clone(reason)))));
    spec.extend(release.expires.iter().map(|expires| (EXPIRES[1].into(), NewValue::Text(Arc::clone(expires)))));
    NewObject::new(Kind::ReleasePin, Arc::clone(name.as_arc()), NewValue::Mapping(spec))
}

/// Changes the release of an existing pin. Other keys of its `manifests` stay. None if there is no pin of this name.
///
/// # Errors
/// If its file can't be edited.
pub fn change_release(
    files: &BranchFiles<'_>,
    name: &ReleasePinName,
    release: &PinnedRelease,
) -> Option<Result<ChangedPin, EditRefusal>> {
    let found = files.find(Kind::ReleasePin, name.as_str())?;
    let content = files.content(&found.path)?;
    let manifests =
        release.manifests.iter().map(|(key, value)| (FieldPath::from(MANIFESTS).key(Arc::clone(key)), value));
    let reason = release.reason.iter().map(|reason| (FieldPath::from(REASON), reason));
    let expires = release.expires.iter().map(|expires| (FieldPath::from(EXPIRES), expires));
    let mut bytes = content.to_vec();
    for (path, value) in manifests.chain(reason).chain(expires) {
        let change = Change::Set(path, NewValue::Text(Arc::clone(value)));
        match edit(&bytes, found.at, &change) {
            Ok(edited) => bytes = edited,
            Err(error) => return Some(Err(files.not_editable(&found.path, &error))),
        }
    }
    let mut edits = FileEdits::default();
    if bytes != **content {
        edits.write(Arc::clone(&found.path), bytes);
    }
    let placed = PlacedObject { kind: Kind::ReleasePin, name: Arc::clone(&found.name), path: Arc::clone(&found.path) };
    Some(Ok(ChangedPin { edits, object: vec![placed] }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::selector::LabelSelector;
    use model::source::Source;

    use super::*;
    use crate::style::Style;

    fn release(version: &str, reason: Option<&str>) -> PinnedRelease {
        let manifests = vec![("tag".into(), version.into())];
        PinnedRelease { manifests, reason: reason.map(Into::into), expires: None }
    }

    fn written() -> String {
        let [targets, places] = ["workload=checkout", "region=west"].map(|text| LabelSelector::parse(text).unwrap());
        let selection = PolicySelection { workspace: None, targets, places };
        let name = ReleasePinName::new("checkout-west").unwrap();
        release_pin(&name, &selection, &release("v1", Some("Tills"))).write(&Style::default(), None)
    }

    fn check(name: &str, changed: &PinnedRelease, expected: Option<&str>) {
        let text = format!("{}# kept\n", written());
        let contents = BTreeMap::from([("pins.yaml".into(), Arc::from(text.as_bytes()))]);
        let source =
            Source { label: "r".into(), url: "r".into(), revision: "prod".into(), commit: None, is_pinned: false };
        let files = BranchFiles::new(source, &contents, "");
        let change = change_release(&files, &ReleasePinName::new(name).unwrap(), changed);
        let edits = change.map(|change| change.unwrap().edits);
        let content = edits.as_ref().map(|edits| edits.get("pins.yaml").and_then(|edit| edit.content()));
        let content = content.map(|found| found.map_or("", |bytes| std::str::from_utf8(bytes).unwrap()));
        assert_eq!(content, expected);
    }

    #[test]
    fn a_pin_selects_targets_and_places() {
        assert!(written().ends_with(
            "spec:\n  deploymentTargetSelector:\n    labelSelector:\n      matchLabels:\n        workload: checkout\n  \
             clusterTypeSelector:\n    labelSelector:\n      matchLabels:\n        region: west\n  manifests:\n    tag: v1\n  \
             reason: Tills\n"
        ));
    }

    #[test]
    fn an_existing_pin_keeps_all_but_its_release() {
        let text = format!("{}# kept\n", written());
        check("checkout-west", &release("v2", None), Some(&text.replace("tag: v1", "tag: v2")));
        check("checkout-west", &release("v1", Some("Tills")), Some(""));
        check("other", &release("v2", None), None);
    }
}
