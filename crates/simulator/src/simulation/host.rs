//! One simulated host: it pulls folders, applies them, and reports.

use model::git_id::GitId;

use super::{Behavior, Contents, HostOptions, HostReportFormat, PulledContent, PulledFolder, SentReport, SentStatus};
use crate::random::Random;

/// Error messages of Flux.
const FLUX: &[&str] = &[
    "health check failed after 2m0s: timeout waiting for: [Deployment status: 'InProgress']: image pull back-off",
    "Deployment dry-run failed: admission webhook \"policy.acme.example\" denied the request: memory limit is missing",
    "kustomize build failed: accumulating resources: no such file or directory",
];
/// Error messages of Argo CD.
const ARGO_CD: &[&str] = &[
    "Deployment exceeded its progress deadline",
    "one or more objects failed to apply: namespace is being terminated",
    "Back-off restarting failed container",
];
/// Error messages of scripts.
const SCRIPT: &[&str] = &[
    "package could not be installed: connection timed out",
    "no space left on device",
    "unit did not start: port 8080 is in use",
];

/// The message if applied content becomes unhealthy.
const RELAPSE: &str = "health check failed: container was killed, out of memory";

/// A host with its current state.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) options: HostOptions,
    behavior: Behavior,
    random: Random,
    heartbeat: Option<i64>,
    /// The time from which on it does not report, in seconds since 1970.
    silent_from: i64,
    /// The time until which it stays at the content of its first pull, in seconds since 1970.
    lags_until: i64,
    /// Whether it can't apply new content at present.
    pub(super) is_failing: bool,
    reconcilers: Vec<Reconciler>,
}

/// A reconciler with its current state.
#[derive(Clone, Debug)]
struct Reconciler {
    /// The time of its next action, in seconds since 1970.
    next: i64,
    /// The content that it is applying until then.
    applying: Option<PulledContent>,
    /// The content that it applied last.
    applied: Option<PulledContent>,
    /// Whether that content is unhealthy.
    is_unhealthy: bool,
    /// The content of its first pull, if its host lags.
    first_pulled: Option<PulledContent>,
    /// The number of failing attempts to apply a tree, and the error message.
    failures: Option<(GitId, u64, &'static str)>,
}

impl Host {
    /// A host that begins at a time, in seconds since 1970.
    pub(super) fn new(options: HostOptions, behavior: &Behavior, mut random: Random, starts_on: i64) -> Self {
        let falls_silent = random.percent(behavior.silent);
        let lags = random.percent(behavior.lagging);
        let heartbeat =
            if falls_silent || random.percent(behavior.prompt) { behavior.short_heartbeat } else { behavior.heartbeat };
        let silent_from = starts_on + random.within(&behavior.silent_after);
        let first = |random: &mut Random| starts_on + 1 + random.within(&(0..=*behavior.interval.end()));
        let reconciler = |next| Reconciler {
            next,
            applying: None,
            applied: None,
            is_unhealthy: false,
            first_pulled: None,
            failures: None,
        };
        let reconcilers = options.pulls.iter().map(|_| reconciler(first(&mut random))).collect();
        let promises = options.format != HostReportFormat::ArgoCd;
        Self {
            heartbeat: promises.then_some(heartbeat),
            silent_from: if falls_silent && promises { silent_from } else { i64::MAX },
            lags_until: if lags { starts_on + behavior.lag } else { 0 },
            behavior: behavior.clone(),
            options,
            random,
            is_failing: false,
            reconcilers,
        }
    }

    /// Takes over what an earlier simulation of the same host has applied.
    pub(super) fn resume(&mut self, earlier: &Self) {
        for (reconciler, pull) in self.reconcilers.iter_mut().zip(&self.options.pulls) {
            let mut known = earlier.reconcilers.iter().zip(&earlier.options.pulls);
            let Some((known, _)) = known.find(|(_, other)| *other == pull) else { continue };
            *reconciler = Reconciler { next: reconciler.next, applying: None, ..known.clone() };
        }
    }

    pub(super) fn folders(&self) -> impl Iterator<Item = PulledFolder> {
        self.options.pulls.iter().map(super::Pull::folder)
    }

    /// Marks all current content as applied.
    pub(super) fn settle(&mut self, contents: &Contents) {
        for (reconciler, pull) in self.reconcilers.iter_mut().zip(&self.options.pulls) {
            let content = contents.get(&pull.folder()).copied();
            (reconciler.applied, reconciler.first_pulled) = (content, content);
        }
    }

    /// Lets each reconciler report its health at its next pull, also those that report only changes.
    pub(super) fn restart(&mut self) {
        self.reconcilers.iter_mut().for_each(|reconciler| reconciler.is_unhealthy = true);
    }

