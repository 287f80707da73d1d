//! One simulated host: when it pulls, how long it takes, and what it says.

use model::git_id::GitId;

use super::{Conduct, Content, Format, HostOptions, Pulled, Said, Status, World};
use crate::random::Random;

/// Why contents can't be applied, as a reconciler of that kind puts it.
const FLUX: &[&str] = &[
    "health check failed after 2m0s: timeout waiting for: [Deployment status: 'InProgress']: image pull back-off",
    "Deployment dry-run failed: admission webhook \"policy.acme.example\" denied the request: memory limit is missing",
    "kustomize build failed: accumulating resources: no such file or directory",
];
const ARGO_CD: &[&str] = &[
    "Deployment exceeded its progress deadline",
    "one or more objects failed to apply: namespace is being terminated",
    "Back-off restarting failed container",
];
const SCRIPT: &[&str] = &[
    "package could not be installed: connection timed out",
    "no space left on device",
    "unit did not start: port 8080 is in use",
];

/// Why what was applied is not well any more.
const RELAPSE: &str = "health check failed: container was killed, out of memory";

/// A host with what it is doing.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) options: HostOptions,
    conduct: Conduct,
    random: Random,
    heartbeat: Option<i64>,
    /// From when on nobody hears of it.
    silent_from: i64,
    /// Until when it keeps to what it saw first.
    lags_until: i64,
    reconcilers: Vec<Reconciler>,
}

/// A reconciler with what it is doing.
#[derive(Clone, Debug)]
struct Reconciler {
    /// When it does something next.
    next: i64,
    /// What it is applying until then.
    applying: Option<Content>,
    /// What it applied.
    applied: Option<Content>,
    /// Whether that is not well.
    is_ill: bool,
    /// What it saw first, if its host lags.
    copy: Option<Content>,
    /// How often that tree can't be applied, and why.
    trouble: Option<(GitId, u64, &'static str)>,
}

impl Host {
    pub(super) fn new(options: HostOptions, conduct: &Conduct, (seed, number, starts_on): (u64, u64, i64)) -> Self {
        let mut random = Random::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let falls_silent = random.percent(conduct.silent);
        let lags = random.percent(conduct.lagging);
        let heartbeat =
            if falls_silent || random.percent(conduct.prompt) { conduct.short_heartbeat } else { conduct.heartbeat };
        let silent_from = starts_on + random.within(&conduct.silent_after);
        let first = |random: &mut Random| starts_on + 1 + random.within(&(0..=*conduct.interval.end()));
        let reconciler =
            |next| Reconciler { next, applying: None, applied: None, is_ill: false, copy: None, trouble: None };
        let reconcilers = options.pulls.iter().map(|_| reconciler(first(&mut random))).collect();
        let promises = options.format != Format::ArgoCd;
        Self {
            heartbeat: promises.then_some(heartbeat),
            silent_from: if falls_silent && promises { silent_from } else { i64::MAX },
            lags_until: if lags { starts_on + conduct.lag } else { 0 },
            conduct: conduct.clone(),
            options,
            random,
            reconcilers,
        }
    }

    pub(super) fn pulled(&self) -> impl Iterator<Item = Pulled> {
        self.options.pulls.iter().map(super::Pull::pulled)
    }

    /// All that is there is applied.
    pub(super) fn settle(&mut self, world: &World) {
        for (reconciler, pull) in self.reconcilers.iter_mut().zip(&self.options.pulls) {
            let content = world.get(&pull.pulled()).copied();
            (reconciler.applied, reconciler.copy) = (content, content);
        }
    }

    /// Whether something is there that it has not applied.
    pub(super) fn has_news(&self, world: &World) -> bool {
        let mut pulled = self.reconcilers.iter().zip(&self.options.pulls);
        pulled.any(|(reconciler, pull)| {
            let tree = |content: Option<&Content>| content.map(|content| content.tree);
            let seen = tree(world.get(&pull.pulled()));
            seen.is_some() && seen != tree(reconciler.applied.as_ref())
        })
    }

