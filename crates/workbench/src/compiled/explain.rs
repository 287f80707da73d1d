//! Why an assignment exists, and where its values come from.

use std::sync::Mutex;

use engine::answers::explain::ValueReason;
use hub_api::compiled::{AssignmentName, CompiledAnswer, CompiledRefusal, ExplainedAssignment};
use model::diagnostic::AssignmentId;
use model::locate::Locator;
use model::similar;

use super::scope::VisibleState;
use crate::answers::explain::{AssignmentFacts, explained_assignment, explained_value};

impl VisibleState<'_> {
    /// Explains an assignment. With a key, only the value with this key, with the lines of the files that hold it.
    ///
    /// # Errors
    /// If there is no such assignment or value.
    pub fn explain(
        &self,
        name: &AssignmentName,
        key: Option<&str>,
    ) -> Result<CompiledAnswer<ExplainedAssignment>, CompiledRefusal> {
        self.check_complete()?;
        let id = self.assignment(name)?;
        let value = key.map(|key| self.value(&id, key)).transpose()?;
        let notes = Mutex::new(Vec::new());
        let warn = |message: &str| notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(message.into());
        let facts = AssignmentFacts::find(&self.state.loaded, self.state.prepared(), &id, &warn);
        let facts = facts.ok_or_else(|| self.unknown("assignment", &id.to_string(), None))?;
        let mut locator = Locator::new(&self.state.loaded.fleet);
        let mut answer = explained_assignment(&facts, &mut locator);
        if let Some(value) = value {
            answer.values = vec![explained_value(&value, &mut locator)];
        }
        Ok(self.answer(answer, notes.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)))
    }

    fn value(&self, id: &AssignmentId, key: &str) -> Result<ValueReason, CompiledRefusal> {
        let prepared = self.state.prepared();
        let reason = prepared.explain_value(id, key).filter(ValueReason::is_known);
        reason.ok_or_else(|| {
            let known: Vec<_> = prepared.value_paths(id).iter().map(ToString::to_string).collect();
            let similar = similar::nearest(key, known.iter().map(String::as_str));
            self.unknown("value", key, similar.map(|name| format!("did you mean `{name}`?")))
        })
    }
}
