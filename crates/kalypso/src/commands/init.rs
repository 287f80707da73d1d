//! `kalypso init`: the repositories of a new platform.

pub(super) mod hosting;
pub(super) mod init_options;
pub(super) mod questions;
mod summary;

use std::io::IsTerminal as _;

use workbench::platform::answers::Answers;
use workbench::platform::{self, GitEnvironment};

use self::hosting::NewRepositories;
use self::init_options::InitOptions;
use self::questions::Questions;
use super::{check, plan};
use crate::arguments::{Check, EnvironmentOrAll, Init, Plan, SourceOptions};
use crate::exit::Exit;
use crate::{configuration, terminal};

pub(super) fn run(options: &Init) -> anyhow::Result<Exit> {
    let given = InitOptions::new(options)?;
    let claim = platform::claim(&options.directory)?;
    let is_asked = claim.earlier().is_none() && !options.yes && std::io::stdin().is_terminal();
    let answers = match claim.earlier() {
        Some(earlier) => given.same_as(earlier)?,
        None if is_asked => given.answers(Some(&mut Questions::new(std::io::stdin().lock(), std::io::stderr())))?,
        None => given.answers(None)?,
    };
    let token = answers.host.as_ref().map(init_options::token).transpose()?.flatten();
    let created = match &answers.host {
        Some(host) if options.host.create => {
            let urls = [(&answers.control_plane, "Which workload runs where"), (&answers.gitops, "What clusters pull")];
            let urls = urls.into_iter().filter_map(|(place, text)| Some((place.remote.as_deref()?, text)));
            let (all, is_private) = (&*urls.collect::<Vec<_>>(), !options.host.public);
            hosting::create(host, token.as_deref(), NewRepositories { all, is_private })?
        }
        _ => Vec::new(),
    };
    let variables: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    let environment = GitEnvironment { variables: &variables, token: token.as_deref() };
    let mut made = platform::make(&claim, &answers, environment)?;
    made.new.splice(0..0, created);
    let not_given = if claim.earlier().is_none() { given.missing(&answers) } else { Vec::new() };
    let title = if is_asked { "answers" } else { "defaults" };
    drop(claim);
    terminal::answer(&summary::made(&options.directory, &made, (title, &not_given)))?;
    let exit = look(options, &answers)?;
    terminal::answer(&summary::next(&options.directory, &answers))?;
    Ok(exit)
}

/// Checks the new platform, and plans its first environment.
fn look(options: &Init, answers: &Answers) -> anyhow::Result<Exit> {
    let config = Some(options.directory.join(configuration::FILE_NAME));
    let source = SourceOptions { config, ..SourceOptions::default() };
    terminal::answer("\nkalypso check\n")?;
    let exit = check::run(&Check { source: source.clone(), ..Check::default() })?;
    let Some(first) = answers.environments.first().filter(|_| exit == Exit::Good) else { return Ok(exit) };
    terminal::answer(&format!("\nkalypso plan -e {first}\n"))?;
    let of = EnvironmentOrAll { environment: Some(first.clone()), all: false };
    match plan::run(&Plan { of, source, ..Plan::default() })? {
        Exit::Pending => Ok(Exit::Good),
        exit => Ok(exit),
    }
}
