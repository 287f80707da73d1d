//! Reasons why a plan is not published.

use engine::output::destination_problems;
use model::diagnostic::{Code, Diagnostic};
use model::kind::Kind;

use crate::error::DestinationError;
use crate::output::owner_file;
use crate::output::planned::Planned;
use crate::sources::loaded::Loaded;

/// The reason why a plan is not published.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// A problem with the destination.
    Diagnostic(Diagnostic),
    /// The plan removes so many assignments that it needs a confirmation, and its confirmation word is missing. Only the removals wait.
    Unconfirmed {
        /// Whether the caller gave other confirmation words.
        has_other_words: bool,
    },
}

impl Refusal {
    /// Whether only the confirmation of removals is missing.
    pub fn is_unconfirmed(&self) -> bool {
        matches!(self, Self::Unconfirmed { .. })
    }
}

/// The reasons why a plan is not published. Empty if it can be published. `confirmed` lists the confirmation words for a direct push. None: the change is
/// proposed, and people merge it.
///
/// # Errors
/// If the destination can't be read.
pub fn refusals(
    loaded: &Loaded,
    planned: &Planned,
    confirmed: Option<&[String]>,
) -> Result<Vec<Refusal>, DestinationError> {
    let is_fatal = |diagnostic: &&Diagnostic| matches!(diagnostic.code, Code::PathMoved | Code::ForeignFile);
    let mut found: Vec<_> = planned.output.diagnostics.iter().filter(is_fatal).cloned().collect();
    found.extend(destination_problems(&loaded.fleet));
    let is_of_target = |diagnostic: &&Diagnostic| {
        let object = diagnostic.object.as_ref();
        object.is_some_and(|object| object.kind == Kind::GitOpsRepo && *object.name == *planned.target.name)
    };
    let is_source =
        |diagnostic: &&Diagnostic| matches!(diagnostic.code, Code::SourceIsDestination | Code::ProposalIsDestination);
    found.extend(loaded.diagnostics.iter().filter(is_source).filter(is_of_target).cloned());
    found.extend(owner_file::refusal(loaded, planned)?);
    found.extend(loaded.enforced.refusals.iter().cloned());
    let unconfirmed = confirmed.and_then(|words| unconfirmed(planned, words));
    Ok(found.into_iter().map(Refusal::Diagnostic).chain(unconfirmed).collect())
}

fn unconfirmed(planned: &Planned, words: &[String]) -> Option<Refusal> {
    planned.confirmation_word().filter(|word| !words.contains(word))?;
    Some(Refusal::Unconfirmed { has_other_words: words.iter().any(|word| !word.is_empty()) })
}
