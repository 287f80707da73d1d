//! The plan of edits for one environment, and the errors that they add.

use std::collections::BTreeMap;
use std::sync::Arc;

use delivery::loaded::Loaded;
use delivery::planned::{Earlier, Planned};
use engine::compile::Compiled;
use engine::output::destination_problems;
use model::diagnostic::{Diagnostic, merged};

use crate::change::EnvironmentChange;
use crate::diagnostics::{Batch, Report};
use crate::progress::Watch;
use crate::{compiling, reporting};

/// An environment before and after edits, compiled and compared.
pub(crate) struct Comparison<'a> {
    change: &'a EnvironmentChange,
    compiled: Arc<Compiled>,
    planned: Planned,
    new_errors: Vec<Diagnostic>,
    new_warnings: Vec<Diagnostic>,
}

impl<'a> Comparison<'a> {
    /// Compiles and compares both states.
    ///
    /// # Errors
    /// If the output of an environment can't be computed, because the path of a `GitOpsRepo` leads out of its repository.
    pub(crate) fn of(change: &'a EnvironmentChange, watch: &Watch) -> anyhow::Result<Self> {
        let [earlier, compiled] = compiling::compile_both(&change.old, &change.new, watch.progress());
        let before = diagnostics(&change.old, &earlier);
        let new = added(&before, diagnostics(&change.new, &compiled));
        let (new_errors, new_warnings) = new.into_iter().partition(Diagnostic::is_error);
        let compiled = Arc::new(compiled);
        let earlier = Earlier { loaded: Arc::clone(&change.old), compiled: earlier };
        let planned = Planned::between(earlier, (&change.new, &compiled), &change.from)?;
        Ok(Self { change, compiled, planned, new_errors, new_warnings })
    }

    /// The change.
    pub(crate) fn change(&self) -> &'a EnvironmentChange {
        self.change
    }

    /// The environment after the edits.
    pub(crate) fn loaded(&self) -> &'a Loaded {
        &self.change.new
    }

    /// The plan.
    pub(crate) fn planned(&self) -> &Planned {
        &self.planned
    }

    /// The errors that exist only after the edits, as `check` finds them.
    pub(crate) fn new_errors(&self) -> &[Diagnostic] {
        &self.new_errors
    }

    /// The environment after the edits, compiled.
    pub(crate) fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The warnings that exist only after the edits.
    pub(crate) fn new_warnings(&self) -> &[Diagnostic] {
        &self.new_warnings
    }

    /// Adds an error or a warning about the edits.
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        if diagnostic.is_error() {
            self.new_errors.push(diagnostic);
        } else {
            self.new_warnings.push(diagnostic);
        }
    }

    /// A report with the new errors.
    pub(crate) fn add_new_errors(&self, report: &mut Report<'a>) {
        let batch = reporting::batch(&self.new_errors, &self.compiled);
        reporting::add_all(report, self.loaded(), Batch { sensitive: Some(self.planned.sensitive()), ..batch });
    }

    /// A report with the new warnings. Warnings about objects that other environments may use are left out.
    pub(crate) fn add_new_warnings(&self, report: &mut Report<'a>) {
        let batch = reporting::batch(&self.new_warnings, &self.compiled);
        reporting::add(report, self.loaded(), Batch { sensitive: Some(self.planned.sensitive()), ..batch });
    }
}

fn diagnostics(loaded: &Loaded, compiled: &Compiled) -> Vec<Diagnostic> {
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
