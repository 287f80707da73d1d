//! `kalypso why-not`: why an assignment does not exist, or why an object does not apply to it.

mod applied;
mod change;
mod question;
mod text;

use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use engine::answers::why_not::Obstacle;
use engine::compile::Prepared;
use model::diagnostic::AssignmentId;
use model::progress::Progress;
use workbench::answers::why_not::{WhyNotAnswer, WhyNotQuestion, why_not_fields};

use crate::arguments::{Format, SourceOptions, WhyNot};
use crate::exit::{Exit, Failure};
use crate::loading;
use crate::progress::Watch;
use crate::{paint, terminal};

pub(super) fn run(options: &WhyNot) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let words = question::parse(&options.subject)?;
    let loaded = match &options.environment {
        Some(name) => vec![loading::environment(&options.source, name, ReadAt::Heads, &watch)?],
        None => loading::environments(&options.source, None, ReadAt::Heads, watch.progress())?,
    };
    let prepared: Vec<_> =
        loaded.iter().map(|loaded| Prepared::with_progress(&loaded.fleet, watch.progress())).collect();
    let (mut answers, mut failures) = (Vec::new(), Vec::new());
    for (loaded, prepared) in loaded.iter().zip(&prepared) {
        match question::questions(&words, prepared) {
            Ok(questions) => {
                answers.extend(questions.into_iter().map(|question| WhyNotAnswer::new(loaded, prepared, question)));
            }
            Err(failure) => failures.push(failure),
        }
    }
    // An environment in which the words have no meaning does not matter if another one has an answer.
    if let Some(failure) = failures.into_iter().next().filter(|_| answers.is_empty()) {
        return Err(failure.into());
    }
    // An environment without the names says nothing if another one has them.
    if answers.iter().any(|answer| !answer.found.is_unknown()) {
        answers.retain(|answer| !answer.found.is_unknown());
    }
    if options.environment.is_some() {
        answers.iter_mut().for_each(|answer| find_elsewhere(&options.source, answer));
    }
    watch.end();
    show(&answers, options.output)
}

/// An environment that `explain` asks about something that it does not find.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) prepared: &'a Prepared,
    /// The format of the answer.
    pub(super) output: Format,
}

/// The answer for an assignment that `explain` does not find.
pub(super) fn of_assignment(asked: Asked<'_>, source: &SourceOptions, id: &AssignmentId) -> anyhow::Result<Exit> {
    let mut answer = WhyNotAnswer::new(asked.loaded, asked.prepared, WhyNotQuestion::of_assignment(id));
    find_elsewhere(source, &mut answer);
    show(&[answer], asked.output)
}

/// The answer for a name that is neither a place nor a target, if the reason is known: a cluster without cluster type, or a target of another environment.
pub(super) fn of_name(asked: Asked<'_>, name: &str) -> Option<anyhow::Result<Exit>> {
    let Asked { loaded, prepared, output } = asked;
    let is_cluster = loaded.fleet.clusters.contains_key(name);
    let (place, target) = if is_cluster { (Some(name), None) } else { (None, Some(name)) };
    let [place, target] = [place, target].map(|name| name.map(str::to_owned));
    let answer = WhyNotAnswer::new(loaded, prepared, WhyNotQuestion { place, target, ..WhyNotQuestion::default() });
    let is_explained =
        answer.found.obstacles.iter().any(|obstacle| {
            matches!(obstacle, Obstacle::UnknownClusterType { .. } | Obstacle::OtherEnvironment { .. })
        });
    is_explained.then(|| show(&[answer], output))
}

/// Finds the other environments that have the unknown place of an answer.
fn find_elsewhere(options: &SourceOptions, answer: &mut WhyNotAnswer<'_>) {
    if answer.unknown_place().is_some()
        && options.from.is_none()
        && let Ok(source) = loading::source(options, &Progress::default())
    {
        answer.find_elsewhere(&source);
    }
}

fn show(answers: &[WhyNotAnswer<'_>], output: Format) -> anyhow::Result<Exit> {
    let exit = Exit::Good.unless(!answers.iter().all(WhyNotAnswer::is_good));
    if output == Format::Human {
        let texts: Vec<_> = answers.iter().map(text::text).collect();
        terminal::answer_fitted(&texts.join("\n"), paint::checks)?;
    } else {
        terminal::answer(&terminal::structured(&why_not_fields(answers), output))?;
    }
    Ok(exit)
}

fn invalid_name(text: &str) -> Failure {
    Failure::usage(format!("`{text}` is not an assignment"))
        .help("write CLUSTER_TYPE/TARGET, as in the GitOps repository: chicago-edge/checkout-us")
}
