//! The real client of registries, against a registry on loopback.

#![allow(clippy::unwrap_used, reason = "what a test can't set up fails it")]

use std::fs;
use std::time::Duration;

use application::digest::ContentDigest;
use application::images::{HttpRegistries, ImageRegistry, MemoryRegistry, RegistryError, RegistrySettings};
use tempfile::TempDir;
use testkit::registry_server::{RegistryAccess, RegistryFault, RegistryServer};

/// `ann:s3cret`
const BASIC: &str = "Basic YW5uOnMzY3JldA==";

/// A registry with the image `acme/shop:1`, and a client with credentials for it.
struct Fixture {
    server: RegistryServer,
    digest: String,
    folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let server = RegistryServer::start().unwrap();
        let digest = server.publish("acme/shop", "1", "{\"mediaType\": \"application/vnd.oci.image.index.v1+json\"}");
        Self { server, digest, folder: tempfile::tempdir().unwrap() }
    }

    /// Writes Docker's file. `NAME` stands for the registry.
    fn with_credentials(self, file: &str) -> Self {
        fs::write(self.folder.path().join("config.json"), file.replace("NAME", &self.server.name())).unwrap();
        self
    }

    fn ask_within(&self, time_limit: Duration, image: &str) -> Result<String, RegistryError> {
        let file = self.folder.path().join("config.json");
        let settings = RegistrySettings { credentials_file: Some(file), time_limit, ..RegistrySettings::default() };
        let reference = format!("{}/{image}", self.server.name()).parse().unwrap();
        HttpRegistries::new(settings).digest(&reference).map(|digest| digest.to_string())
    }

    fn ask(&self, image: &str) -> Result<String, RegistryError> {
        self.ask_within(Duration::from_mins(1), image)
    }

    fn check(&self, expected: Result<&str, RegistryError>) {
        assert_eq!(self.ask("acme/shop:1"), expected.map(str::to_owned), "{:?}", self.server.requests());
    }
}

const PASSWORD: &str = r#"{"auths": {"NAME": {"auth": "YW5uOnMzY3JldA=="}}}"#;

fn refused(status: u16, has_credential: bool) -> RegistryError {
    RegistryError::Refused { status, has_credential, helper: None }
}

/// What each implementation of the seam must do.
fn check_seam(registry: &dyn ImageRegistry, name: &str, digest: &str) {
    let ask = |image: &str| registry.digest(&format!("{name}/{image}").parse().unwrap());
    assert_eq!(ask("acme/shop:1").as_ref().map(ContentDigest::to_string), Ok(digest.to_owned()));
    assert_eq!(ask("acme/shop:2"), Err(RegistryError::NotFound));
    assert_eq!(ask("acme/other"), Err(RegistryError::NotFound));
}

#[test]
fn both_registries_give_digests() {
    let fixture = Fixture::new();
    let real = HttpRegistries::new(RegistrySettings::default());
    check_seam(&real, &fixture.server.name(), &fixture.digest);
    assert_eq!(fixture.server.requests().first().unwrap(), "HEAD /v2/acme/shop/manifests/1");
    let memory = MemoryRegistry::default();
    let digest = memory.publish("r.io/acme/shop:1").to_string();
    check_seam(&memory, "r.io", &digest);
}

#[test]
fn tokens_are_asked_from_the_server_that_the_registry_names() {
    let fixture = Fixture::new().with_credentials(PASSWORD);
    fixture.server.set_access(RegistryAccess::Token(BASIC.to_owned()));
    fixture.check(Ok(&fixture.digest));
    let expected = [
        "HEAD /v2/acme/shop/manifests/1".to_owned(),
        format!("GET /token?service=the+registry&scope=repository%3Aacme%2Fshop%3Apull {BASIC}"),
        "HEAD /v2/acme/shop/manifests/1 Bearer registry-t0ken".to_owned(),
    ];
    assert_eq!(fixture.server.requests(), expected);
}

#[test]
fn public_images_need_no_credential() {
    let fixture = Fixture::new();
    fixture.server.set_access(RegistryAccess::AnyToken);
    fixture.check(Ok(&fixture.digest));
    fixture.server.set_access(RegistryAccess::Token(BASIC.to_owned()));
    fixture.check(Err(refused(401, false)));
}

