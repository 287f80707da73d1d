//! The Kubernetes objects that an assignment renders, with the places in the templates that print their names.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::Origin;
use model::yaml::{Node, YamlOptions, read};

use super::not_yaml::{outputs, places};
use super::review::Manifest;
use super::{Context, FileTemplate, TemplateData, Templates};
use crate::compose::Composition;

/// An object in the output of an assignment.
#[derive(Clone, Debug)]
pub(crate) struct RenderedObject {
    pub(crate) id: ObjectId,
    /// The place in the template that prints its name.
    pub(crate) origin: Origin,
}

/// What tells an object of a cluster from others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectId {
    pub(crate) group: Arc<str>,
    pub(crate) kind: Arc<str>,
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
}

impl Templates {
    /// Whether one assignment may render an object twice: two manifests are of the same kind, or a manifest may be rendered in a loop.
    pub(crate) fn may_repeat_objects(&self) -> bool {
        let files = self.files.iter().filter(|file| file.is_manifest());
        let texts: Vec<&str> = files.flat_map(|file| file.template.manifests()).map(|text| &**text).collect();
        let kinds: Vec<&str> =
            texts.iter().flat_map(|text| text.lines().filter(|line| line.starts_with("kind:"))).collect();
        let is_variable = |kind: &&str| kind.contains("{{");
        let different: BTreeSet<&str> = kinds.iter().copied().collect();
        different.len() < kinds.len()
            || kinds.iter().any(is_variable)
            || texts.iter().any(|text| text.contains("range"))
    }

    /// Whether the name or namespace of each object contains the name of the target, so that no two targets of a place render the same object. If false, they may.
    pub(crate) fn name_objects_by_target(&self) -> bool {
        self.files
            .iter()
            .filter(|file| file.is_manifest())
            .all(|file| file.template.manifests().iter().all(is_named_by_target))
    }

    /// The objects that an assignment renders. Empty if it can't be rendered.
    pub(crate) fn objects(&self, context: &Context<'_>, composition: &Composition) -> Vec<RenderedObject> {
        let data = TemplateData::new(context, composition, composition.version());
        let files = self.files.iter().filter(|file| file.is_manifest());
        files.flat_map(|file| file.objects(&data)).collect()
    }
}

impl FileTemplate {
    fn objects(&self, data: &TemplateData<'_>) -> Vec<RenderedObject> {
        let Ok((Some(made), _)) = self.template.render(data, &mut false) else { return Vec::new() };
        let outputs = outputs(&self.template, data.dot()).unwrap_or_default();
        let documents = read(&made.text, &YamlOptions::OBJECTS).documents;
        let object = |manifest: Manifest<'_>| {
            let text =
                |path: &[&str]| manifest.at(path).and_then(Node::as_scalar).map(|scalar| Arc::clone(&scalar.text));
            let name = manifest.at(&["metadata", "name"])?;
            let id = ObjectId {
                group: manifest.group.into(),
                kind: manifest.kind.into(),
                namespace: text(&["metadata", "namespace"]).unwrap_or_default(),
                name: text(&["metadata", "name"])?,
            };
            Some((name.span.start as usize, id))
        };
        let manifests = documents.iter().flat_map(|document| Manifest::all_in(&document.root));
        let (starts, ids): (Vec<usize>, Vec<ObjectId>) = manifests.filter_map(object).unzip();
        let places = places(&self.template, &outputs, &starts, data.dot());
        ids.into_iter().zip(places).map(|(id, (origin, _))| RenderedObject { id, origin }).collect()
    }
}

/// The fields of an assignment that no other target of the place has.
const FIELDS_OF_TARGET: [&str; 2] = [".DeploymentTargetName", ".Namespace"];

/// Whether each object in the text of a template has one of [`FIELDS_OF_TARGET`] in its name or namespace.
fn is_named_by_target(manifest: &Arc<str>) -> bool {
    let mut objects = manifest.split("\n---").filter(|text| text.contains("kind:"));
    objects.all(|object| {
        let kinds = object.lines().filter(|line| line.starts_with("kind:")).count();
        let names = object.lines().skip_while(|line| !line.starts_with("metadata:")).skip(1);
        let mut names = names.take_while(|line| line.starts_with(' ') || line.is_empty());
        kinds == 1
            && names.any(|line| {
                let is_name = line.trim_start().starts_with("name:") || line.trim_start().starts_with("namespace:");
                let is_own = |field: &&str| {
                    let after = line.split_once(*field).map(|(_, after)| after);
                    after.is_some_and(|after| {
                        !after.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_')
                    })
                };
                is_name && FIELDS_OF_TARGET.iter().any(is_own)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: bool) {
        assert_eq!(is_named_by_target(&text.into()), expected, "{text}");
    }

    #[test]
    fn objects_with_the_name_of_the_target_are_found_in_the_text() {
        let object = |name: &str| format!("kind: A\nmetadata:\n  {name}\n  labels: {{}}\nspec: {{}}\n");
        check(&object("name: {{ .DeploymentTargetName }}"), true);
        check(&object("name: \"{{ shortName 63 .DeploymentTargetName }}-x\""), true);
        check(&object("name: x\n  namespace: {{ .Namespace }}"), true);
        check(&object("name: {{ .Workload }}"), false);
        check(&object("name: {{ .NamespaceOther }}"), false);
        check(&format!("{}---\n{}", object("name: {{ .Namespace }}"), object("name: x")), false);
        check("kind: A\nmetadata:\n  name: x\nspec:\n  name: {{ .Namespace }}\n", false);
        check("user: x\n", true);
    }
}
