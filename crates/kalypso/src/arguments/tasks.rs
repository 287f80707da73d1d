//! The tasks by which `kalypso --help` and the reference group the commands.

use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{Command as ClapCommand, Subcommand as _};

use super::Command;

/// A task with its commands.
pub(crate) struct Task {
    pub(crate) title: &'static str,
    /// The names of the commands, the most important ones first.
    pub(crate) commands: &'static [&'static str],
}

/// All tasks. Each command is in exactly one of them.
pub(crate) const TASKS: &[Task] = &[
    Task { title: "Start", commands: &["demo", "init"] },
    Task { title: "Look at the platform", commands: &["check", "get", "describe", "explain", "why-not", "contract"] },
    Task {
        title: "Change the platform",
        commands: &["add", "set", "remove", "rename", "config", "pin", "unpin", "codeowners"],
    },
    Task { title: "Deploy an application", commands: &["app"] },
    Task { title: "Publish", commands: &["plan", "render", "publish", "confirm", "bootstrap"] },
    Task {
        title: "Move changes through environments",
        commands: &[
            "rollout", "promote", "approve", "hold", "resume", "abort", "retry", "skip", "rollback", "releases",
            "simulate",
        ],
    },
    Task {
        title: "Query the fleet",
        commands: &["status", "deployments", "compare", "history", "drift", "events", "audit"],
    },
    Task { title: "Run the service and the hub", commands: &["serve", "hub", "report"] },
    Task { title: "Set up your tools", commands: &["completions", "man", "schema"] },
];

/// All commands by task, as help.
pub(super) fn commands_by_task() -> String {
    let all = Command::augment_subcommands(ClapCommand::new("kalypso"));
    let mut text = String::new();
    for Task { title, commands } in TASKS {
        let own = commands.iter().filter_map(|name| all.find_subcommand(name).cloned());
        let mut group = ClapCommand::new("kalypso").max_term_width(super::WIDTH_MAX).disable_help_subcommand(true);
        group = group
            .help_template("{subcommands}")
            .subcommands(own.enumerate().map(|(order, one)| one.display_order(order)));
        let _ = writeln!(text, "{}\n{}\n", heading(title), group.render_help().ansi().to_string().trim_end());
    }
    text.trim_end().to_owned()
}

/// The help of the program: the commands by task are the text before the options.
pub(super) fn help_template() -> String {
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{before-help}}{}\n{{options}}{{after-help}}",
        heading("Options")
    )
}

/// A heading as clap writes it.
fn heading(title: &str) -> String {
    let style = Styles::styled();
    let header = style.get_header();
    format!("{header}{title}:{header:#}")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn each_command_is_in_exactly_one_task() {
        let all = Arguments::command();
        let mut all: Vec<_> = all.get_subcommands().map(ClapCommand::get_name).collect();
        let mut listed: Vec<_> = TASKS.iter().flat_map(|task| task.commands).copied().collect();
        all.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, all);
    }

    #[test]
    fn the_help_lists_the_commands_by_task() {
        let help = Arguments::command().render_help().to_string();
        let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}: {help}"));
        let order =
            ["Usage: kalypso", "Start:\n  demo ", "Look at the platform:\n  check ", "Options:\n", "Exit status:"];
        assert!(order.map(at).is_sorted(), "{help}");
        for command in TASKS.iter().flat_map(|task| task.commands) {
            assert_eq!(help.matches(&format!("\n  {command} ")).count(), 1, "{command}: {help}");
        }
    }
}
