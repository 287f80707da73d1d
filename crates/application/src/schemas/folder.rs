//! The folder with schemas that the configuration file names.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use model::diagnostic::{Code, Diagnostic, Origin};
use model::source::{File, FileId, Files};
use model::yaml::{self, YamlOptions};

use super::custom::{CustomKinds, is_definition};
use super::read::KindSchema;
use crate::files::FileSet;
use crate::manifests;
use crate::settings::is_yaml_name;

/// The schemas of a folder. They are read when they are first needed.
#[derive(Default)]
pub(super) struct SchemaFolder {
    /// The files with custom resource definitions.
    definitions: Vec<(FileId, Arc<File>)>,
    kinds: OnceLock<(CustomKinds, Vec<Diagnostic>)>,
    /// The files with JSON schemas, by their names and by their paths, in lower case.
    json: BTreeMap<String, JsonSchemaFile>,
}

struct JsonSchemaFile {
    id: FileId,
    file: Arc<File>,
    schema: OnceLock<Result<Arc<KindSchema>, String>>,
}

impl SchemaFolder {
    /// The schemas of a folder. `files` are the files that diagnostics refer to.
    pub(super) fn new(set: &FileSet, files: &mut Files) -> Self {
        let mut folder = Self::default();
        for (path, file) in set.iter() {
            let mut id = || files.add((**file).clone());
            if is_yaml_name(path) {
                folder.definitions.push((id(), Arc::clone(file)));
            } else if path.ends_with(".json") {
                let path = path.to_lowercase();
                // The last two parts: a folder with the name of the group, or any folder.
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                let in_group = path.rsplitn(3, '/').take(2).collect::<Vec<_>>();
                let in_group = in_group.into_iter().rev().collect::<Vec<_>>().join("/");
                let id = id();
                for key in [name, in_group] {
                    let known = JsonSchemaFile { id, file: Arc::clone(file), schema: OnceLock::new() };
                    folder.json.entry(key).or_insert(known);
                }
            }
        }
        folder
    }

    /// The schema of a version of a kind. None: the folder has none that can be used.
    pub(super) fn schema(&self, key: (&str, &str, &str)) -> Option<Arc<KindSchema>> {
        if let Some(json) = json_names(key).iter().find_map(|name| self.json.get(name)) {
            return json.schema.get_or_init(|| json.read()).as_ref().ok().map(Arc::clone);
        }
        self.kinds().schema(key)
    }

    /// The kinds that its custom resource definitions define.
    pub(super) fn kinds(&self) -> &CustomKinds {
        let (kinds, _) = self.kinds.get_or_init(|| {
            let (mut objects, mut problems) = (Vec::new(), Vec::new());
            for (id, file) in &self.definitions {
                let parsed = manifests::parse(&file.content, *id);
                if parsed.problems.is_empty() && !parsed.objects.iter().any(is_definition) {
                    problems.push(without_definition(*id));
                }
                problems.extend(parsed.problems);
                objects.extend(parsed.objects);
            }
            (CustomKinds::new(&objects), problems)
        });
        kinds
    }

    /// What is wrong with the files that were needed.
    pub(super) fn problems(&self) -> Vec<Diagnostic> {
        let kinds = self.kinds.get().into_iter();
        let mut problems: Vec<_> = kinds.flat_map(|(kinds, own)| own.iter().cloned().chain(kinds.problems())).collect();
        problems.extend(self.json.values().filter_map(|json| {
            let error = json.schema.get()?.as_ref().err()?;
            let found = Diagnostic::warning(Code::ManifestSchema, format!("this schema can't be used: {error}"));
            let found = found.at(Origin::File(json.id), "");
            Some(found.help("correct it, or remove the file; until then, objects of this kind are not validated"))
        }));
        problems
    }
}

impl JsonSchemaFile {
    fn read(&self) -> Result<Arc<KindSchema>, String> {
        let reading = yaml::read_bytes(&self.file.content, &YamlOptions::OBJECTS);
        let problem = reading.problems.into_iter().next().map(|problem| problem.message.into_owned());
        let document = reading.documents.into_iter().next().ok_or("it is empty")?;
        match problem {
            Some(problem) => Err(problem),
            None => KindSchema::of_json_schema(&document.root).map(Arc::new),
        }
    }
}

/// The names of the file with a schema, the more exact one first.
///
/// `GROUP/KIND_VERSION.json` is the layout of the public catalog of custom resource definitions. `KIND-GROUP-VERSION.json`, with the first label of the group, and
/// `KIND-VERSION.json` for the core group are those of kubeconform (`schemaPath` in its `pkg/registry`).
fn json_names((group, version, kind): (&str, &str, &str)) -> [String; 2] {
    let exact = format!("{group}/{kind}_{version}.json");
    let label = group.split('.').next().unwrap_or_default();
    let short = if label.is_empty() { String::new() } else { format!("-{label}") };
    [exact, format!("{kind}{short}-{version}.json")].map(|name| name.to_lowercase())
}

fn without_definition(file: FileId) -> Diagnostic {
    Diagnostic::warning(Code::ManifestSchema, "this file has no `CustomResourceDefinition`, so no schema")
        .at(Origin::File(file), "")
        .help("JSON schemas are in files with names such as `servicemonitor-monitoring-v1.json`; move other files elsewhere")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_schemas_are_named_as_for_kubeconform() {
        let names = |key| json_names(key).join(" ");
        assert_eq!(names(("apps", "v1", "Deployment")), "apps/deployment_v1.json deployment-apps-v1.json");
        assert_eq!(names(("", "v1", "Service")), "/service_v1.json service-v1.json");
        let expected = "monitoring.coreos.com/servicemonitor_v1.json servicemonitor-monitoring-v1.json";
        assert_eq!(names(("monitoring.coreos.com", "v1", "ServiceMonitor")), expected);
    }
}
