//! Edits of several branches in one step: shows their plans, refuses new errors, then writes, commits or proposes them all.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use authoring::additions::PlacedObject;
use authoring::renames::Renaming;
use delivery::output::changes::markdown;
use git::checkout::Committed;
use git::{Edit, Edits};
use model::kind::Kind;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use workbench::answers::branch_edit::{EditPlan, EditedFile, ProposalFields};
use workbench::branch::{ControlPlaneBranch, EditComparison, NewProposal, ProposalResult};
use workbench::diagnostics::DiagnosticReport;

use crate::arguments::{EditOptions, Format};
use crate::commands::branch_edit::{plan_text, refuse_errors};
use crate::configuration::Settings;
use crate::exit::Exit;
use crate::progress::Watch;
use crate::terminal::{count, named};
use crate::{compiling, paint, reporting, terminal};

/// The maximum number of files that are listed.
const LISTED_MAX: usize = 20;

/// A branch with its edits.
pub(super) struct Part {
    pub(super) branch: ControlPlaneBranch,
    pub(super) renaming: Renaming,
    pub(super) edits: Edits,
}

impl Part {
    /// The path of a file for people: that of the working tree, or with the repository and the branch.
    fn shown(&self, path: &str) -> String {
        let shown = self.branch.shown(path);
        if self.branch.root().is_some() {
            return shown;
        }
        format!("{}@{shown}", self.branch.url().label())
    }
}

/// The rename of a workload or a target in several branches.
pub(super) struct JointEdit<'a> {
    pub(super) kind: Kind,
    pub(super) workload: &'a str,
    /// The name before, and the new one.
    pub(super) names: (&'a str, &'a str),
    /// The branches. Those without edits are left out of the answer.
    pub(super) parts: Vec<Part>,
    /// The position of the main branch, which knows the working trees of the control plane.
    pub(super) main: usize,
    pub(super) options: &'a EditOptions,
    pub(super) settings: &'a Settings,
}

/// What was done with a branch.
#[derive(Default)]
struct Done {
    committed: Option<Committed>,
    proposed: Option<ProposalResult>,
}

