//! Asks the configured git hosts how the branches are protected that decide what clusters get.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use delivery::pull_requests::branch_protection::{DecidingBranch, deciding_branches};
use delivery::sources::loaded::Loaded;
use git_host::HostError;
use git_host::protection::BranchProtection;
use model::diagnostic::Diagnostic;

use crate::arguments::Check;
use crate::configuration::Settings;

/// How long the command waits for answers when everything else is done. What is not known then is not reported.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of questions that are asked at the same time.
const THREADS_MAX: usize = 4;

/// The protection that a host returns for the branch at a position.
type Answer = (usize, Result<Option<BranchProtection>, HostError>);

/// Questions to git hosts, which are asked in the background.
pub(super) struct Questions {
    branches: Vec<DecidingBranch>,
    answers: Receiver<Answer>,
}

/// Begins to ask about the branches of environments that were read as they are now from git.
pub(super) fn ask(options: &Check, environments: &[Arc<Loaded>]) -> anyhow::Result<Questions> {
    let (sender, answers) = mpsc::channel();
    if options.source.from.is_some() || !options.state.is_current() {
        return Ok(Questions { branches: Vec::new(), answers });
    }
    let hosts = Settings::read(options.source.config.as_deref())?.hosts_to_ask();
    let branches = deciding_branches(environments.iter().map(|loaded| &**loaded), &hosts);
    let queue: VecDeque<_> = branches.iter().cloned().enumerate().collect();
    let queue = Arc::new(Mutex::new(queue));
    for _ in 0..branches.len().min(THREADS_MAX) {
        let (queue, sender) = (Arc::clone(&queue), sender.clone());
        // If it takes too long, the program ends without the thread.
        thread::spawn(move || ask_all(&queue, &sender));
    }
    Ok(Questions { branches, answers })
}

fn ask_all(queue: &Mutex<VecDeque<(usize, DecidingBranch)>>, answers: &Sender<Answer>) {
    let queue = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let next = queue().pop_front();
        let Some((position, branch)) = next else { return };
        let answer = branch.host.protection(&branch.repository, &branch.branch);
        if answer.is_err() {
            // The host would refuse the other questions, too, or let them wait.
            queue().retain(|(_, other)| !Arc::ptr_eq(&other.host, &branch.host));
        }
        if answers.send((position, answer)).is_err() {
            return;
        }
    }
}

impl Questions {
    /// Waits for the answers, and adds what they mean to the diagnostics of each environment. Returns the error of a host that does not accept the token.
    pub(super) fn add_answers(self, diagnostics: &mut [Vec<Diagnostic>]) -> Option<HostError> {
        let (end, mut answers) = (Instant::now() + PATIENCE, BTreeMap::new());
        while let Ok((position, answer)) = self.answers.recv_timeout(end.saturating_duration_since(Instant::now())) {
            answers.insert(position, answer);
        }
        let mut denied = None;
        for (position, answer) in answers {
            match (self.branches.get(position), answer) {
                (Some(branch), Ok(Some(protection))) => {
                    let found = diagnostics.get_mut(branch.position).into_iter();
                    found.for_each(|found| found.extend(branch.diagnostic(&protection)));
                }
                (_, Err(error)) if error.is_denied() => denied = denied.or(Some(error)),
                // The host can't be reached, or does not tell it.
                _ => {}
            }
        }
        denied
    }
}
