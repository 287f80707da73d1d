//! Changes that require a confirmation before they are published directly.

use delivery::output::changes::{removed_text, renaming_note};
use delivery::output::planned::Planned;
use model::diagnostic::{Code, Diagnostic};

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
