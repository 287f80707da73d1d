//! Shell completion: clap's candidates, and the names of environments, assignments and hosts.
//!
//! A shell runs the program for each press of the Tab key. So this module fetches nothing and sends no request to the hub. It writes only candidates:
//! an error is not a candidate.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use model::kind::Kind;
use workbench::listing::kind::ListedKind;

use crate::arguments::Arguments;
use crate::names::{Names, Subject};
use crate::{cache, terminal};

/// The environment variable that a completion script sets: the name of the shell.
pub(crate) const VARIABLE: &str = "KALYPSO_COMPLETE";
/// The maximum number of candidates.
const OFFERED_MAX: usize = 1_000;

/// Answers a completion request of a shell. None if the program was not started for completion.
pub(crate) fn answer() -> Option<ExitCode> {
    let shell = std::env::var(VARIABLE).ok()?;
    terminal::be_silent();
    let answered = candidates(&shell);
    cache::remove_temporary();
    let written = answered.and_then(|text| std::io::stdout().write_all(&text).ok());
    Some(if written.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn candidates(shell: &str) -> Option<Vec<u8>> {
    let shells = Shells::builtins();
    let mut command = completable();
    let here = std::env::current_dir().ok();
    let mut text = Vec::new();
    shells.completer(shell)?.write_complete(&mut command, words()?, here.as_deref(), &mut text).ok()?;
    Some(text)
}

/// The words of the command line to complete: the program's own arguments after `--`.
fn words() -> Option<Vec<OsString>> {
    let words: Vec<_> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    (!words.is_empty()).then_some(words)
}

/// The completion script for a shell. None if the shell is not supported.
pub(crate) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    shells.completer(shell)?.write_registration(VARIABLE, "kalypso", "kalypso", "kalypso", &mut script).ok()?;
    String::from_utf8(script).ok()
}

/// The command line, with completers for its arguments.
fn completable() -> clap::Command {
    with_names(Arguments::command())
}

fn with_names(command: clap::Command) -> clap::Command {
    command.mut_args(with_candidates).mut_subcommands(with_names)
}

fn with_candidates(argument: clap::Arg) -> clap::Arg {
    let has_value_name =
        |wanted: &str| argument.get_value_names().is_some_and(|names| names.iter().any(|name| name == wanted));
    // clap itself completes the values of an argument with a fixed list.
    if !argument.get_possible_values().is_empty() {
        return argument;
    }
    let completer = match argument.get_id().as_str() {
        _ if has_value_name("ENV") => ArgValueCompleter::new(environments),
        "workload" | "of" => of_kinds(&[ListedKind::Workload]),
        "target" => of_kinds(&[ListedKind::Target]),
        "cluster_type" | "on" => of_kinds(&[ListedKind::ClusterType, ListedKind::Cluster]),
        "key" => of_kinds(&[ListedKind::Value]),
        "assignment" => ArgValueCompleter::new(assignments),
        "objects" => ArgValueCompleter::new(objects),
        "subject" => ArgValueCompleter::new(subjects),
        "host" => ArgValueCompleter::new(|typed: &OsStr| offered(typed, hosts())),
        "kind" if argument.is_positional() => {
            ArgValueCompleter::new(|typed: &OsStr| offered(typed, Kind::ALL.iter().map(|kind| kind.name().to_owned())))
        }
        "name" | "names" => ArgValueCompleter::new(named_objects),
        _ if has_value_name("KEY") => of_kinds(&[ListedKind::Value]),
        _ => return argument,
    };
    argument.add(completer)
}

fn of_kinds(kinds: &'static [ListedKind]) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let names = names();
        offered(typed, kinds.iter().flat_map(|kind| names.of_kind(*kind)))
    })
}

/// Completes the name of an object, if a word before it is its kind.
fn named_objects(typed: &OsStr) -> Vec<CompletionCandidate> {
    let words: Vec<_> =
        words().unwrap_or_default().iter().filter_map(|word| word.to_str().map(str::to_owned)).collect();
    let kind = words.iter().find_map(|word| ListedKind::find(word));
    kind.map(|kind| offered(typed, of_kind(kind))).unwrap_or_default()
}

