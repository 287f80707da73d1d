//! Webhooks of git hosts: they are verified, and request syncs. Their content decides nothing else.

use git_host::HostKind;
use git_host::webhook::{WebhookEvent, receive};
use hub_api::endpoint::repository;
use hub_api::syncs::{RefusedWebhook, SyncReceipt};
use model::git_id::GitId;

use crate::dependencies::Dependencies;
use crate::environment::Environment;
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

impl Shared {
    /// Verifies a webhook, and requests the syncs of the environments that depend on what changed.
    pub(crate) fn receive_webhook(
        &self,
        kind: &str,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Result<SyncReceipt, RefusedWebhook> {
        self.verified(kind, header, body).map(|events| self.requested(&events))
    }

    fn verified(
        &self,
        kind: &str,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Result<Vec<WebhookEvent>, RefusedWebhook> {
        let refused = |status, message: String| RefusedWebhook { status, message, retry_after: None };
        let kind: HostKind = kind.parse().map_err(|_| refused(404, format!("there are no webhooks of `{kind}`")))?;
        let hosts = self.settings.hosts.iter().filter(|host| host.settings.host.kind() == kind);
        let secrets: Vec<_> = hosts.flat_map(|host| &host.webhook_secrets).cloned().collect();
        if secrets.is_empty() {
            let message = format!("no webhook secret is configured for {}", kind.title());
            return Err(refused(401, message));
        }
        let headers: Vec<_> = HEADERS.iter().filter_map(|name| Some((*name, header(name)?))).collect();
        let find = |name: &str| headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str());
        receive(kind, &secrets, find, body).map_err(|error| refused(error.status(), error.to_string()))
    }

    fn requested(&self, events: &[WebhookEvent]) -> SyncReceipt {
        let mut environments = Vec::new();
        for event in events {
            let urls = match event {
                WebhookEvent::Push(push) => &push.repository_urls,
                WebhookEvent::PullRequest(event) if !event.is_from_fork => &event.repository_urls,
                WebhookEvent::PullRequest(_) | WebhookEvent::Ping | WebhookEvent::Other => continue,
            };
            for environment in self.all().into_iter().filter(|environment| is_affected(environment, event)) {
                self.request(&environment, Reason::Webhook);
                environments.push(environment.shown.clone());
            }
            // A new environment, or a branch that was not there at the last sync, is found by a poll.
            let names: Vec<_> = urls.iter().map(|url| repository(url)).collect();
            self.polls.hurry(|url| names.contains(&repository(url.as_str())));
        }
        environments.sort_unstable();
        environments.dedup();
        SyncReceipt { environments }
    }
}

/// Whether an environment depends on what an event is about.
fn is_affected(environment: &Environment, event: &WebhookEvent) -> bool {
    // What another replica syncs is known from the state that it stores. Before its first one, each event counts.
    let led_elsewhere = (!environment.lease.is_held()).then(|| environment.state().last);
    let have = |urls: &[String], branch: &str, commit: Option<GitId>| match &led_elsewhere {
        None => environment.depends(|found| found.have(urls, branch, commit)),
        Some(last) => last.as_ref().is_none_or(|last| Dependencies::shown(last).have(urls, branch, commit)),
    };
    match event {
        WebhookEvent::Push(push) => have(&push.repository_urls, &push.branch, push.commit),
        WebhookEvent::PullRequest(event) => {
            let own = format!("kalypso/{}", environment.name);
            let is_own = event.head == own || event.head.starts_with(&format!("{own}--"));
            // The pull request changed, not the branch, so every commit counts.
            is_own && have(&event.repository_urls, &event.base, None)
        }
        WebhookEvent::Ping | WebhookEvent::Other => false,
    }
}
