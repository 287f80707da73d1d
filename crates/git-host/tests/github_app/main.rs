//! GitHub Apps: signed requests, and tokens that are used until shortly before their end.

use std::sync::Arc;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use git_host::credential::Credential;
use git_host::double::{AppDouble, DoubleFault, FaultAnswer, HostDouble};
use git_host::hosts::memory::{MemoryBranches, MemoryHost};
use git_host::pull_request::NewPullRequest;
use git_host::secret::Secret;
use git_host::settings::HostSettings;
use git_host::{GitHost, HostError, HostKind, HostRepository, hosts};
use ring::rsa::KeyPair;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};

/// As GitHub creates it.
const KEY: &str = include_str!("key.pem");
/// The same key as PKCS#8.
const KEY_PKCS8: &str = include_str!("key-pkcs8.pem");

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        double: HostDouble,
        client: Arc<dyn GitHost>,
        repository: HostRepository,
    }

    fn settings(double: &HostDouble, key: &str, installation: Option<u64>) -> HostSettings {
        let private_key = Secret::new(key);
        let credential =
            Credential::GitHubApp { app_id: "4711".to_owned(), installation, private_key: private_key.into() };
        HostSettings::new(HostKind::GitHub, &double.url(), credential)
    }

    /// A host that accepts an app whose tokens are valid for so long.
    fn world(token_seconds: i64, (key, installation): (&str, Option<u64>)) -> World {
        let (host, branches) = (MemoryHost::new(HostKind::GitHub), MemoryBranches::new());
        branches.push("kalypso/dev");
        host.add_repository("acme/gitops", Box::new(branches));
        let double = HostDouble::start(&host).unwrap();
        double.accept_app(AppDouble { slug: "kalypso".to_owned(), installation: 42, token_seconds });
        let client = hosts::connect(&settings(&double, key, installation)).unwrap();
        World { double, client, repository: HostRepository::from_path(&["acme", "gitops"]) }
    }

    /// The calls so far, without the path of the API.
    fn calls(world: &World) -> Vec<String> {
        let exchanges = world.double.exchanges();
        exchanges
            .iter()
            .map(|exchange| format!("{} {}", exchange.method, exchange.target.replace("/api/v3", "")))
            .collect()
    }

    const TOKEN: &str = "POST /app/installations/42/access_tokens";
    const INSTALLATION: &str = "GET /repos/acme/gitops/installation";
    const REPOSITORY: &str = "GET /repos/acme/gitops";

    #[test]
    fn a_token_is_used_until_shortly_before_its_end() {
        let read = |world: &World| world.client.default_branch(&world.repository).unwrap();
        let long = world(3_600, (KEY, None));
        assert_eq!([read(&long), read(&long)], ["main", "main"]);
        assert_eq!(calls(&long), [INSTALLATION, TOKEN, REPOSITORY, REPOSITORY]);
        let short = world(299, (KEY_PKCS8, Some(42)));
        assert_eq!([read(&short), read(&short)], ["main", "main"]);
        assert_eq!(calls(&short), [TOKEN, REPOSITORY, TOKEN, REPOSITORY]);
    }

    #[test]
    fn a_revoked_token_is_replaced_once() {
        let world = world(3_600, (KEY, Some(42)));
        world.client.default_branch(&world.repository).unwrap();
        world.double.revoke_tokens();
        world.double.forget_exchanges();
        world.client.default_branch(&world.repository).unwrap();
        assert_eq!(calls(&world), [REPOSITORY, TOKEN, REPOSITORY]);
    }

    #[test]
    fn requests_for_tokens_are_signed_by_the_app() {
        let world = world(3_600, (KEY, Some(42)));
        world.client.default_branch(&world.repository).unwrap();
        let headers = &world.double.exchanges()[0].headers;
        let header = headers.iter().find(|(name, _)| name == "authorization").unwrap().1.clone();
        let token = header.strip_prefix("Bearer ").unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let pem: String = KEY.lines().filter(|line| !line.starts_with("-----")).collect();
        let key = KeyPair::from_der(&BASE64.decode(pem.as_bytes()).unwrap()).unwrap();
        let public: RsaPublicKeyComponents<Vec<u8>> = key.public().into();
        let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).unwrap();
        public.verify(&RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &signature).unwrap();
        let claims = BASE64URL_NOPAD.decode(signed.split_once('.').unwrap().1.as_bytes()).unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
        let number = |name: &str| claims[name].as_i64().unwrap();
        assert_eq!((claims["iss"].as_str(), number("exp") - number("iat")), (Some("4711"), 600));
    }

    #[test]
    fn the_app_is_an_account_with_tokens_for_git() {
        let world = world(3_600, (KEY, Some(42)));
        assert_eq!(world.client.account(&world.repository).unwrap(), "kalypso[bot]");
        let token = world.client.git_token(&world.repository).unwrap().unwrap();
        assert!(token.reveal().starts_with("ghs_"));
        let new =
            NewPullRequest { head: "kalypso/dev".to_owned(), base: "main".to_owned(), ..NewPullRequest::default() };
        let opened = world.client.open(&world.repository, &new).unwrap();
        assert_eq!(opened.pull_request.author, "kalypso[bot]");
        let shown = format!("{:?} {token:?} {:?}", world.client, settings(&world.double, KEY, None));
        assert!(!shown.contains("ghs_") && !shown.contains("PRIVATE KEY"), "{shown}");
    }

    #[test]
    fn git_token_is_absent_without_an_installation() {
        let world = world(3_600, (KEY, None));
        let answer = FaultAnswer::Answer { status: 404, headers: Vec::new(), body: "{}".to_owned() };
        let target = "installation".to_owned();
        world.double.fail_next(DoubleFault { method: "GET", target, is_done: false, answer, times: 1 });
        assert_eq!(world.client.git_token(&world.repository).unwrap(), None);
        // GitHub is not asked again at once.
        assert_eq!(world.client.git_token(&world.repository).unwrap(), None);
        assert_eq!(calls(&world), [INSTALLATION]);
        let other = HostRepository::from_path(&["acme", "control-plane"]);
        assert!(world.client.git_token(&other).unwrap().is_some());
    }

    #[test]
    fn a_configured_installation_that_does_not_exist_is_an_error() {
        let world = world(3_600, (KEY, Some(41)));
        let error = world.client.git_token(&world.repository).unwrap_err();
        assert!(matches!(error, HostError::Refused { status: 404, .. }), "{error}");
    }

    #[test]
    fn a_wrong_key_is_refused_at_once() {
        let world = world(3_600, (KEY, None));
        for key in ["", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----", &KEY[..KEY.len() / 2]] {
            let error = hosts::connect(&settings(&world.double, key, None)).unwrap_err();
            assert!(matches!(error, HostError::Settings(_)) && error.to_string().contains("no RSA key"), "{error}");
        }
        let gitlab = HostSettings { kind: HostKind::GitLab, ..settings(&world.double, KEY, None) };
        assert!(hosts::connect(&gitlab).unwrap_err().to_string().contains("GitLab has no GitHub Apps"));
    }
}
