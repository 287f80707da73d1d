//! Finds the images in objects: those of containers, and those of image volumes.
//!
//! Pod templates are found by their fields, and not by the kinds of objects. So a custom resource that contains one is read, too.

use model::field_path::{FieldPath, FieldStep};
use model::yaml::{Node, NodeValue, Resolved};

/// The lists of containers in a pod.
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// The list of volumes in a pod.
const VOLUMES: &str = "volumes";

/// A field of an object that names an image.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageUse {
    /// The field, from the root that was searched.
    pub path: FieldPath,
    /// Its value: a scalar.
    pub node: Node,
}

impl ImageUse {
    /// The text of the field.
    pub fn text(&self) -> &str {
        self.node.as_scalar().map_or("", |scalar| &scalar.text)
    }
}

/// The images that are named anywhere below a node, in the order of the text.
pub fn uses(root: &Node) -> Vec<ImageUse> {
    let mut finding = Finding { path: FieldPath::default(), found: Vec::new() };
    finding.search(root);
    finding.found
}

struct Finding {
    path: FieldPath,
    found: Vec<ImageUse>,
}

impl Finding {
    /// The reader of YAML limits the depth.
    fn search(&mut self, node: &Node) {
        match &node.value {
            NodeValue::Scalar(_) => {}
            NodeValue::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(FieldStep::Index(index));
                    self.search(item);
                    self.path.pop();
                }
            }
            NodeValue::Mapping(entries) => {
                for (key, value) in entries.iter() {
                    let Some(key) = key.as_scalar() else { continue };
                    self.path.push(FieldStep::Key(key.text.clone()));
                    self.add_list(&key.text, value);
                    self.search(value);
                    self.path.pop();
                }
            }
        }
    }

    /// The images of a list, if its key is that of containers or volumes.
    fn add_list(&mut self, key: &str, list: &Node) {
        let steps: &[&str] = match key {
            VOLUMES => &["image", "reference"],
            key if CONTAINERS.contains(&key) => &["image"],
            _ => return,
        };
        for (index, item) in list.as_sequence().unwrap_or_default().iter().enumerate() {
            let image = steps.iter().try_fold(item, |node, key| node.get(key));
            let Some((node, scalar)) = image.and_then(|node| Some((node, node.as_scalar()?))) else { continue };
            // An empty image is one that an admission controller sets.
            if matches!(scalar.resolve(), Resolved::Text(_)) && !scalar.text.is_empty() {
                let path = steps.iter().fold(self.path.index(index), |path, key| path.key(*key));
                self.found.push(ImageUse { path, node: node.clone() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::yaml::{YamlOptions, read};

    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let reading = read(text, &YamlOptions::OBJECTS);
        let found: Vec<_> = reading.documents.iter().flat_map(|document| uses(&document.root)).collect();
        let found: Vec<_> = found.iter().map(|one| (one.path.to_string(), one.text())).collect();
        assert_eq!(found, expected.iter().map(|(path, text)| ((*path).to_owned(), *text)).collect::<Vec<_>>());
    }

    #[test]
    fn all_lists_of_containers_are_read() {
        check(
            "spec: {initContainers: [{image: a}], containers: [{image: 'b:1'}, {name: x}], ephemeralContainers: [{image: c}]}",
            &[
                ("spec.initContainers[0].image", "a"),
                ("spec.containers[0].image", "b:1"),
                ("spec.ephemeralContainers[0].image", "c"),
            ],
        );
    }

    #[test]
    fn pods_are_found_at_any_depth() {
        let pod = "spec: {containers: [{image: a}]}";
        check(
            &format!("spec: {{jobTemplate: {{spec: {{template: {{{pod}}}}}}}}}"),
            &[("spec.jobTemplate.spec.template.spec.containers[0].image", "a")],
        );
        check(&format!("kind: List\nitems: [{{{pod}}}]"), &[("items[0].spec.containers[0].image", "a")]);
        check(
            &format!("kind: Worker\nspec: {{pools: [{{template: {{{pod}}}}}]}}"),
            &[("spec.pools[0].template.spec.containers[0].image", "a")],
        );
    }

    #[test]
    fn image_volumes_are_read() {
        let volumes = "spec: {volumes: [{name: a, image: {reference: 'm:1', pullPolicy: Always}}, {emptyDir: {}}]}";
        check(volumes, &[("spec.volumes[0].image.reference", "m:1")]);
    }

    #[test]
    fn other_fields_are_no_images() {
        check("spec: {image: a, containers: {image: b}, containers2: [{image: c}]}", &[]);
        check("spec: {containers: [{image: 12}, {image: ''}, {image: {name: d}}, e]}", &[]);
        check("data: {pod: 'containers: [{image: a}]'}", &[]);
    }
}
