//! Polls the references of repositories, and requests the syncs of environments that depend on what changed.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use git::RepositoryUrl;

use crate::logged::Logged;
use crate::poll_queue::References;
use crate::shared::Shared;
use crate::trigger::Reason;

/// A thread that polls repositories.
pub(crate) struct Poller<'a> {
    pub(crate) shared: &'a Shared,
    /// Reads which environments there are.
    pub(crate) refresh: &'a dyn Fn(),
}

impl Poller<'_> {
    /// Polls repositories until the service stops.
    pub(crate) fn run(&self) {
        let Self { shared, refresh } = *self;
        let mut failing: BTreeMap<RepositoryUrl, Logged> = BTreeMap::new();
        while let Some((url, before)) = shared.polls.next() {
            let result = shared.settings.repositories.references(&url);
            shared.metrics.poll(result.is_ok());
            match result {
                Ok(now) => {
                    self.notice(&url, &now, before.as_ref());
                    failing.remove(&url);
                    shared.polls.done(&url, Some(now));
                }
                Err(error) => {
                    for error in failing.entry(url.clone()).or_default().replace([error.to_string()]) {
                        tracing::warn!(repository = url.as_str(), error, "not polled");
                    }
                    // The environments are not known yet, so that no change can request their sync.
                    if shared.missing_environments().is_some() && url == shared.settings.control_plane.repo {
                        refresh();
                    }
                    shared.polls.done(&url, None);
                }
            }
        }
    }

    /// Requests the syncs of the environments that depend on what changed.
    fn notice(&self, url: &RepositoryUrl, now: &References, before: Option<&References>) {
        let Self { shared, refresh } = *self;
        let control_plane = &shared.settings.control_plane;
        let main = format!("refs/heads/{}", control_plane.branch);
        let is_main_new = before.and_then(|before| before.get(&main)) != now.get(&main);
        if *url == control_plane.repo && (is_main_new || shared.are_names_old.load(Ordering::Relaxed)) {
            refresh();
        }
        for environment in shared.all() {
            if environment.depends(|dependencies| dependencies.are_changed(url, now, before)) {
                environment.trigger.request(Reason::Poll);
            }
        }
    }
}
