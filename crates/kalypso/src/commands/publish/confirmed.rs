//! Confirmations of removals on the command line, in the history of the environment.

use delivery::access::RepositoryAccess;
use delivery::controller::command::{Confirmed, note_confirmation};
use delivery::publish::{Outcome, PlaceOutcome};
use delivery::push::Delivered;
use model::name::EnvironmentName;

use crate::control_plane_branch;
use crate::terminal;

/// Notes which words of the command line confirmed removals that were delivered. An environment without states has no such history.
pub(super) fn note(access: &RepositoryAccess, environment: &EnvironmentName, (outcome, words): (&Outcome, &[String])) {
    for word in outcome.places.iter().filter_map(|place| delivered_word(place, words)) {
        let (_, by) = control_plane_branch::decider(access);
        let confirmed = Confirmed { word, by, at: jiff::Timestamp::now() };
        if let Err(error) = note_confirmation(access, environment, &confirmed, None) {
            terminal::warn(&format!("the history does not have who confirmed the removals: {error}"));
        }
    }
}

/// The word that confirmed the delivered removals of a place.
fn delivered_word(place: &PlaceOutcome, words: &[String]) -> Option<String> {
    let is_delivered = matches!(place.delivered, Some(Delivered::Pushed { .. }));
    let word = place.planned.confirmation_word().filter(|_| is_delivered && place.planned.plan.needs_confirmation())?;
    words.contains(&word).then_some(word)
}
