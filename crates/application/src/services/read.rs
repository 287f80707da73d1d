//! Reads the files of services.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::read::yaml_diagnostic;
use model::similar;
use model::source::{File, FileId, Files};
use model::yaml::{self, Node, NodeValue, Resolved, YamlOptions};

use super::{ChartReference, ChartService, Services};
use crate::files::FileSet;
use crate::settings::{is_dns_label, is_yaml_name};

/// The fields of a file, and those of its `helm`.
const FIELDS: (&[&str], &[&str]) = (&["name", "helm", "namespace"], &["repository", "chart", "version", "digest"]);

/// What the URL of a chart repository begins with.
const SCHEMES: [&str; 3] = ["https://", "http://", "oci://"];

/// The longest name of a service. It is the name of its release, and Helm accepts no longer one.
const NAME_LENGTH_MAX: usize = 53;

impl Services {
    /// Reads the files in the folder of the services. Files that are no YAML are left out.
    pub fn read(set: &FileSet, files: &mut Files) -> Self {
        let mut services = Self::default();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for (path, file) in set.iter().filter(|(path, _)| is_yaml_name(path)) {
            let id = files.add((**file).clone());
            if path.contains('/') {
                let message = format!("`{path}` is not read: files of services are directly in their folder");
                let found = Diagnostic::warning(Code::ServiceFile, message).at(Origin::File(id), "");
                services.problems.push(found.help("move it, or remove it"));
                continue;
            }
            let service = Reading { id, problems: &mut services.problems }.service(path, file);
            if let Some(first) = seen.get(&service.name).and_then(|index| services.all.get_mut(*index)) {
                let message = format!("service `{}` has two files", service.name);
                let found = Diagnostic::error(Code::ServiceFile, message).at(service.origin(&[]), "");
                services.problems.push(found.at(first.origin(&[]), "the other one").help("remove one of the two"));
                first.reference = None;
                continue;
            }
            seen.insert(service.name.clone(), services.all.len());
            services.all.push(service);
        }
        services.all.sort_by(|left, right| left.name.cmp(&right.name));
        services
    }
}

/// The reading of one file.
struct Reading<'p> {
    id: FileId,
    problems: &'p mut Vec<Diagnostic>,
}

