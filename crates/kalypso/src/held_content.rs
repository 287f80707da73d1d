//! What is published at places where it is not what is desired, in answers for people.

use std::collections::BTreeMap;

use delivery::output::rings::{HeldContent, HeldContents};
use delivery::publication::published_content::PublishedContents;
use delivery::sources::loaded::Loaded;
use engine::compile::Prepared;
use hub_api::timestamp::Timestamp;
use model::diagnostic::AssignmentId;
use model::git_id::GitId;

use crate::hub_client::length;
use crate::terminal;

/// The contents of an environment that are published and not desired. What can't be read is a warning, once.
pub(crate) struct HeldAssignments<'a> {
    contents: Option<Contents<'a>>,
}

/// How the published contents are found.
enum Contents<'a> {
    /// The environment has rings: the states of the rollouts say what each place has.
    Rings(Box<HeldContents<'a>>),
    /// The environment has none: the branches say it.
    Branches(PublishedContents<'a>),
}

impl<'a> HeldAssignments<'a> {
    pub(crate) fn read(loaded: &'a Loaded, prepared: &'a Prepared) -> Self {
        let contents = HeldContents::read(loaded, prepared).and_then(|rings| match rings {
            Some(rings) => Ok(Contents::Rings(Box::new(rings))),
            None => PublishedContents::read(loaded, prepared).map(Contents::Branches),
        });
        Self { contents: contents.map_err(|error| warn(&error)).ok() }
    }

    /// The assignments that have another content than the desired one. `desired` gives the ids of their desired folders.
    pub(crate) fn find(
        &mut self,
        ids: &[AssignmentId],
        desired: impl FnOnce(&[AssignmentId]) -> Vec<Option<GitId>>,
    ) -> BTreeMap<AssignmentId, HeldContent> {
        let found = match &mut self.contents {
            None => return BTreeMap::new(),
            Some(Contents::Rings(contents)) => contents.find(ids, &desired(ids)),
            Some(Contents::Branches(contents)) => contents.find(ids, &desired(ids)),
        };
        found.unwrap_or_else(|error| {
            warn(&error);
            self.contents = None;
            BTreeMap::new()
        })
    }
}

fn warn(error: &dyn std::fmt::Display) {
    terminal::warn(&format!("what is published is not known: {error}"));
}

/// `2.4.0 desired, 2.3.0 published in ring clinics since 2 h: the rollout is in ring pilots`.
pub(crate) fn text(content: &HeldContent, now: Timestamp) -> String {
    format!("{content}{} {}", if content.since.is_some() { "" } else { ":" }, why(content, now))
}

/// `since 2 h: the rollout is in ring pilots`.
pub(crate) fn why(content: &HeldContent, now: Timestamp) -> String {
    let since = since(content, now).map(|since| format!("since {since}: "));
    format!("{}{}", since.unwrap_or_default(), content.reason)
}

/// How long the place has the content. None if that is not known.
pub(crate) fn since(content: &HeldContent, now: Timestamp) -> Option<String> {
    let since = Timestamp::from_millis(content.since?.as_millisecond());
    Some(length(now.since(since)))
}