/// The value of an option in the words of the command line.
fn option(names: [&str; 2]) -> Option<OsString> {
    let words = words()?;
    let position = words.iter().position(|word| names.iter().any(|name| word == name));
    let joined = || {
        let value = |word: &OsString| word.to_str()?.strip_prefix(&format!("{}=", names[1])).map(OsString::from);
        words.iter().find_map(value)
    };
    position.and_then(|position| words.get(position + 1).cloned()).or_else(joined).filter(|value| !value.is_empty())
}

fn subject() -> Option<Subject> {
    let path = |name| option([name, name]);
    Subject::find(path("--from").as_deref().map(Path::new), path("--config").as_deref().map(Path::new))
}

/// The names of the environment on the command line, or of all environments.
fn names() -> Names {
    let environment = option(["-e", "--env"]).and_then(|name| name.into_string().ok());
    subject().map(|subject| subject.names(environment.as_deref())).unwrap_or_default()
}

fn environments(typed: &OsStr) -> Vec<CompletionCandidate> {
    offered(typed, of_kind(ListedKind::Environment))
}

/// The names of a kind. All compiled environments have a name, not only the one on the command line.
fn of_kind(kind: ListedKind) -> BTreeSet<String> {
    match kind {
        ListedKind::Environment => subject().map(|subject| subject.environments()).unwrap_or_default(),
        _ => names().of_kind(kind).collect(),
    }
}

fn hosts() -> BTreeSet<String> {
    subject().map(|subject| subject.hosts()).unwrap_or_default()
}

/// Completes assignments: first the place, then the targets on this place.
fn assignments(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = names();
    let assigned = &names.assigned;
    match typed.to_str().and_then(|typed| typed.split_once('/')) {
        None => {
            let has_targets = |place: &String| assigned.get(place).is_none_or(|targets| !targets.is_empty());
            let places = names.of_kind(ListedKind::ClusterType).chain(names.of_kind(ListedKind::Cluster));
            offered(typed, places.filter(has_targets).map(|place| place + "/"))
        }
        Some((place, _)) => {
            let on: Vec<_> = match assigned.get(place) {
                Some(on) => on.iter().cloned().collect(),
                None if assigned.is_empty() => names.of_kind(ListedKind::Target).collect(),
                None => Vec::new(),
            };
            offered(typed, on.into_iter().map(|target| format!("{place}/{target}")))
        }
    }
}

/// Completes objects: a kind first, then names of this kind, also after a slash.
fn objects(typed: &OsStr) -> Vec<CompletionCandidate> {
    let words = words().unwrap_or_default();
    let before = words.get(..words.len().saturating_sub(1)).unwrap_or_default().iter().skip(2);
    let before = before.filter_map(|word| word.to_str()).find_map(ListedKind::find);
    let Some(typed_text) = typed.to_str() else { return Vec::new() };
    if let Some((word, _)) = typed_text.split_once('/') {
        let names = ListedKind::find(word).map(of_kind).unwrap_or_default();
        return offered(typed, names.into_iter().map(|name| format!("{word}/{name}")));
    }
    match before {
        Some(kind) => offered(typed, of_kind(kind)),
        None => offered(typed, ListedKind::ALL.map(|kind| kind.words().1.to_owned())),
    }
}

/// Completes questions about what is missing: the names of places and targets, and after a place all targets, assigned there or not.
fn subjects(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = names();
    let targets = names.of_kind(ListedKind::Target);
    match typed.to_str().and_then(|typed| typed.split_once('/')) {
        None => {
            let places = names.of_kind(ListedKind::ClusterType).chain(names.of_kind(ListedKind::Cluster));
            offered(typed, places.chain(targets))
        }
        Some((place, _)) => offered(typed, targets.map(|target| format!("{place}/{target}"))),
    }
}

fn offered(typed: &OsStr, names: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let fits: BTreeSet<_> = names.into_iter().filter(|name| name.starts_with(typed)).collect();
    fits.into_iter().take(OFFERED_MAX).map(CompletionCandidate::new).collect()
}