impl Reading<'_> {
    fn service(&mut self, path: &str, file: &Arc<File>) -> ChartService {
        let before = self.problems.len();
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let mut service = ChartService {
            name: stem.to_owned(),
            reference: None,
            version: None,
            namespace: None,
            chart: None,
            path: path.to_owned(),
            file: self.id,
            root: self.root(file),
        };
        if !is_dns_label(stem) || stem.len() > NAME_LENGTH_MAX {
            let message = format!("`{stem}` is not the name of a service");
            self.problem(service.origin(&[]), message, "use lower-case letters, digits and `-`, at most 53");
        }
        if service.root.is_some() {
            self.fields(&service);
            self.name(&service);
            service.namespace = self.optional(&service, &["namespace"]);
            let reference = self.reference(&service);
            service.version = reference.as_ref().and_then(|reference| reference.version.parse().ok());
            let is_good = !self.problems.iter().skip(before).any(Diagnostic::is_error);
            service.reference = reference.filter(|_| is_good);
        }
        service
    }

    /// The mapping in a file. None: it has an error.
    fn root(&mut self, file: &File) -> Option<Node> {
        let reading = yaml::read_bytes(&file.content, &YamlOptions::OBJECTS);
        let is_good = reading.problems.iter().all(|problem| problem.kind.is_warning());
        self.problems.extend(reading.problems.into_iter().map(|problem| yaml_diagnostic(self.id, problem)));
        let mut documents = reading.documents.into_iter();
        let root = documents.next().map(|document| document.root);
        let is_one = documents.next().is_none() && root.as_ref().is_some_and(|root| root.as_mapping().is_some());
        if is_good && !is_one {
            let found =
                Diagnostic::error(Code::ServiceFile, "the file of a service has one mapping, with `name` and `helm`");
            self.problems.push(found.at(Origin::File(self.id), "").help(EXAMPLE));
        }
        root.filter(|_| is_good && is_one)
    }

    fn problem(&mut self, origin: Origin, message: String, help: &str) {
        let found = Diagnostic::error(Code::ServiceFile, message).at(origin, "");
        self.problems.push(found.help(help));
    }

    /// Reports unknown fields: a misspelled `digest` would pin nothing.
    fn fields(&mut self, service: &ChartService) {
        let Some(root) = &service.root else { return };
        let mappings = [(Some(root), FIELDS.0), (root.get("helm"), FIELDS.1)];
        for (mapping, known) in mappings {
            for (key, _) in mapping.and_then(Node::as_mapping).unwrap_or_default() {
                let name = key.as_scalar().map_or("", |key| &*key.text);
                if known.contains(&name) {
                    continue;
                }
                let nearest = similar::nearest(name, known.iter().copied());
                let help = nearest.map_or_else(
                    || format!("the fields are {}", known.join(", ")),
                    |nearest| format!("did you mean `{nearest}`?"),
                );
                let origin = Origin::Span(self.id, key.span);
                let message = format!("a service has no field `{}`", name.escape_debug());
                self.problems.push(Diagnostic::error(Code::ServiceFile, message).at(origin, "").help(help));
            }
        }
    }

    fn name(&mut self, service: &ChartService) {
        let Some(name) = self.required(service, &["name"]) else { return };
        if name != service.name {
            let message = format!("service `{}` is in `{}`", name.escape_debug(), service.path);
            let help = format!("rename the file to `{}.yaml`, or correct the name", name.escape_debug());
            self.problem(service.origin(&["name"]), message, &help);
        }
    }

    fn reference(&mut self, service: &ChartService) -> Option<ChartReference> {
        let repository = self.required(service, &["helm", "repository"]);
        let chart = self.required(service, &["helm", "chart"]);
        let version = self.version(service);
        let digest = self.optional(service, &["helm", "digest"]);
        let (repository, chart) = (repository?, chart?);
        self.check_repository(service, &repository);
        if !is_chart_name(&chart) {
            let help = "write the name that the repository has, without the repository: `prometheus`";
            let message = format!("`{}` is not the name of a chart", chart.escape_debug());
            self.problem(service.origin(&["helm", "chart"]), message, help);
        }
        let parsed = digest.as_ref().map(|digest| digest.parse());
        if let (Some(Err(())), Some(digest)) = (&parsed, &digest) {
            let message = format!("`{}` is not a digest", digest.escape_debug());
            let help = "it is `sha256:` and 64 hexadecimal digits; `kalypso app update --pin` writes it";
            self.problem(service.origin(&["helm", "digest"]), message, help);
        }
        let version = version?;
        if digest.is_none() {
            let message = format!("chart `{chart}` {version} of service `{}` has no digest", service.name);
            let found =
                Diagnostic::warning(Code::ServiceNotPinned, message).at(service.origin(&["helm", "version"]), "");
            self.problems.push(found.help("`kalypso app update --pin` writes it"));
        }
        Some(ChartReference { repository, chart, version, digest: parsed.and_then(Result::ok) })
    }

    /// The exact version.
    fn version(&mut self, service: &ChartService) -> Option<String> {
        let path = ["helm", "version"];
        let node = service.root.as_ref()?.get("helm").and_then(|helm| helm.get("version"));
        let text = node.and_then(Node::as_scalar).map(|scalar| scalar.text.to_string()).unwrap_or_default();
        if text.is_empty() {
            return self.required(service, &path);
        }
        if text.parse::<crate::version::ApplicationVersion>().is_err() {
            let message = format!("`{}` is not an exact version", text.escape_debug());
            let help = "write three numbers, such as 25.8.0; `kalypso app update --write` writes the newest version";
            self.problem(service.origin(&path), message, help);
            return None;
        }
        Some(text)
    }

    fn check_repository(&mut self, service: &ChartService, url: &str) {
        let path = ["helm", "repository"];
        let rest = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)).unwrap_or_default();
        let authority = rest.split('/').next().unwrap_or_default();
        let is_odd = |c: char| c.is_whitespace() || c.is_control();
        if authority.contains('@') {
            let help = "remove it: files of services are read by everyone who reads the repository";
            self.problem(service.origin(&path), "the address of a chart repository has a credential".to_owned(), help);
        } else if authority.is_empty() || url.contains(is_odd) {
            let message = format!("`{}` is not the address of a chart repository", url.escape_debug());
            self.problem(service.origin(&path), message, "it begins with `https://`, or with `oci://` for a registry");
        }
    }

    /// The text of a field. None: it is missing, or no text.
    fn required(&mut self, service: &ChartService, path: &[&str]) -> Option<String> {
        let before = self.problems.len();
        let text = self.optional(service, path);
        if text.is_none() && self.problems.len() == before {
            self.problem(service.origin(path), format!("a service needs `{}`", path.join(".")), EXAMPLE);
        }
        text
    }

    /// The text of a field. None: it is missing or null, or it is no text, which is a problem.
    fn optional(&mut self, service: &ChartService, path: &[&str]) -> Option<String> {
        let node = path.iter().try_fold(service.root.as_ref()?, |node, key| node.get(key))?;
        match &node.value {
            NodeValue::Scalar(scalar) => match scalar.resolve() {
                Resolved::Text(text) if !text.is_empty() => return Some(text.into_owned()),
                Resolved::Text(_) | Resolved::Null => return None,
                _ => {}
            },
            NodeValue::Sequence(_) | NodeValue::Mapping(_) => {}
        }
        self.problem(service.origin(path), format!("`{}` must be a text", path.join(".")), EXAMPLE);
        None
    }
}

/// The advice for a field that is missing.
const EXAMPLE: &str = "write `name: prometheus`, and below `helm:` the fields `repository`, `chart` and `version`";

/// Whether a text is a name of a chart. A registry may have folders above it.
fn is_chart_name(text: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_part = |part: &str| part.chars().all(is_good) && part.starts_with(|c: char| c.is_ascii_alphanumeric());
    !text.is_empty() && text.split('/').all(is_part)
}
