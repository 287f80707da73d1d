//! Pull requests of a world: what moves into an environment waits in them for the reviews of people and for its merge.

use engine::promotion::state::Revision;
use engine::promotion::step::Write;
use model::object::promotion::ChangeDelivery;

use super::subject::{Proposal, SubjectKey};
use super::{World, seconds};
use crate::scenario::task::Task;

impl World {
    /// Does what a step demands. True: something is different now.
    pub(super) fn act(&mut self, key: SubjectKey, write: Write) -> bool {
        let delivery = self.environments[key.environment].promotion.as_ref().map(|promotion| promotion.delivery);
        match write {
            Write::Put { revision, .. } if delivery == Some(ChangeDelivery::Direct) => {
                return self.name(key.environment, key.subject, revision);
            }
            Write::Put { revision, .. } => self.propose(key, &revision, true),
            Write::Review(revision) => self.propose(key, &revision, false),
            Write::Withdraw { keep } => self.withdraw(key, keep.as_ref()),
            Write::Nothing => {}
        }
        false
    }

    /// Opens a pull request, if there is none for the revision, it is not merged yet, and the API of the git host answers. People merge it when its gates hold.
    fn propose(&mut self, key: SubjectKey, revision: &Revision, is_due: bool) {
        let SubjectKey { environment: number, subject } = key;
        let known = &self.environments[number].subjects[subject];
        if known.named.as_ref() == Some(revision) || self.system.is_host_api_down() {
            return;
        }
        let open = known.proposal.as_ref();
        let open = open.filter(|open| open.revision == *revision);
        if open.is_some_and(|open| open.merge.is_some() == is_due) {
            return;
        }
        let is_open = open.is_some();
        let merge = is_due.then(|| {
            self.proposals += 1;
            self.proposals
        });
        self.environments[number].subjects[subject].proposal = Some(Proposal { revision: revision.clone(), merge });
        if let Some(merge) = merge {
            let task = Task::Merge { environment: number as u16, subject: subject as u16, number: merge };
            self.queue.add(self.now + seconds(self.pace.merge), task);
        }
        let text = match (is_open, is_due) {
            (_, true) => "a pull request waits for its merge",
            (false, false) => "a pull request waits for reviews",
            (true, false) => "the pull request waits for reviews again",
        };
        let place = self.subject_name(number, subject);
        self.tell((&place, "proposed"), format!("{}: {text}", revision.0));
    }

    /// Closes the pull request, if there is one for another revision and the API of the git host answers. One that stays is not merged before its gates hold.
    fn withdraw(&mut self, key: SubjectKey, keep: Option<&Revision>) {
        let SubjectKey { environment: number, subject } = key;
        let proposal = &mut self.environments[number].subjects[subject].proposal;
        if self.system.is_host_api_down() {
            return;
        }
        if let Some(kept) = proposal.as_mut().filter(|open| keep == Some(&open.revision)) {
            kept.merge = None;
        } else if let Some(Proposal { revision, .. }) = proposal.take() {
            let place = self.subject_name(number, subject);
            self.tell((&place, "withdrawn"), format!("{}: the pull request is closed", revision.0));
        }
    }

    /// People merge a pull request as planned, if it is still open and its gates held until now.
    pub(super) fn merge(&mut self, number: usize, subject: usize, planned: u32) {
        let open = &mut self.environments[number].subjects[subject].proposal;
        if let Some(Proposal { revision, .. }) = open.take_if(|open| open.merge == Some(planned)) {
            let place = self.subject_name(number, subject);
            self.tell((&place, "merged"), format!("{}: the pull request is merged", revision.0));
            self.name(number, subject, revision);
        }
    }

    /// A person merges the open pull request, whatever its gates say.
    pub(super) fn merge_by_hand(&mut self, number: usize, subject: usize) {
        if let Some(Proposal { revision, .. }) = self.environments[number].subjects[subject].proposal.take() {
            self.name(number, subject, revision);
        } else {
            let place = self.subject_name(number, subject);
            self.tell((&place, "refused"), "there is no open pull request");
        }
    }
}
