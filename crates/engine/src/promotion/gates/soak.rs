//! Gates that wait until the fleet was good for some time without an interruption.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{GateInput, Verdict, duration};
use crate::promotion::state::GateStatus;

/// Whether the fleet is good for long enough. `good_since`: since when it is; none if it is not.
pub(super) fn verdict(time: Duration, input: &GateInput<'_>, good_since: Option<Timestamp>) -> Verdict {
    let shown = duration(time);
    if let Err(reason) = &input.measured {
        return (GateStatus::Waiting, format!("the state of the fleet is not known: {reason}"));
    }
    let Some(since) = good_since else {
        return (GateStatus::Waiting, format!("{shown} begin when the fleet is good"));
    };
    let time = SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX);
    // A time before `since`, after a correction of the clock, is a negative duration. It never reaches the soak time.
    let is_over = since <= input.now && input.now.duration_since(since) >= time;
    let status = if is_over { GateStatus::Passed } else { GateStatus::Waiting };
    let end = since.checked_add(time).map_or_else(|_| "never".to_owned(), |end| format!("{end:.0}"));
    (status, format!("good since {since:.0}; {shown} end at {end}"))
}
