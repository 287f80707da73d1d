//! Why an assignment does not exist, or why an object does not apply to it.

use engine::answers::why_not::AppliedKind;
use hub_api::compiled::{CompiledAnswer, CompiledRefusal, WhyNotFields, WhyNotQuery};

use super::scope::{VisibleState, wrong};
use crate::answers::why_not::{AppliedObject, WhyNotAnswer, WhyNotQuestion, why_not_fields};

impl VisibleState<'_> {
    /// Why an assignment does not exist, or why an object does not apply to it.
    ///
    /// # Errors
    /// If the query is wrong, or its target belongs to a workspace that the caller may not see.
    pub fn why_not(&self, query: &WhyNotQuery) -> Result<CompiledAnswer<WhyNotFields>, CompiledRefusal> {
        self.check_complete()?;
        let question = question(query)?;
        let prepared = self.own_prepared();
        if !self.is_everything() {
            let Some(target) = &question.target else {
                return Err(wrong(
                    "this token is limited to workspaces, and the question names no target",
                    "name one: target=",
                ));
            };
            self.check_target(target)?;
        }
        let answer = WhyNotAnswer::new(&self.state.loaded, &prepared, question);
        Ok(self.answer(why_not_fields(&[answer]), Vec::new()))
    }
}

fn question(query: &WhyNotQuery) -> Result<WhyNotQuestion, CompiledRefusal> {
    let WhyNotQuery { place, target, object, key } = query.clone();
    if place.is_none() && target.is_none() {
        return Err(wrong(
            "the question names nothing",
            "name a cluster type or cluster, or a target: place=, target=",
        ));
    }
    let parsed = object.as_deref().and_then(AppliedObject::parse);
    if object.is_some() && (parsed.is_none() || place.is_none() || target.is_none()) {
        let hint = "write configmap/NAME or schema/NAME, and name the place and the target of an assignment";
        return Err(wrong("the object can't be asked about in this form", hint));
    }
    let is_config_map = parsed.as_ref().is_some_and(|object| object.kind == AppliedKind::ConfigMap);
    if key.is_some() && !is_config_map {
        return Err(wrong("the key belongs to no `ConfigMap`", "name it: object=configmap/NAME"));
    }
    Ok(WhyNotQuestion { place, target, object: parsed, key })
}