    /// Goes on until that moment.
    pub(super) fn advance(&mut self, now: i64, world: &World) -> Vec<Said> {
        let mut said = Vec::new();
        loop {
            let next = self.reconcilers.iter().enumerate().map(|(number, reconciler)| (reconciler.next, number)).min();
            match next {
                Some((at, number)) if at <= now.min(self.silent_from - 1) => said.extend(self.act(number, at, world)),
                _ => return said,
            }
        }
    }

    fn act(&mut self, number: usize, at: i64, world: &World) -> Option<Said> {
        let said = match self.reconcilers[number].applying.take() {
            Some(content) => Some(self.end(number, content)),
            None => self.pull(number, at, world),
        };
        let pause =
            if self.reconcilers[number].applying.is_some() { &self.conduct.takes } else { &self.conduct.interval };
        self.reconcilers[number].next = at + self.random.within(pause).max(1);
        let (status, content, message) = said?;
        let pull = self.options.pulls[number].clone();
        Some(Said { pull, at, status, content, message: message.to_owned(), heartbeat: self.heartbeat })
    }

    /// Looks what there is. What is new, it begins to apply.
    fn pull(&mut self, number: usize, at: i64, world: &World) -> Option<(Status, Content, &'static str)> {
        let seen = world.get(&self.options.pulls[number].pulled()).copied()?;
        let lags = at < self.lags_until;
        let reconciler = &mut self.reconcilers[number];
        let content = if lags { *reconciler.copy.get_or_insert(seen) } else { seen };
        if reconciler.applied.is_some_and(|applied| applied.tree == content.tree) {
            reconciler.applied = Some(content);
            return self.look_after(number, content);
        }
        reconciler.applying = Some(content);
        if reconciler.trouble.is_some_and(|(tree, ..)| tree == content.tree) {
            // It is not told that it tries again, only what comes of it.
            return None;
        }
        let trouble = self.trouble();
        self.reconcilers[number].trouble = Some((content.tree, trouble.0, trouble.1));
        Some((Status::InProgress, content, ""))
    }

    /// Looks whether what was applied is well.
    fn look_after(&mut self, number: usize, content: Content) -> Option<(Status, Content, &'static str)> {
        let was_ill = std::mem::take(&mut self.reconcilers[number].is_ill);
        if !was_ill && self.conduct.relapsing > 0 && self.random.percent(self.conduct.relapsing) {
            self.reconcilers[number].is_ill = true;
            return Some((Status::Failure, content, RELAPSE));
        }
        // Argo CD tells what changes, and nothing else.
        (was_ill || self.options.format != Format::ArgoCd).then_some((Status::Success, content, ""))
    }

    /// How often a content can't be applied, and why.
    fn trouble(&mut self) -> (u64, &'static str) {
        let reasons = match self.options.format {
            Format::Flux | Format::FluxSigned => FLUX,
            Format::ArgoCd => ARGO_CD,
            _ => SCRIPT,
        };
        let chance = self.random.below(100);
        let Conduct { failing, faltering, .. } = self.conduct;
        let attempts = match chance {
            chance if chance < failing => u64::MAX,
            chance if chance < failing + faltering => 1 + self.random.below(2),
            _ => 0,
        };
        (attempts, self.random.pick(reasons))
    }

    /// Comes to an end with what it applies, a good one or a bad one.
    fn end(&mut self, number: usize, content: Content) -> (Status, Content, &'static str) {
        let reconciler = &mut self.reconcilers[number];
        match &mut reconciler.trouble {
            Some((_, attempts, reason)) if *attempts > 0 => {
                *attempts -= 1;
                (Status::Failure, content, reason)
            }
            _ => {
                reconciler.applied = Some(content);
                (Status::Success, content, "")
            }
        }
    }
}
