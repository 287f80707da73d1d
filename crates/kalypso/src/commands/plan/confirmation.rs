//! What somebody has to confirm before it is published directly.

use std::fmt::Write as _;

use engine::plan::{ChangeKind, Guarded};
use model::diagnostic::{Code, Diagnostic};
use serde_json::{Value as Json, json};

use super::Planned;
use crate::terminal::{count, named, thousands};

impl Planned<'_> {
    /// The word that confirms what is removed. None if it needs none, or would be removed from no branch.
    pub(in crate::commands) fn word(&self) -> Option<String> {
        let place = &self.target.place;
        let environment = self.compiled.fleet().environment.as_str();
        let guarded = Guarded { repository: &place.repo, branch: &place.branch, environment };
        (self.plan.needs_confirmation() && !place.repo.is_empty()).then(|| self.plan.word(guarded))
    }

    /// What is removed: ``12 of 40 assignments, all of workload `shop` ``.
    pub(super) fn removed_text(&self) -> String {
        let plan = &self.plan;
        let (removed, before) = (thousands(plan.count(ChangeKind::Removed)), count(plan.before(), "assignment"));
        let mut text = format!("{removed} of {before}");
        let gone = &plan.gone_as_whole;
        for (what, names) in [("workload", &gone.workloads), ("target", &gone.targets)] {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            match &names[..] {
                [] => {}
                [name] => {
                    let _ = write!(text, ", all of {what} {name}");
                }
                names => {
                    let _ = write!(text, ", all of {}: {}", count(names.len(), what), named(names));
                }
            }
        }
        let places: Vec<_> = plan.gone.iter().map(|name| format!("`{name}`")).collect();
        if !places.is_empty() {
            let kinds = self.places_text(plan.gone.iter().map(|name| &**name));
            let _ = write!(text, ", and {kinds}: {}", named(&places));
        }
        text
    }

    /// Why the plan is not carried out by somebody who has said these words; none if they are enough.
    pub(in crate::commands) fn unconfirmed(&self, said: &[String]) -> Option<Diagnostic> {
        let word = self.word().filter(|word| !said.contains(word))?;
        let message = format!("this would remove {}", self.removed_text());
        let mut diagnostic = Diagnostic::error(Code::NeedsConfirmation, message);
        if said.iter().any(|word| !word.is_empty()) {
            diagnostic = diagnostic.note("the word of `--confirm` is of other removals");
        }
        Some(diagnostic.help(format!("look at `kalypso plan`, and say `--confirm {word}` if that is meant")))
    }

    /// The same for programs: at most so many removed folders are listed.
    pub(in crate::commands) fn confirmation(&self, listed_max: usize) -> Json {
        if !self.plan.needs_confirmation() {
            return Json::Null;
        }
        let removals = self.plan.removals();
        json!({
            "word": self.word(),
            "removed": removals.len(),
            "removals": removals.iter().take(listed_max).collect::<Vec<_>>(),
        })
    }
}
