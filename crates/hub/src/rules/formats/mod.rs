//! Notifications in the formats of other products. They are made from the stored JSON when they are sent, so that no secret of a receiver is stored.

mod pagerduty;
mod slack;
mod teams;

use hub_api::timestamp::Timestamp;
use serde::Deserialize;
use serde_json::Value as Json;

pub use self::pagerduty::{IncidentSeverity, PagerDuty};
pub(super) use self::{slack::message as slack, teams::message as teams};
use crate::limits::NOTIFICATION_LINE_CHARACTERS;

/// A notification, as it is stored.
#[derive(Debug, Deserialize)]
pub(super) struct Notice {
    /// `rule.firing`, `rule.resolved` or `rule.test`.
    #[serde(rename = "type")]
    kind: String,
    timestamp: Timestamp,
    data: Data,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    rule: String,
    #[serde(default)]
    condition: String,
    #[serde(default)]
    above: String,
    #[serde(default)]
    matching: i64,
    #[serde(default)]
    expected: i64,
    since: Option<Timestamp>,
    longer_than_seconds: Option<u64>,
    #[serde(default)]
    examples: Vec<Example>,
    /// The filter of the rule, and its other fields.
    #[serde(flatten)]
    more: serde_json::Map<String, Json>,
}

#[derive(Debug, Deserialize)]
struct Example {
    #[serde(default)]
    host: String,
    #[serde(default)]
    reconciler: String,
    #[serde(default)]
    message: String,
}

/// The fields of a filter, with their labels in messages.
const FILTER: [(&str, &str); 8] = [
    ("environment", "Environment"),
    ("workspace", "Workspace"),
    ("application", "Application"),
    ("workload", "Workload"),
    ("target", "Deployment target"),
    ("clusterType", "Cluster type"),
    ("selector", "Labels of hosts"),
    ("targetSelector", "Labels of targets"),
];

impl Notice {
    pub(super) fn read(body: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(body)
    }

    fn is_resolved(&self) -> bool {
        self.kind == "rule.resolved"
    }

    pub(super) fn is_test(&self) -> bool {
        self.kind == "rule.test"
    }

    /// `Firing: stage-failing`.
    fn title(&self) -> String {
        let word = match self.kind.as_str() {
            "rule.firing" => "Firing",
            "rule.resolved" => "Resolved",
            _ => "Test",
        };
        format!("{word}: {}", self.data.rule)
    }

    /// The reason for the notification, in one sentence.
    fn summary(&self) -> String {
        if self.is_test() {
            return "This is a test. Notifications of this rule arrive here.".to_owned();
        }
        let Data { condition, above, matching, expected, since, longer_than_seconds, .. } = &self.data;
        let longer = longer_than_seconds.map(|seconds| format!(" for more than {seconds} s")).unwrap_or_default();
        let what = format!("{matching} of {expected} reconcilers {}{longer}, limit {above}", words(condition));
        let since = since.map(|since| since.to_string()).unwrap_or_default();
        if self.is_resolved() {
            format!("{what}. It was above the limit since {since}.")
        } else {
            format!("{what}, since {since}.")
        }
    }

    /// The filter of the rule: labels and values.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let fact = |(key, word): (&str, &'static str)| {
            Some((word, cut(self.data.more.get(key)?.as_str()?, NOTIFICATION_LINE_CHARACTERS)))
        };
        FILTER.into_iter().filter_map(fact).collect()
    }

    /// The examples of counted reconcilers, one on each line.
    fn lines(&self) -> Vec<String> {
        let line = |Example { host, reconciler, message }: &Example| {
            let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
            let said = if message.is_empty() { String::new() } else { format!(": {message}") };
            cut(&format!("{host}/{reconciler}{said}"), NOTIFICATION_LINE_CHARACTERS)
        };
        self.data.examples.iter().map(line).collect()
    }
}

/// A condition as a part of a sentence.
fn words(condition: &str) -> &str {
    match condition {
        "failed" => "failed",
        "silent" => "are silent",
        "outdated" => "are outdated",
        "drifting" => "drift",
        "neverReported" => "never reported",
        other => other,
    }
}

/// Shortens a text to a maximum number of characters.
fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max.saturating_sub(1)) {
        Some((end, last)) if end + last.len_utf8() < text.len() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// A notification of a rule about `stage`, with an example whose message tries to inject markup.
    pub(in super::super) fn notice(kind: &str) -> Notice {
        let data = json!({
            "rule": "stage-failing", "state": "firing", "condition": "failed", "above": "5 %", "forSeconds": 600,
            "matching": 27, "expected": 300, "sharePercent": 9.0, "since": "2026-11-21T13:44:15.003Z", "environment": "stage",
            "examples": [{"host": "chicago-02", "reconciler": "checkout", "version": null, "message": "<!channel> & [x](http://evil)\n*b*"}],
        });
        let body = json!({"type": kind, "timestamp": "2026-11-21T13:54:15.020Z", "data": data});
        Notice::read(&body.to_string()).unwrap()
    }

    #[test]
    fn a_notification_is_a_title_and_a_sentence() {
        let firing = notice("rule.firing");
        assert_eq!(firing.title(), "Firing: stage-failing");
        assert_eq!(firing.summary(), "27 of 300 reconcilers failed, limit 5 %, since 2026-11-21T13:44:15.003Z.");
        assert_eq!(firing.facts(), [("Environment", "stage".to_owned())]);
        assert_eq!(firing.lines(), ["chicago-02/checkout: <!channel> & [x](http://evil) *b*"]);
        assert_eq!(notice("rule.resolved").title(), "Resolved: stage-failing");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!([cut("門真門真", 3), cut("門真門", 3), cut("", 3)], ["門真…", "門真門", ""]);
    }
}
