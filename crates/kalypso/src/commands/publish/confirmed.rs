//! Confirmations of removals on the command line, in the history of the environment.

use delivery::access::RepositoryAccess;
use delivery::branches::push::Delivered;
use delivery::promotion::controller::command::{Confirmed, note_confirmation};
use delivery::publication::publish::{Outcome, PlaceOutcome};
use model::name::EnvironmentName;
use workbench::branch;

use crate::terminal;

/// Notes which words of the command line and which labels of pull requests confirmed removals that were delivered. An environment without states has no such
/// history.
pub(super) fn note(access: &RepositoryAccess, environment: &EnvironmentName, (outcome, words): (&Outcome, &[String])) {
    let at = jiff::Timestamp::now();
    let by_word = outcome.places.iter().filter_map(|place| delivered_word(place, words));
    let by_word = by_word.map(|word| Confirmed { word, by: branch::decider(access).1, at });
    for confirmed in by_word.chain(Confirmed::by_labels(outcome, at)) {
        if let Err(error) = note_confirmation(access, environment, &confirmed, None) {
            terminal::warn(&format!("the history does not name the person who confirmed the removals: {error}"));
        }
    }
}

/// The word that confirmed the delivered removals of a place.
fn delivered_word(place: &PlaceOutcome, words: &[String]) -> Option<String> {
    let is_delivered = matches!(place.delivered, Some(Delivered::Pushed { .. }));
    let word = place.planned.confirmation_word().filter(|_| is_delivered && place.planned.plan.needs_confirmation())?;
    words.contains(&word).then_some(word)
}
