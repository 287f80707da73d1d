//! Webhooks as the hosts document them.

use super::*;
use crate::repository::HostRepository;

const COMMIT: &str = "4fb8c440e19eca604bbdc14dbba63e5fb98b2c52";
const ZEROS: &str = "0000000000000000000000000000000000000000";

/// The result of a webhook with these headers, for the secrets `old` and `s3cret`.
fn check(kind: HostKind, headers: &[(&str, &str)], body: &str) -> Result<Vec<WebhookEvent>, WebhookError> {
    let secrets = ["", "old", "s3cret"].map(Secret::new);
    let header = |name: &str| headers.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
    receive(kind, &secrets, header, body.as_bytes())
}

fn signature(secret: &str, body: &str) -> String {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap().chain_update(body);
    data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes())
}

fn github(event: &str, body: &str) -> Result<Vec<WebhookEvent>, WebhookError> {
    let signature = format!("sha256={}", signature("s3cret", body));
    check(HostKind::GitHub, &[("x-hub-signature-256", &signature), ("x-github-event", event)], body)
}

fn pushed(url: &str, commit: Option<&str>) -> WebhookEvent {
    let commit = commit.and_then(GitId::from_hex);
    let path = url.split('/').rev().take(2).map(|part| part.trim_end_matches(".git")).collect::<Vec<_>>();
    let path = if url.contains("/_git/") { vec!["acme", "fleet", "fleet"] } else { vec![path[1], path[0]] };
    let repository = EventRepository { urls: vec![url.to_owned()], path: Some(HostRepository::from_path(&path)) };
    WebhookEvent::Push(PushEvent { repository, branch: "dev".to_owned(), commit })
}

#[test]
fn github_signs_the_body() {
    // The example of GitHub's documentation.
    let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let secrets = [Secret::new("It's a Secret to Everybody")];
    let header = |name: &str| (name == "x-hub-signature-256").then_some(signature);
    assert_eq!(receive(HostKind::GitHub, &secrets, header, b"Hello, World!"), Ok(vec![WebhookEvent::Other]));
    assert_eq!(receive(HostKind::GitHub, &secrets, header, b"Hello, World?"), Err(WebhookError::WrongSignature));
    assert_eq!(receive(HostKind::GitHub, &[], header, b"Hello, World!"), Err(WebhookError::WrongSignature));
    assert_eq!(receive(HostKind::GitHub, &secrets, |_| None, b""), Err(WebhookError::NotSigned("X-Hub-Signature-256")));
}

