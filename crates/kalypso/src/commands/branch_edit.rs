//! Edits of one branch of the control plane: shows their plans, refuses new errors, then writes, commits or proposes them.

mod edit_text;
pub(super) mod pair_changes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use authoring::branch_files::{BranchFiles, EditRefusal};
use delivery::access::RepositoryAccess;
use model::locate::Locator;
use model::name::EnvironmentName;
pub(super) use workbench::answers::branch_edit::{BranchEdit, EditVerb, ExpectedValues};
use workbench::answers::branch_edit::{BranchEditFields, EditOutcome, check_expected, refused_edit};
use workbench::branch::{
    BranchOf, Changes, ControlPlaneBranch, EditComparison, EditPlace, EditResult, NewProposal, git_edits,
};
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};
use workbench::source::environment_name;

use crate::arguments::{EditOptions, Format};
use crate::configuration::Settings;
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{compiling, loading, reporting, terminal};

pub(super) use self::edit_text::{ProposalBody, git_command, past, plan_text};

/// A branch that is open for an edit.
pub(super) struct OpenBranch {
    pub(super) branch: ControlPlaneBranch,
    settings: Settings,
    /// The progress of the command.
    pub(super) watch: Watch,
}

impl OpenBranch {
    /// Opens the branch of an environment, or the main branch.
    pub(super) fn new(options: &EditOptions, environment: Option<&str>) -> anyhow::Result<Self> {
        Self::of_source(options, environment, None)
    }

    /// The same; or the branch of another repository that the environment reads, by its `BaseRepo` or its URL.
    pub(super) fn of_source(
        options: &EditOptions,
        environment: Option<&str>,
        source: Option<&str>,
    ) -> anyhow::Result<Self> {
        let watch = Watch::start();
        let settings = Settings::read(options.config.as_deref())?;
        let access = loading::access_with(&settings, watch.progress())?;
        let environment: Option<EnvironmentName> = environment.map(environment_name).transpose()?;
        let of = match (&environment, source) {
            (Some(environment), Some(source)) => BranchOf::Source(environment, source),
            (Some(environment), None) => BranchOf::Environment(environment),
            (None, _) => BranchOf::Main,
        };
        let place =
            if options.propose { EditPlace::Head } else { EditPlace::WorkingTree(options.working_tree.as_deref()) };
        let branch = open(&access, of, place)?;
        if !options.propose && !options.dry_run {
            branch.check_writable()?;
        }
        Ok(Self { branch, settings, watch })
    }

    /// The files of the branch with their objects.
    pub(super) fn files(&self) -> BranchFiles<'_> {
        self.branch.objects(self.branch.files())
    }

    /// Shows the plans of an edit, and carries it out if it adds no errors. Or shows why it is refused.
    pub(super) fn finish(
        mut self,
        edit: Result<BranchEdit, EditRefusal>,
        options: &EditOptions,
    ) -> anyhow::Result<Exit> {
        let edit = match edit {
            Ok(edit) => edit,
            Err(refusal) => return refuse(self.watch, &refusal, options.output),
        };
        if options.output == Format::Human {
            edit.warnings.iter().for_each(|warning| terminal::warn(warning));
        }
        let request = (&edit, options);
        let edits = git_edits(&edit.files);
        let is_nothing = edits.is_empty() && edit.expected.is_none();
        let changes = if is_nothing { Changes::default() } else { self.branch.changes(&edits) };
        let comparisons = changes.changed.iter().map(|change| compiling::compare(change, &self.watch));
        let mut comparisons = comparisons.collect::<anyhow::Result<Vec<_>>>()?;
        self.watch.end();
        if let (Some(expected), [container]) = (&edit.expected, edit.objects.as_slice())
            && changes.pinned.is_empty()
            && !has_errors(&comparisons)
        {
            check_expected((expected, &container.name), &mut comparisons);
        }
        if has_errors(&comparisons) {
            return refuse_errors(&comparisons, options.output);
        }
        let done = self.carry_out(request, &comparisons)?;
        self.show(request, &EditOutcome { done, comparisons: &comparisons, changes: &changes })
    }

    fn carry_out(
        &self,
        (edit, options): (&BranchEdit, &EditOptions),
        comparisons: &[EditComparison<'_>],
    ) -> anyhow::Result<EditResult> {
        let edits = &git_edits(&edit.files);
        if edits.is_empty() {
            return Ok(EditResult::Nothing);
        }
        if options.dry_run {
            return Ok(EditResult::Shown);
        }
        let title = options.message.clone().unwrap_or_else(|| edit_text::title(edit));
        if options.propose {
            let environment = self.branch.environment().map(|name| format!("{name}-")).unwrap_or_default();
            let branch = format!("{}/{environment}{}", edit.verb.word(), edit.slug);
            let of = self.branch.description();
            let what = edit_text::title(edit);
            let body = ProposalBody { title: &what, of: &of, files: &edit.files, comparisons };
            let body = |characters_max| body.text(characters_max);
            let text = NewProposal { edits, branch: &branch, title: &title, body: &body };
            let hosts = self.settings.hosts()?.for_deliveries();
            return Ok(EditResult::Proposed(self.branch.propose(text, hosts.as_ref())?));
        }
        self.branch.write(edits)?;
        if options.commit {
            Ok(EditResult::Committed(self.branch.commit(edits, &title)?))
        } else {
            Ok(EditResult::Written)
        }
    }

    fn show(&self, (edit, options): (&BranchEdit, &EditOptions), outcome: &EditOutcome<'_>) -> anyhow::Result<Exit> {
        if options.output == Format::Human {
            let mut report = DiagnosticReport::new();
            outcome.comparisons.iter().for_each(|comparison| report.add_new_warnings(comparison));
            reporting::to_stderr(&report)?;
            let text = edit_text::text(&self.branch, edit, outcome);
            terminal::answer_fitted(&text, crate::paint::plan)?;
        } else {
            let answer = BranchEditFields::new(&self.branch, edit, outcome)?;
            terminal::answer(&terminal::structured(&answer, options.output))?;
        }
        Ok(Exit::Good)
    }
}

