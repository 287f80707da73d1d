//! `kalypso add environment`: a new environment with a copy of another one's branch.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use authoring::branch_files::EditRefusal;
use authoring::file_edits::FileEdits;
use authoring::scaffold::copied_source::{CopiedSource, SourcePlace};
use authoring::scaffold::environment::{NewEnvironment, readme};
use authoring::scaffold::environment_copy::{BranchCopy, EnvironmentCopy, EnvironmentDeclarations};
use authoring::scaffold::platform::check_environment;
use delivery::access::{RepositoryAccess, destination_url};
use delivery::output::compilation::CompiledEnvironment;
use delivery::output::planned::{Planned, planned_targets};
use delivery::sources::loaded::Loaded;
use delivery::sources::pinned_repositories::PinnedRepositories;
use engine::output::{Adoption, destination_problems};
use git::load::Snapshot;
use git::{Commit, Revision};
use model::diagnostic::{Diagnostic, merged};
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;
use serde_json::{Value as Json, json};
use workbench::branch::{BranchOf, ControlPlaneBranch, EditPlace, plain_folder};
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};
use workbench::edited_repositories::{EditedRepositories, Next};
use workbench::platform::branch_copy::{self, NewCopy};
use workbench::source::{complete, environment_name, unknown_environment};

use super::declarations;
use crate::arguments::{AddEnvironment, Format};
use crate::commands::branch_edit::{git_edits, open, refuse};
use crate::commands::plan::summary;
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{compiling, loading, paint, reporting, terminal};

pub(in crate::commands) fn add(options: &AddEnvironment) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let access = loading::access(options.edit.config.as_deref(), watch.progress())?;
    let request = Request::new(options, &access)?;
    let edits = match request.edits()? {
        Ok(edits) => edits,
        Err(refusal) => return refuse(watch, &refusal, options.edit.output),
    };
    let loaded = Arc::new(complete(request.loaded(&access, &edits))?);
    let (compiled, mut known) = compiling::begin(&loaded, watch.progress());
    let compiled = Arc::new(compiled);
    let problems = errors(&loaded, &compiled);
    let earlier = request.earlier(&access);
    let before = errors(&earlier, &compiling::compile(&earlier, watch.progress()));
    watch.end();
    let is_new =
        |error: &&Diagnostic| before.iter().all(|other| (other.code, &other.object) != (error.code, &error.object));
    let new: Vec<_> = problems.iter().filter(is_new).cloned().collect();
    if !new.is_empty() {
        let mut report = DiagnosticReport::new();
        report.add_all(&loaded, DiagnosticBatch::of_compiled(&new, &compiled));
        reporting::to_stderr(&report)?;
        return Err(Failure::refused("nothing is written, because of these errors").into());
    }
    let mut plan = String::new();
    for target in planned_targets(&loaded, None, None)? {
        let environment = CompiledEnvironment { compiled: &compiled, known: &mut known };
        let planned = Planned::new(&loaded, environment, target, &Adoption::Nothing)?;
        let summary = summary::whole(&planned, &loaded);
        let _ = write!(plan, "\n{} → {}\n\n{}\n", request.to, planned.target.branch.name, summary.trim_end());
    }
    let done = if options.edit.dry_run { Done::default() } else { request.carry_out(&edits)? };
    if options.edit.output == Format::Human {
        request.show(&edits, &plan, &done)?;
    } else {
        let answer = request.answer(&edits, compiled.len(), &done);
        terminal::answer(&terminal::structured(&answer, options.edit.output))?;
    }
    Ok(Exit::Good)
}

/// A request for a new environment.
struct Request<'a> {
    options: &'a AddEnvironment,
    access: &'a RepositoryAccess,
    to: EnvironmentName,
    from: EnvironmentName,
    main: ControlPlaneBranch,
    source: ControlPlaneBranch,
    /// The place of the objects of `from`.
    place: RepositoryPlace,
    /// The heads of the main branch and of `from`'s branch.
    heads: [Commit; 2],
    /// Whether the working tree is of the repository that Kalypso reads, so that nothing has to be pushed.
    is_local: bool,
}

/// The edits of both branches.
struct BothEdits {
    main: FileEdits,
    copy: BranchCopy,
}

/// What was written.
#[derive(Default)]
struct Done {
    working_tree: Option<PathBuf>,
    commit: Option<String>,
}

