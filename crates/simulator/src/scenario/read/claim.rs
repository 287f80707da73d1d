//! Reads claims: `prod has c1`, `prod never has c2`, `stage stopped because 2 of 3 failed`.

use std::sync::Arc;

use super::Names;
use super::tokens::{Expected, Words};
use crate::scenario::definition::{Claim, MoveState, When};

/// The forms of claims.
pub(super) const FORMS: &[&str] = &[
    "CLUSTERS has CHANGE",
    "CLUSTERS has WORKLOAD VERSION",
    "CLUSTERS lacks CHANGE",
    "ENVIRONMENT [WORKLOAD] waits [for TEXT]",
    "ENVIRONMENT [WORKLOAD] stopped [because TEXT]",
    "ENVIRONMENT [WORKLOAD] rolls back",
    "ENVIRONMENT [WORKLOAD] rejected",
    "ENVIRONMENT [WORKLOAD] is held",
    "ENVIRONMENT [WORKLOAD] rests",
    "at most NUMBER of CLUSTERS change at once",
    "everything rests",
];

/// Reads a claim of a timeline.
pub(super) fn read(words: &mut Words<'_>, names: &Names) -> Result<Claim, Expected> {
    if words.take("everything rests") {
        return Ok(Claim::Rest);
    }
    if words.take("at most") {
        let word = words.word("a number")?;
        let limit = word.parse().map_err(|_| format!("`{word}` is no number"))?;
        words.must("of")?;
        let who = words.who(&names.environments)?;
        words.must("change at once")?;
        return Ok(Claim::AtOnce { limit, who });
    }
    let who = words.who(&names.environments)?;
    match words.peek() {
        Some("has") => {
            words.must("has")?;
            Ok(Claim::Has { who, what: words.content(names)? })
        }
        Some("lacks") => {
            words.must("lacks")?;
            Ok(Claim::Lacks { who, what: words.content(names)? })
        }
        _ => {
            let environment = who.environment.ok_or("`has` or `lacks` is expected after clusters")?;
            state(environment, words, names)
        }
    }
}

/// Reads an expectation with the time at which it is checked.
pub(super) fn expectation(text: &str, names: &Names) -> Result<(Claim, When), Expected> {
    let (sentence, is_always) = match text.split_once(" never has ") {
        Some((who, what)) => (format!("{who} lacks {what}"), true),
        None => (text.to_owned(), false),
    };
    let mut words = Words::new(&sentence);
    let claim = read(&mut words, names)?;
    let when = if words.take("by") {
        When::By(words.duration()?)
    } else if words.take("at") {
        When::At(words.duration()?)
    } else if is_always || matches!(claim, Claim::AtOnce { .. }) {
        When::Always
    } else {
        When::End
    };
    words.end()?;
    Ok((claim, when))
}

fn state(environment: Arc<str>, words: &mut Words<'_>, names: &Names) -> Result<Claim, Expected> {
    let workload = words.subject(names)?;
    let state = match words.word("a claim")? {
        "waits" => MoveState::Waits(words.rest_after("for")),
        "stopped" => MoveState::Stopped(words.rest_after("because")),
        "rolls" => words.must("back").map(|()| MoveState::RollsBack)?,
        "rejected" => MoveState::Rejected,
        "is" => words.must("held").map(|()| MoveState::Held)?,
        "rests" => MoveState::Rests,
        other => return Err(format!("`{other}` is no claim")),
    };
    Ok(Claim::State { environment, workload, state })
}
