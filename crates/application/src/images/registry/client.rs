//! The real registries, by the protocol of the OCI distribution specification and the tokens of Docker's registries.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use model::secret::Secret;
use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Method, StatusCode, Url};
use serde::Deserialize;

use super::challenge::{Challenge, TokenServer, parse};
use super::credentials::{RegistryLogin, basic};
use super::http::{Deadline, RegistryAnswer, RegistryClients, RegistryRequest, is_loopback};
use super::{ImageRegistry, RegistryCredentials, RegistryError};
use crate::digest::ContentDigest;
use crate::images::ImageReference;
use crate::limits::{MANIFEST_BYTES_MAX, REGISTRY_TIME_LIMIT, TOKEN_BYTES_MAX};

/// Docker Hub, as references name it, and the host of its registry.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// The header with the digest of a manifest.
const DIGEST_HEADER: &str = "docker-content-digest";

/// The media types of manifests: those of indexes first, because they stand for all platforms.
const MANIFEST_TYPES: &str = "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, \
                              application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json";

const JSON: &str = "application/json";

/// How registries are asked.
#[derive(Clone, Debug)]
pub struct RegistrySettings {
    /// Docker's `config.json`, with the credentials. It is read if a registry is asked. None: there are no credentials.
    pub credentials_file: Option<PathBuf>,
    /// The registries without encryption, by their names in references. Those on this machine have none anyway.
    pub insecure: Vec<String>,
    /// How long the digest of one image may take.
    pub time_limit: Duration,
}

impl Default for RegistrySettings {
    fn default() -> Self {
        Self { credentials_file: None, insecure: Vec::new(), time_limit: REGISTRY_TIME_LIMIT }
    }
}

/// All registries, over HTTP. Nothing is opened before the first request.
#[derive(Debug)]
pub struct HttpRegistries {
    settings: RegistrySettings,
    opened: OnceLock<Result<Opened, RegistryError>>,
}

#[derive(Debug)]
struct Opened {
    clients: RegistryClients,
    credentials: RegistryCredentials,
}

impl HttpRegistries {
    /// The registries, with these settings.
    pub fn new(settings: RegistrySettings) -> Self {
        Self { settings, opened: OnceLock::new() }
    }

    fn opened(&self) -> Result<&Opened, RegistryError> {
        let open = || {
            let file = self.settings.credentials_file.as_deref();
            let credentials = file.map(RegistryCredentials::read).transpose().map_err(RegistryError::Settings)?;
            Ok(Opened { clients: RegistryClients::new()?, credentials: credentials.unwrap_or_default() })
        };
        self.opened.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// The address of a manifest.
    fn address(&self, reference: &ImageReference) -> Result<Url, RegistryError> {
        let registry = reference.registry();
        let host = if registry == DOCKER_HUB.0 { DOCKER_HUB.1 } else { registry };
        let version = reference.digest().or(reference.tag()).unwrap_or_default();
        let parse = |scheme: &str| {
            let url = format!("{scheme}://{host}/v2/{}/manifests/{version}", reference.repository());
            url.parse::<Url>().map_err(|_| RegistryError::Unexpected("its name is no host".to_owned()))
        };
        let url = parse("https")?;
        let is_plain = is_loopback(&url) || self.settings.insecure.iter().any(|one| one == registry);
        if is_plain { parse("http") } else { Ok(url) }
    }
}

impl ImageRegistry for HttpRegistries {
    fn digest(&self, reference: &ImageReference) -> Result<ContentDigest, RegistryError> {
        let Opened { clients, credentials } = self.opened()?;
        let asking = Asking {
            clients,
            reference,
            url: self.address(reference)?,
            login: credentials.login(reference.registry()),
            helper: credentials.helper(reference.registry()),
            deadline: Deadline::after(self.settings.time_limit),
        };
        asking.digest()
    }
}

/// A question for the digest of one image.
struct Asking<'a> {
    clients: &'a RegistryClients,
    reference: &'a ImageReference,
    url: Url,
    login: Option<&'a RegistryLogin>,
    helper: Option<&'a str>,
    deadline: Deadline,
}

/// The answer of a server for tokens.
#[derive(Deserialize)]
struct TokenAnswer {
    #[serde(default)]
    token: String,
    /// The same, by OAuth 2.
    #[serde(default)]
    access_token: String,
}