impl<'a> Request<'a> {
    fn new(options: &'a AddEnvironment, access: &'a Arc<RepositoryAccess>) -> anyhow::Result<Self> {
        if options.edit.propose {
            let failure = Failure::usage("an environment can't be proposed: its branch has to exist first");
            return Err(failure
                .help("leave out --propose; push the new branch, and propose the change of main by hand")
                .into());
        }
        let (to, from) = (environment_name(&options.name)?, environment_name(&options.after)?);
        check_environment(&to).map_err(|error| Failure::usage(error.to_string()))?;
        let place = EditPlace::WorkingTree(options.edit.working_tree.as_deref());
        let main = open(access, BranchOf::Main, place)?;
        if !options.edit.dry_run {
            main.check_writable()?;
        }
        if main.environments().names.contains(&to) {
            return Err(Failure::refused(format!("there is an environment `{to}`")).into());
        }
        let source = open(access, BranchOf::Environment(&from), EditPlace::Head)?;
        if source.url() != main.url() {
            let message = format!("the objects of `{from}` are in another repository: {}", source.url());
            return Err(Failure::refused(message)
                .help("make a branch there, and declare the environment by hand")
                .into());
        }
        let resolve = |branch: &ControlPlaneBranch| {
            let resolved = access.repositories.resolve(branch.url(), &Revision::branch(&branch.name()));
            resolved.map_err(|error| Failure::outside(error.to_string()))
        };
        let heads = [resolve(&main)?, resolve(&source)?];
        let declared = main.environments().places.get(&from).cloned();
        let known = || delivery::reading::in_promotion_order(main.environments(), access);
        let place = declared.ok_or_else(|| unknown_environment(from.as_str(), &known()))?;
        let is_local = branch_copy::is_local(main.root(), main.url(), &access.settings.git);
        Ok(Self { options, access, to, from, main, source, place, heads, is_local })
    }

