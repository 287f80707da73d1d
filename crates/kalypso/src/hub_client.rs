//! Connections of commands to the hub: URL, token, and reading of pages.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use delivery::publication::hub_publication::{self, HubError};
use hub_api::client::{Client, ClientError, StreamItem};
use hub_api::evidence::{PlaceEvidence, PromotionEvents};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::places::PlaceState;
use hub_api::promotions::PromotionEvent;
use hub_api::publication::{Publication, PublicationQuery, PublicationReceipt, PublicationState};
use hub_api::report::receipt::Receipt;
use hub_api::timestamp::Timestamp;
pub(crate) use model::excerpt::plain;
use model::object::release;
use model::secret::{Secret, SecretSource};
use serde::Serialize;

use crate::arguments::{Filtering, HostFiltering, HubConnection, PublicationHub};
use crate::configuration::{self, Settings};
use crate::exit::Failure;
use crate::{secret_file, times};

/// The environment variable with the hub's URL.
const URL_VARIABLE: &str = "KALYPSO_HUB_URL";
/// The environment variable with the token for requests.
const TOKEN_VARIABLE: &str = "KALYPSO_HUB_TOKEN";
/// The default URL of the hub: the default address on which `kalypso hub` listens.
const URL: &str = "http://127.0.0.1:8080";

/// The maximum time for which a request with events of promotions is repeated.
const RECORD_TIME: Duration = Duration::from_secs(10);

/// A hub with a client.
pub(crate) struct Hub {
    pub(crate) client: Client,
    runtime: tokio::runtime::Runtime,
}

impl Hub {
    /// The hub of the arguments, else of the environment variable, else of the configuration file.
    pub(crate) fn from_connection(connection: &HubConnection) -> anyhow::Result<Self> {
        let url = named(connection.hub.as_ref(), connection.config.as_deref())?.unwrap_or_else(|| URL.to_owned());
        Self::at(&url, token(connection)?)
    }

    /// The hub, found as in [`Hub::from_connection`]. None if no hub is configured.
    pub(crate) fn configured(connection: &HubConnection) -> anyhow::Result<Option<Self>> {
        let Some(url) = named(connection.hub.as_ref(), connection.config.as_deref())? else { return Ok(None) };
        Self::at(&url, token(connection)?).map(Some)
    }

    /// The same, with settings that were read.
    pub(crate) fn configured_by(connection: &HubConnection, settings: &Settings) -> anyhow::Result<Option<Self>> {
        let url = of_environment(connection.hub.as_ref()).or_else(|| settings.hub_url().map(str::to_owned));
        let Some(url) = url else { return Ok(None) };
        Self::at(&url, token(connection)?).map(Some)
    }

    /// The hub that receives publications, found as in [`Hub::from_connection`]. None if no hub is configured.
    pub(crate) fn for_publications(
        publication_hub: &PublicationHub,
        config: Option<&Path>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(url) = named(publication_hub.hub.as_ref(), config)? else { return Ok(None) };
        Self::at(&url, token_of(publication_hub.token_file.as_deref())?).map(Some)
    }

