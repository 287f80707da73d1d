//! `kalypso plan`: what would change in the GitOps branch, by assignment and by value.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use engine::compile::{Compiled, Prepared};
use engine::output::{Destination, Folder, Output, Removal, assemble};
use engine::plan::{Because, Change, ChangeKind, Comparison, FileChange, Plan, Reason, Side, ValueChange};
use model::locate::Locator;
use model::object::environment::RepositoryPlace;
use model::object::{GitOpsRepo, Object};
use model::tree::{Blob, Tree};
use serde_json::{Value as Json, json};

use crate::arguments::{self, Format};
use crate::exit::{Exit, Failure};
use crate::loading::{self, Branch, Loaded};
use crate::report::{Batch, Fallback, Report};
use crate::{folder, reporting, terminal};

pub(super) fn run(options: &arguments::Plan) -> anyhow::Result<Exit> {
    let loaded = loading::environment(&options.source, &options.environment)?;
    let prepared = Prepared::new(&loaded.fleet);
    let compiled = prepared.compile();
    let mut report = Report::new();
    let mut answers = Vec::new();
    for destination in destinations(options, &loaded)? {
        let planned = Planned::new(&loaded, (&prepared, &compiled), destination, options.adopt);
        let diagnostics = super::render::all_diagnostics(&loaded, &compiled, &planned.output);
        let branch = &planned.target.branch;
        let fallback = if branch.tree.is_empty() { Fallback::Nothing } else { Fallback::LastGood(branch.commit()) };
        loaded.report(&mut report, Batch { fallback, ..reporting::batch(&diagnostics, compiled.assignments.len()) });
        answers.push(planned);
    }
    match options.output {
        Format::Human => {
            reporting::to_stderr(&report)?;
            let texts = answers.iter().map(|planned| planned.text(options, &loaded));
            terminal::answer(&texts.collect::<Vec<_>>().join("\n"))?;
        }
        format => {
            let plans: Vec<_> = answers.iter().map(|planned| planned.answer(options, &loaded)).collect();
            let answer =
                json!({"environment": options.environment, "plans": plans, "report": reporting::json(&report)});
            terminal::answer(&terminal::structured(&answer, format))?;
        }
    }
    let pending = answers.iter().any(|planned| !planned.plan.is_empty());
    let exit = if pending { Exit::Pending } else { Exit::Good };
    Ok(exit.unless(reporting::has_problems(&report, options.source.strict)))
}

/// The folder that a `GitOpsRepo`'s output lives under.
pub(super) fn folder_of(object: &Object<GitOpsRepo>) -> Result<Folder, Failure> {
    let path = &object.spec.place.path;
    Folder::parse(path).ok_or_else(|| {
        Failure::refused(format!(
            "GitOpsRepo `{}` has the path `{path}`, which leads out of the repository",
            object.name
        ))
    })
}

/// One place that the environment's output goes to.
pub(super) struct Target {
    /// What it is called.
    pub(super) name: String,
    /// Where it is.
    pub(super) place: RepositoryPlace,
    /// The folder that output lives under.
    pub(super) folder: Folder,
    /// What is there.
    pub(super) branch: Branch,
}

/// The places that the environment's output goes to.
pub(super) fn targets(loaded: &Loaded, only: Option<&str>) -> anyhow::Result<Vec<Target>> {
    let repos =
        loaded.fleet.gitops_repos.values().filter(|object| only.is_none_or(|name| object.name.as_str() == name));
    let mut found = Vec::new();
    for object in repos {
        let folder = folder_of(object)?;
        let branch = loaded.branch(&object.spec.place)?;
        let place = object.spec.place.clone();
        found.push(Target { name: object.name.to_string(), place, folder, branch });
    }
    if found.is_empty() {
        let message = match only {
            Some(name) => format!("{} has no GitOpsRepo `{name}`", loaded.fleet.environment),
            None => format!("{} has no GitOpsRepo: its output has nowhere to go", loaded.fleet.environment),
        };
        return Err(Failure::refused(message)
            .help("add a `GitOpsRepo` to the environment; `kalypso schema GitOpsRepo` prints its fields")
            .into());
    }
    Ok(found)
}

