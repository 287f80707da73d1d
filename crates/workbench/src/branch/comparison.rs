//! The plan of edits for one environment, and the errors that they add.

use std::collections::BTreeMap;
use std::sync::Arc;

use delivery::output::compilation::KnownResults;
use delivery::output::planned::{Earlier, Planned};
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use engine::output::destination_problems;
use model::diagnostic::{Diagnostic, merged};
use model::progress::Progress;

use crate::Error;
use crate::change::EnvironmentChange;

/// An environment before and after edits, compiled and compared.
pub struct EditComparison<'a> {
    change: &'a EnvironmentChange,
    compiled: Arc<Compiled>,
    planned: Planned,
    new_errors: Vec<Diagnostic>,
    new_warnings: Vec<Diagnostic>,
}

impl<'a> EditComparison<'a> {
    /// Compiles and compares both states. Results that are known are used again.
    ///
    /// # Errors
    /// If the output of an environment can't be computed, because the path of a `GitOpsRepo` leads out of its repository.
    pub fn new(change: &'a EnvironmentChange, mut known: KnownResults, progress: &Progress) -> Result<Self, Error> {
        let [earlier, compiled] = known.compile_both(&change.old, &change.new, progress);
        let before = diagnostics(&change.old, &earlier);
        let new = added(&before, diagnostics(&change.new, &compiled));
        let (new_errors, new_warnings) = new.into_iter().partition(Diagnostic::is_error);
        let compiled = Arc::new(compiled);
        let earlier = Earlier { loaded: Arc::clone(&change.old), compiled: earlier };
        let planned = Planned::between(earlier, (&change.new, &compiled), &change.from)?;
        Ok(Self { change, compiled, planned, new_errors, new_warnings })
    }

    /// The change.
    pub fn change(&self) -> &'a EnvironmentChange {
        self.change
    }

    /// The environment after the edits.
    pub fn loaded(&self) -> &'a Loaded {
        &self.change.new
    }

    /// The plan.
    pub fn planned(&self) -> &Planned {
        &self.planned
    }

    /// The errors that exist only after the edits, as `check` finds them.
    pub fn new_errors(&self) -> &[Diagnostic] {
        &self.new_errors
    }

    /// The environment after the edits, compiled.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The warnings that exist only after the edits.
    pub fn new_warnings(&self) -> &[Diagnostic] {
        &self.new_warnings
    }

    /// Adds an error or a warning about the edits.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        if diagnostic.is_error() {
            self.new_errors.push(diagnostic);
        } else {
            self.new_warnings.push(diagnostic);
        }
    }
}

/// All diagnostics of an environment.
pub(crate) fn diagnostics(loaded: &Loaded, compiled: &Compiled) -> Vec<Diagnostic> {
    let all = loaded.diagnostics.iter().cloned().chain(compiled.diagnostics());
    merged(all.chain(destination_problems(&loaded.fleet)).collect())
}

/// The diagnostics among `after` that are not in `before`. Positions in files don't count, because edits move them.
fn added(before: &[Diagnostic], after: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let key = |diagnostic: &Diagnostic| (diagnostic.code, diagnostic.message.clone(), diagnostic.object.clone());
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    for diagnostic in before {
        *known.entry(key(diagnostic)).or_default() += 1;
    }
    let is_new = |diagnostic: &Diagnostic| {
        let left = known.entry(key(diagnostic)).or_default();
        let is_known = *left > 0;
        *left = left.saturating_sub(1);
        !is_known
    };
    after.into_iter().filter(is_new).collect()
}

#[cfg(test)]
mod tests {
    use model::diagnostic::Code;

    use super::*;

    #[test]
    fn only_additional_diagnostics_are_new() {
        let error = |text: &str| Diagnostic::error(Code::YamlSyntax, text.to_owned());
        let warning = Diagnostic::warning(Code::YamlSyntax, "c".to_owned());
        let before = [error("a"), error("b")];
        let after = vec![error("b"), error("a"), error("a"), warning.clone()];
        assert_eq!(added(&before, after), [error("a"), warning]);
        assert_eq!(added(&before, before.to_vec()), []);
    }
}