#[test]
fn passwords_and_identity_tokens_are_used() {
    let fixture = Fixture::new().with_credentials(PASSWORD);
    fixture.server.set_access(RegistryAccess::Basic(BASIC.to_owned()));
    fixture.check(Ok(&fixture.digest));
    let fixture = Fixture::new().with_credentials(r#"{"auths": {"NAME": {"identitytoken": "r3fresh"}}}"#);
    fixture.server.set_access(RegistryAccess::RefreshToken("r3fresh".to_owned()));
    fixture.check(Ok(&fixture.digest));
}

#[test]
fn a_wrong_credential_is_refused() {
    let fixture = Fixture::new().with_credentials(PASSWORD);
    for access in [RegistryAccess::Token("Basic other".to_owned()), RegistryAccess::Basic("Basic other".to_owned())] {
        fixture.server.set_access(access);
        fixture.check(Err(refused(401, true)));
    }
}

#[test]
fn a_credential_in_a_helper_is_not_read() {
    let fixture = Fixture::new().with_credentials(r#"{"auths": {"NAME": {}}, "credsStore": "desktop"}"#);
    fixture.server.set_access(RegistryAccess::Basic(BASIC.to_owned()));
    let error = fixture.ask("acme/shop:1").unwrap_err();
    let helper = Some("desktop".to_owned());
    assert_eq!(error, RegistryError::Refused { status: 401, has_credential: false, helper });
    assert!(error.advice("r.io").contains("helper `desktop`, which is not run"), "{}", error.advice("r.io"));
}

#[test]
fn a_broken_file_with_credentials_is_an_error_without_its_content() {
    let fixture = Fixture::new().with_credentials(r#"{"auths": {"NAME": "s3cret"}}"#);
    let error = fixture.ask("acme/shop:1").unwrap_err().to_string();
    assert!(error.contains("config.json` is not a file of Docker: line 1") && !error.contains("s3cret"), "{error}");
}

#[test]
fn a_credential_goes_to_no_server_in_clear() {
    let (fixture, other) = (Fixture::new().with_credentials(PASSWORD), RegistryServer::start().unwrap());
    for realm in
        ["http://registry.example/token".to_owned(), format!("http://localhost:{}/token", 1), "token".to_owned()]
    {
        fixture.server.set_access(RegistryAccess::ForeignToken(realm));
        fixture.check(Err(RegistryError::Realm));
    }
    assert!(other.requests().is_empty());
}

#[test]
fn a_redirect_leads_no_credential_elsewhere() {
    let (fixture, other) = (Fixture::new().with_credentials(PASSWORD), RegistryServer::start().unwrap());
    for to in [format!("http://{}", other.name()), "http://registry.example".to_owned(), String::new()] {
        fixture.server.set_fault(Some(RegistryFault::Redirect(to)));
        fixture.check(Err(RegistryError::Redirected));
    }
    assert!(other.requests().is_empty());
}

#[test]
fn redirects_within_a_registry_are_followed() {
    let fixture = Fixture::new().with_credentials(PASSWORD);
    fixture.server.set_fault(Some(RegistryFault::Moved("/region".to_owned())));
    fixture.server.set_access(RegistryAccess::Basic(BASIC.to_owned()));
    fixture.check(Ok(&fixture.digest));
    let last = fixture.server.requests().pop().unwrap();
    assert_eq!(last, format!("HEAD /region/v2/acme/shop/manifests/1 {BASIC}"));
}

#[test]
fn without_a_digest_in_the_header_the_manifest_is_read() {
    let fixture = Fixture::new();
    for fault in [RegistryFault::NoDigest, RegistryFault::NoHead] {
        fixture.server.set_fault(Some(fault));
        fixture.check(Ok(&fixture.digest));
    }
    assert_eq!(fixture.server.requests().len(), 4);
}

#[test]
fn a_wrong_digest_is_an_error() {
    let fixture = Fixture::new();
    let unexpected = |reason: &str| Err(RegistryError::Unexpected(reason.to_owned()));
    fixture.server.set_fault(Some(RegistryFault::WrongDigest("sha256:12".to_owned())));
    fixture.check(unexpected("its digest is not a SHA-256"));
    let other = format!("sha256:{}", "0".repeat(64));
    fixture.server.set_fault(Some(RegistryFault::WrongDigest(other)));
    fixture.check(unexpected("its digest is not that of its manifest"));
}

#[test]
fn answers_have_limits() {
    let fixture = Fixture::new();
    fixture.server.set_fault(Some(RegistryFault::EndlessBody));
    fixture.check(Err(RegistryError::TooMuch(4 << 20)));
    fixture.server.set_fault(Some(RegistryFault::Silence));
    let limit = Duration::from_millis(50);
    assert_eq!(fixture.ask_within(limit, "acme/shop:1"), Err(RegistryError::TimedOut(limit)));
}

#[test]
fn failures_of_a_registry_are_told_apart() {
    let fixture = Fixture::new();
    for (status, error) in
        [(403, refused(403, false)), (429, RegistryError::Failed(429)), (500, RegistryError::Failed(500))]
    {
        fixture.server.set_fault(Some(RegistryFault::Status(status)));
        fixture.check(Err(error));
    }
    let name = fixture.server.name();
    drop(fixture);
    let gone = HttpRegistries::new(RegistrySettings::default()).digest(&format!("{name}/acme/shop").parse().unwrap());
    assert!(matches!(gone, Err(RegistryError::Unreachable(_))), "{gone:?}");
}
