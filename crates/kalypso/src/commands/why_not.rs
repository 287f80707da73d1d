//! `kalypso why-not`: why an assignment does not exist, or why an object does not apply to it.

mod applied;
mod change;
mod json;
mod question;
mod text;

use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use engine::answers::why_not::{Applicability, Obstacle, Standing, ValueStanding};
use engine::compile::Prepared;
use model::diagnostic::{AssignmentId, Diagnostic};
use model::fleet::Fleet;
use model::name::{DeploymentTargetName, PlaceName};
use serde_json::json;

use self::json::AnswerFields;
pub(crate) use self::json::WhyNotFields;
use self::question::{AppliedObject, Question};
use crate::arguments::{Format, SourceOptions, WhyNot};
use crate::exit::{Exit, Failure};
use crate::loading;
use crate::progress::Watch;
use crate::{paint, terminal};

/// The answer for one environment.
struct Answer<'l> {
    fleet: &'l Fleet,
    question: Question,
    /// The answer of the engine.
    found: engine::answers::why_not::WhyNot,
    /// The errors that stop the assignment, if it exists.
    problems: Vec<Diagnostic>,
    /// The object that the question is about, with its parts.
    applied: Option<(AppliedObject, Vec<Applicability>)>,
    /// What becomes of the key that the question is about.
    standing: Option<ValueStanding>,
    /// The environments that have a place of this name, if this one has none.
    elsewhere: Vec<String>,
}

impl Answer<'_> {
    /// Whether everything is as desired: the assignment exists without errors, and the object applies.
    fn is_good(&self) -> bool {
        let applies = self.applied.as_ref().is_none_or(|(_, parts)| parts.iter().any(Applicability::applies));
        let sets =
            self.standing.as_ref().is_none_or(|value| matches!(value.standing, Standing::Sets | Standing::SetsPart));
        self.found.assignments > 0 && self.problems.is_empty() && !self.has_problem() && applies && sets
    }

    /// Whether a problem of the place or target stops everything.
    fn has_problem(&self) -> bool {
        let is_error = |obstacle: &Obstacle| matches!(obstacle, Obstacle::Problem(problem) if problem.is_error());
        self.found.obstacles.iter().any(is_error)
    }
}

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
                answers.extend(questions.into_iter().map(|question| answer((loaded, prepared), question)));
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
    let mut answer = answer((asked.loaded, asked.prepared), Question::of_assignment(id));
    find_elsewhere(source, &mut answer);
    show(&[answer], asked.output)
}

/// The answer for a name that is neither a place nor a target, if the reason is known: a cluster without cluster type, or a target of another environment.
pub(super) fn of_name(asked: Asked<'_>, name: &str) -> Option<anyhow::Result<Exit>> {
    let Asked { loaded, prepared, output } = asked;
    let is_cluster = loaded.fleet.clusters.contains_key(name);
    let (place, target) = if is_cluster { (Some(name), None) } else { (None, Some(name)) };
    let [place, target] = [place, target].map(|name| name.map(str::to_owned));
    let answer = answer((loaded, prepared), Question { place, target, ..Question::default() });
    let is_explained =
        answer.found.obstacles.iter().any(|obstacle| {
            matches!(obstacle, Obstacle::UnknownClusterType { .. } | Obstacle::OtherEnvironment { .. })
        });
    is_explained.then(|| show(&[answer], output))
}

fn answer<'l>((loaded, prepared): (&'l Loaded, &Prepared), question: Question) -> Answer<'l> {
    let found = prepared.why_not(question.place.as_deref(), question.target.as_deref());
    let mut problems = Vec::new();
    let (mut applied, mut standing) = (None, None);
    if let Some(id) = question.assignment() {
        if found.assignments > 0 {
            problems = prepared.problems(&id).into_iter().filter(Diagnostic::is_error).collect();
        }
        applied = question.object.clone().map(|object| {
            let parts = prepared.why_not_applied(&id, (object.kind, &object.name));
            (object, parts)
        });
        let key = question.key.as_deref().zip(question.object.as_ref());
        let applies = applied.as_ref().is_some_and(|(_, parts)| parts.iter().any(Applicability::applies));
        standing = key.filter(|_| applies).and_then(|(key, object)| prepared.why_not_set(&id, (&object.name, key)));
    }
    Answer { fleet: &loaded.fleet, question, found, problems, applied, standing, elsewhere: Vec::new() }
}

/// Finds the other environments that have a place of this name. The answer is useful without them, so errors of reading them are ignored.
fn find_elsewhere(source: &SourceOptions, answer: &mut Answer<'_>) {
    let unknown = answer.found.obstacles.iter().find_map(|obstacle| match obstacle {
        Obstacle::UnknownPlace { name, .. } => Some(name),
        _ => None,
    });
    let Some(name) = unknown.filter(|_| source.from.is_none()) else { return };
    let Ok(others) = loading::environments(source, None, ReadAt::Heads, &model::progress::Progress::default()) else {
        return;
    };
    let others = others.iter().filter(|other| other.fleet.environment != answer.fleet.environment);
    let has_place = |fleet: &Fleet| fleet.cluster_types.contains_key(&**name) || fleet.clusters.contains_key(&**name);
    answer.elsewhere =
        others.filter(|other| has_place(&other.fleet)).map(|other| other.fleet.environment.to_string()).collect();
}

fn show(answers: &[Answer<'_>], output: Format) -> anyhow::Result<Exit> {
    let exit = Exit::Good.unless(!answers.iter().all(Answer::is_good));
    if output == Format::Human {
        let texts: Vec<_> = answers.iter().map(text::text).collect();
        terminal::answer_fitted(&texts.join("\n"), paint::checks)?;
    } else {
        let answers = WhyNotFields { answers: answers.iter().map(AnswerFields::new).collect() };
        terminal::answer(&terminal::structured(&json!(answers), output))?;
    }
    Ok(exit)
}

fn invalid_name(text: &str) -> Failure {
    Failure::usage(format!("`{text}` is not an assignment"))
        .help("write CLUSTER_TYPE/TARGET, as in the GitOps repository: chicago-edge/checkout-us")
}

fn assignment_id(place: &str, target: &str) -> Option<AssignmentId> {
    Some(AssignmentId { place: PlaceName::new(place).ok()?, target: DeploymentTargetName::new(target).ok()? })
}
