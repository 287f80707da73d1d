//! Rendering: creates manifests from templates and values.

mod application_text;
mod fields;
mod folder_cache;
mod missing_field;
mod namespace;
mod not_yaml;
mod objects;
mod output_check;
mod review;
mod shared;
mod template;
mod warning;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gotemplate::{MissingField, Reads, Value};
use model::diagnostic::{Code, Diagnostic, Origin};
use model::digest::{Digest, DigestBuilder};
use model::field_path::FieldPath;
use model::fleet::{Fleet, UnreadPart};
use model::git_id::GitId;
use model::kind::Kind;
use model::name::EnvironmentName;
use model::object::{ClusterType, Object};
use model::object_key::ObjectKey;
use model::tree::Blob;

use self::application_text::RenderedText;
use self::fields::{CONFIG_VERSION, FIELDS, Subject};
pub(crate) use self::fields::{Pinned, PlaceFields, TargetFields};
pub use self::folder_cache::FolderStore;
pub use self::namespace::NAMESPACE_LENGTH_MAX;
use self::namespace::{check_namespace, is_too_long};
pub(crate) use self::objects::{ObjectId, RenderedObject};
pub(crate) use self::output_check::{CheckedOutlines, RecentFiles};
use self::shared::CachedFile;
pub(crate) use self::shared::SharedFiles;
use self::template::ParsedTemplate;
pub(crate) use self::template::{ParsedTemplates, parse, read_manifests_keys};

pub(crate) use self::warning::{FileWarnings, OutputWarning, WarningsDigest};
use crate::compose::{CONFIG_DATA, Composition};
use crate::schedule::place::Place;
use crate::schedule::target::Target;
use crate::settings::LongNames;

/// The rendered files of an assignment by name.
pub type RenderedFiles = BTreeMap<Arc<str>, Arc<[u8]>>;

/// The templates of a cluster type.
#[derive(Clone, Debug)]
pub(crate) struct Templates {
    files: [FileTemplate; 3],
    /// The fields that the three templates can read.
    reads: Reads,
    digest: Digest,
}

/// A template and the file that it renders.
#[derive(Clone, Debug)]
struct FileTemplate {
    name: Arc<str>,
    template: Arc<ParsedTemplate>,
    /// Whether the file is omitted if the output is empty. Otherwise an empty file is written.
    is_optional: bool,
    format: Format,
    /// Whether the template reads data of the target.
    reads_target: bool,
    shared_by: SharedBy,
}

/// What the output of a template is checked as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// YAML or JSON.
    Yaml,
    /// A file for a shell.
    Shell,
    /// Any text. It is not checked.
    Unchecked,
}

/// A rendered file, with the warnings about it. None: there is no such file.
type RenderedFile = (Option<Vec<u8>>, FileWarnings);

/// The places that get the same file from a template, if all other inputs are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SharedBy {
    /// All places: the template reads no data of places.
    AllPlaces,
    /// The places of one cluster type.
    ClusterType,
    /// No two places get the same file.
    None,
}

/// The input of an assignment's templates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) environment: &'a EnvironmentName,
    pub(crate) place: &'a Place,
    pub(crate) place_fields: &'a PlaceFields,
    pub(crate) target: &'a Target,
    pub(crate) target_fields: &'a TargetFields,
    /// The target's manifests with release pins applied. None if no pin holds the target.
    pub(crate) pinned: Option<&'a Pinned>,
    /// The digest of the values.
    pub(crate) values: Digest,
    /// Whether some value is itself a template. Such a template may use all data.
    pub(crate) has_nested: bool,
    pub(crate) long_names: LongNames,
    /// The outlines of checked files. None if the output is only compared: it is not checked then.
    pub(crate) checked_outlines: Option<&'a CheckedOutlines>,
    /// Files without findings of other assignments of the place.
    pub(crate) recent_files: &'a RecentFiles,
    /// Whether messages must not show a template's output, because it may contain a sensitive value.
    pub(crate) hides_output: bool,
    /// The paths of values that are sensitive. They may have no values.
    pub(crate) sensitive: &'a BTreeSet<FieldPath>,
    /// The digest of `sensitive`.
    pub(crate) sensitive_digest: Digest,
}

/// What the templates of an assignment read.
struct TemplateData<'a> {
    context: &'a Context<'a>,
    composition: &'a Composition,
    /// The version of the configuration.
    version: &'a str,
    dot: OnceCell<Value>,
}

impl<'a> TemplateData<'a> {
    fn new(context: &'a Context<'a>, composition: &'a Composition, version: &'a str) -> Self {
        Self { context, composition, version, dot: OnceCell::new() }
    }

