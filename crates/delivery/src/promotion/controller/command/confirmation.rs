//! Confirmations of removals: the branch with the states notes them, so that the history has them with who decided.

use std::collections::BTreeMap;

use engine::promotion::report::{EventKind, MoveEvent};
use git::Person;
use git::publish::AUTHOR_EMAIL;
use jiff::Timestamp;
use model::name::EnvironmentName;

use super::CommandError;
use crate::access::RepositoryAccess;
use crate::promotion::controller::events;
use crate::publication::publish::{Outcome, PlaceOutcome};
use crate::pull_requests::LabelConfirmation;
use crate::reading::RACES_MAX;
use crate::states::rollout_store::{self, AdmissionChange, StateChange, StoreError, Written};
use crate::states::state_branch;
use crate::write_lease::WriteLease;

/// A confirmation of removals by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// The word of the removals.
    pub word: String,
    /// Who confirmed them.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

impl Confirmed {
    /// The confirmations by labels of pull requests that a publication found.
    pub fn by_labels(outcome: &Outcome, at: Timestamp) -> impl Iterator<Item = Self> {
        let found = outcome.places.iter().filter_map(PlaceOutcome::label_confirmation);
        found.map(move |LabelConfirmation { word, by }| Self { word: word.clone(), by: by.clone(), at })
    }
}

/// Notes a confirmation. False: the environment has no states, so there is no place for it.
///
/// # Errors
/// If the branch with the states can't be read or written, or other programs moved it during every attempt.
pub fn note_confirmation(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    confirmed: &Confirmed,
    lease: Option<&WriteLease>,
) -> Result<bool, CommandError> {
    let Confirmed { word, by, at } = confirmed;
    let text = format!("{by} confirmed the removals with the word {word}").into();
    let event = MoveEvent { at: *at, kind: EventKind::Confirmed, revision: None, text, gates: Vec::new() };
    let message = events::message(environment, &[events::promotion_event(environment, None, &event, Some(by))]);
    let author = Person { name: by.clone(), email: AUTHOR_EMAIL.to_owned() };
    let change = StateChange {
        rollouts: BTreeMap::new(),
        advances: None,
        promotion: AdmissionChange::Keep,
        message: &message,
        author: &author,
        seconds: at.as_second(),
        lease,
    };
    for _ in 0..RACES_MAX {
        let Some(head) = state_branch::head(access, environment).map_err(StoreError::from)? else { return Ok(false) };
        if !matches!(rollout_store::note(access, environment, &head, &change)?, Written::LostRace) {
            return Ok(true);
        }
    }
    Err(CommandError::LostRaces(environment.clone()))
}