    /// Whether there is content that the host has not applied.
    pub(super) fn is_outdated(&self, contents: &Contents) -> bool {
        let mut pulled = self.reconcilers.iter().zip(&self.options.pulls);
        pulled.any(|(reconciler, pull)| {
            let tree = |content: Option<&PulledContent>| content.map(|content| content.tree);
            let seen = tree(contents.get(&pull.folder()));
            seen.is_some() && seen != tree(reconciler.applied.as_ref())
        })
    }

    /// Simulates the host until this time, in seconds since 1970. Returns its reports.
    pub(super) fn advance(&mut self, now: i64, contents: &Contents) -> Vec<SentReport> {
        let mut reports = Vec::new();
        loop {
            let next = self.reconcilers.iter().enumerate().map(|(number, reconciler)| (reconciler.next, number)).min();
            match next {
                Some((at, number)) if at <= now.min(self.silent_from - 1) => {
                    reports.extend(self.act(number, at, contents));
                }
                _ => return reports,
            }
        }
    }

    fn act(&mut self, number: usize, at: i64, contents: &Contents) -> Option<SentReport> {
        let result = match self.reconcilers[number].applying.take() {
            Some(content) => Some(self.finish(number, content)),
            None => self.pull(number, at, contents),
        };
        let pause =
            if self.reconcilers[number].applying.is_some() { &self.behavior.takes } else { &self.behavior.interval };
        self.reconcilers[number].next = at + self.random.within(pause).max(1);
        let (status, content, message) = result?;
        let pull = self.options.pulls[number].clone();
        Some(SentReport { pull, at, status, content, message: message.to_owned(), heartbeat: self.heartbeat })
    }

    /// Pulls the current content, and begins to apply it if it is new.
    fn pull(
        &mut self,
        number: usize,
        at: i64,
        contents: &Contents,
    ) -> Option<(SentStatus, PulledContent, &'static str)> {
        let seen = contents.get(&self.options.pulls[number].folder()).copied()?;
        let lags = at < self.lags_until;
        let reconciler = &mut self.reconcilers[number];
        let content = if lags { *reconciler.first_pulled.get_or_insert(seen) } else { seen };
        if reconciler.applied.is_some_and(|applied| applied.tree == content.tree) {
            reconciler.applied = Some(content);
            return self.check_health(number, content);
        }
        reconciler.applying = Some(content);
        if reconciler.failures.is_some_and(|(tree, ..)| tree == content.tree) {
            // A repeated attempt is not reported, only its result.
            return None;
        }
        let (attempts, message) = self.draw_failures();
        self.reconcilers[number].failures = Some((content.tree, attempts, message));
        Some((SentStatus::InProgress, content, ""))
    }

    /// Checks the health of the applied content.
    fn check_health(
        &mut self,
        number: usize,
        content: PulledContent,
    ) -> Option<(SentStatus, PulledContent, &'static str)> {
        let was_unhealthy = std::mem::take(&mut self.reconcilers[number].is_unhealthy);
        if !was_unhealthy && self.behavior.relapsing > 0 && self.random.percent(self.behavior.relapsing) {
            self.reconcilers[number].is_unhealthy = true;
            return Some((SentStatus::Failure, content, RELAPSE));
        }
        // Argo CD reports only changes.
        (was_unhealthy || self.options.format != HostReportFormat::ArgoCd).then_some((SentStatus::Success, content, ""))
    }

    /// Chooses the number of failing attempts to apply new content, and the error message.
    fn draw_failures(&mut self) -> (u64, &'static str) {
        let reasons = match self.options.format {
            HostReportFormat::Flux | HostReportFormat::FluxSigned => FLUX,
            HostReportFormat::ArgoCd => ARGO_CD,
            _ => SCRIPT,
        };
        let chance = self.random.below(100);
        let Behavior { failing, faltering, .. } = self.behavior;
        let attempts = match chance {
            chance if chance < failing => u64::MAX,
            chance if chance < failing + faltering => 1 + self.random.below(2),
            _ => 0,
        };
        (attempts, self.random.pick(reasons))
    }

    /// Finishes to apply content, with success or failure.
    fn finish(&mut self, number: usize, content: PulledContent) -> (SentStatus, PulledContent, &'static str) {
        let reconciler = &mut self.reconcilers[number];
        match &mut reconciler.failures {
            Some((.., reason)) if self.is_failing => (SentStatus::Failure, content, reason),
            Some((_, attempts, reason)) if *attempts > 0 => {
                *attempts -= 1;
                (SentStatus::Failure, content, reason)
            }
            _ => {
                reconciler.applied = Some(content);
                (SentStatus::Success, content, "")
            }
        }
    }
}
