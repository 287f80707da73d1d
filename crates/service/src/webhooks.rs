//! Webhooks of git hosts: they are verified, and request syncs. Their content decides nothing else.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use git::RepositoryUrl;
use git_host::HostKind;
use git_host::secret::SecretSource;
use git_host::webhook::{Sender, WebhookError, WebhookEvent, receive};
use hub_api::syncs::{RefusedWebhook, SyncReceipt};
use model::git_id::GitId;

use crate::dependencies::Dependencies;
use crate::environment::Environment;
use crate::limits::NAMED_REPOSITORIES_MAX;
use crate::metrics::{Metrics, WebhookResult};
use crate::shared::Shared;
use crate::trigger::Reason;

/// The headers that webhooks have.
const HEADERS: [&str; 9] = [
    "authorization",
    "x-forgejo-event",
    "x-forgejo-signature",
    "x-gitea-event",
    "x-gitea-signature",
    "x-github-event",
    "x-gitlab-event",
    "x-gitlab-token",
    "x-hub-signature-256",
];

/// The effect of a webhook on one control plane.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// The environments whose sync is requested.
    environments: Vec<String>,
    /// The repositories that no environment depends on.
    unmatched: BTreeSet<String>,
}

/// The repositories of webhooks that no environment depends on, as far as the log names them.
#[derive(Debug, Default)]
pub(crate) struct UnmatchedRepositories(Mutex<BTreeSet<String>>);

impl UnmatchedRepositories {
    /// The receipt for a webhook that all control planes received. A repository that none of them depends on is counted, and named in the log once.
    pub(crate) fn receipt(&self, kind: &str, received: Vec<Received>, metrics: &Metrics) -> SyncReceipt {
        let mut unmatched = received.iter().map(|received| received.unmatched.clone());
        let first = unmatched.next().unwrap_or_default();
        let unmatched = unmatched.fold(first, |found, other| &found & &other);
        metrics.webhook(kind, if unmatched.is_empty() { WebhookResult::Success } else { WebhookResult::Unmatched });
        unmatched.into_iter().for_each(|repository| self.name(kind, repository));
        SyncReceipt { environments: received.into_iter().flat_map(|received| received.environments).collect() }
    }

    fn name(&self, kind: &str, repository: String) {
        let mut named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if named.len() < NAMED_REPOSITORIES_MAX && !named.contains(&repository) {
            tracing::warn!(
                kind,
                repository,
                "webhooks of this repository have no effect: no environment reads it under a URL that leads to this host. Check the URLs in the control plane, and `url` in `[host]` of kalypso.toml"
            );
            named.insert(repository);
        }
    }
}

impl Shared {
    /// Verifies a webhook, and requests the syncs of the environments that depend on what changed.
    pub(crate) fn receive_webhook(
        &self,
        kind: &str,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Result<Received, RefusedWebhook> {
        self.verified(kind, header, body).map(|(events, sender)| self.requested(&events, &sender))
    }

    /// The events of a webhook, and the hosts with its secret.
    fn verified(
        &self,
        kind: &str,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Result<(Vec<WebhookEvent>, Sender), RefusedWebhook> {
        let refused = |status, message: String| RefusedWebhook { status, message, retry_after: None };
        let kind: HostKind = kind.parse().map_err(|_| refused(404, format!("there are no webhooks of `{kind}`")))?;
        let headers: Vec<_> = HEADERS.iter().filter_map(|name| Some((*name, header(name)?))).collect();
        let find = |name: &str| headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str());
        let (mut events, mut error) = (None, None);
        let mut sender = Sender { kind, roots: Vec::new(), others: Vec::new() };
        for host in &self.settings.hosts {
            let url = host.settings.url.clone();
            if host.settings.host.kind() != kind || host.webhook_secrets.is_empty() {
                sender.others.push(url);
                continue;
            }
            let secrets: Vec<_> = host.webhook_secrets.iter().map(SecretSource::current).collect();
            match receive(kind, &secrets, find, body) {
                Ok(found) => {
                    events = Some(found);
                    sender.roots.push(url);
                }
                Err(found) => {
                    // An event with the right secret that can't be parsed says more than a wrong secret.
                    error = error.filter(|error| *error != WebhookError::WrongSignature).or(Some(found));
                    sender.others.push(url);
                }
            }
        }
        match (events, error) {
            (Some(events), _) => Ok((events, sender)),
            (None, Some(error)) => Err(refused(error.status(), error.to_string())),
            (None, None) => Err(refused(401, format!("no webhook secret is configured for {}", kind.title()))),
        }
    }

    fn requested(&self, events: &[WebhookEvent], sender: &Sender) -> Received {
        let mut received = Received::default();
        for event in events {
            let Some(repository) = event.repository() else { continue };
            let matcher = repository.matcher(sender);
            let rules = &self.settings.control_plane.git.rewrite;
            let is_meant = |url: &RepositoryUrl| {
                matcher.is_match(url.as_str()) || matcher.is_match(&git::rewrite(rules, url.as_str()))
            };
            let all = self.all();
            for environment in all.iter().filter(|environment| is_affected(environment, event, &is_meant)) {
                self.request(environment, Reason::Webhook);
                received.environments.push(environment.shown.clone());
            }
            // A new environment, or a branch that was not there at the last sync, is found by a poll.
            let is_polled = self.polls.hurry(is_meant);
            let is_used = is_polled || all.iter().any(|environment| may_use(environment, &is_meant));
            if !is_used && self.missing_environments().is_none() {
                received.unmatched.insert(repository.to_string());
            }
        }
        received.environments.sort_unstable();
        received.environments.dedup();
        received
    }
}

/// What an environment depends on. None: not known yet.
fn dependencies(environment: &Environment) -> Option<Dependencies> {
    if environment.lease.is_held() {
        return environment.is_known().then(|| environment.dependencies());
    }
    // What another replica syncs is known from the state that it stores.
    environment.state().last.map(|last| Dependencies::shown(&last))
}

/// Whether an environment depends on a repository, or may do so.
fn may_use(environment: &Environment, is_meant: &dyn Fn(&RepositoryUrl) -> bool) -> bool {
    dependencies(environment).is_none_or(|found| found.repositories().any(is_meant))
}

/// Whether an environment depends on what an event is about.
fn is_affected(environment: &Environment, event: &WebhookEvent, is_meant: &dyn Fn(&RepositoryUrl) -> bool) -> bool {
    // What another replica syncs is known from the state that it stores. Before its first one, each event counts.
    let led_elsewhere = (!environment.lease.is_held()).then(|| environment.state().last);
    let have = |branch: &str, commit: Option<GitId>| match &led_elsewhere {
        None => environment.depends(|found| found.have(is_meant, branch, commit)),
        Some(last) => last.as_ref().is_none_or(|last| Dependencies::shown(last).have(is_meant, branch, commit)),
    };
    match event {
        WebhookEvent::Push(push) => have(&push.branch, push.commit),
        WebhookEvent::PullRequest(event) => {
            let own = format!("kalypso/{}", environment.name);
            let is_own = event.head == own || event.head.starts_with(&format!("{own}--"));
            // The pull request changed, not the branch, so every commit counts.
            is_own && have(&event.base, None)
        }
        WebhookEvent::Ping | WebhookEvent::Other => false,
    }
}
