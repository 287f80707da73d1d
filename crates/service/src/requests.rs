//! The service, as the API of the hub sees it.

use hub_api::leases::{LeaderAction, LeaderRequest};
use hub_api::syncs::{
    Confirmation, ConfirmationError, EnvironmentSync, EnvironmentSyncDetail, RefusedWebhook, SyncReceipt, SyncRequest,
    SyncService, UnknownEnvironment,
};

use crate::Service;
use crate::environment::Environment;
use crate::trigger::Reason;

impl SyncService for Service {
    fn states(&self) -> Vec<EnvironmentSync> {
        self.shared().all().iter().map(|environment| environment.state()).collect()
    }

    fn detail(&self, environment: &str) -> Option<EnvironmentSyncDetail> {
        Some(self.shared().find(environment)?.detail())
    }

    fn request_sync(&self, request: &SyncRequest) -> Result<SyncReceipt, UnknownEnvironment> {
        let shared = self.shared();
        let environments = match &request.environment {
            Some(name) => vec![shared.find(name).ok_or_else(|| UnknownEnvironment(name.clone()))?],
            None => shared.all(),
        };
        environments.iter().for_each(|environment| shared.request(environment, Reason::Api));
        if request.environment.is_none() {
            shared.polls.hurry(|_| true);
        }
        let environments = environments.iter().map(|environment| environment.name.to_string()).collect();
        Ok(SyncReceipt { environments })
    }

    fn confirm(&self, confirmation: &Confirmation, by: &str) -> Result<SyncReceipt, ConfirmationError> {
        let Confirmation { environment: name, word } = confirmation;
        let shared = self.shared();
        let environment = shared.find(name).ok_or_else(|| UnknownEnvironment(name.clone()))?;
        let confirmers = shared.settings.confirmers.as_ref();
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
            shared.outbox.add(LeaderRequest { environment: name.clone(), action });
        }
        Ok(SyncReceipt { environments: vec![name.clone()] })
    }

    fn receive_webhook(
        &self,
        kind: &str,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Result<SyncReceipt, RefusedWebhook> {
        self.shared().receive_webhook(kind, header, body)
    }

    fn metrics(&self) -> String {
        let shared = self.shared();
        let environments = shared.all();
        shared.metrics.waiting(environments.iter().filter(|environment| environment.trigger.is_pending()).count());
        for environment in &environments {
            let (name, is_leading) = (environment.name.as_str(), environment.lease.is_held());
            if is_leading {
                shared.metrics.failures(name, environment.lock().failures);
            }
            shared.metrics.leading(name, is_leading);
        }
        for host in shared.hosts.iter() {
            shared.metrics.calls(&host.url, host.host.calls());
            if let Some(limit) = host.host.rate_limit() {
                shared.metrics.rate_limit(&host.url, limit.remaining);
            }
        }
        shared.metrics.text()
    }

    fn missing(&self) -> Vec<String> {
        let shared = self.shared();
        if let Some(reason) = shared.missing_environments() {
            return vec![reason];
        }
        shared.all().iter().filter_map(|environment| missing(environment)).collect()
    }
}

/// Why an environment is not ready. What another replica leads is not waited for.
fn missing(environment: &Environment) -> Option<String> {
    let name = &environment.name;
    if !environment.lease.is_held() {
        return environment.lease.leader().is_none().then(|| format!("no replica is known to lead environment {name}"));
    }
    (!environment.is_known()).then(|| format!("environment {name} is not synced yet"))
}