    /// The edits of both branches.
    fn edits(&self) -> anyhow::Result<Result<BothEdits, EditRefusal>> {
        let Self { to, from, place, .. } = self;
        let new = NewEnvironment { name: to, control_plane: &place.repo, gitops: "", path: &place.path };
        let main = match EnvironmentDeclarations(&declarations::read(&self.main)?).with(new, from) {
            Ok(main) => main,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let copy = EnvironmentCopy { from, to, is_empty: self.options.empty };
        let mut copy = match copy.branch(self.source.files(), &|place| self.exists(place)) {
            Ok(copy) => copy,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if let Some(name) = copy.shared_destinations.first() {
            let message = format!("GitOpsRepo `{name}` of {from} names neither branch nor path after its environment");
            let help = format!(
                "the copy would write to the same place: name its branch `{from}`, or put `{from}` into its path"
            );
            return Err(Failure::refused(message).help(help).into());
        }
        let description = readme(from);
        let is_ours = self.source.read(&description.path)?.is_some_and(|bytes| *bytes == *description.text.as_bytes());
        if is_ours {
            copy.edits.write(description.path, readme(to).text.into_bytes());
        }
        Ok(Ok(BothEdits { main, copy }))
    }

    /// Whether a place in another repository exists. The control plane will have the branch of the new environment, with the folders of the copied one.
    fn exists(&self, place: &SourcePlace<'_>) -> bool {
        let Ok(url) = destination_url(Some(self.access), place.repo) else { return false };
        let is_control_plane = self.access.settings.git.is_same_repository(&url, self.main.url());
        let is_new = is_control_plane && place.branch == self.to.as_str();
        let branch = if is_new { self.source.name() } else { place.branch.into() };
        let repositories = &self.access.repositories;
        let Ok(commit) = repositories.resolve(&url, &Revision::branch(&branch)) else { return false };
        let folder = place.folder.map(plain_folder).filter(|folder| !folder.is_empty());
        folder.is_none_or(|folder| matches!(repositories.folder(&commit, &folder), Ok(Some(_))))
    }

    /// What to do about a source that still has the branch or folder of the other environment.
    fn shared_source(&self, source: &CopiedSource) -> String {
        let Self { to, from, .. } = self;
        let CopiedSource { kind, name, path, repo, part, text, own, is_pinned } = source;
        let noun = part.noun();
        let reads = format!("{kind} `{name}` of {to} reads {noun} `{text}` of {repo}, like {from}");
        if *is_pinned {
            return format!("{reads}, at a commit: name {noun} and commit of {to} in `{path}` on branch `{to}`");
        }
        format!("{reads}: no {noun} `{own}` exists; create it, then name it in `{path}` on branch `{to}`")
    }

    /// The new environment, although nothing is written yet.
    fn loaded(&self, access: &Arc<RepositoryAccess>, edits: &BothEdits) -> Loaded {
        let [main, from] = &self.heads;
        let own = Commit { revision: Revision::branch(self.to.as_str()), ..from.clone() };
        let name = |commit: &Commit| (commit.url.as_str().to_owned(), commit.revision.name().to_string());
        let pins = BTreeMap::from([(name(main), main.id), (name(&own), own.id)]);
        let pinned = PinnedRepositories::new(&*access.repositories, pins);
        let next = [(main.clone(), &edits.main), (own, &edits.copy.edits)];
        let settings = Arc::new(access.settings.git.clone());
        let next = next.map(|(commit, files)| Next::of_branch(commit, git_edits(files), &settings));
        let edited = EditedRepositories::new(&pinned, next.into());
        let read = Snapshot::new(&edited, access.control_plane()).load(&self.to);
        Loaded::new(read, None, Some(access))
    }

    /// The environment that is copied.
    fn earlier(&self, access: &Arc<RepositoryAccess>) -> Loaded {
        let read = Snapshot::new(&*access.repositories, access.control_plane()).load(&self.from);
        Loaded::new(read, None, Some(access))
    }

    /// Makes the branch and its working tree, then writes the declaration. In this order, an interruption leaves a branch that nothing reads, and the
    /// next run uses it.
    fn carry_out(&self, edits: &BothEdits) -> anyhow::Result<Done> {
        let root = self.main.root().ok_or_else(|| Failure::refused("main is not edited in a working tree"))?;
        let copy = NewCopy {
            from: (&self.source.name(), self.heads[1].id),
            to: self.to.as_str(),
            message: &format!("The environment {}, from {}\n", self.to, self.from),
            edits: &edits.copy.edits,
            variables: &self.access.settings.git.withheld,
        };
        let working_tree = branch_copy::make(root, &copy)?;
        let main = git_edits(&edits.main);
        self.main.write(&main)?;
        let commit = if self.options.edit.commit {
            let message = self.options.edit.message.clone();
            let message = message.unwrap_or_else(|| format!("Add environment {}", self.to));
            Some(self.main.commit(&main, &message)?.id.short())
        } else {
            None
        };
        Ok(Done { working_tree, commit })
    }

    /// The edited files of the main branch, for people.
    fn main_files(&self, edits: &BothEdits) -> Vec<String> {
        edits.main.iter().map(|(path, _)| self.main.shown(path)).collect()
    }

    /// The answer for programs, with the number of assignments of the new environment.
    fn answer(&self, edits: &BothEdits, assignments: usize, done: &Done) -> Json {
        let Self { options, to, from, .. } = self;
        json!({
            "environment": to.as_str(),
            "after": from.as_str(),
            "isDryRun": options.edit.dry_run,
            "branch": to.as_str(),
            "workingTree": done.working_tree.as_ref().map(|path| path.display().to_string()),
            "files": self.main_files(edits),
            "values": edits.copy.values,
            "sources": edits.copy.own_sources.iter().map(answer_of).collect::<Vec<_>>(),
            "sharedSources": edits.copy.shared_sources.iter().map(answer_of).collect::<Vec<_>>(),
            "commit": done.commit,
            "assignments": assignments,
        })
    }

    /// Shows the edits to people, with the plan of the new environment.
    fn show(&self, edits: &BothEdits, plan: &str, done: &Done) -> std::io::Result<()> {
        let Self { options, to, from, .. } = self;
        let verb = if options.edit.dry_run { "Would add" } else { "Added" };
        let mut text = format!("{verb} environment {to} after {from}\n");
        let _ = writeln!(text, "  branch {to}, a copy of {}", self.source.name());
        if let Some(path) = &done.working_tree {
            let _ = writeln!(text, "  {}, its working tree", self.access.settings.git.shown(path).display());
        }
        let _ = writeln!(text, "  {}", self.main_files(edits).join(", "));
        if !edits.copy.values.is_empty() {
            let _ = writeln!(text, "  values that name {to} now: {}", edits.copy.values.join(", "));
        }
        let mut own_sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for CopiedSource { kind, name, part, text, .. } in &edits.copy.own_sources {
            own_sources.entry(format!("{} {text}", part.noun())).or_default().push(format!("{kind} {name}"));
        }
        for (place, objects) in own_sources {
            let _ = writeln!(text, "  sources that are read from {place} now: {}", objects.join(", "));
        }
        for source in &edits.copy.shared_sources {
            terminal::warn(&self.shared_source(source));
        }
        text.push_str(plan);
        text.push_str(&self.next(done));
        terminal::answer_fitted(&text, paint::plan)
    }

    /// What to do next.
    fn next(&self, done: &Done) -> String {
        if self.options.edit.dry_run {
            return "\nNothing is written: this was a dry run\n".to_owned();
        }
        let root = self.main.shown_root();
        let git = if root.as_os_str() == "." { "git".to_owned() } else { format!("git -C {}", root.display()) };
        let main = self.main.name();
        let mut text = match &done.commit {
            Some(commit) => format!("\nCommitted to {} as {commit}\n", self.main.committed_to()),
            None => format!("\nNot committed yet: `{git} add --all && {git} commit --all`\n"),
        };
        if !self.is_local {
            let _ = writeln!(text, "Then push both: `{git} push --set-upstream origin {} {main}`", self.to);
        }
        let _ = writeln!(text, "`kalypso publish -e {}` creates its branch in the GitOps repository", self.to);
        text
    }
}

fn answer_of(source: &CopiedSource) -> Json {
    json!({
        "kind": source.kind.name(),
        "name": &*source.name,
        "repo": &*source.repo,
        source.part.noun(): &*source.text,
        "file": &*source.path,
    })
}

fn errors(loaded: &Loaded, compiled: &engine::compile::Compiled) -> Vec<Diagnostic> {
    let all = loaded.diagnostics.iter().cloned().chain(compiled.diagnostics());
    let all = merged(all.chain(destination_problems(&loaded.fleet)).collect());
    all.into_iter().filter(Diagnostic::is_error).collect()
}
