//! Asks a hub over HTTP.

use std::time::Duration;

use reqwest::{StatusCode, Url, header};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// How long one answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How often a question is asked that a busy hub did not answer.
const ATTEMPTS: u32 = 5;

/// The first pause between two of these, unless the hub says how long; each is twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(500);

/// The longest.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Characters of an answer that is no answer of a hub, as they are shown.
const SHOWN_MAX: usize = 200;

/// A hub somewhere else.
#[derive(Clone, Debug)]
pub struct Client {
    url: Url,
    token: Option<String>,
    http: reqwest::Client,
}

/// The hub did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The URL is none of a hub.
    #[error("`{url}` is no URL of a hub: {reason}")]
    Url {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody answers there, or not in time.
    #[error("the hub at {url} can't be reached: {reason}")]
    Unreachable {
        /// The hub.
        url: String,
        /// Why.
        reason: String,
    },
    /// It answers that the question can't be answered.
    #[error("{detail}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What is wrong, in the hub's words.
        detail: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// What answers is no hub, or a later one.
    #[error("what answers at {url} does not answer as a hub: {reason}")]
    Strange {
        /// The hub.
        url: String,
        /// What is strange about it.
        reason: String,
    },
}

/// What a hub says instead of an answer: `application/problem+json`.
#[derive(Deserialize)]
struct Problem {
    detail: String,
    #[serde(default)]
    hint: Option<String>,
}

impl Client {
    /// The hub at a URL, which is asked with a token, if there is one.
    ///
    /// # Errors
    /// It is no URL of a hub, or has a user or a password in it.
    pub fn new(url: &str, token: Option<String>) -> Result<Self, ClientError> {
        let wrong = |reason: &str| ClientError::Url { url: shown(url), reason: reason.to_owned() };
        let parsed: Url = url.parse().map_err(|_| wrong("it is no URL, such as https://hub.example:8443"))?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.cannot_be_a_base() {
            return Err(wrong("it does not begin with https:// or http://"));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(wrong("tokens don't belong into a URL"));
        }
        crate::tls::install_provider();
        let http =
            reqwest::Client::builder().timeout(TIMEOUT).user_agent(concat!("kalypso/", env!("CARGO_PKG_VERSION")));
        // A token must not go where another server sends it.
        let http = http.redirect(reqwest::redirect::Policy::none()).build();
        let http = http.map_err(|error| wrong(&error.to_string()))?;
        Ok(Self { url: parsed, token, http })
    }

    /// Asks a question: the words of its path below `/api/v1`, and its parameters. A hub that is busy is asked again, a few times.
    ///
    /// # Errors
    /// Nobody answers, or the answer is that the question can't be answered.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        path: &[&str],
        parameters: &[(String, String)],
    ) -> Result<T, ClientError> {
        let url = self.url_of(path, parameters)?;
        let mut pause = PAUSE;
        for attempt in 1.. {
            let mut request = self.http.get(url.clone());
            if let Some(token) = &self.token {
                request = request.bearer_auth(token);
            }
            let response = request.send().await.map_err(|error| self.unreachable(&error))?;
            let is_busy = matches!(response.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
            if !is_busy || attempt == ATTEMPTS {
                return self.read(response).await;
            }
            let asked = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            tokio::time::sleep(asked.map_or(pause, Duration::from_secs).min(PAUSE_MAX)).await;
            pause *= 2;
        }
        Err(self.strange("it is never done"))
    }

    fn url_of(&self, path: &[&str], parameters: &[(String, String)]) -> Result<Url, ClientError> {
        let mut url = self.url.clone();
        url.path_segments_mut()
            .map_err(|()| self.strange("its URL has no path"))?
            .pop_if_empty()
            .extend(["api", "v1"].iter().chain(path));
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        Ok(url)
    }

    async fn read<T: DeserializeOwned>(&self, response: reqwest::Response) -> Result<T, ClientError> {
        let status = response.status();
        let body = response.bytes().await.map_err(|error| self.unreachable(&error))?;
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(|error| self.strange(&error.to_string()));
        }
        match serde_json::from_slice::<Problem>(&body) {
            Ok(Problem { detail, hint }) => Err(ClientError::Refused { status: status.as_u16(), detail, hint }),
            Err(_) => Err(self.strange(&format!("{status}: {}", shown(&String::from_utf8_lossy(&body))))),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> ClientError {
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            reason = error.to_string();
            cause = error.source();
        }
        ClientError::Unreachable { url: self.url.to_string(), reason }
    }

    fn strange(&self, reason: &str) -> ClientError {
        ClientError::Strange { url: self.url.to_string(), reason: reason.to_owned() }
    }
}

/// The beginning of a text, without what terminals take for commands.
fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(SHOWN_MAX).collect()
}

/// The parameters of a question that a value stands for, such as a [`Filter`](crate::questions::Filter): its fields that are not none.
pub fn parameters(of: &impl Serialize) -> Vec<(String, String)> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(of) else { return Vec::new() };
    let text = |value: serde_json::Value| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    fields.into_iter().filter_map(|(name, value)| Some((name, text(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::{Filter, Page};

    #[test]
    fn names_are_kept_whatever_is_in_them() {
        let client = Client::new("https://hub.example/kalypso/", None).unwrap();
        let filter = Filter { workload: Some("a&b=c/%".into()), ..Filter::default() };
        let page = Page { limit: Some(7), cursor: None };
        let url =
            client.url_of(&["rollouts", "main@sha1:1/2"], &[parameters(&filter), parameters(&page)].concat()).unwrap();
        let expected = "https://hub.example/kalypso/api/v1/rollouts/main@sha1:1%2F2?workload=a%26b%3Dc%2F%25&limit=7";
        assert_eq!(url.as_str(), expected);
    }

    #[test]
    fn what_is_no_hub_is_refused() {
        let check = |url: &str| Client::new(url, None).unwrap_err().to_string();
        assert!(check("hub.example").ends_with("it is no URL, such as https://hub.example:8443"));
        assert!(check("ftp://hub.example").ends_with("it does not begin with https:// or http://"));
        assert!(check("https://me:secret@hub.example").ends_with("tokens don't belong into a URL"));
    }
}
