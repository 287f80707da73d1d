//! Managed identities: gets tokens from the identity endpoint of the machine.
//!
//! Virtual machines and AKS: <https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token>.
//! App Service, Functions and Container Apps: <https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference>.
//! Arc-enabled servers: <https://learn.microsoft.com/azure/azure-arc/servers/managed-identity-authentication>.

use std::path::{Path, PathBuf};

use reqwest::header::{AUTHORIZATION, HeaderMap, WWW_AUTHENTICATE};

use crate::client::{Answer, Client, Failure};
use crate::loopback::is_loopback;
use crate::secret::Secret;

/// The instance metadata service of virtual machines.
const INSTANCE_METADATA: &str = "http://169.254.169.254";
/// The path for tokens of this service.
const INSTANCE_PATH: &str = "/metadata/identity/oauth2/token";
/// The folder with the keys of the agent of Arc-enabled servers. A caller must prove that it can read these keys.
const ARC_KEYS: &str = "/var/opt/azcmagent/tokens";
/// The maximum size of such a key, in bytes.
const ARC_KEY_BYTES_MAX: u64 = 4_096;

/// The identity of the machine, with the endpoint for its tokens.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    endpoint: reqwest::Url,
    client_id: Option<String>,
    kind: IdentityKind,
}

#[derive(Clone, Debug)]
enum IdentityKind {
    /// The instance metadata service.
    Instance,
    /// App Service and compatible services. The header proves that the request is from the app.
    App(Secret),
    /// An Arc-enabled server, with the folder of its keys.
    Arc(PathBuf),
}

impl Identity {
    /// Finds the identity of the machine by the same rules as Azure's own libraries. `IDENTITY_ENDPOINT` with `IDENTITY_HEADER` means an app, and with
    /// `IMDS_ENDPOINT` an Arc-enabled server. Otherwise the machine is a virtual machine. `AZURE_POD_IDENTITY_AUTHORITY_HOST` can replace the address of its
    /// metadata service.
    pub(crate) fn find(
        client_id: Option<String>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        if environment("IDENTITY_SERVER_THUMBPRINT").is_some() {
            return Err("identities of Service Fabric are not supported; use a client secret".to_owned());
        }
        let endpoint = environment("IDENTITY_ENDPOINT");
        let (endpoint, kind) = match (endpoint, environment("IDENTITY_HEADER"), environment("IMDS_ENDPOINT")) {
            (Some(endpoint), Some(header), _) => (endpoint, IdentityKind::App(Secret::new(header))),
            (Some(endpoint), None, Some(_)) => (endpoint, IdentityKind::Arc(ARC_KEYS.into())),
            _ => {
                let host = environment("AZURE_POD_IDENTITY_AUTHORITY_HOST");
                let host = host.unwrap_or_else(|| INSTANCE_METADATA.to_owned());
                (format!("{}{INSTANCE_PATH}", host.trim_end_matches('/')), IdentityKind::Instance)
            }
        };
        if matches!(kind, IdentityKind::Arc(_)) && client_id.is_some() {
            return Err("an Arc-enabled server has only its own identity: leave out client-id".to_owned());
        }
        let url = reqwest::Url::parse(&endpoint).ok().filter(is_local);
        let endpoint =
            url.ok_or_else(|| format!("the identity's endpoint `{endpoint}` is not an http:// URL of this machine"))?;
        Ok(Self { endpoint, client_id, kind })
    }

    /// Replaces the folder with the keys of an Arc-enabled server.
    #[cfg(test)]
    pub(crate) fn with_keys(self, keys: PathBuf) -> Self {
        Self { kind: IdentityKind::Arc(keys), ..self }
    }

    /// Requests a token for a resource.
    pub(crate) async fn request_token(&self, client: &Client, resource: &str) -> Result<Answer, Failure> {
        let version = match self.kind {
            IdentityKind::Instance => "2018-02-01",
            IdentityKind::App(_) => "2019-08-01",
            IdentityKind::Arc(_) => "2020-06-01",
        };
        let mut url = self.endpoint.clone();
        url.query_pairs_mut().append_pair("api-version", version).append_pair("resource", resource);
        if let Some(client_id) = &self.client_id {
            url.query_pairs_mut().append_pair("client_id", client_id);
        }
        let request = |proof: Option<Secret>| {
            let get = client.local().get(url.clone());
            match (&self.kind, proof) {
                (IdentityKind::App(header), _) => get.header("X-IDENTITY-HEADER", header.expose()),
                (_, None) => get.header("Metadata", "true"),
                (_, Some(proof)) => {
                    get.header("Metadata", "true").header(AUTHORIZATION, format!("Basic {}", proof.expose()))
                }
            }
        };
        let answer = client.send(|| request(None)).await;
        match (&self.kind, answer) {
            (IdentityKind::Arc(keys), Err(Failure::Refused { status: 401, headers, .. })) => {
                let key = read_key(&headers, keys).await.map_err(Failure::Local)?;
                client.send(|| request(Some(key.clone()))).await
            }
            (_, answer) => answer,
        }
    }
}

/// Whether a URL has a loopback or link-local address and uses `http`, as all identity endpoints do.
fn is_local(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let is_link_local = host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_link_local());
    url.scheme() == "http" && (is_loopback(url) || is_link_local)
}