#[test]
fn pushes_of_github() {
    let body = |reference: &str, after: &str| {
        format!(
            r#"{{"ref":"{reference}","after":"{after}","repository":{{"clone_url":"https://github.com/acme/fleet.git"}}}}"#
        )
    };
    let url = "https://github.com/acme/fleet.git";
    assert_eq!(github("push", &body("refs/heads/dev", COMMIT)), Ok(vec![pushed(url, Some(COMMIT))]));
    let deleted = github("push", &body("refs/heads/dev", ZEROS)).unwrap();
    assert!(deleted == [pushed(url, None)] && matches!(&deleted[0], WebhookEvent::Push(push) if push.is_deleted()));
    assert_eq!(github("push", &body("refs/tags/v1", COMMIT)), Ok(vec![WebhookEvent::Other]));
    assert_eq!(github("ping", r#"{"zen":"Keep it logically awesome."}"#), Ok(vec![WebhookEvent::Ping]));
    assert!(matches!(github("push", "{}"), Err(WebhookError::Malformed(_))));
    let form = github("push", "payload=%7B%7D").unwrap_err();
    assert!(form.to_string().contains("choose `application/json`") && form.status() == 400);
}

#[test]
fn pull_requests_of_github() {
    let body = |fork: &str| {
        format!(
            r#"{{"action":"opened","number":7,"pull_request":{{"number":7,"state":"open",
            "head":{{"ref":"dev","sha":"{COMMIT}","repo":{fork}}},
            "base":{{"ref":"main","sha":"{COMMIT}","repo":{{"full_name":"acme/fleet"}}}}}},"repository":{{}}}}"#
        )
    };
    let expected = |is_from_fork| {
        Ok(vec![WebhookEvent::PullRequest(PullRequestEvent {
            repository: EventRepository { urls: Vec::new(), path: None },
            number: 7,
            head: "dev".to_owned(),
            head_commit: GitId::from_hex(COMMIT),
            base: "main".to_owned(),
            is_from_fork,
            is_open: true,
        })])
    };
    assert_eq!(github("pull_request", &body(r#"{"full_name":"acme/fleet"}"#)), expected(false));
    assert_eq!(github("pull_request", &body(r#"{"full_name":"mallory/fleet"}"#)), expected(true));
    assert_eq!(github("pull_request", &body("null")), expected(true));
}

#[test]
fn gitea_signs_the_body_without_a_prefix() {
    let body = r#"{"ref":"dev","ref_type":"branch","repository":{"clone_url":"https://git.example/acme/fleet.git"}}"#;
    let right = signature("old", body);
    for name in ["gitea", "forgejo"] {
        let headers = [format!("x-{name}-signature"), format!("x-{name}-event")];
        let events = check(HostKind::Gitea, &[(&headers[0], &right), (&headers[1], "delete")], body);
        assert_eq!(events, Ok(vec![pushed("https://git.example/acme/fleet.git", None)]), "{name}");
    }
    let wrong = signature("other", body);
    assert_eq!(check(HostKind::Gitea, &[("x-gitea-signature", &wrong)], body), Err(WebhookError::WrongSignature));
    assert_eq!(check(HostKind::Gitea, &[("x-gitea-signature", "zz")], body), Err(WebhookError::WrongSignature));
}

#[test]
fn gitlab_sends_its_token() {
    let body = format!(
        r#"{{"object_kind":"push","ref":"refs/heads/dev","after":"{COMMIT}","project":{{"git_http_url":"https://gitlab.com/acme/fleet.git"}}}}"#
    );
    let check = |token, body: &str| check(HostKind::GitLab, &[("x-gitlab-token", token)], body);
    assert_eq!(check("s3cret", &body), Ok(vec![pushed("https://gitlab.com/acme/fleet.git", Some(COMMIT))]));
    for wrong in ["", "s3cre", "s3cret2"] {
        assert_eq!(check(wrong, &body), Err(WebhookError::WrongSignature), "{wrong}");
    }
    let merge_request = format!(
        r#"{{"object_kind":"merge_request","project":{{}},"object_attributes":{{"iid":3,"source_branch":"dev","target_branch":"main",
        "source_project_id":1,"target_project_id":2,"state":"merged","last_commit":{{"id":"{COMMIT}"}}}}}}"#
    );
    let events = check("s3cret", &merge_request).unwrap();
    assert!(
        matches!(&events[0], WebhookEvent::PullRequest(event) if event.number == 3 && event.is_from_fork && !event.is_open)
    );
    assert_eq!(check("s3cret", r#"{"object_kind":"note"}"#), Ok(vec![WebhookEvent::Other]));
}

#[test]
fn azure_devops_sends_a_password() {
    let body = format!(
        r#"{{"eventType":"git.push","resource":{{"refUpdates":[{{"name":"refs/heads/dev","newObjectId":"{COMMIT}"}},
        {{"name":"refs/tags/v1","newObjectId":"{COMMIT}"}}],"repository":{{"remoteUrl":"https://dev.azure.com/acme/fleet/_git/fleet"}}}}}}"#
    );
    let check = |text: &str, body: &str| {
        let header = format!("Basic {}", data_encoding::BASE64.encode(text.as_bytes()));
        check(HostKind::AzureDevOps, &[("authorization", &header)], body)
    };
    let url = "https://dev.azure.com/acme/fleet/_git/fleet";
    assert_eq!(check("kalypso:s3cret", &body), Ok(vec![pushed(url, Some(COMMIT)), WebhookEvent::Other]));
    assert_eq!(check("kalypso:other", &body), Err(WebhookError::WrongSignature));
    assert_eq!(check("s3cret", &body), Err(WebhookError::WrongSignature));
    let updated = format!(
        r#"{{"eventType":"git.pullrequest.updated","resource":{{"pullRequestId":5,"status":"active","sourceRefName":"refs/heads/dev",
        "targetRefName":"refs/heads/main","lastMergeSourceCommit":{{"commitId":"{COMMIT}"}},"repository":{{}}}}}}"#
    );
    let events = check("x:s3cret", &updated).unwrap();
    assert!(
        matches!(&events[0], WebhookEvent::PullRequest(event) if event.head == "dev" && event.base == "main" && event.is_open)
    );
}

#[test]
fn a_body_is_not_parsed_before_it_is_verified() {
    for kind in [HostKind::GitHub, HostKind::GitLab, HostKind::Gitea, HostKind::AzureDevOps] {
        let headers = [
            ("x-hub-signature-256", "sha256=00"),
            ("x-gitlab-token", "x"),
            ("x-gitea-signature", "00"),
            ("authorization", "Basic eDp5"),
        ];
        assert_eq!(check(kind, &headers, "no JSON"), Err(WebhookError::WrongSignature), "{kind}");
        assert_eq!(check(kind, &headers, &" ".repeat(WEBHOOK_BYTES_MAX + 1)), Err(WebhookError::TooLarge), "{kind}");
    }
    assert_eq!(check(HostKind::Git, &[], ""), Err(WebhookError::NotSupported(HostKind::Git)));
}