fn destinations(options: &arguments::Plan, loaded: &Loaded) -> anyhow::Result<Vec<Target>> {
    if let Some(against) = &options.against {
        let name = against.display().to_string();
        let branch = Branch::of_tree(name.clone(), folder::read(against)?);
        let folder =
            loaded.fleet.gitops_repos.values().next().map_or(Ok(Folder::default()), |object| folder_of(object))?;
        return Ok(vec![Target { name, place: nowhere(), folder, branch }]);
    }
    if options.source.from.is_some() && loaded.fleet.gitops_repos.is_empty() {
        let branch = Branch::of_tree("nothing".to_owned(), Tree::default());
        return Ok(vec![Target { name: "nothing".to_owned(), place: nowhere(), folder: Folder::default(), branch }]);
    }
    targets(loaded, options.gitops_repo.as_deref())
}

/// The place of what is in no repository.
fn nowhere() -> RepositoryPlace {
    RepositoryPlace { repo: "".into(), branch: "".into(), path: "".into() }
}

/// What changes in one place.
pub(super) struct Planned {
    pub(super) target: Target,
    pub(super) output: Output,
    pub(super) plan: Plan,
    pub(super) removal: Removal,
    old: Option<Loaded>,
}

impl Planned {
    pub(super) fn new(
        loaded: &Loaded,
        (prepared, compiled): (&Prepared<'_>, &Compiled),
        target: Target,
        adopt: bool,
    ) -> Self {
        let promoted_commit = loaded.fleet.promoted_commit().cloned();
        let destination = Destination { folder: target.folder.clone(), promoted_commit, adopt };
        let previous = &target.branch.tree;
        let output = assemble(compiled, previous, &destination);
        let old = target.branch.published_from(loaded);
        let old_prepared = old.as_ref().map(|old| Prepared::new(&old.fleet));
        let old_compiled = old_prepared.as_ref().map(Prepared::compile);
        let old_side = old_prepared.as_ref().zip(old_compiled.as_ref());
        let plan = engine::plan::plan(&Comparison {
            previous,
            output: &output,
            folder: &target.folder,
            new: Side { prepared, compiled },
            old: old_side.map(|(prepared, compiled)| Side { prepared, compiled }),
            content: &|id| target.branch.content(id),
        });
        let removal = Removal::between(previous, &output.tree, &target.folder);
        drop(old_compiled);
        drop(old_prepared);
        Self { target, output, plan, removal, old }
    }

    fn text(&self, options: &arguments::Plan, loaded: &Loaded) -> String {
        let mut text = format!("{} → {}\n\n", loaded.title(), self.target.branch.name);
        text.push_str(&self.summary(loaded));
        if options.diff {
            text.push('\n');
            let files = self.plan.changes.values().flat_map(|change| &change.files).chain(&self.plan.other_files);
            files.for_each(|change| text.push_str(&self.unified(change)));
        } else if !self.plan.is_empty() {
            text.push_str("\n  --diff shows every file\n");
        }
        text
    }

    /// The plan in words: counts, then groups of equal changes.
    pub(super) fn summary(&self, loaded: &Loaded) -> String {
        let plan = &self.plan;
        if plan.is_empty() {
            return format!("  nothing changes: {} as they should be\n{}", stay(plan.unchanged), self.failing());
        }
        let mut text = String::new();
        let count = |kind| plan.count(kind);
        let rows = [
            ("~", ChangeKind::Changed, "changes", "change"),
            ("+", ChangeKind::Added, "is added", "are added"),
            ("-", ChangeKind::Removed, "is removed", "are removed"),
        ];
        for (sign, kind, one, many) in rows {
            let number = count(kind);
            let verb = if number == 1 { one } else { many };
            let _ = writeln!(text, "  {sign} {} {verb}", terminal::count(number, "assignment"));
        }
        let _ = writeln!(text, "    {} as they are", stay(plan.unchanged));
        text.push_str(&self.failing());
        if self.removal.needs_confirmation() {
            let before = terminal::count(self.removal.before, "assignment");
            let _ = writeln!(
                text,
                "\n  this removes {} of {before}: publishing it directly needs --confirm",
                self.removal.removed
            );
        }
        text.push('\n');
        for (what, ids) in self.groups(loaded) {
            let _ = writeln!(text, "  {} {what}", named(&ids));
        }
        for change in &plan.other_files {
            let _ = writeln!(text, "  {} {}", sign(change.kind), change.path);
        }
        text
    }

    fn failing(&self) -> String {
        let (kept, missing) = (self.plan.kept.len(), self.plan.missing.len());
        let mut text = String::new();
        if kept > 0 {
            let keep = if kept == 1 { "keeps its" } else { "keep their" };
            let _ = writeln!(
                text,
                "  ! {} {keep} last good output, because of errors",
                terminal::count(kept, "assignment")
            );
        }
        if missing > 0 {
            let has = if missing == 1 { "has" } else { "have" };
            let _ =
                writeln!(text, "  ! {} {has} no output yet, because of errors", terminal::count(missing, "assignment"));
        }
        text
    }

    /// Equal changes with the assignments that they happen to, the largest groups first.
    fn groups(&self, loaded: &Loaded) -> Vec<(String, Vec<String>)> {
        let mut locators = Locators::new(self, loaded);
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (id, change) in &self.plan.changes {
            let whats = locators.whats(change);
            for what in whats {
                groups.entry(what).or_default().push(id.to_string());
            }
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by(|(left, a), (right, b)| b.len().cmp(&a.len()).then_with(|| left.cmp(right)));
        groups
    }

    fn unified(&self, change: &FileChange) -> String {
        let text = |blob: &Option<Blob>| {
            let bytes = blob.as_ref().and_then(|blob| match blob {
                Blob::Bytes(bytes) => Some(Arc::clone(bytes)),
                Blob::Existing(id) => self.target.branch.content(*id),
            });
            bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
        };
        let (before, after) = (text(&change.before), text(&change.after));
        let name = |side: &str, blob: &Option<Blob>| {
            if blob.is_some() { format!("{side}/{}", change.path) } else { "/dev/null".to_owned() }
        };
        let diff = similar::TextDiff::from_lines(&before, &after);
        diff.unified_diff().header(&name("a", &change.before), &name("b", &change.after)).to_string()
    }

    fn answer(&self, options: &arguments::Plan, loaded: &Loaded) -> Json {
        let mut locators = Locators::new(self, loaded);
        let changes: Vec<_> = self
            .plan
            .changes
            .iter()
            .map(|(id, change)| self.change_json((&id.to_string(), change), options, &mut locators))
            .collect();
        let plan = &self.plan;
        let ids = |ids: &std::collections::BTreeSet<model::diagnostic::AssignmentId>| {
            ids.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        json!({
            "gitopsRepo": self.target.name,
            "branch": self.target.branch.name,
            "commit": self.target.branch.commit().map(|commit| commit.to_string()),
            "tree": self.output.tree.id().to_string(),
            "counts": {
                "changed": plan.count(ChangeKind::Changed),
                "added": plan.count(ChangeKind::Added),
                "removed": plan.count(ChangeKind::Removed),
                "unchanged": plan.unchanged,
                "kept": plan.kept.len(),
                "missing": plan.missing.len(),
            },
            "needsConfirmation": self.removal.needs_confirmation(),
            "changes": changes,
            "otherFiles": plan.other_files.iter().map(|change| self.file_json(change, options)).collect::<Vec<_>>(),
            "kept": ids(&plan.kept),
            "missing": ids(&plan.missing),
        })
    }

    fn change_json(
        &self,
        (id, change): (&str, &Change),
        options: &arguments::Plan,
        locators: &mut Locators<'_>,
    ) -> Json {
        let values: Vec<_> = change
            .values
            .iter()
            .map(|value| {
                json!({
                    "key": value.path.to_string(),
                    "before": value.before,
                    "after": value.after,
                    "because": value.because.as_ref().and_then(|because| locators.place(because)),
                })
            })
            .collect();
        let reasons: Vec<_> = change.reasons.iter().map(|reason| locators.reason(reason)).collect();
        json!({
            "assignment": id,
            "kind": kind_word(change.kind),
            "workload": &*change.workload,
            "values": values,
            "reasons": reasons,
            "files": change.files.iter().map(|file| self.file_json(file, options)).collect::<Vec<_>>(),
        })
    }

    fn file_json(&self, change: &FileChange, options: &arguments::Plan) -> Json {
        let id = |blob: &Option<Blob>| blob.as_ref().map(|blob| blob.id().to_string());
        let mut json = json!({"path": &*change.path, "kind": kind_word(change.kind), "before": id(&change.before), "after": id(&change.after)});
        if options.diff {
            json["diff"] = self.unified(change).into();
        }
        json
    }
}

/// Finds places in the fleet that is and in the one that should be.
struct Locators<'a> {
    new: Locator<'a>,
    old: Option<Locator<'a>>,
}

impl<'a> Locators<'a> {
    fn new(planned: &'a Planned, loaded: &'a Loaded) -> Self {
        Self { new: Locator::new(&loaded.fleet), old: planned.old.as_ref().map(|old| Locator::new(&old.fleet)) }
    }

    fn place(&mut self, because: &Because) -> Option<String> {
        match because {
            Because::New(origin) => self.new.shown(origin),
            Because::Old(origin) => self.old.as_mut()?.shown(origin),
        }
    }

    /// What happens to an assignment: a line for each value, or one for the whole.
    fn whats(&mut self, change: &Change) -> Vec<String> {
        let workload = if change.workload.is_empty() { "" } else { &change.workload };
        let mark = sign(change.kind);
        let values = change.values.iter().map(|value| format!("{mark} {workload}   {}", self.value(value)));
        let mut whats: Vec<_> = values.collect();
        whats.extend(change.reasons.iter().map(|reason| format!("{mark} {workload}   {}", self.reason(reason))));
        if whats.is_empty() {
            whats.push(format!("{mark} {workload}"));
        }
        whats
    }

    fn value(&mut self, value: &ValueChange) -> String {
        let change = match (&value.before, &value.after) {
            (Some(before), Some(after)) => format!("{before} → {after}"),
            (None, Some(after)) => format!("(new) {after}"),
            (Some(before), None) => format!("{before} (gone)"),
            (None, None) => String::new(),
        };
        let because = value.because.as_ref().and_then(|because| self.place(because));
        let because = because.map_or_else(String::new, |place| format!("   because {place}"));
        format!("{}  {change}{because}", value.path)
    }

    fn reason(&mut self, reason: &Reason) -> String {
        match reason {
            Reason::AssignedBy(policies) => {
                let named = policies.iter().map(|(policy, origin)| match self.new.shown(origin) {
                    Some(place) => format!("policy {policy} ({place})"),
                    None => format!("policy {policy}"),
                });
                format!("assigned by {}", named.collect::<Vec<_>>().join(", "))
            }
            Reason::ClusterTypeGone => "its cluster type does not exist any more".to_owned(),
            Reason::TargetGone => "its deployment target does not exist any more".to_owned(),
            Reason::NotAssigned(policies) if policies.is_empty() => "no policy assigns it any more".to_owned(),
            Reason::NotAssigned(policies) => {
                let names: Vec<_> = policies.iter().map(ToString::to_string).collect();
                format!("no policy assigns it any more ({} did)", names.join(", "))
            }
            Reason::Template => "the same values, another template, label or manifest".to_owned(),
        }
    }
}

fn stay(count: usize) -> String {
    let verb = if count == 1 { "stays" } else { "stay" };
    format!("{} {verb}", terminal::count(count, "assignment"))
}

fn named(ids: &[String]) -> String {
    match ids {
        [one] => one.clone(),
        [first, ..] => format!("{:>5} × ({first} …)", terminal::thousands(ids.len())),
        [] => String::new(),
    }
}

fn sign(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "+",
        ChangeKind::Changed => "~",
        ChangeKind::Removed => "-",
    }
}

fn kind_word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Removed => "removed",
    }
}
