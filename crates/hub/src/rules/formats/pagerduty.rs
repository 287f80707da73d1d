//! Events for the Events API v2 of PagerDuty: <https://developer.pagerduty.com/docs/events-api-v2/trigger-events/>.

use data_encoding::HEXLOWER;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

use super::{Notice, cut};

/// Maximum number of characters of a summary.
const SUMMARY_MAX: usize = 1_024;
/// Maximum number of bytes of a dedup key.
const DEDUP_KEY_MAX: usize = 255;
/// Number of characters of a routing key.
const ROUTING_KEY_LENGTH: usize = 32;

/// The service of PagerDuty that gets events, and their severity.
#[derive(Clone)]
pub struct PagerDuty {
    routing_key: String,
    severity: IncidentSeverity,
}

/// The severity of an incident.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IncidentSeverity {
    /// The most severe.
    Critical,
    /// An error.
    #[default]
    Error,
    /// A warning.
    Warning,
    /// Information.
    Info,
}

impl IncidentSeverity {
    fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl std::fmt::Debug for PagerDuty {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PagerDuty").field("severity", &self.severity).finish_non_exhaustive()
    }
}

impl PagerDuty {
    pub(in super::super) fn new(routing_key: &str, severity: IncidentSeverity) -> Result<Self, String> {
        let routing_key = routing_key.trim();
        let is_key =
            routing_key.len() == ROUTING_KEY_LENGTH && routing_key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_key {
            return Err(format!(
                "it holds no integration key of PagerDuty's Events API v2, which has {ROUTING_KEY_LENGTH} letters and digits"
            ));
        }
        Ok(Self { routing_key: routing_key.to_owned(), severity })
    }

    /// The event. All events of one rule have the same dedup key, so that PagerDuty opens one incident and resolves it.
    pub(in super::super) fn event(&self, notice: &Notice) -> Json {
        if notice.is_resolved() {
            return self.resolve(notice);
        }
        let data = &notice.data;
        let text = |key: &str| data.more.get(key).and_then(Json::as_str);
        let severity = if notice.is_test() { IncidentSeverity::Info } else { self.severity };
        let details: Vec<_> =
            notice.facts().into_iter().map(|(name, value)| (name.to_owned(), Json::from(value))).collect();
        let mut details: serde_json::Map<_, _> = details.into_iter().collect();
        details.insert("Examples".to_owned(), notice.lines().into());
        let mut payload = json!({
            "summary": cut(&format!("{}. {}", notice.title(), notice.summary()), SUMMARY_MAX),
            "source": text("environment").unwrap_or("kalypso"),
            "severity": severity.as_str(),
            "timestamp": notice.timestamp,
            "component": text("workload"),
            "group": text("environment"),
            "class": data.condition,
            "custom_details": details,
        });
        // Fields that the rule does not set are omitted.
        payload.as_object_mut().into_iter().for_each(|payload| payload.retain(|_, value| !value.is_null()));
        json!({
            "routing_key": self.routing_key,
            "event_action": "trigger",
            "dedup_key": dedup_key(notice),
            "client": "Kalypso hub",
            "payload": payload,
        })
    }

    /// The event that resolves the incident of a notification.
    pub(in super::super) fn resolve(&self, notice: &Notice) -> Json {
        json!({"routing_key": self.routing_key, "event_action": "resolve", "dedup_key": dedup_key(notice)})
    }
}

/// The key of the incident of a rule. Test events have their own key: a test must not resolve a real incident.
fn dedup_key(notice: &Notice) -> String {
    let kind = if notice.is_test() { "test" } else { "rule" };
    let key = format!("kalypso/{kind}/{}", notice.data.rule);
    if key.len() <= DEDUP_KEY_MAX { key } else { format!("kalypso/{kind}/{}", HEXLOWER.encode(&Sha256::digest(&key))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::formats::tests::notice;

    const KEY: &str = "0123456789abcdef0123456789ABCDEF";

    #[test]
    fn an_incident_begins_and_is_resolved_by_its_dedup_key() {
        let service = PagerDuty::new(KEY, IncidentSeverity::Critical).unwrap();
        let event = service.event(&notice("rule.firing"));
        assert_eq!((&event["routing_key"], &event["event_action"]), (&KEY.into(), &"trigger".into()));
        assert_eq!(event["dedup_key"], "kalypso/rule/stage-failing");
        let payload = &event["payload"];
        assert!(payload["summary"].as_str().unwrap().starts_with("Firing: stage-failing. 27 of 300 reconcilers"));
        assert_eq!((&payload["severity"], &payload["source"]), (&"critical".into(), &"stage".into()));
        assert_eq!((&payload["class"], payload.get("component")), (&"failed".into(), None));
        assert_eq!(payload["timestamp"], "2026-11-21T13:54:15.020Z");
        assert!(payload["custom_details"]["Examples"][0].as_str().unwrap().starts_with("chicago-02/checkout: "));
        let expected =
            json!({"routing_key": KEY, "event_action": "resolve", "dedup_key": "kalypso/rule/stage-failing"});
        assert_eq!(service.event(&notice("rule.resolved")), expected);
    }

    #[test]
    fn a_test_is_an_incident_of_its_own() {
        let service = PagerDuty::new(KEY, IncidentSeverity::Critical).unwrap();
        let test = service.event(&notice("rule.test"));
        assert_eq!(
            (&test["dedup_key"], &test["payload"]["severity"]),
            (&"kalypso/test/stage-failing".into(), &"info".into())
        );
    }

    #[test]
    fn keys_are_checked_and_not_shown() {
        for wrong in ["", "short", &KEY.replace('0', "-")] {
            assert!(PagerDuty::new(wrong, IncidentSeverity::Error).unwrap_err().contains("integration key"), "{wrong}");
        }
        assert_eq!(
            format!("{:?}", PagerDuty::new(KEY, IncidentSeverity::Info).unwrap()),
            "PagerDuty { severity: Info, .. }"
        );
        let mut long = notice("rule.firing");
        long.data.rule = "門".repeat(100);
        assert!(dedup_key(&long).len() <= DEDUP_KEY_MAX);
    }
}