impl JointEdit<'_> {
    /// Shows the plans, and carries the edits out if they add no errors.
    pub(super) fn finish(mut self) -> anyhow::Result<Exit> {
        let mut watch = Watch::start();
        let branches: Vec<_> = self.parts.iter().map(|part| (&part.branch, &part.edits)).collect();
        let main = self.parts.get(self.main);
        let changes = main.map(|main| main.branch.joint_changes(&branches)).unwrap_or_default();
        let comparisons = changes.iter().map(|change| compiling::compare(change, &watch));
        let comparisons = comparisons.collect::<anyhow::Result<Vec<_>>>()?;
        watch.end();
        if comparisons.iter().any(|comparison| !comparison.new_errors().is_empty()) {
            return refuse_errors(&comparisons, self.options.output);
        }
        self.parts.retain(|part| !part.edits.is_empty());
        let done = if self.options.dry_run { Vec::new() } else { self.carry_out(&comparisons)? };
        self.show(&comparisons, &done)?;
        Ok(Exit::Good)
    }

    /// All branches are checked before the first one is written.
    fn carry_out(&self, comparisons: &[EditComparison<'_>]) -> anyhow::Result<Vec<Done>> {
        if self.options.propose {
            return self.parts.iter().map(|part| self.propose(part, comparisons)).collect();
        }
        self.parts.iter().try_for_each(|part| part.branch.check_writable())?;
        self.parts.iter().try_for_each(|part| part.branch.write(&part.edits))?;
        let title = self.title();
        let commit = |part: &Part| {
            let committed = self.options.commit.then(|| part.branch.commit(&part.edits, &title)).transpose()?;
            Ok(Done { committed, proposed: None })
        };
        self.parts.iter().map(commit).collect()
    }

    fn propose(&self, part: &Part, comparisons: &[EditComparison<'_>]) -> anyhow::Result<Done> {
        let (old, new) = self.names;
        let environment = part.branch.environment().map(|name| format!("{name}-")).unwrap_or_default();
        let word = if self.kind == Kind::Workload { "workload" } else { "target" };
        let branch = format!("rename/{environment}{word}-{old}-to-{new}");
        let title = self.title();
        let body = |characters_max: usize| {
            let mut text = format!("{title} in {}.\n\nFiles:\n", part.branch.description());
            for path in part.edits.paths().take(LISTED_MAX) {
                let _ = writeln!(text, "- {}", markdown::code(path));
            }
            if self.parts.len() > 1 {
                text.push_str("\nMerge together with the same rename in:\n");
                for other in self.parts.iter().filter(|other| !std::ptr::eq(*other, part)) {
                    let _ = writeln!(text, "- {}", other.branch.description());
                }
            }
            for comparison in comparisons {
                let plan = plan_text(comparison);
                let _ = write!(text, "\n{}", markdown::block(plan.trim_matches('\n')));
            }
            model::excerpt::first(&text, characters_max)
        };
        let text = NewProposal { edits: &part.edits, branch: &branch, title: &title, body: &body };
        let hosts = self.settings.hosts()?.for_deliveries();
        let proposed = part.branch.propose(text, hosts.as_ref())?;
        Ok(Done { committed: None, proposed: Some(proposed) })
    }

    fn title(&self) -> String {
        self.options.message.clone().unwrap_or_else(|| format!("Rename {}", self.what()))
    }

    /// The renamed object: `Workload shop to store`, or `target eu of Workload shop to europe`.
    fn what(&self) -> String {
        let (old, new) = self.names;
        match self.kind {
            Kind::Workload => format!("Workload {old} to {new}"),
            _ => format!("target {old} of Workload {} to {new}", self.workload),
        }
    }

    /// The objects that named it. Renamed objects themselves are not among them.
    fn referring(&self) -> Vec<&PlacedObject> {
        let mut found: Vec<_> = self.parts.iter().flat_map(|part| &part.renaming.referring).collect();
        found.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
        found.dedup_by(|one, other| (one.kind, &one.name) == (other.kind, &other.name));
        found
    }

    fn show(&self, comparisons: &[EditComparison<'_>], done: &[Done]) -> anyhow::Result<()> {
        let mut report = DiagnosticReport::new();
        comparisons.iter().for_each(|comparison| report.add_new_warnings(comparison));
        if self.options.output != Format::Human {
            let answer = self.answer(comparisons, done, &report)?;
            terminal::answer(&terminal::structured(&json!(answer), self.options.output))?;
            return Ok(());
        }
        reporting::to_stderr(&report)?;
        let mut text = self.headline();
        let shown = comparisons.iter().filter(|comparison| !comparison.planned().plan.is_empty());
        shown.for_each(|comparison| text.push_str(&plan_text(comparison)));
        text.push_str(&self.next(done));
        terminal::answer_fitted(&text, paint::plan)?;
        Ok(())
    }

    fn headline(&self) -> String {
        let verb = if self.options.dry_run { "Would rename" } else { "Renamed" };
        let paths = |part: &Part| part.edits.paths().map(|path| part.shown(path)).collect::<Vec<_>>();
        let paths: Vec<_> = self.parts.iter().flat_map(paths).collect();
        let of = if self.parts.len() > 1 { format!(" of {}", branches(self.parts.len())) } else { String::new() };
        let mut text = format!("{verb} {} in {}{of}\n", self.what(), count(paths.len(), "file"));
        for path in paths.iter().take(LISTED_MAX) {
            let _ = writeln!(text, "  {path}");
        }
        if let Some(more) = paths.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
            let _ = writeln!(text, "  … and {more} more");
        }
        let referring: Vec<_> =
            self.referring().into_iter().map(|object| format!("{} {}", object.kind, object.name)).collect();
        if !referring.is_empty() {
            let _ = writeln!(text, "  {} that named it: {}", count(referring.len(), "object"), named(&referring));
        }
        text
    }

    fn next(&self, done: &[Done]) -> String {
        if self.options.dry_run {
            return "\nNothing is written: this was a dry run\n".to_owned();
        }
        let mut text = String::new();
        for (part, done) in self.parts.iter().zip(done) {
            match done {
                Done { proposed: Some(proposed), .. } => {
                    let _ = write!(text, "\n{}", proposed.text());
                }
                Done { committed: Some(committed), .. } => {
                    let (name, id) = (part.branch.committed_to(), committed.id.short());
                    let _ =
                        write!(text, "\nCommitted to {name} as {id}{}\n{}", self.repository(part), committed.messages);
                }
                Done { .. } => {
                    let root = part.branch.shown_root();
                    let git =
                        if root.as_os_str() == "." { "git".to_owned() } else { format!("git -C {}", root.display()) };
                    let _ = write!(text, "\nNot committed yet: `{git} add --all && {git} commit`\n");
                }
            }
        }
        if self.parts.len() > 1 {
            text.push_str("\nBring all of them to their branches together: until then, policies and targets name different things\n");
        }
        text
    }

    /// The repository of a branch, if there are several.
    fn repository(&self, part: &Part) -> String {
        let urls: BTreeSet<_> = self.parts.iter().map(|part| part.branch.url().as_str()).collect();
        if urls.len() > 1 { format!(" in {}", part.branch.url()) } else { String::new() }
    }

    fn answer(
        &self,
        comparisons: &[EditComparison<'_>],
        done: &[Done],
        report: &DiagnosticReport<'_>,
    ) -> anyhow::Result<RenameFields> {
        let (old, new) = self.names;
        let object = RenamedFields { kind: self.kind.name(), old: old.to_owned(), new: new.to_owned() };
        let parts = self.parts.iter().enumerate();
        let branches = parts.map(|(position, part)| BranchFields::new(part, done.get(position)));
        let referring = self.referring().into_iter();
        let referring =
            referring.map(|object| ReferringFields { kind: object.kind.name(), name: object.name.to_string() });
        Ok(RenameFields {
            action: "rename",
            objects: [object],
            branches: branches.collect(),
            referring: referring.collect(),
            is_written: !self.options.dry_run && !self.options.propose,
            plans: comparisons.iter().map(EditPlan::new).collect::<Result<_, _>>()?,
            report: report.to_json(),
        })
    }
}

/// The rename of a workload or a target.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RenameFields {
    /// `rename`.
    action: &'static str,
    #[schema(value_type = Vec<RenamedFields>)]
    objects: [RenamedFields; 1],
    branches: Vec<BranchFields>,
    referring: Vec<ReferringFields>,
    /// Whether files of the working trees are changed.
    is_written: bool,
    /// For each environment that changes, the fields of `plans[]` of `plan`, and its name in `environment`.
    #[schema(value_type = Vec<Object>)]
    plans: Vec<EditPlan>,
    /// The new warnings, as in `check -o json`; the errors, if the rename is refused.
    #[schema(value_type = Object)]
    report: Value,
}

/// A renamed object.
#[derive(Serialize, ToSchema)]
struct RenamedFields {
    /// The kind of a renamed object, also `DeploymentTarget` for a target of a `Workload`.
    kind: &'static str,
    /// Its name before.
    old: String,
    /// Its new name.
    new: String,
}

/// A branch that is edited.
#[derive(Serialize, ToSchema)]
struct BranchFields {
    /// The URL of the repository of a branch that is edited.
    repository: String,
    /// The branch.
    branch: String,
    /// The environment of the branch; `null` for other branches.
    environment: Option<String>,
    files: Vec<EditedFile>,
    /// The id of the commit, with `--commit`.
    commit: Option<String>,
    /// What is proposed, with `--propose`; else `null`. The fields of `proposal` of `add`.
    #[schema(value_type = Option<Object>)]
    proposal: Option<ProposalFields>,
}

/// An object that named the renamed one.
#[derive(Serialize, ToSchema)]
struct ReferringFields {
    /// The kind of an object that named it.
    kind: &'static str,
    /// The name of this object.
    name: String,
}

impl BranchFields {
    fn new(part: &Part, done: Option<&Done>) -> Self {
        let Part { branch, edits, .. } = part;
        let file = |(path, edit): (&Arc<str>, &Edit)| EditedFile::new(branch, path, matches!(edit, Edit::Removed));
        Self {
            repository: branch.url().as_str().to_owned(),
            branch: branch.name().to_string(),
            environment: branch.environment().map(ToString::to_string),
            files: edits.iter().map(file).collect(),
            commit: done.and_then(|done| done.committed.as_ref()).map(|committed| committed.id.to_string()),
            proposal: done.and_then(|done| done.proposed.as_ref()).map(ProposalFields::new),
        }
    }
}

fn branches(number: usize) -> String {
    if number == 1 { "1 branch".to_owned() } else { format!("{number} branches") }
}
