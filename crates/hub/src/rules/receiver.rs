//! Receivers of notifications: their URLs and formats.

use reqwest::Url;

use super::WebhookSecret;
use super::formats::{IncidentSeverity, PagerDuty};

/// The URL of PagerDuty's Events API: the default for its notifications.
pub(super) const PAGERDUTY_URL: &str = "https://events.pagerduty.com/v2/enqueue";

/// A receiver of notifications: a URL and a format.
#[derive(Clone, Debug)]
pub struct Receiver {
    pub(super) url: Url,
    pub(super) format: NotificationFormat,
}

/// The format of notifications.
#[derive(Clone, Debug)]
pub enum NotificationFormat {
    /// Kalypso's own JSON, signed as Standard Webhooks specifies.
    Signed(WebhookSecret),
    /// A message for an incoming webhook of Slack. The URL is a secret: it gives the permission to send.
    Slack,
    /// An Adaptive Card for a workflow of Microsoft Teams. The URL is a secret: it gives the permission to send.
    Teams,
    /// An event for the Events API v2 of PagerDuty.
    PagerDuty(PagerDuty),
}

impl NotificationFormat {
    /// An event for PagerDuty, with the integration key of a service.
    ///
    /// # Errors
    /// The key is invalid: integration keys have 32 letters and digits.
    pub fn pagerduty(routing_key: &str, severity: IncidentSeverity) -> Result<Self, String> {
        PagerDuty::new(routing_key, severity).map(Self::PagerDuty)
    }

    /// The name of the format in the configuration.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Signed(_) => "signed",
            Self::Slack => "slack",
            Self::Teams => "teams",
            Self::PagerDuty(_) => "pagerduty",
        }
    }
}

impl Receiver {
    /// The receiver at a URL, for notifications in a format.
    ///
    /// # Errors
    /// The text is not the URL of a web server, or the URL contains a user or a password.
    pub fn new(url: &str, format: NotificationFormat) -> Result<Self, String> {
        let url: Url = url.parse().map_err(|_| "it is no URL, such as https://chat.example/hook".to_owned())?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err("it does not begin with https:// or http://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it has a user or a password in it; the signature identifies the sender".to_owned());
        }
        Ok(Self { url, format })
    }

    /// The host of the URL, for messages and lists.
    pub fn host(&self) -> String {
        self.url.host_str().unwrap_or_default().to_owned()
    }
}
