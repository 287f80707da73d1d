//! Queries Azure Resource Graph, page by page, and reads resources from Azure Resource Manager.
//!
//! <https://learn.microsoft.com/rest/api/azureresourcegraph/resourcegraph/resources/resources>

use hub_api::timestamp::Timestamp;
use reqwest::RequestBuilder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::client::{Answer, Client, Failure, quota_reset};
use crate::credential::Tokens;
use crate::limits::{PAGE_ROWS, PAGES_MAX, WAIT_MAX};
use crate::secret::Secret;

/// The API version of Resource Graph.
const GRAPH_VERSION: &str = "2022-10-01";

/// Access to Azure for one source.
pub(crate) struct Azure {
    client: Client,
    tokens: Tokens,
    management: String,
}

/// One page of an answer. `data` is an array of objects, because the request specifies this format.
#[derive(Deserialize)]
struct Page {
    data: Vec<Value>,
    #[serde(rename = "$skipToken")]
    skip_token: Option<String>,
    #[serde(rename = "resultTruncated")]
    truncated: Option<String>,
}

/// One page of a list of Resource Manager.
#[derive(Deserialize)]
struct List {
    value: Vec<Value>,
    #[serde(rename = "nextLink")]
    next: Option<String>,
}

impl Azure {
    /// Access with these tokens.
    pub(crate) fn new(client: Client, tokens: Tokens, management: &str) -> Self {
        Self { client, tokens, management: management.to_owned() }
    }

    /// Calls `each` for every row of a query about one subscription, while pages arrive.
    ///
    /// # Errors
    /// If a page can't be read. `each` was already called for the rows of the pages before it.
    pub(crate) async fn query(
        &mut self,
        subscription: &str,
        query: &str,
        mut each: impl FnMut(Value),
    ) -> Result<(), Failure> {
        let mut skip_token: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let mut options = json!({"$top": PAGE_ROWS, "resultFormat": "objectArray"});
            if let (Some(token), Some(options)) = (&skip_token, options.as_object_mut()) {
                options.insert("$skipToken".to_owned(), token.as_str().into());
            }
            let body = json!({"subscriptions": [subscription], "query": query, "options": options});
            let page: Page = self.page(&body).await?;
            page.data.into_iter().for_each(&mut each);
            match page.skip_token.filter(|token| !token.is_empty()) {
                None if page.truncated.as_deref() == Some("true") => {
                    return Err(Failure::Malformed("the answer is cut off, and can't be continued".to_owned()));
                }
                None => return Ok(()),
                next if next == skip_token => break,
                next => skip_token = next,
            }
        }
        Err(Failure::Malformed("the pages of the answer never end".to_owned()))
    }

    /// Reads one resource.
    pub(crate) async fn get(&mut self, id: &str, version: &str) -> Result<Value, Failure> {
        let url = format!("{}{id}?api-version={version}", self.management);
        let answer = self.authorized(|client, token| client.remote().get(&url).bearer_auth(token.expose())).await?;
        decode(&answer)
    }

    /// Calls `each` for every item of a list, page by page.
    ///
    /// # Errors
    /// If a page can't be read. `each` was already called for the items of the pages before it.
    pub(crate) async fn list(&mut self, id: &str, version: &str, mut each: impl FnMut(Value)) -> Result<(), Failure> {
        let mut url = format!("{}{id}?api-version={version}", self.management);
        for _ in 0..PAGES_MAX {
            let answer = self.authorized(|client, token| client.remote().get(&url).bearer_auth(token.expose())).await?;
            let page: List = decode(&answer)?;
            page.value.into_iter().for_each(&mut each);
            match page.next.filter(|next| !next.is_empty()) {
                None => return Ok(()),
                // The token must not be sent to another server.
                Some(next) if next.starts_with(&format!("{}/", self.management)) => url = next,
                Some(_) => return Err(Failure::Malformed("the next page is said to be on another server".to_owned())),
            }
        }
        Err(Failure::Malformed("the pages of the list never end".to_owned()))
    }

    async fn page(&mut self, body: &Value) -> Result<Page, Failure> {
        let url =
            format!("{}/providers/Microsoft.ResourceGraph/resources?api-version={GRAPH_VERSION}", self.management);
        let request =
            |client: &Client, token: &Secret| client.remote().post(&url).bearer_auth(token.expose()).json(body);
        let answer = self.authorized(request).await?;
        if let Some(wait) = quota_reset(&answer.headers) {
            self.client.wait(wait.min(WAIT_MAX)).await;
        }
        decode(&answer)
    }

    /// Sends a request with a token. If the token is not accepted, sends it once more with a new token.
    async fn authorized(&mut self, request: impl Fn(&Client, &Secret) -> RequestBuilder) -> Result<Answer, Failure> {
        let token = self.token().await?;
        match self.client.send(|| request(&self.client, &token)).await {
            Err(failure) if failure.status() == Some(401) => {
                self.tokens.invalidate();
                let token = self.token().await?;
                self.client.send(|| request(&self.client, &token)).await.map_err(|failure| failure.without(&token))
            }
            answer => answer.map_err(|failure| failure.without(&token)),
        }
    }

    async fn token(&mut self) -> Result<Secret, Failure> {
        let token = self.tokens.get(&self.client, Timestamp::now()).await;
        token.map_err(|failure| match failure {
            Failure::Refused { status, headers, message } => {
                Failure::Refused { status, headers, message: format!("no token: {message}") }
            }
            Failure::Unreachable(reason) => Failure::Unreachable(format!("no token: {reason}")),
            other => other,
        })
    }
}

fn decode<T: DeserializeOwned>(answer: &Answer) -> Result<T, Failure> {
    serde_json::from_slice(&answer.body)
        .map_err(|error| Failure::Malformed(format!("its answer can't be read: {error}")))
}