    /// The hub at a URL.
    pub(crate) fn at(url: &str, token: Option<SecretSource>) -> anyhow::Result<Self> {
        let client = Client::new(url, None).map_err(|error| failure(&error))?;
        let client = match token {
            Some(token) => client.with_token(token),
            None => client,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok(Self { client, runtime: runtime.context("the program can't wait for several things at once")? })
    }

    /// Sends a request and returns its answer: `hub.ask(hub.client.drift(&filter, &page))`.
    pub(crate) fn ask<T>(&self, question: impl Future<Output = Result<T, ClientError>>) -> Result<T, Failure> {
        self.runtime.block_on(question).map_err(|error| failure(&error))
    }

    /// Sends a request for something that may not exist in the hub.
    pub(crate) fn find<T>(&self, question: impl Future<Output = Result<T, ClientError>>) -> Result<Lookup<T>, Failure> {
        match self.runtime.block_on(question) {
            Ok(answer) => Ok(Lookup::Answer(answer)),
            Err(error @ ClientError::Refused { status: 404, .. }) => Ok(Lookup::Nothing(error.to_string())),
            Err(error) => Err(failure(&error)),
        }
    }

    /// Sends reports; see [`Client::report`].
    pub(crate) fn report(&self, body: Vec<u8>, are_lines: bool, retry_time: Duration) -> Result<Receipt, Failure> {
        self.runtime.block_on(self.client.report(body, are_lines, retry_time)).map_err(|error| failure(&error))
    }

    /// Follows changes until `each` ends it.
    pub(crate) fn follow(
        &self,
        filter: &Filter,
        after: Option<String>,
        mut each: impl FnMut(StreamItem) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let mut following = self.client.follow(filter, after).map_err(|error| failure(&error))?;
        while each(self.runtime.block_on(following.next()).map_err(|error| failure(&error))?)? {}
        Ok(())
    }

    /// Requests pages until the given number of rows is read. `rows` splits a page into its rows and the cursor of the next page.
    pub(crate) fn list<T, R>(
        &self,
        limit: usize,
        ask: impl AsyncFn(&Client, &Page) -> Result<T, ClientError>,
        rows: impl Fn(T) -> (Vec<R>, Option<String>),
    ) -> Result<List<R>, Failure> {
        let (mut items, mut cursor): (Vec<R>, Option<String>) = (Vec::new(), None);
        loop {
            let count = (limit - items.len()).clamp(1, hub_api::limits::PAGE_MAX);
            let page = Page { cursor: cursor.take(), limit: Some(count) };
            let (found, next) = rows(self.ask(ask(&self.client, &page))?);
            items.extend(found);
            let is_full = items.len() >= limit;
            items.truncate(limit);
            match next {
                Some(next) if !is_full => cursor = Some(next),
                next => return Ok(List { items, is_more: next.is_some() }),
            }
        }
    }
}

impl hub_publication::Hub for Hub {
    fn publish(&self, publication: &Publication, retry_time: Duration) -> Result<PublicationReceipt, ClientError> {
        self.runtime.block_on(self.client.publish(publication, retry_time))
    }

