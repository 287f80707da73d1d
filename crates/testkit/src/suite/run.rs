//! The results of a case: the diagnostics and the tree, in the notation of cases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use engine::compile::Compiled;
use engine::layout::{Folder, Layout};
use engine::output::{Destination, Output, assemble, destination_problems, layout};
use model::diagnostic::{AssignmentId, Diagnostic, Origin, merged};
use model::fleet::{AuthorRole, Fleet, FleetFile, FleetInput};
use model::git_id::GitId;
use model::locate::Locator;
use model::name::{EnvironmentName, RegistrationName};
use model::read::Kustomized;
use model::source::{File, Files, Source};
use model::tree::{Child, Entry, Open, OpenError, Sealed, Tree, closed};

use super::{Case, limited};

/// The results of a case.
#[derive(Clone, Debug)]
pub struct CaseOutcome {
    /// The diagnostics, in the notation of cases.
    pub says: String,
    /// The files of the tree, in the notation of cases.
    pub makes: String,
    /// The tree.
    pub tree: Tree,
    /// The diagnostics.
    pub diagnostics: Vec<Diagnostic>,
}

/// Runs a case.
///
/// # Errors
/// Returns an error if the case contains an invalid part, such as an invalid name.
pub fn run(case: &Case) -> Result<CaseOutcome, String> {
    run_with(case, &case.files())
}

/// Runs a case with these input files, in this order, instead of its own.
///
/// # Errors
/// See [`run`].
pub fn run_with(case: &Case, files: &[(String, Vec<u8>)]) -> Result<CaseOutcome, String> {
    let mut previous = match &case.before {
        Some(before) => run(before)?.tree,
        None => Tree::default(),
    };
    for (path, text) in &case.branch {
        previous.write(path, text.as_bytes());
    }
    let (fleet, mut diagnostics) = fleet(case, files)?;
    let fleet = Arc::new(fleet);
    let compiled = Compiled::new(&fleet);
    let open = |sealed: &Sealed| compiled.open(sealed);
    let output = assemble(&compiled, &previous, &destination(case, &fleet)?, &open);
    let mut output = output.map_err(|error| error.to_string())?;
    output.tree = whole(&output.tree, &open).map_err(|error| error.to_string())?;
    diagnostics.extend(compiled.diagnostics());
    diagnostics.extend(output.diagnostics.iter().cloned());
    diagnostics.extend(destination_problems(&fleet));
    let diagnostics = merged(diagnostics);
    let mut locator = Locator::new(&fleet);
    let says = diagnostics.iter().map(|diagnostic| said(diagnostic, &mut locator)).collect();
    let makes = listing(&previous, &output, &compiled);
    Ok(CaseOutcome { says, makes, tree: output.tree, diagnostics })
}

/// A tree with the contents of all files that were sealed in memory.
fn whole(tree: &Tree, open: &Open<'_>) -> Result<Tree, OpenError> {
    let mut whole = Tree::default();
    for file in tree.files(open) {
        let (path, entry) = file?;
        whole.put(&path, Child::File(entry), &closed)?;
    }
    Ok(whole)
}

fn destination(case: &Case, fleet: &Fleet) -> Result<Destination, String> {
    let path = fleet.gitops_repos.values().next().map_or("", |object| &object.spec.place.path);
    let folder = Folder::parse(path).ok_or_else(|| format!("the path {path:?} leads out of the repository"))?;
    let layout = fleet.gitops_repos.values().next().map_or(Layout::Plain, |object| layout(object));
    Ok(Destination { folder, layout, promoted_commit: fleet.promoted_commit().cloned(), adopt: case.adopt.clone() })
}

/// Builds the fleet from these files.
fn fleet(case: &Case, texts: &[(String, Vec<u8>)]) -> Result<(Fleet, Vec<Diagnostic>), String> {
    let mut files = Files::default();
    let mut contents = Vec::new();
    for (path, text) in texts {
        let place = |path: &str| path.split_once(':').map(|(place, _)| place.to_owned());
        let beside = texts.iter().filter(|(other, _)| place(other) == place(path));
        let kustomized = Kustomized::from_paths(beside.map(|(other, _)| other.rsplit(':').next().unwrap_or(other)));
        let (role, source, path) = whose(path)?;
        if !kustomized.is_read(path) {
            continue;
        }
        let id = GitId::of_blob(text);
        let file = files.add(File { source: source.into(), path: path.into(), id, content: text.as_slice().into() });
        contents.push(FleetFile::read(role, file, &files));
    }
    limited::apply(&mut contents, &files);
    let unavailable = case.unavailable.iter().map(|name| RegistrationName::new(name.as_str()));
    let unavailable = unavailable.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let environment = EnvironmentName::new(Arc::clone(&case.environment)).map_err(|error| error.to_string())?;
    Ok(Fleet::build(FleetInput { environment, files: Arc::new(files), contents, unavailable }))
}

