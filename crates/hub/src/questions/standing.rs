//! Where a reconciler stands with what it should hold.

use std::str::FromStr;

use hub_api::report::Status;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::QuestionError;

/// Where a reconciler stands with what its place should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It holds it, and said that all is well.
    Succeeded,
    /// It tried, and could not.
    Failed,
    /// It is at it.
    InProgress,
    /// It promised to report, and did not; and what it said last was not that all is well, or that it failed.
    Silent,
    /// It holds something else.
    Outdated,
    /// It was registered, and has never said anything.
    NeverReported,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Succeeded, Self::Failed, Self::InProgress, Self::Silent, Self::Outdated, Self::NeverReported];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::InProgress => "in_progress",
            Self::Silent => "silent",
            Self::Outdated => "outdated",
            Self::NeverReported => "never_reported",
        }
    }

    /// As statements have it.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Succeeded => 1,
            Self::Failed => 2,
            Self::InProgress => 3,
            Self::Silent => 4,
            Self::Outdated => 5,
            Self::NeverReported => 6,
        }
    }

    pub(super) fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.number() == number)
    }

    /// Where a reconciler stands: whether it holds what is wanted, and whether nobody knows what it holds. In statements, it is [`expression`].
    pub(super) fn of(status: Option<Status>, (holds, is_unknown): (bool, bool), is_silent: bool) -> Self {
        match status {
            None => Self::NeverReported,
            Some(Status::Success) if holds => Self::Succeeded,
            Some(Status::Failure) if holds || is_unknown => Self::Failed,
            Some(_) if is_silent => Self::Silent,
            Some(Status::InProgress) if holds || is_unknown => Self::InProgress,
            Some(_) => Self::Outdated,
        }
    }

    /// Several, with commas between them; none if nothing is said.
    pub(super) fn parse_list(text: Option<&str>) -> Result<Option<Vec<Self>>, QuestionError> {
        let Some(text) = text else { return Ok(None) };
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Some)
    }
}

impl FromStr for Standing {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, QuestionError> {
        let text = text.trim();
        Self::ALL.into_iter().find(|standing| standing.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            QuestionError::Wrong { parameter: "status", message: format!("`{text}` is none of {known}") }
        })
    }
}

/// The standing of the reconcilers of a tally `t` that hold what is asked about if `holds` says so, as a number.
///
/// Who says that it failed, or that it is at work, and not with what, speaks of what is wanted.
pub(super) fn expression(holds: &str) -> String {
    format!(
        "case when t.status = 0 then 6 when {holds} and t.status = 2 then 1 \
         when t.status = 3 and ({holds} or t.held_commit_id = 0) then 2 when t.is_silent = 1 then 4 \
         when t.status = 1 and ({holds} or t.held_commit_id = 0) then 3 else 5 end"
    )
}

/// Whether reconcilers of a tally `t` hold what their place should hold now.
pub(super) const HOLDS_WANTED: &str = "t.is_current = 1";

/// How many reconcilers stand where, and not how many hosts: a host counts once for each of its reconcilers. The parts make up what is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Reconcilers of registered hosts, not retired, at whose place it is wanted.
    pub expected: i64,
    /// Of these: hold it, and said that all is well.
    pub succeeded: i64,
    /// Tried, and could not.
    pub failed: i64,
    /// Are at it.
    pub in_progress: i64,
    /// Promised to report and did not, before they got there.
    pub silent: i64,
    /// Hold something else.
    pub outdated: i64,
    /// Have never said anything.
    pub never_reported: i64,
    /// Of those that succeeded: have gone silent since.
    pub succeeded_but_silent: i64,
}

impl Counts {
    /// Adds that many.
    pub(super) fn add(&mut self, standing: Standing, is_silent: bool, reconcilers: i64) {
        self.expected += reconcilers;
        *self.part(standing) += reconcilers;
        if is_silent && standing == Standing::Succeeded {
            self.succeeded_but_silent += reconcilers;
        }
    }

    /// Adds all of others.
    pub(crate) fn merge(&mut self, others: &Self) {
        self.expected += others.expected;
        self.succeeded += others.succeeded;
        self.failed += others.failed;
        self.in_progress += others.in_progress;
        self.silent += others.silent;
        self.outdated += others.outdated;
        self.never_reported += others.never_reported;
        self.succeeded_but_silent += others.succeeded_but_silent;
    }

    /// How many stand there.
    pub(crate) fn of(&self, standing: Standing) -> i64 {
        *self.clone().part(standing)
    }

    fn part(&mut self, standing: Standing) -> &mut i64 {
        match standing {
            Standing::Succeeded => &mut self.succeeded,
            Standing::Failed => &mut self.failed,
            Standing::InProgress => &mut self.in_progress,
            Standing::Silent => &mut self.silent,
            Standing::Outdated => &mut self.outdated,
            Standing::NeverReported => &mut self.never_reported,
        }
    }
}
