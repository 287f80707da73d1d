//! The page of the command line.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory as _};

use super::answers::{AnswerField, answers, counts};
use crate::arguments::{Arguments, TASKS, Task};
use crate::exit::Exit;

const INTRODUCTION: &str = "\
# Command line

Every command with its arguments. The page is made from the program itself; `kalypso COMMAND --help` says the same, and `kalypso man` as manual pages.

The input is a control plane in git, named by [`kalypso.toml`](configuration.md), or with `--from DIR` a plain folder that is read as one environment. Answers go to
standard output, and problems to standard error, except for `check`, whose answer is the list of problems. `-o json` and `-o yaml` print one object, whose shape is stable: fields are added,
never renamed or removed. The text output may change.

";

const ENVIRONMENT: &str = "
## Environment variables

| variable | meaning |
|---|---|
| `KALYPSO_CACHE_DIR` | The folder for copies of remote repositories and for the results of earlier runs ([the cache](configuration.md#the-cache)), if `kalypso.toml` names none. Left out, it is `kalypso` in the user's cache folder. It may be removed at any time. |
| `KALYPSO_CACHE_KEY` | The secret that [signs the trusted content of the cache](configuration.md#trusted-content), 16 bytes or more. Left out, it is a key of your own. |
| `KALYPSO_CACHE_KEY_FILE` | A file that contains this secret. |
| `NO_COLOR` | Set to anything: no colours. They are used on terminals only. |
| `KALYPSO_DATABASE_URL` | The URL of the hub's database, password included; it wins over `kalypso.toml`, and `--database` over it. |
| `KALYPSO_HUB_URL` | The hub that commands [ask](../how-to/questions-and-answers.md); it wins over `kalypso.toml`, and `--hub` over it. |
| `KALYPSO_HUB_TOKEN` | The token to ask it with, unless `--token-file` names one. |
| the ones named by `token-env` | The tokens for repositories: [`kalypso.toml`](configuration.md#gitcredentials) has the URLs for each one. |

Git and ssh, which Kalypso starts to fetch and push, read their own variables and configuration. Kalypso never lets them prompt for input.
";

const QUESTIONS: &str = "
## Answers of the hub

Answers of the hub (`status`, `deployments`, `rollout`, `compare`, `history`, `drift`, `events`, `hub rule list`) omit fields without a value. With `-o json`, `events` prints an object
on each line. Counts are objects with the number of reconcilers in each state:

";

const PLACE: &str = "
## Places in answers

Each `place` of an answer of `explain` or `why-not` is `null`, if it is not known, or an object:

| field | meaning |
|---|---|
| `repository`, `revision` | the repository's URL, and the branch, tag or commit that was asked for; empty for a plain folder |
| `commit` | the commit; `null` for a plain folder |
| `path` | the file, from the root of the repository or folder |
| `line`, `column` | from 1; columns in characters |
";

/// The page of the command line, as Markdown: `docs/reference/command-line.md`.
pub fn command_line() -> String {
    let mut whole = Arguments::command().max_term_width(100);
    whole.build();
    let commands: Vec<_> = whole.get_subcommands().filter(|command| command.get_name() != "help").collect();
    let row = |command: &&Command| {
        let name = command.get_name();
        format!("| [`{name}`](#kalypso-{name}) | {} |\n", plain(command.get_about()))
    };
    let of_task = |task: &Task| {
        let own = task.commands.iter().filter_map(|name| commands.iter().find(|command| command.get_name() == *name));
        format!("**{}**\n\n| command | |\n|---|---|\n{}\n", task.title, own.map(row).collect::<String>())
    };
    let tables: String = TASKS.iter().map(of_task).collect();
    let answers = answers();
    let sections: String = commands.iter().map(|command| sections(command, command.get_name(), &answers)).collect();
    format!("{INTRODUCTION}{tables}{}{ENVIRONMENT}{sections}{PLACE}{QUESTIONS}{}", statuses(), table(&counts()))
}

fn statuses() -> String {
    let rows: String = Exit::ALL.iter().map(|exit| format!("| {} | {} |\n", exit.code(), exit.meaning())).collect();
    format!("## Exit status\n\n| status | meaning |\n|---|---|\n{rows}")
}

/// The title of an output, and its fields.
type Answer = (String, Vec<AnswerField>);

/// The section of a command, and the sections of its subcommands.
fn sections(command: &Command, name: &str, answers: &[Answer]) -> String {
    // The command line is fixed, so the depth of the recursion is limited.
    let below = command.get_subcommands().filter(|command| command.get_name() != "help");
    let below: String =
        below.map(|command| sections(command, &format!("{name} {}", command.get_name()), answers)).collect();
    format!("{}{below}", section(command, name, answers))
}

fn section(command: &Command, name: &str, answers: &[Answer]) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let mut text = format!("\n## kalypso {name}\n\n{}.\n\n```text\n{usage}\n```\n", plain(command.get_about()));
    let arguments: Vec<_> = command.get_arguments().filter(|argument| argument.get_id() != "help").collect();
    if !arguments.is_empty() {
        text.push_str("\n| argument | meaning |\n|---|---|\n");
        arguments.iter().for_each(|argument| text.push_str(&row(argument)));
    }
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let lines = examples.lines().filter(|line| *line != "Examples:").map(|line| line.trim_start_matches("  "));
        let _ = write!(text, "\n```text\n{}\n```\n", lines.collect::<Vec<_>>().join("\n"));
    }
    for (title, fields) in answers {
        if let Some(arguments) = arguments_of(title, command, name) {
            text.push_str(&answer(&arguments, fields));
        }
    }
    if name == "check" {
        text.push_str("\nWhat `-o json` prints is on the page of [diagnostics](diagnostics.md#for-programs).\n");
    }
    text
}

/// The arguments of a command for an output. None: the output is not of this command. A title can name several commands.
fn arguments_of(title: &str, command: &Command, name: &str) -> Option<String> {
    title.split(", ").find_map(|part| {
        let arguments = part.strip_prefix(name)?;
        let first = arguments.strip_prefix(' ').map(|arguments| arguments.split(' ').next().unwrap_or_default());
        let is_of_it = arguments.is_empty() || first.is_some_and(|word| command.find_subcommand(word).is_none());
        is_of_it.then(|| arguments.trim_start().to_owned())
    })
}

fn row(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(<[_]>::first).map(ToString::to_string).unwrap_or_default();
    let takes_value = argument.get_action().takes_values();
    let long = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let name = match long {
        Some(long) if takes_value => format!("{short}{long} {value}"),
        Some(long) => format!("{short}{long}"),
        None => value,
    };
    let mut meaning = plain(argument.get_help());
    let choices: Vec<_> = argument.get_possible_values();
    if takes_value && !choices.is_empty() {
        let choices = choices.iter().map(|choice| match choice.get_help() {
            Some(help) => format!("`{}` ({})", choice.get_name(), small(&help.to_string())),
            None => format!("`{}`", choice.get_name()),
        });
        let _ = write!(meaning, ": {}", choices.collect::<Vec<_>>().join(", "));
    }
    let required = if argument.is_required_set() { ", required" } else { "" };
    let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let default = if takes_value && !defaults.is_empty() {
        format!(" (default `{}`)", defaults.join(","))
    } else {
        String::new()
    };
    format!("| `{name}`{required} | {meaning}{default} |\n")
}

fn answer(arguments: &str, fields: &[AnswerField]) -> String {
    let with = if arguments.is_empty() { String::new() } else { format!(" with `{arguments}`") };
    format!("\n`-o json`{with} prints:\n\n{}", table(fields))
}

fn table(fields: &[AnswerField]) -> String {
    let rows = fields.iter().filter(|(_, meaning)| !meaning.is_empty());
    let rows: String = rows.map(|(field, meaning)| format!("| `{field}` | {meaning} |\n")).collect();
    format!("| field | meaning |\n|---|---|\n{rows}")
}

/// Changes the first letter to lower case, unless the text begins with a word such as `JSON`.
fn small(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain([second]).chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

fn plain(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}
