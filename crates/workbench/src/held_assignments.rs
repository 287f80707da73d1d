//! What is published at places where it is not what is desired.

use std::collections::BTreeMap;

use delivery::output::rings::{HeldContent, HeldContents};
use delivery::publication::published_content::PublishedContents;
use delivery::sources::loaded::Loaded;
use engine::compile::Prepared;
use model::diagnostic::AssignmentId;
use model::git_id::GitId;

/// The contents of an environment that are published and not desired.
pub struct HeldAssignments<'a> {
    contents: Option<Contents<'a>>,
    warn: &'a dyn Fn(&str),
}

/// How the published contents are found.
enum Contents<'a> {
    /// The environment has rings: the states of the rollouts say what each place has.
    Rings(Box<HeldContents<'a>>),
    /// The environment has none: the branches say it.
    Branches(PublishedContents<'a>),
}

impl<'a> HeldAssignments<'a> {
    /// Reads the states of the rollouts, or the branches. `warn` gets what can't be read, once.
    pub fn read(loaded: &'a Loaded, prepared: &'a Prepared, warn: &'a dyn Fn(&str)) -> Self {
        let contents = HeldContents::read(loaded, prepared).and_then(|rings| match rings {
            Some(rings) => Ok(Contents::Rings(Box::new(rings))),
            None => PublishedContents::read(loaded, prepared).map(Contents::Branches),
        });
        Self { contents: contents.map_err(|error| warn(&not_known(&error))).ok(), warn }
    }

    /// The assignments that have another content than the desired one. `desired` gives the ids of their desired folders.
    pub fn find(
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
            (self.warn)(&not_known(&error));
            self.contents = None;
            BTreeMap::new()
        })
    }
}

fn not_known(error: &dyn std::fmt::Display) -> String {
    format!("what is published is not known: {error}")
}
