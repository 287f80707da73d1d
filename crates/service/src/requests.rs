//! The service, as the API of the hub sees it.

use hub_api::syncs::{
    Confirmation, ConfirmationError, EnvironmentSync, EnvironmentSyncDetail, RefusedWebhook, SyncReceipt, SyncRequest,
    SyncService, UnknownEnvironment,
};

use crate::Service;
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
        environments.iter().for_each(|environment| environment.trigger.request(Reason::Api));
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
        if !environment.confirm(word) {
            return Err(ConfirmationError::OtherWord { environment: name.clone(), word: word.clone() });
        }
        tracing::info!(environment = name, word, by, "removals are confirmed");
        environment.trigger.request(Reason::Confirmation);
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
        for state in environments.iter().map(|environment| environment.state()) {
            shared.metrics.failures(&state.environment, state.failures);
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
        let unknown = shared.all().into_iter().filter(|environment| !environment.is_known());
        unknown.map(|environment| format!("environment {} is not synced yet", environment.name)).collect()
    }
}
