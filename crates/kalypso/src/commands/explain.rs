//! `kalypso explain`: the reasons for an assignment, and the origins of its values.

mod assignment;
mod context;
mod overview;
mod value;

use delivery::sources::loaded::Loaded;
use engine::answers::explain::ValueReason;
use engine::answers::overview::Meanings;
use engine::compile::Prepared;
use engine::schedule::place::Place;
use hub_api::timestamp::Timestamp;
use model::diagnostic::AssignmentId;
use model::fleet::Fleet;
use model::locate::Locator;
use workbench::answers::explain::{AssignmentFacts, explained_assignment, explained_value};

use self::context::ExplanationContext;
use super::why_not::{self, Asked};
use crate::arguments::{Explain, Format};
use crate::exit::{Exit, Failure};
use crate::held_content;
use crate::loading;
use crate::not_admitted;
use crate::progress::Watch;
use crate::{paint, terminal};

pub(super) fn run(options: &Explain) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let loaded = loading::environment(&options.source, &options.environment, options.head.at(), &watch)?;
    if options.output == Format::Human {
        not_admitted::note(&loaded);
    }
    let prepared = Prepared::with_progress(&loaded.fleet, watch.progress());
    let asked = Asked { loaded: &loaded, prepared: &prepared, output: options.output };
    if let Some((name, meanings)) = overview_of(options, &prepared)? {
        if meanings == Meanings::default() {
            watch.end();
            let explained = why_not::of_name(asked, name);
            return explained.unwrap_or_else(|| Err(overview::unknown(&prepared, &options.assignment, name).into()));
        }
        let answer = overview::answer((&prepared, name, meanings), options);
        watch.end();
        return printed(&answer, options.output, Exit::Good);
    }
    let id = loading::parse_assignment(&options.assignment)?;
    let reason = options.key.as_ref().map(|key| (key, prepared.explain_value(&id, key)));
    if let Some((key, Some(reason))) = &reason
        && !reason.is_known()
    {
        let unknown = value::UnknownKey { environment: &options.environment, id: &id, key, reason };
        return Err(value::unknown_key(&unknown, &prepared).into());
    }
    let answer = match reason {
        Some((_, reason)) => reason.map(|reason| value_answer(options, (&loaded, &id), &reason)),
        None => assignment_answer(options, (&loaded, &prepared), &id),
    };
    let Some(answer) = answer else {
        watch.end();
        return why_not::of_assignment(asked, &options.source, &id);
    };
    watch.end();
    printed(&answer, options.output, Exit::Good)
}

fn printed(answer: &str, format: Format, exit: Exit) -> anyhow::Result<Exit> {
    match format {
        Format::Human => terminal::answer_fitted(answer, paint::explanation)?,
        _ => terminal::answer(answer)?,
    }
    Ok(exit)
}

fn value_answer(options: &Explain, (loaded, id): (&Loaded, &AssignmentId), reason: &ValueReason) -> String {
    let mut locator = Locator::new(&loaded.fleet);
    if options.output != Format::Human {
        return terminal::structured(&explained_value(reason, &mut locator), options.output);
    }
    let place_text = text_of_place(&loaded.fleet, id);
    let mut words =
        ExplanationContext { environment: &options.environment, place_text: &place_text, locator: &mut locator };
    value::text(reason, id, &mut words)
}

/// None if there is no such assignment.
fn assignment_answer(options: &Explain, (loaded, prepared): (&Loaded, &Prepared), id: &AssignmentId) -> Option<String> {
    let facts = AssignmentFacts::find(loaded, prepared, id, &terminal::warn)?;
    let mut locator = Locator::new(&loaded.fleet);
    if options.output != Format::Human {
        let answer = explained_assignment(&facts, &mut locator);
        return Some(terminal::structured(&answer, options.output));
    }
    let place_text = text_of_place(&loaded.fleet, id);
    let mut words =
        ExplanationContext { environment: &options.environment, place_text: &place_text, locator: &mut locator };
    let text = assignment::text(&facts.explanation, &mut words);
    let published = facts.published.as_ref();
    let published = published.map(|other| format!("\n  {}\n", held_content::text(other, Timestamp::now())));
    Some(text + &published.unwrap_or_default() + &assignment::problems_text(&facts.problems, &facts.held))
}

/// The name whose overview is requested, and the meanings to show. None if an assignment is requested.
fn overview_of<'o>(options: &'o Explain, prepared: &Prepared) -> Result<Option<(&'o str, Meanings)>, Failure> {
    let text = options.assignment.as_str();
    let (name, meanings) = match text.split_once('/') {
        None => (text, prepared.meanings(text)),
        Some((kind, name)) => match overview::meaning_of_kind(kind) {
            // A place can have the name of a kind.
            Some(only) if !prepared.meanings(kind).is_place => {
                (name, overview::restricted(prepared.meanings(name), only))
            }
            _ => return Ok(None),
        },
    };
    if options.key.is_some() {
        let help = "write CLUSTER_TYPE/TARGET KEY, as in chicago-edge/checkout-us DATABASE_URL";
        return Err(Failure::usage(format!("`{text}` is not an assignment")).help(help));
    }
    Ok(Some((name, meanings)))
}

/// The description of an assignment's place.
fn text_of_place(fleet: &Fleet, id: &AssignmentId) -> String {
    match Place::find(fleet, id.place.as_str()) {
        Some(Place { cluster_type, cluster: Some(cluster) }) => {
            format!("cluster {} of cluster type {}", cluster.name, cluster_type.name)
        }
        _ => format!("cluster type {}", id.place),
    }
}
