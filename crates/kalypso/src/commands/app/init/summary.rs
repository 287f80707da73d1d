//! The text that `kalypso app init` prints.

use std::fmt::Write as _;
use std::path::Path;

use application::scaffold::plan::ApplicationPlan;
use workbench::platform::Made;
use workbench::platform::application::{FIRST_COMMIT, SourceCommit};

use crate::demo::trying;

/// What was made.
pub(super) struct MadeApplication<'a> {
    pub(super) folder: &'a Path,
    pub(super) plan: &'a ApplicationPlan,
    pub(super) made: &'a Made,
    pub(super) commit: SourceCommit,
}

impl MadeApplication<'_> {
    /// What was made, what was kept, and what to do next.
    pub(super) fn text(&self) -> String {
        let Self { folder, plan, made, .. } = self;
        let (name, shown) = (&plan.workload, trying::shown(folder));
        let mut text = match (made.new.is_empty(), made.kept.is_empty()) {
            (true, _) => format!("The application {name} in {shown} is complete\n"),
            (false, true) => format!("Made the application {name} in {shown}\n"),
            (false, false) => format!("Completed the application {name} in {shown}\n"),
        };
        for (title, all) in [("new", &made.new), ("kept", &made.kept)] {
            for (index, line) in all.iter().enumerate() {
                let title = if index == 0 { title } else { "" };
                let _ = writeln!(text, "  {title:<6}{line}");
            }
        }
        let notes = made.notes.iter().filter(|_| !made.new.is_empty());
        for note in notes {
            let _ = writeln!(text, "  note: {note}");
        }
        text + &self.next()
    }

    fn next(&self) -> String {
        let Self { folder, plan, commit, .. } = self;
        let first = plan.settings.environments.first().map_or("ENV", |one| one.name.as_str());
        let folder_path = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        let root = git::checkout::repository_above(&folder_path).unwrap_or(&folder_path);
        let origin = git::checkout::origin(root);
        let origin = origin.map_or_else(|| "URL".to_owned(), |url| git::without_credential(&url));
        let mut steps = Vec::new();
        if *commit == SourceCommit::Open {
            let paths = self.top_paths().join(" ");
            steps.push(("commit the files", format!("git add {paths} && git commit -m '{FIRST_COMMIT}'")));
        }
        steps.push(("does everything render?", "kalypso app check".to_owned()));
        steps.push(("the objects of each target", format!("kalypso app render -e {first}")));
        steps.push(("deploy a version", format!("kalypso app deploy -e {first} --version 1.0.0")));
        let (name, workspace) = (&plan.workload, &plan.settings.workspace);
        let below = folder_path.strip_prefix(root).unwrap_or(Path::new("")).join(&plan.settings.workload);
        let path = match below.parent().filter(|path| *path != Path::new("workload")) {
            Some(path) => format!(" --path ./{}", path.display()),
            None => String::new(),
        };
        steps.push((
            "in the control plane, by the platform team: register it",
            format!("kalypso add workload {name} --repo {origin}{path} --workspace {workspace} --commit"),
        ));
        let mut text = "\nNext:\n".to_owned();
        if let Some(enter) = trying::enter(folder) {
            let _ = writeln!(text, "{enter}");
        }
        for (purpose, command) in steps {
            let _ = writeln!(text, "  {purpose}\n    {command}");
        }
        text
    }

    /// The files and folders of the application, as short as possible.
    fn top_paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = Vec::new();
        for path in &self.plan.committed {
            let top = path.split('/').next().unwrap_or(path);
            if !paths.contains(&top) {
                paths.push(top);
            }
        }
        paths
    }
}
