//! Input from outside never causes a panic: URLs, webhooks, and answers.

#[cfg(test)]
mod tests {
    use data_encoding::{BASE64, HEXLOWER};
    use git_host::secret::Secret;
    use git_host::{HostKind, HostRepository, settings, webhook};
    use hmac::{Hmac, KeyInit as _, Mac as _};
    use proptest::prelude::*;

    /// Parts of URLs, valid and not.
    fn url() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just("https://"),
            Just("ssh://"),
            Just("git@"),
            Just("github.com"),
            Just("dev.azure.com"),
            Just("acme.visualstudio.com"),
            Just("/"),
            Just(":"),
            Just("@"),
            Just("_git"),
            Just("v3"),
            Just("acme"),
            Just(".git"),
            Just(".."),
            Just("%2e"),
            Just("%"),
            Just("?"),
            Just("#"),
            Just("é"),
            Just("\u{202e}"),
            Just(" "),
            Just("\n"),
        ];
        proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    /// JSON as the hosts send it, with parts that are missing or have another type.
    fn body() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just(","),
            Just(":"),
            Just("null"),
            Just("1"),
            Just("\"ref\""),
            Just("\"refs/heads/dev\""),
            Just("\"after\""),
            Just("\"repository\""),
            Just("\"object_kind\""),
            Just("\"push\""),
            Just("\"eventType\""),
            Just("\"git.push\""),
            Just("\"resource\""),
            Just("\"refUpdates\""),
            Just("\"é\""),
        ];
        proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn urls_are_accepted_or_refused(url in url(), root in url()) {
            for kind in HostKind::ALL {
                match HostRepository::parse(kind, &url, &root) {
                    Ok(repository) => {
                        let is_plain = |part: &String| !part.is_empty() && part != ".." && part != "." && !part.contains('/');
                        prop_assert!(!repository.path().is_empty() && repository.path().iter().all(is_plain), "{repository}");
                    }
                    Err(error) => prop_assert!(url.get(error.range.clone()).is_some(), "{error} {:?}", error.range),
                }
            }
            let _ = (HostKind::of_url(&url), settings::usual_url(&url));
        }

        #[test]
        fn webhooks_are_accepted_or_refused(body in body(), event in prop_oneof![Just("push"), Just("delete"), Just("pull_request")]) {
            let secret = Secret::new("s3cret");
            let mac = Hmac::<sha2::Sha256>::new_from_slice(b"s3cret").unwrap().chain_update(&body);
            let digits = HEXLOWER.encode(&mac.finalize().into_bytes());
            let (github, basic) = (format!("sha256={digits}"), format!("Basic {}", BASE64.encode(b"x:s3cret")));
            let header = |name: &str| match name {
                "x-hub-signature-256" => Some(github.as_str()),
                "x-gitea-signature" => Some(digits.as_str()),
                "x-gitlab-token" => Some("s3cret"),
                "authorization" => Some(basic.as_str()),
                "x-github-event" | "x-gitea-event" => Some(event),
                _ => None,
            };
            for kind in HostKind::ALL {
                let result = webhook::receive(kind, std::slice::from_ref(&secret), header, body.as_bytes());
                prop_assert!(!matches!(result, Err(webhook::WebhookError::WrongSignature)), "{kind}");
            }
        }
    }
}