impl Asking<'_> {
    /// The digest in the header, or else that of the manifest itself. A header alone is enough, as for other clients: a wrong one names nothing that can be pulled.
    fn digest(&self) -> Result<ContentDigest, RegistryError> {
        let mut authorization = None;
        // Docker Hub does not count requests without a body.
        let head = self.manifest(Method::HEAD, &mut authorization)?;
        let is_head_refused = matches!(head.status.as_u16(), 400 | 405 | 501);
        if !is_head_refused {
            self.check(&head)?;
            if let Some(Ok(digest)) = named_digest(&head.headers) {
                return Ok(digest);
            }
        }
        let answer = self.manifest(Method::GET, &mut authorization)?;
        self.check(&answer)?;
        let digest = ContentDigest::of_content(&answer.body);
        match named_digest(&answer.headers) {
            None => Ok(digest),
            Some(Ok(named)) if named == digest => Ok(digest),
            Some(Ok(_)) => Err(RegistryError::Unexpected("its digest is not that of its manifest".to_owned())),
            Some(Err(())) => Err(RegistryError::Unexpected("its digest is not a SHA-256".to_owned())),
        }
    }

    /// Asks for the manifest. If the registry wants a credential or a token, asks once more with it.
    fn manifest(
        &self,
        method: Method,
        authorization: &mut Option<HeaderValue>,
    ) -> Result<RegistryAnswer, RegistryError> {
        let mut request = RegistryRequest {
            method,
            url: self.url.clone(),
            accept: MANIFEST_TYPES,
            authorization: authorization.clone(),
            form: None,
            bytes_max: MANIFEST_BYTES_MAX,
        };
        let answer = self.clients.send(&request, self.deadline)?;
        if answer.status != StatusCode::UNAUTHORIZED || authorization.is_some() {
            return Ok(answer);
        }
        *authorization = Some(self.authorization(&answer)?);
        request.authorization.clone_from(authorization);
        self.clients.send(&request, self.deadline)
    }

    fn check(&self, answer: &RegistryAnswer) -> Result<(), RegistryError> {
        match answer.status {
            status if status.is_success() => Ok(()),
            StatusCode::NOT_FOUND => Err(RegistryError::NotFound),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(self.refused(answer.status)),
            status => Err(RegistryError::Failed(status.as_u16())),
        }
    }

    fn refused(&self, status: StatusCode) -> RegistryError {
        let helper = self.helper.filter(|_| self.login.is_none()).map(str::to_owned);
        RegistryError::Refused { status: status.as_u16(), has_credential: self.login.is_some(), helper }
    }

    /// The header that an answer without access asks for.
    fn authorization(&self, answer: &RegistryAnswer) -> Result<HeaderValue, RegistryError> {
        let values = answer.headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        match (parse(values), self.login) {
            (Some(Challenge::Bearer(server)), _) => {
                let token = self.token(&server)?;
                header(&format!("Bearer {}", token.reveal()))
            }
            (Some(Challenge::Basic), Some(RegistryLogin::Password(user, password))) => header(&basic(user, password)),
            (Some(Challenge::Basic) | None, _) => Err(self.refused(answer.status)),
        }
    }

    /// A token for the repository. The credential is sent to the server that the registry names only if the connection is encrypted, or the server is on the host of the registry.
    fn token(&self, server: &TokenServer) -> Result<Secret, RegistryError> {
        let mut url: Url = server.realm.parse().map_err(|_| RegistryError::Realm)?;
        let is_same_host = url.scheme() == self.url.scheme() && url.host_str() == self.url.host_str();
        if url.scheme() != "https" && !is_same_host {
            return Err(RegistryError::Realm);
        }
        let pull = format!("repository:{}:pull", self.reference.repository());
        let scope = server.scope.as_deref().unwrap_or(&pull);
        let fields = [("service", server.service.as_deref()), ("scope", Some(scope))];
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let (mut method, mut authorization, mut form) = (Method::GET, None, None);
        match self.login {
            Some(RegistryLogin::Identity(token)) => {
                let own =
                    [("grant_type", "refresh_token"), ("client_id", "kalypso"), ("refresh_token", token.reveal())];
                method = Method::POST;
                form = Some(encoded(own.into_iter().chain(fields)));
            }
            login => {
                url.query_pairs_mut().extend_pairs(fields);
                if let Some(RegistryLogin::Password(user, password)) = login {
                    authorization = Some(header(&basic(user, password))?);
                }
            }
        }
        let request = RegistryRequest { method, url, accept: JSON, authorization, form, bytes_max: TOKEN_BYTES_MAX };
        let answer = self.clients.send(&request, self.deadline)?;
        match answer.status {
            status if status.is_success() => {}
            // The status for a wrong password differs from server to server.
            status if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS => {
                return Err(self.refused(status));
            }
            status => return Err(RegistryError::Failed(status.as_u16())),
        }
        // The message of the parser could quote the token.
        let no_token = || RegistryError::Unexpected("its server for tokens sent none".to_owned());
        let TokenAnswer { token, access_token } = serde_json::from_slice(&answer.body).map_err(|_| no_token())?;
        let token = if token.is_empty() { access_token } else { token };
        if token.is_empty() { Err(no_token()) } else { Ok(Secret::new(&token)) }
    }
}

/// The digest that a header names. None: there is no such header.
fn named_digest(headers: &HeaderMap) -> Option<Result<ContentDigest, ()>> {
    let value = headers.get(DIGEST_HEADER)?;
    Some(value.to_str().map_err(|_| ()).and_then(|text| text.trim().parse()))
}

fn header(text: &str) -> Result<HeaderValue, RegistryError> {
    let wrong =
        |_| RegistryError::Unexpected("a credential or token has characters that no header can have".to_owned());
    let mut value = HeaderValue::from_str(text).map_err(wrong)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The fields of a form, as in the query of a URL.
fn encoded<'f>(fields: impl Iterator<Item = (&'f str, &'f str)>) -> String {
    let Ok(mut url) = Url::parse("form:fields") else { return String::new() };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reference: &str, url: &str) {
        let settings = RegistrySettings { insecure: vec!["r.local:5000".to_owned()], ..RegistrySettings::default() };
        let found = HttpRegistries::new(settings).address(&reference.parse().unwrap()).unwrap();
        assert_eq!(found.as_str(), url);
    }

    #[test]
    fn registries_are_encrypted_unless_they_are_local_or_named() {
        check("nginx", "https://registry-1.docker.io/v2/library/nginx/manifests/latest");
        check("r.io:5000/a/b:1", "https://r.io:5000/v2/a/b/manifests/1");
        check("r.local:5000/a:1", "http://r.local:5000/v2/a/manifests/1");
        check("r.local/a:1", "https://r.local/v2/a/manifests/1");
        check("localhost:5000/a:1", "http://localhost:5000/v2/a/manifests/1");
        check("127.0.0.2/a:1", "http://127.0.0.2/v2/a/manifests/1");
        check("[::1]:5000/a:1", "http://[::1]:5000/v2/a/manifests/1");
        check("localhost.evil.io/a:1", "https://localhost.evil.io/v2/a/manifests/1");
    }
}