    fn publication_state(&self, query: &PublicationQuery) -> Result<PublicationState, ClientError> {
        self.runtime.block_on(self.client.publication_state(query))
    }
}

impl PlaceEvidence for Hub {
    fn place_states(&self, environment: &str, workload: Option<&str>) -> Result<Vec<PlaceState>, ClientError> {
        self.runtime.block_on(self.client.all_place_states(environment, workload))
    }
}

impl PromotionEvents for Hub {
    fn record(&self, events: &[PromotionEvent]) -> Result<(), ClientError> {
        self.runtime.block_on(self.client.record_all(events, RECORD_TIME))
    }
}

/// The URL of the argument, else of the environment variable, else of the configuration file.
fn named(argument: Option<&String>, config: Option<&Path>) -> anyhow::Result<Option<String>> {
    match of_environment(argument) {
        Some(url) => Ok(Some(url)),
        None => configuration::read_hub_url(config),
    }
}

/// The URL of the argument, else of the environment variable.
fn of_environment(argument: Option<&String>) -> Option<String> {
    argument.cloned().or_else(|| variable(URL_VARIABLE))
}

/// The token from the file that the arguments name, else from the environment variable.
pub(crate) fn token(connection: &HubConnection) -> Result<Option<SecretSource>, Failure> {
    if connection.is_open {
        return Ok(None);
    }
    token_of(connection.token_file.as_deref())
}

fn token_of(file: Option<&Path>) -> Result<Option<SecretSource>, Failure> {
    let Some(file) = file else { return Ok(variable(TOKEN_VARIABLE).map(|token| Secret::new(&token).into())) };
    secret_file::read_part("--token-file", file.to_owned(), first_line).map(Some).map_err(Failure::usage)
}

/// The token in a file. The output of `token create --signing` has a second line, which is not part of the token.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// The result of a lookup.
pub(crate) enum Lookup<T> {
    /// The answer.
    Answer(T),
    /// There is no such thing in the hub. The text is the hub's message.
    Nothing(String),
}

/// The rows of a list.
#[derive(Serialize)]
pub(crate) struct List<R> {
    pub(crate) items: Vec<R>,
    /// Whether there may be more rows.
    #[serde(rename = "more")]
    pub(crate) is_more: bool,
}

/// The filter of a request to the hub.
pub(crate) fn filter(filtering: &Filtering, hosts: Option<&HostFiltering>, status: Option<&String>) -> Filter {
    let Filtering { environment, workspace, application, workload, target, cluster_type, target_selector } =
        filtering.clone();
    let HostFiltering { host, selector } = hosts.cloned().unwrap_or_default();
    let status = status.cloned();
    Filter {
        environment,
        workspace,
        application,
        workload,
        target,
        cluster_type,
        host,
        status,
        selector,
        target_selector,
    }
}

/// Parses the value of `--at`.
pub(crate) fn at(text: Option<&str>) -> Result<Option<Timestamp>, Failure> {
    text.map(|text| times::timestamp("--at", text)).transpose()
}

/// A line that says when the hub recorded the counts of an answer. Nothing if they are exact.
pub(crate) fn recorded(on: Option<Timestamp>) -> String {
    on.map_or_else(String::new, |on| format!("the counts are those that the hub recorded at {on}\n"))
}

/// The time since a timestamp, in one unit: `5 min ago`.
pub(crate) fn ago(moment: Option<Timestamp>, now: Timestamp) -> String {
    moment.map_or_else(|| "-".to_owned(), |moment| format!("{} ago", length(now.since(moment))))
}

/// A duration in one unit.
pub(crate) fn length(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{} min", seconds / 60),
        seconds @ 7_200..=172_799 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// The abbreviated id of a commit, for people.
pub(crate) fn short(commit: Option<&str>) -> String {
    match commit {
        Some(commit) if hub_api::revision::is_hash(commit) => commit.chars().take(7).collect(),
        Some(other) => release::shown(other).to_owned(),
        None => "-".to_owned(),
    }
}

/// A version on one line, for people: a commit, or a tag at a commit, with the first digits of the commit.
pub(crate) fn version(text: &str) -> String {
    plain(release::shown(text))
}

/// The failure for a publication that is not in the hub.
pub(crate) fn publication_failure(error: &HubError) -> Failure {
    match error {
        HubError::Client(error) => failure(error),
        HubError::Unreadable(_) => Failure::outside(error.to_string()),
    }
}

fn failure(error: &ClientError) -> Failure {
    let text = error.to_string();
    match error {
        ClientError::Url { .. } => Failure::usage(text),
        ClientError::Unreachable { .. } => Failure::outside(text)
            .help("is it running? `kalypso hub` starts one; --hub or KALYPSO_HUB_URL name another"),
        // The hub is busy or temporarily unavailable. The same request may succeed later.
        ClientError::Refused { status: 408 | 429 | 500.., hint, .. } => {
            Failure { help: hint.clone(), ..Failure::outside(text) }
        }
        ClientError::Refused { status: 401, .. } => Failure::refused(text).help(format!(
            "put a token into the variable {TOKEN_VARIABLE}, or into a file that --token-file names; \
             `kalypso hub token create` makes one, `kalypso hub token list` shows the valid tokens"
        )),
        ClientError::Refused { hint, .. } => Failure { help: hint.clone(), ..Failure::refused(text) },
        ClientError::Unexpected { .. } => Failure::outside(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_shown_in_one_unit() {
        let check = |seconds, text| assert_eq!(length(Duration::from_secs(seconds)), text);
        check(0, "0 s");
        check(120, "2 min");
        check(7_200, "2 h");
        check(200_000, "2 d");
        assert_eq!(ago(None, Timestamp::MIN), "-");
    }

    #[test]
    fn commits_are_short_and_messages_plain() {
        assert_eq!(short(Some(&"ab".repeat(20))), "abababa");
        assert_eq!(short(Some("6.7.2")), "6.7.2");
        assert_eq!(plain("image \u{1b}[31mpull\nback-off"), "image [31mpull");
    }
}