/// The role, source and path of a file. A path `NAME@REVISION:PATH` belongs to the application repository of `NAME`, and `base/NAME@REVISION:PATH` to the
/// base repository of `BaseRepo` `NAME`.
fn whose(path: &str) -> Result<(AuthorRole, Source, &str), String> {
    let Some((place, path)) = path.split_once(':') else {
        return Ok((AuthorRole::Platform, Source::directory(), path));
    };
    let (name, revision) = place.split_once('@').ok_or_else(|| format!("{place:?} has no revision"))?;
    if let Some(base) = name.strip_prefix(limited::PREFIX) {
        let source =
            Source { label: base.into(), url: "".into(), revision: revision.into(), commit: None, is_pinned: false };
        return Ok((AuthorRole::Platform, source, path));
    }
    let registration = RegistrationName::new(name).map_err(|error| error.to_string())?;
    let source =
        Source { label: name.into(), url: "".into(), revision: revision.into(), commit: None, is_pinned: false };
    Ok((AuthorRole::Application(registration), source, path))
}

/// A diagnostic in the notation of cases.
pub(crate) fn said(diagnostic: &Diagnostic, locator: &mut Locator<'_>) -> String {
    let mut place = |origin: &Origin| {
        let place = locator.locate(origin);
        place.map_or("(nowhere)".to_owned(), |place| {
            let position = locator.position(&place);
            format!("{}:{}:{}", locator.file(&place), position.line, position.column)
        })
    };
    let mut text = format!("{}[{}] ", diagnostic.severity, diagnostic.code);
    let mut labels = diagnostic.labels.iter();
    let first = labels.next();
    if let Some(first) = first {
        let _ = write!(text, "{} ", place(&first.origin));
    }
    let _ = writeln!(text, "{}", diagnostic.message);
    if let Some(first) = first.filter(|first| !first.text.is_empty()) {
        let _ = writeln!(text, "  here: {}", first.text);
    }
    for label in labels {
        let line = format!("  {}: {}", place(&label.origin), label.text);
        let _ = writeln!(text, "{}", line.trim_end_matches(": "));
    }
    if !diagnostic.assignments.is_empty() {
        let names: Vec<_> = diagnostic.assignments.iter().map(ToString::to_string).collect();
        let verb = if diagnostic.is_error() { "stops" } else { "reaches" };
        let _ = writeln!(text, "  {verb} {}", names.join(", "));
    }
    for note in &diagnostic.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    for help in &diagnostic.help {
        let _ = writeln!(text, "  help: {help}");
    }
    text
}

/// The files of a tree, one line for each folder. If the branch held something before, each file has its change.
fn listing(previous: &Tree, output: &Output, compiled: &Compiled) -> String {
    let mut folders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (before, after) = (files(previous), files(&output.tree));
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for path in paths {
        let (folder, name) = path.rsplit_once('/').map_or(("", path.as_str()), |(folder, name)| (folder, name));
        let mark = match (before.get(path), after.get(path)) {
            _ if previous.is_empty() => "",
            (None, _) => "+",
            (Some(_), None) => "-",
            (Some(old), Some(new)) if old == new => "=",
            _ => "~",
        };
        folders.entry(folder).or_default().push(format!("{mark}{name}"));
    }
    let width = folders.keys().map(|folder| folder.len()).max().unwrap_or_default() + 1;
    let mut text = String::new();
    for (folder, names) in folders {
        let _ = write!(text, "{:width$}  {}", format!("{folder}/"), names.join(" "));
        text.push_str(&remarks(folder, output, compiled));
        text.push('\n');
    }
    text
}

fn files(tree: &Tree) -> BTreeMap<String, Entry> {
    tree.files(&closed).filter_map(Result::ok).collect()
}

/// The remarks about the folder of an assignment.
fn remarks(folder: &str, output: &Output, compiled: &Compiled) -> String {
    let is_folder = |id: &AssignmentId| folder == id.to_string() || folder.ends_with(&format!("/{id}"));
    let found = compiled.assignments().filter_map(|assignment| Some((assignment.id()?, assignment)));
    let Some((id, assignment)) = found.into_iter().find(|(id, _)| is_folder(id)) else { return String::new() };
    let kept = if output.kept.contains(&id) { "  (kept)" } else { "" };
    let policies: Vec<_> = assignment.policies().iter().map(ToString::to_string).collect();
    if policies.len() > 1 { format!("{kept}  by {}", policies.join(", ")) } else { kept.to_owned() }
}

/// The text of a file in the outcome.
pub(super) fn text_of(tree: &Tree, path: &str) -> Option<String> {
    let entry = tree.file(path, &closed).ok()??;
    entry.blob.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}
