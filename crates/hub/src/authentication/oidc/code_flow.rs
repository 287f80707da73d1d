//! The authorization code flow, with which people sign in with a browser (`OpenID` Connect Core 1.0, section 3.1), with PKCE (RFC 7636).

use data_encoding::{BASE64, BASE64URL_NOPAD};
use form_urlencoded::{Serializer, byte_serialize};
use http::header;
use model::secret::SecretSource;
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{Discovery, Issuer, OidcAccount, OidcError, PublicUrl, is_safe, read};
use crate::authentication::sessions::attempts::{PendingSignIn, SignInAttempt};

/// Characters of the error code of the issuer in the log.
const ERROR_CHARACTERS_MAX: usize = 64;

/// The hub as a client of the issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OidcClient {
    /// The id that the issuer gave the hub.
    pub id: String,
    /// The secret that the issuer gave the hub; none if the hub is a public client.
    pub secret: Option<SecretSource>,
    /// The scopes to request besides `openid`.
    pub scopes: Vec<String>,
    /// The address under which browsers reach the hub.
    pub public_url: PublicUrl,
}

/// The endpoints of the issuer for this flow.
#[derive(Clone, Debug)]
pub(super) struct Endpoints {
    authorization: Url,
    token: Url,
    /// Whether the secret of the client goes into the body: the issuer does not accept it in the header.
    is_secret_in_body: bool,
}

/// The answer of the token endpoint.
#[derive(Deserialize)]
struct TokenResponse {
    id_token: String,
}

/// The error of the token endpoint (RFC 6749, section 5.2).
#[derive(Deserialize)]
struct ErrorResponse {
    error: String,
}

impl Endpoints {
    /// The endpoints of a discovery document; none if it does not have both, or they are not safe.
    pub(super) fn of(discovery: &Discovery) -> Option<Self> {
        let url = |text: &Option<String>| text.as_deref().filter(|text| is_safe(text))?.parse().ok();
        let methods = &discovery.token_endpoint_auth_methods_supported;
        let has = |method: &str| methods.iter().any(|supported| supported == method);
        Some(Self {
            authorization: url(&discovery.authorization_endpoint)?,
            token: url(&discovery.token_endpoint)?,
            is_secret_in_body: has("client_secret_post") && !has("client_secret_basic"),
        })
    }
}

impl Issuer {
    /// The hub as a client of the issuer, if people can sign in with a browser.
    pub fn client(&self) -> Option<&OidcClient> {
        self.settings.client.as_ref()
    }

    /// The address of the issuer at which a person signs in.
    ///
    /// # Errors
    /// The issuer can't be reached, or does not offer this flow.
    pub(in crate::authentication) async fn authorization_url(
        &self,
        client: &OidcClient,
        attempt: &SignInAttempt,
    ) -> Result<Url, OidcError> {
        let mut url = self.endpoints().await?.authorization;
        let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(attempt.verifier.reveal().as_bytes()));
        let scopes = std::iter::once("openid").chain(client.scopes.iter().map(String::as_str)).collect::<Vec<_>>();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", &client.public_url.redirect_uri())
            .append_pair("scope", &scopes.join(" "))
            .append_pair("state", attempt.state.reveal())
            .append_pair("nonce", attempt.nonce.reveal())
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok(url)
    }

    /// The account of the person who signed in: exchanges the code of the issuer for a token, and checks it.
    ///
    /// # Errors
    /// The issuer can't be reached, refuses the code, or returns a token that is invalid or of another attempt.
    pub(in crate::authentication) async fn exchange(
        &self,
        (client, code): (&OidcClient, &str),
        attempt: &PendingSignIn,
    ) -> Result<OidcAccount, OidcError> {
        let token = self.request_token((client, code), attempt).await?;
        let claims = self.verify(&token, &client.id).await?;
        let text = |claim: &str| claims.get(claim).and_then(Value::as_str);
        if text("nonce") != Some(&attempt.nonce) {
            return Err(OidcError::Token("it is of another attempt to sign in".to_owned()));
        }
        let is_for_several = claims.get("aud").and_then(Value::as_array).is_some_and(|audiences| audiences.len() > 1);
        if (is_for_several || claims.get("azp").is_some()) && text("azp") != Some(&client.id) {
            return Err(OidcError::Token("it was made for another client".to_owned()));
        }
        self.account_of(&claims)
    }

    async fn request_token(
        &self,
        (client, code): (&OidcClient, &str),
        attempt: &PendingSignIn,
    ) -> Result<String, OidcError> {
        let (endpoints, redirect_uri) = (self.endpoints().await?, client.public_url.redirect_uri());
        let secret = client.secret.as_ref().map(SecretSource::current);
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &redirect_uri),
            ("code_verifier", &attempt.verifier),
        ];
        let mut request = self.http.post(endpoints.token).header(header::ACCEPT, "application/json");
        match &secret {
            Some(secret) if endpoints.is_secret_in_body => {
                fields.extend([("client_id", client.id.as_str()), ("client_secret", secret.reveal())]);
            }
            Some(secret) => request = request.header(header::AUTHORIZATION, basic(&client.id, secret.reveal())),
            None => fields.push(("client_id", &client.id)),
        }
        let body = Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(body);
        let unreachable = |error: reqwest::Error| OidcError::Unreachable(error.without_url().to_string());
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let body = read(response).await.map_err(OidcError::Unreachable)?;
        if !status.is_success() {
            return Err(OidcError::Unreachable(format!("it answers {status} to the code: {}", error_code(&body))));
        }
        let response: TokenResponse = serde_json::from_slice(&body)
            .map_err(|_| OidcError::Unreachable("its answer to the code has no token for the person".to_owned()))?;
        Ok(response.id_token)
    }

    /// The endpoints that the issuer publishes.
    async fn endpoints(&self) -> Result<Endpoints, OidcError> {
        let mut published = self.published.lock().await;
        if published.is_old() {
            self.refresh(&mut published).await?;
        }
        let missing = || OidcError::Unreachable("it publishes no safe endpoints for browsers".to_owned());
        published.endpoints.clone().ok_or_else(missing)
    }
}

/// The header with the id and the secret of the client (RFC 6749, section 2.3.1).
fn basic(id: &str, secret: &str) -> String {
    let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    format!("Basic {}", BASE64.encode(format!("{}:{}", encode(id), encode(secret)).as_bytes()))
}

/// The code of an error of the token endpoint. The rest of the answer can have anything in it, so the log does not contain it.
fn error_code(body: &[u8]) -> String {
    let error = serde_json::from_slice::<ErrorResponse>(body).map(|response| response.error);
    shown_code(&error.unwrap_or_default())
}

/// An error code of the issuer, without anything that does not belong in the log.
pub(in crate::authentication) fn shown_code(error: &str) -> String {
    let is_harmless = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
    let code: String = error.chars().filter(is_harmless).take(ERROR_CHARACTERS_MAX).collect();
    if code.is_empty() { "without a reason".to_owned() } else { code }
}