    /// The data that templates call `.`, made when the first template needs it.
    fn dot(&self) -> &Value {
        self.dot.get_or_init(|| fields::data(self.context, self.composition, self.version))
    }
}

/// A rendered file, with what it is made of.
#[derive(Clone, Copy)]
struct OutputFile<'a> {
    template: &'a ParsedTemplate,
    name: &'a str,
    dot: &'a Value,
    context: &'a Context<'a>,
    made: &'a RenderedText,
}

/// The result of rendering an assignment.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) files: Result<BTreeMap<Arc<str>, Content>, Vec<Diagnostic>>,
    /// The warnings about files that were rendered only for this assignment.
    pub(crate) warnings: Vec<FileWarnings>,
    /// The digest of the warnings about all files. None without warnings.
    pub(crate) warnings_digest: Option<WarningsDigest>,
    /// Whether output that contained template text was rendered again. It may have read any data.
    pub(crate) has_read_anything: bool,
    /// The number of files that were rendered only for this assignment.
    pub(crate) own_files: usize,
}

/// The content of a rendered file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The bytes.
    Bytes(Vec<u8>),
    /// The git id. The file was rendered for another assignment.
    Shared(GitId),
}

impl Content {
    /// The length in bytes. 0 if the file was rendered for another assignment.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Shared(_) => 0,
        }
    }
}

impl Rendered {
    /// The result if nothing can be rendered.
    pub(crate) fn failed(problems: Vec<Diagnostic>) -> Self {
        let (warnings, warnings_digest) = (Vec::new(), None);
        Self { files: Err(problems), warnings, warnings_digest, has_read_anything: false, own_files: 0 }
    }

    /// The files with their bytes. The assignment must have been rendered without [`SharedFiles`]; otherwise shared files are missing.
    ///
    /// # Errors
    /// Diagnostics if it can't be rendered.
    pub(crate) fn into_files(self) -> Result<RenderedFiles, Vec<Diagnostic>> {
        let with_bytes = |(name, content)| match content {
            Content::Bytes(bytes) => Some((name, bytes.into())),
            Content::Shared(_) => None,
        };
        Ok(self.files?.into_iter().filter_map(with_bytes).collect())
    }
}

impl Templates {
    /// Whether a template can read the value of a key.
    pub(crate) fn reads_value(&self, key: &str) -> bool {
        self.reads.entry(CONFIG_DATA, key)
    }

    /// Whether a template can read a key of a target's manifests.
    pub(crate) fn reads_manifest(&self, key: &str) -> bool {
        self.reads.entry("Manifests", key)
    }