/// Opens a branch, and prints a note if a topic branch is edited instead of it.
pub(super) fn open(
    access: &Arc<RepositoryAccess>,
    of: BranchOf<'_>,
    place: EditPlace<'_>,
) -> anyhow::Result<ControlPlaneBranch> {
    let branch = ControlPlaneBranch::open(access, of, place)?;
    branch.topic_note().iter().for_each(|note| terminal::note(note));
    Ok(branch)
}

fn has_errors(comparisons: &[EditComparison<'_>]) -> bool {
    comparisons.iter().any(|comparison| !comparison.new_errors().is_empty())
}

/// Shows the errors that an edit would add. Nothing is written.
pub(super) fn refuse_errors(comparisons: &[EditComparison<'_>], format: Format) -> anyhow::Result<Exit> {
    let mut report = DiagnosticReport::new();
    comparisons.iter().for_each(|comparison| report.add_new_errors(comparison));
    refuse_report(&report, format)
}

/// Shows a refusal. Nothing is written.
pub(super) fn refuse(mut watch: Watch, refusal: &EditRefusal, format: Format) -> anyhow::Result<Exit> {
    watch.end();
    let mut report = DiagnosticReport::new();
    let batch = DiagnosticBatch { diagnostics: &refusal.diagnostics, ..DiagnosticBatch::default() };
    report.add(batch, &mut Locator::of_files(&refusal.files));
    refuse_report(&report, format)
}

fn refuse_report(report: &DiagnosticReport<'_>, format: Format) -> anyhow::Result<Exit> {
    if format == Format::Human {
        reporting::to_stderr(report)?;
        return Err(Failure::refused("nothing is written, because of these errors").into());
    }
    terminal::answer(&terminal::structured(&refused_edit(report), format))?;
    Ok(Exit::Problems)
}

/// Labels on a command line: `a=b,c=d`, in several options. The order stays.
pub(super) fn labels(options: &[String]) -> Result<authoring::objects::LabelList, Failure> {
    let mut found = Vec::new();
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for text in options.iter().flat_map(|option| option.split(',')).map(str::trim).filter(|text| !text.is_empty()) {
        let usage = |reason: &str| Failure::usage(format!("`{text}` is not a label: {reason}"));
        let (key, value) = text.split_once('=').ok_or_else(|| usage("write KEY=VALUE"))?;
        model::label::check_key(key).map_err(|reason| usage(&format!("of the key, {reason}")))?;
        model::label::check_value(value).map_err(|reason| usage(&format!("of the value, {reason}")))?;
        match known.insert(key.to_owned(), value.to_owned()) {
            Some(other) if other != value => {
                return Err(Failure::usage(format!("label `{key}` has two values: `{other}` and `{value}`")));
            }
            Some(_) => {}
            None => found.push((key.into(), value.into())),
        }
    }
    Ok(found)
}

/// Names on a command line, with ranges.
pub(super) fn names(texts: &[String]) -> Result<Vec<Arc<str>>, Failure> {
    let mut names = Vec::new();
    for text in texts {
        let expanded = authoring::name_ranges::expand(text).map_err(|error| Failure::usage(error.to_string()))?;
        names.extend(expanded.into_iter().map(Arc::from));
    }
    Ok(names)
}

/// The same, each name once.
pub(super) fn different_names(texts: &[String]) -> Result<Vec<Arc<str>>, Failure> {
    let mut names = names(texts)?;
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(Arc::clone(name)));
    Ok(names)
}

/// The words for objects in the name of a proposal's branch.
pub(super) fn slug(word: &str, names: &[Arc<str>]) -> String {
    let more = if names.len() > 1 { format!("-and-{}-more", names.len() - 1) } else { String::new() };
    format!("{word}-{}{more}", names.first().map(|name| &**name).unwrap_or_default())
}

/// A name on a command line.
pub(super) fn name<T>(text: &str, noun: &str) -> Result<T, Failure>
where
    T: for<'t> TryFrom<&'t str, Error = model::name::NameError>,
{
    T::try_from(text).map_err(|error| Failure::usage(format!("`{text}` is not the name of a {noun}: {error}")))
}
