//! Why nothing, or no commit of the main branch, may be published into an environment.

use delivery::publication::enforcement;
use delivery::sources::loaded::Loaded;
use delivery::states::state_branch;
use model::diagnostic::Diagnostic;

/// Why nothing, or no commit of the main branch, may be published into an environment. A plain folder is never published.
pub(crate) fn diagnostics(loaded: &Loaded) -> Vec<Diagnostic> {
    if loaded.access.is_none() {
        return Vec::new();
    }
    let untrusted = state_branch::diagnostics(loaded);
    if untrusted.is_empty() { enforcement::diagnostics(loaded) } else { untrusted }
}