    /// Finds the templates of a cluster type.
    ///
    /// # Errors
    /// Diagnostics if a template is missing or can't be used.
    pub(crate) fn find(parsed: &ParsedTemplates, object: &Object<ClusterType>) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let mut find = |field: &str, name: &Arc<str>| {
            let found = parsed.get(name);
            match found.map(|template| &template.problem) {
                Some(Some(problem)) => problems.push(problem.clone()),
                Some(None) => {}
                None => problems.push(missing(parsed, object, field, name)),
            }
            found.map(Arc::clone)
        };
        let spec = &object.spec;
        let reconciler = find("reconciler", &spec.reconciler);
        let namespace = find("namespaceService", &spec.namespace_service);
        let config = find("configType", &spec.config_type);
        match (reconciler, namespace, config) {
            (Some(reconciler), Some(namespace), Some(config)) if problems.is_empty() => {
                Ok(Self::new(reconciler, namespace, config))
            }
            _ => Err(problems),
        }
    }

    fn new(reconciler: Arc<ParsedTemplate>, namespace: Arc<ParsedTemplate>, config: Arc<ParsedTemplate>) -> Self {
        let config_name = format!("platform-config.{}", config.extension);
        let files = [
            FileTemplate::new("reconciler.yaml", reconciler, false),
            FileTemplate::new("namespace.yaml", namespace, false),
            FileTemplate::new(&config_name, config, true),
        ];
        let reads = files.iter().fold(Reads::default(), |reads, file| reads.union(&file.template.reads));
        let mut digest = DigestBuilder::new("templates");
        files.iter().for_each(|file| {
            digest.digest(file.template.digest);
        });
        Self { digest: digest.finish(), files, reads }
    }

    /// The digest of the three templates.
    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether both render the same output.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.digest == other.digest
    }

    /// The digest of the inputs of the rendered files: the data that the templates read, or all data if they may read `anything`.
    pub(crate) fn inputs(&self, context: &Context<'_>, anything: bool) -> Digest {
        let anything = anything || context.has_nested;
        let mut inputs = DigestBuilder::new("rendering");
        inputs.digest(self.digest).digest(context.target_fields.identity_digest);
        inputs.text(context.environment.as_str()).text(context.place.name_text());
        let flags =
            [context.place.cluster.is_some(), context.long_names == LongNames::Shorten, context.hides_output, anything];
        inputs.number(flags.iter().fold(0, |bits, flag| bits << 1 | u64::from(*flag)));
        if context.hides_output {
            inputs.digest(context.sensitive_digest);
        }
        // A message that must show no value is compared with all of them.
        fields::add_inputs(context, &mut inputs, |field| {
            anything || self.reads.field(field) || (field == CONFIG_DATA && context.hides_output)
        });
        inputs.finish()
    }

    /// Renders the files of one assignment. Files that other assignments have, too, are replaced by their ids in `shared`.
    pub(crate) fn render(
        &self,
        context: &Context<'_>,
        composition: &Composition,
        shared: Option<&SharedFiles>,
    ) -> Rendered {
        // Template text in the data may read the version of the configuration as well.
        let has_version = context.has_nested || self.reads.field(CONFIG_VERSION);
        let version = if has_version { &**composition.version() } else { "" };
        let rendered = self.render_with(&TemplateData::new(context, composition, version), shared);
        if rendered.has_read_anything && !has_version {
            return self.render_with(&TemplateData::new(context, composition, composition.version()), shared);
        }
        rendered
    }

    fn render_with(&self, data: &TemplateData<'_>, shared: Option<&SharedFiles>) -> Rendered {
        let context = data.context;
        // The contents of files are needed if a namespace name may have to be reported.
        let shared = shared.filter(|_| !context.has_nested && !is_too_long(context));
        let (mut files, mut problems, mut warnings) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut warning_digests = Vec::new();
        let (mut has_read_anything, mut own_files) = (context.has_nested, 0);
        for file in &self.files {
            let known = shared.filter(|_| file.is_shared(context)).map(|shared| {
                let inputs = file.inputs(context);
                shared.get(inputs, || file.rendered_for_all(data, shared))
            });
            match known {
                Some(CachedFile::File(id, found)) => {
                    warning_digests.extend(found);
                    files.insert(Arc::clone(&file.name), Content::Shared(id));
                }
                Some(CachedFile::NoFile) => {}
                None | Some(CachedFile::NotShared) => {
                    own_files += 1;
                    match file.render(data, &mut has_read_anything) {
                        Ok((bytes, found)) => {
                            warning_digests.extend(found.digest());
                            warnings.push(found);
                            if let Some(bytes) = bytes {
                                files.insert(Arc::clone(&file.name), Content::Bytes(bytes));
                            }
                        }
                        Err(found) => problems.extend(found),
                    }
                }
            }
        }
        problems.extend(check_namespace(context, &files));
        // A problem with a text of the target is reported once, also if several files contain the text.
        let mut reported = BTreeSet::new();
        problems.retain(|problem| reported.insert((problem.code, problem.message.clone(), problem.labels.clone())));
        Rendered {
            files: if problems.is_empty() { Ok(files) } else { Err(problems) },
            warnings,
            warnings_digest: WarningsDigest::of_files(&warning_digests),
            has_read_anything,
            own_files,
        }
    }
}

impl FileTemplate {
    fn new(name: &str, template: Arc<ParsedTemplate>, is_optional: bool) -> Self {
        let reads = |subject| FIELDS.iter().any(|field| field.subject == subject && template.reads.field(field.name));
        Self {
            name: name.into(),
            is_optional,
            format: template.format(name),
            shared_by: match reads(Subject::Place) {
                true => SharedBy::None,
                false if reads(Subject::ClusterType) => SharedBy::ClusterType,
                false => SharedBy::AllPlaces,
            },
            reads_target: reads(Subject::Target),
            template,
        }
    }

    /// Whether the file is YAML or JSON.
    fn is_manifest(&self) -> bool {
        self.format == Format::Yaml
    }

    /// Whether other assignments may have the same file.
    fn is_shared(&self, context: &Context<'_>) -> bool {
        match self.shared_by {
            SharedBy::AllPlaces => true,
            // A cluster type's own folder contains each target once.
            SharedBy::ClusterType => !self.reads_target || context.place.cluster.is_some(),
            SharedBy::None => false,
        }
    }

    /// The digest of the file's inputs, if several assignments may share it.
    fn inputs(&self, context: &Context<'_>) -> Digest {
        let mut inputs = DigestBuilder::new("file");
        inputs.digest(self.template.digest).text(context.environment.as_str());
        if self.reads_target {
            inputs.digest(context.target_fields.identity_digest);
        }
        fields::add_inputs(context, &mut inputs, |field| self.template.reads.field(field));
        inputs.finish()
    }

