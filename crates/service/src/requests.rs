//! The service, as the API of the hub sees it.

use std::sync::Arc;

use hub_api::leases::{LeaderAction, LeaderRequest};
use hub_api::syncs::{
    Confirmation, ConfirmationError, EnvironmentSync, EnvironmentSyncDetail, RefusedWebhook, SyncReceipt, SyncRequest,
    SyncService, UnknownEnvironment,
};

use crate::Service;
use crate::environment::Environment;
use crate::metrics::WebhookResult;
use crate::shared::Shared;
use crate::trigger::Reason;

impl SyncService for Service {
    fn states(&self) -> Vec<EnvironmentSync> {
        self.parts().iter().flat_map(|part| part.all()).map(|environment| environment.state()).collect()
    }

    fn detail(&self, environment: &str) -> Option<EnvironmentSyncDetail> {
        let (_, environment) = self.find(environment)?;
        Some(environment.detail())
    }

    fn request_sync(&self, request: &SyncRequest) -> Result<SyncReceipt, UnknownEnvironment> {
        if let Some(name) = &request.environment {
            let (part, environment) = self.find(name).ok_or_else(|| UnknownEnvironment(name.clone()))?;
            part.request(&environment, Reason::Api);
            return Ok(SyncReceipt { environments: vec![name.clone()] });
        }
        let mut environments = Vec::new();
        for part in self.parts() {
            for environment in part.all() {
                part.request(&environment, Reason::Api);
                environments.push(environment.shown.clone());
            }
            part.polls.hurry(|_| true);
        }
        Ok(SyncReceipt { environments })
    }

    fn confirm(&self, confirmation: &Confirmation, by: &str) -> Result<SyncReceipt, ConfirmationError> {
        let Confirmation { environment: name, word } = confirmation;
        let (part, environment) = self.find(name).ok_or_else(|| UnknownEnvironment(name.clone()))?;
        let confirmers = part.settings.confirmers.as_ref();
        if confirmers.is_some_and(|names| !names.iter().any(|allowed| allowed == by)) {
            tracing::warn!(
                environment = name,
                by,
                "a confirmation is refused: `service.confirm` does not list who sent it"
            );
            return Err(ConfirmationError::NotAllowed { by: by.to_owned() });
        }
        let is_led_here = environment.lease.is_held();
        let is_needed = if is_led_here { environment.confirm(word, by) } else { environment.needs(word) };
        if !is_needed {
            return Err(ConfirmationError::OtherWord { environment: name.clone(), word: word.clone() });
        }
        if !is_led_here {
            let action = LeaderAction::Confirm { word: word.clone(), by: by.to_owned() };
            part.outbox.add(LeaderRequest { environment: environment.name.to_string(), action });
        }
        Ok(SyncReceipt { environments: vec![name.clone()] })
    }

    fn receive_webhook(
        &self,
        kind: &str,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Result<SyncReceipt, RefusedWebhook> {
        let receive = |part: &Arc<Shared>| part.receive_webhook(kind, header, body);
        let receipts: Result<Vec<_>, _> = self.parts().iter().map(receive).collect();
        match receipts {
            Ok(received) => Ok(self.unmatched.receipt(kind, received, &self.metrics)),
            Err(refused) => {
                self.metrics.webhook(kind, WebhookResult::Failure);
                Err(refused)
            }
        }
    }

    fn metrics(&self) -> String {
        let (parts, metrics) = (self.parts(), &self.metrics);
        let environments: Vec<_> = parts.iter().flat_map(|part| part.all()).collect();
        metrics.environments(environments.len());
        metrics.waiting(environments.iter().filter(|environment| environment.trigger.is_pending()).count());
        for environment in &environments {
            let (name, is_leading) = (&environment.shown, environment.lease.is_held());
            if is_leading {
                metrics.failures(name, environment.lock().failures);
            }
            metrics.leading(name, is_leading);
        }
        // All control planes have the same hosts.
        for host in parts.iter().take(1).flat_map(|part| part.hosts.iter()) {
            metrics.calls(&host.url, host.host.calls());
            if let Some(limit) = host.host.rate_limit() {
                metrics.rate_limit(&host.url, limit.remaining);
            }
        }
        metrics.text()
    }

    fn missing(&self) -> Vec<String> {
        self.parts().iter().flat_map(|part| missing_in(part)).collect()
    }
}

/// Why a control plane is not ready.
fn missing_in(part: &Shared) -> Vec<String> {
    match (part.missing_environments(), &part.name) {
        (Some(reason), None) => vec![reason],
        (Some(reason), Some(name)) => vec![format!("control plane {name}: {reason}")],
        (None, _) => part.all().iter().filter_map(|environment| missing(environment)).collect(),
    }
}

/// Why an environment is not ready. What another replica leads is not waited for.
fn missing(environment: &Environment) -> Option<String> {
    let name = &environment.shown;
    if !environment.lease.is_held() {
        return environment.lease.leader().is_none().then(|| format!("no replica is known to lead environment {name}"));
    }
    (!environment.is_known()).then(|| format!("environment {name} is not synced yet"))
}