/// Reads the key that the agent of an Arc-enabled server names. Only files in its folder are read, so that a malicious answer can't name another file.
async fn read_key(headers: &HeaderMap, folder: &Path) -> Result<Secret, String> {
    let challenge = headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let path = challenge.split_once("realm=").map(|(_, path)| Path::new(path.trim().trim_matches('"')));
    let path = path.ok_or("the agent of the Arc-enabled server did not name a key file")?;
    let is_key = path.parent() == Some(folder) && path.extension().is_some_and(|extension| extension == "key");
    if !is_key {
        return Err(format!(
            "the agent of the Arc-enabled server named `{}`, which is not one of its key files",
            path.display()
        ));
    }
    let wrong = |error: std::io::Error| {
        format!("`{}` can't be read: {error}; is the hub's user in the group `himds`?", path.display())
    };
    let size = tokio::fs::metadata(path).await.map_err(wrong)?.len();
    if size > ARC_KEY_BYTES_MAX {
        return Err(format!("`{}` has {size} bytes; no key has more than {ARC_KEY_BYTES_MAX}", path.display()));
    }
    Ok(Secret::new(tokio::fs::read_to_string(path).await.map_err(wrong)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)]) -> String {
        let environment =
            |name: &str| variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned());
        let found = Identity::find(None, environment);
        found.map_or_else(|error| error, |identity| format!("{} {:?}", identity.endpoint, identity.kind))
    }

    #[test]
    fn identity_endpoint_is_read_from_the_environment() {
        assert_eq!(check(&[]), format!("{INSTANCE_METADATA}{INSTANCE_PATH} Instance"));
        let endpoint = ("IDENTITY_ENDPOINT", "http://169.254.129.2:8081/msi/token");
        assert_eq!(check(&[endpoint, ("IDENTITY_HEADER", "hush")]), "http://169.254.129.2:8081/msi/token App(Secret)");
        let arc = ("IDENTITY_ENDPOINT", "http://localhost:40342/metadata/identity/oauth2/token");
        let found = check(&[arc, ("IMDS_ENDPOINT", "http://localhost:40342")]);
        assert!(found.ends_with(r#"Arc("/var/opt/azcmagent/tokens")"#), "{found}");
    }

    #[test]
    fn identity_requests_stay_on_this_machine() {
        let refused = check(&[("IDENTITY_ENDPOINT", "http://evil.example/token"), ("IDENTITY_HEADER", "hush")]);
        assert_eq!(
            refused,
            "the identity's endpoint `http://evil.example/token` is not an http:// URL of this machine"
        );
        assert!(check(&[("IDENTITY_SERVER_THUMBPRINT", "x")]).contains("Service Fabric"));
    }

    #[tokio::test]
    async fn only_keys_of_the_agent_are_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.key"), "proof").unwrap();
        std::fs::write(folder.path().join("big.key"), vec![b'x'; 5_000]).unwrap();
        let read = async |path: &str| {
            let realm = format!("Basic realm={}/{path}", folder.path().display());
            let headers = HeaderMap::from_iter([(WWW_AUTHENTICATE, realm.parse().unwrap())]);
            read_key(&headers, folder.path()).await.map(|key| key.expose().to_owned())
        };
        assert_eq!(read("a.key").await, Ok("proof".to_owned()));
        for path in ["../passwd", "a.txt", "x/../a.key", "big.key", "none.key"] {
            assert!(read(path).await.is_err(), "{path}");
        }
        assert!(read_key(&HeaderMap::new(), folder.path()).await.is_err());
    }

    /// A test agent that returns a token if the request proves that the client can read the key.
    async fn agent(key: PathBuf) -> String {
        use axum::extract::Query;
        use axum::http::StatusCode;
        use axum::response::IntoResponse as _;
        let answer = move |headers: HeaderMap, Query(query): Query<Vec<(String, String)>>| {
            let expected = [("api-version", "2020-06-01"), ("resource", "https://management.azure.com/")];
            let is_right = query.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(expected);
            let is_right = is_right && headers.get("metadata").is_some_and(|value| value == "true");
            let realm = format!("Basic realm={}", key.display());
            std::future::ready(match headers.get("authorization") {
                Some(proof) if is_right && proof == "Basic proof" => "a token".into_response(),
                None if is_right => (StatusCode::UNAUTHORIZED, [("www-authenticate", realm)]).into_response(),
                _ => StatusCode::BAD_REQUEST.into_response(),
            })
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/metadata/identity/oauth2/token", listener.local_addr().unwrap());
        let router = axum::Router::new().route("/metadata/identity/oauth2/token", axum::routing::get(answer));
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    #[tokio::test]
    async fn an_arc_enabled_server_shows_that_it_may_read_the_key() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("1.key");
        std::fs::write(&key, "proof").unwrap();
        let endpoint = agent(key).await;
        let environment = |name: &str| match name {
            "IDENTITY_ENDPOINT" => Some(endpoint.clone()),
            "IMDS_ENDPOINT" => Some("http://localhost:40342".to_owned()),
            _ => None,
        };
        let client = Client::new(std::sync::Arc::new(|_| Box::pin(std::future::ready(())))).unwrap();
        let identity = Identity::find(None, environment).unwrap();
        let refused = identity.request_token(&client, "https://management.azure.com/").await.unwrap_err().to_string();
        assert!(refused.contains("which is not one of its key files"), "{refused}");
        let identity = identity.with_keys(folder.path().to_owned());
        assert_eq!(identity.request_token(&client, "https://management.azure.com/").await.unwrap().body, b"a token");
    }
}
