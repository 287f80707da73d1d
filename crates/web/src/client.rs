//! Requests to the API's router in the same process, with the credentials of a browser's request.

use axum::Router;
use axum::body::{self, Body};
use http::{HeaderMap, HeaderName, Method, Request, header, request};
use hub_api::client::{ClientError, Transport, TransportAnswer};
use tower::ServiceExt as _;

use crate::address::Address;

/// The headers by which the API knows the caller. Without a token, it also looks at the name that the browser used for this machine.
const FORWARDED: [HeaderName; 3] = [header::AUTHORIZATION, header::COOKIE, header::HOST];

/// The largest answer that a page reads, in bytes. A page of a list has at most some hundred rows, whose messages can have 64 kB each.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The API in this process, for one request of a browser.
#[derive(Clone, Debug)]
pub(crate) struct InProcess {
    api: Router,
    headers: HeaderMap,
}

impl InProcess {
    /// Sends queries to `api`, with the credentials in the headers of a request.
    pub(crate) fn new(api: Router, headers: &HeaderMap) -> Self {
        let mut own = HeaderMap::new();
        for name in FORWARDED {
            for value in headers.get_all(&name) {
                own.append(&name, value.clone());
            }
        }
        Self { api, headers: own }
    }

    async fn send(&self, request: request::Builder, body: Body) -> Result<TransportAnswer, ClientError> {
        let unexpected = |reason: String| ClientError::Unexpected { url: self.url(), reason };
        let mut request = request.body(body).map_err(|error| unexpected(error.to_string()))?;
        request.headers_mut().extend(self.headers.clone());
        let response = match self.api.clone().oneshot(request).await {
            Ok(response) => response,
            Err(error) => match error {},
        };
        let status = response.status().as_u16();
        let body = body::to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
        Ok(TransportAnswer { status, body: body.map_err(|error| unexpected(error.to_string()))?.to_vec() })
    }
}

/// The address of a route of the API.
fn route(path: &[&str]) -> Address {
    Address::of(["api", "v1"].iter().chain(path).copied())
}

impl Transport for InProcess {
    async fn query(&self, path: &[&str], parameters: &[(String, String)]) -> Result<TransportAnswer, ClientError> {
        let address = route(path).with_all(parameters.iter().cloned());
        self.send(Request::get(address.to_string()), Body::empty()).await
    }

    async fn change(
        &self,
        method: Method,
        path: &[&str],
        body: Option<Vec<u8>>,
    ) -> Result<TransportAnswer, ClientError> {
        let request = Request::builder().method(method).uri(route(path).to_string());
        let body = body.map_or_else(Body::empty, Body::from);
        self.send(request.header(header::CONTENT_TYPE, "application/json"), body).await
    }

    fn url(&self) -> String {
        "this address".to_owned()
    }
}
