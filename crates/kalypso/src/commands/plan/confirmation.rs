//! Changes that require a confirmation before they are published directly.

use delivery::output::changes::{removed_text, renaming_note};
use delivery::output::planned::Planned;
use model::diagnostic::{Code, Diagnostic};
use serde::Serialize;
use utoipa::ToSchema;

/// The diagnostic for a plan that is not published because its confirmation is missing.
pub(in crate::commands) fn unconfirmed(planned: &Planned, has_other_words: bool) -> Diagnostic {
    let message = format!("this would remove {}", removed_text(planned));
    let mut diagnostic = Diagnostic::error(Code::NeedsConfirmation, message);
    if planned.has_waiting_removals() {
        diagnostic = diagnostic.note("these folders stay; everything else is published");
    }
    diagnostic = renaming_note(planned).into_iter().fold(diagnostic, Diagnostic::note);
    if has_other_words {
        diagnostic = diagnostic.note("the word of `--confirm` belongs to other removals");
    }
    let word = planned.confirmation_word().unwrap_or_default();
    diagnostic.help(format!("look at `kalypso plan`; to confirm the removals, add `--confirm {word}`"))
}

/// The required confirmation, for programs.
#[derive(Serialize, ToSchema)]
pub(in crate::commands) struct ConfirmationFields {
    /// The value for `--confirm`; `null` if it is compared with no branch.
    word: Option<String>,
    /// How many folders are removed: those of assignments and of cluster types.
    removed: usize,
    /// Their paths in the GitOps repository.
    removals: Vec<String>,
}

/// The required confirmation. At most `listed_max` removed folders are listed. None: so little is removed that none is needed.
pub(in crate::commands) fn confirmation(planned: &Planned, listed_max: usize) -> Option<ConfirmationFields> {
    let plan = planned.whole_plan();
    plan.needs_confirmation().then(|| {
        let removals = plan.removals();
        ConfirmationFields {
            word: planned.confirmation_word(),
            removed: removals.len(),
            removals: removals.into_iter().take(listed_max).collect(),
        }
    })
}