    fn rendered_for_all(&self, data: &TemplateData<'_>, shared: &SharedFiles) -> CachedFile {
        let mut has_read_anything = false;
        match self.render(data, &mut has_read_anything) {
            Ok((Some(bytes), warnings)) if !has_read_anything => {
                let warnings = warnings.digest();
                if !shared.folder_cache().is_open() {
                    return CachedFile::File(GitId::of_blob(&bytes), warnings);
                }
                let file = Blob::new(bytes);
                shared.folder_cache().add_file(&file);
                CachedFile::File(file.id(), warnings)
            }
            Ok((None, warnings)) if !has_read_anything && warnings.all().is_empty() => CachedFile::NoFile,
            _ => CachedFile::NotShared,
        }
    }

    fn render(&self, data: &TemplateData<'_>, has_read_anything: &mut bool) -> Result<RenderedFile, Vec<Diagnostic>> {
        let (made, missing) = self.template.render(data, has_read_anything)?;
        let describe =
            |(index, field): &(usize, MissingField)| missing_field::warning(&self.template.key, *index, field, data);
        let missing: Vec<OutputWarning> = missing.iter().map(describe).collect();
        let mut warnings = FileWarnings::default();
        let context = data.context;
        if let Some(made) = &made {
            if self.is_manifest()
                && let Some(problem) = self.template.check_texts(context.target, made)
            {
                // The field that the problem names depends on all fields.
                *has_read_anything = true;
                return Err(vec![problem]);
            }
            if let Some(known) = context.checked_outlines {
                let file = OutputFile { template: &self.template, name: &self.name, dot: data.dot(), context, made };
                warnings = file.check(self.format, known)?;
            }
        }
        let bytes = made.map(|made| made.text.into_bytes());
        Ok((if self.is_optional { bytes } else { Some(bytes.unwrap_or_default()) }, warnings.after(missing)))
    }
}

/// Adds unread files to a diagnostic about the templates of a cluster type: they may contain the missing template.
pub(crate) fn with_unread(fleet: &Fleet, object: &Object<ClusterType>, diagnostic: Diagnostic) -> Diagnostic {
    const SHOWN_MAX: usize = 3;
    let spec = &object.spec;
    let fields = [("reconciler", &spec.reconciler), ("namespaceService", &spec.namespace_service)];
    let is_about = |field: &str| {
        let origin = Origin::field(&object.key(), FieldPath::from(["spec", field]));
        diagnostic.labels.first().is_some_and(|label| label.origin == origin)
    };
    if diagnostic.code != Code::MissingTemplate || fleet.unread.is_empty() {
        return diagnostic;
    }
    let name = fields.iter().find(|(field, _)| is_about(field)).map_or(&spec.config_type, |(_, name)| name);
    let is_template = |key: &ObjectKey| key.kind == Kind::Template && key.name == *name;
    // If there are many, show none: the first ones would depend on the order of files.
    let with_places = |diagnostic: Diagnostic, unread: &[&UnreadPart], text: &str| {
        let shown = if unread.len() > SHOWN_MAX { &[] } else { unread };
        shown.iter().fold(diagnostic, |diagnostic, unread| diagnostic.at(unread.origin.clone(), text))
    };
    let unread_template: Vec<_> =
        fleet.unread.iter().filter(|unread| unread.object.as_ref().is_some_and(is_template)).collect();
    if !unread_template.is_empty() {
        let broken = Diagnostic { message: format!("template `{name}` is broken"), help: Vec::new(), ..diagnostic };
        return with_places(broken, &unread_template, "the error is here").help("fix the template");
    }
    let mut files: Vec<_> = fleet.unread.iter().filter(|unread| unread.object.is_none()).collect();
    files.dedup_by_key(|unread| unread.file);
    if files.is_empty() {
        return diagnostic;
    }
    let help = vec!["fix the unreadable objects; the template may be one of them".to_owned()];
    with_places(Diagnostic { help, ..diagnostic }, &files, "not understood")
}

fn missing(parsed: &ParsedTemplates, object: &Object<ClusterType>, field: &str, name: &str) -> Diagnostic {
    let key = object.key();
    let origin = Origin::field(&key, FieldPath::from(["spec", field]));
    let diagnostic = Diagnostic::error(Code::MissingTemplate, format!("there is no template `{name}`"))
        .at(origin, format!("required by cluster type `{}`", object.name));
    let names: Vec<_> = parsed.keys().map(|name| format!("`{name}`")).collect();
    let help = if names.is_empty() {
        "the environment has no templates: is a `BaseRepo` missing?".to_owned()
    } else {
        format!("there are {}", names.join(", "))
    };
    diagnostic.help(help).about(&key)
}
