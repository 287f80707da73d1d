//! Runs the script of a step as a CI system does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::company::Ran;

/// A CI system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    GitHub,
    GitLab,
    Azure,
}

/// The values of expressions and of predefined variables.
pub(super) type Context<'c> = &'c [(&'c str, &'c str)];

/// A machine that runs a job. Later steps see the variables that earlier steps set.
pub(super) struct Runner {
    system: System,
    root: TempDir,
    search_path: String,
    variables: BTreeMap<String, String>,
    /// What the steps printed so far.
    pub(super) log: String,
}

impl Runner {
    /// A machine with Git and the program `docker` of a folder.
    pub(super) fn new(system: System, programs: &Path) -> Self {
        let root = TempDir::new().unwrap();
        for folder in ["temp", "home", "sources"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        for file in ["path", "environment", "summary"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        let search_path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        Self { system, root, search_path, variables: BTreeMap::new(), log: String::new() }
    }

    /// A path on the machine.
    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    /// The folder of the sources, where a job starts.
    pub(super) fn sources(&self) -> PathBuf {
        self.path("sources")
    }

    /// The values of variables. All expressions in them must be known.
    #[track_caller]
    pub(super) fn evaluate(&self, variables: &Json, context: Context<'_>) -> BTreeMap<String, String> {
        let entries = variables.as_object().into_iter().flatten();
        let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        entries.map(|(name, value)| (name.clone(), self.value(&text(value), context))).collect()
    }

    /// A text with the values of its expressions.
    #[track_caller]
    pub(super) fn value(&self, text: &str, context: Context<'_>) -> String {
        let expressions: &[(&str, &str)] = match self.system {
            System::GitHub => &[("${{ ", " }}")],
            System::Azure => &[("${{ ", " }}"), ("$(", ")")],
            System::GitLab => &[("$", "")],
        };
        let mut text = text.to_owned();
        for (before, after) in expressions {
            let (mut done, mut rest) = (String::new(), text.as_str());
            while let Some((plain, expression)) = rest.split_once(before) {
                let (name, more) =
                    if after.is_empty() { (expression, "") } else { expression.split_once(after).unwrap() };
                let found = context.iter().find(|(found, _)| *found == name);
                done.extend([plain, found.unwrap_or_else(|| panic!("`{name}` has no value")).1]);
                rest = more;
            }
            done.push_str(rest);
            text = done;
        }
        text
    }

    /// Runs a script in a folder.
    pub(super) fn run(&mut self, script: &str, folder: &Path, variables: &BTreeMap<String, String>) -> Ran {
        let file = self.path("script");
        let first = if self.system == System::GitLab { "set -eo pipefail\n" } else { "" };
        fs::write(&file, format!("{first}{script}")).unwrap();
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc"]);
        if self.system == System::GitHub {
            command.args(["-eo", "pipefail"]);
        }
        command.arg(&file).current_dir(folder).stdin(Stdio::null()).env_clear();
        command.env("PATH", &self.search_path).env("HOME", self.path("home")).envs(self.predefined());
        let ran = Ran::new(command.envs(&self.variables).envs(variables));
        self.log.push_str(&ran.out);
        self.log.push_str(&ran.err);
        self.follow(&ran.out);
        ran
    }

    /// The variables that the system sets for every step.
    fn predefined(&self) -> Vec<(&'static str, PathBuf)> {
        match self.system {
            System::GitHub => vec![
                ("RUNNER_TEMP", self.path("temp")),
                ("GITHUB_ENV", self.path("environment")),
                ("GITHUB_PATH", self.path("path")),
                ("GITHUB_STEP_SUMMARY", self.path("summary")),
            ],
            System::GitLab => vec![("CI_PROJECT_DIR", self.sources())],
            System::Azure => vec![("AGENT_TEMPDIRECTORY", self.path("temp"))],
        }
    }

    /// Does what a step asked the system to do for later steps.
    fn follow(&mut self, printed: &str) {
        let take = |name: &str| {
            let text = fs::read_to_string(self.path(name)).unwrap();
            fs::write(self.path(name), "").unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let (mut folders, mut settings) = (take("path"), take("environment"));
        let of_azure = |start: &str| {
            let lines = printed.lines().filter_map(move |line| line.strip_prefix(start));
            lines.map(|line| line.replacen(']', "=", 1)).collect::<Vec<_>>()
        };
        folders.extend(of_azure("##vso[task.prependpath").iter().map(|line| line.trim_start_matches('=').to_owned()));
        settings.extend(of_azure("##vso[task.setvariable variable="));
        for folder in folders {
            self.search_path = format!("{folder}:{}", self.search_path);
        }
        for setting in settings {
            let (name, value) = setting.split_once('=').unwrap();
            self.variables.insert(name.to_owned(), value.to_owned());
        }
    }
}
