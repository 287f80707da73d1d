//! Hosts that fail, limit requests, or answer with something else.

use std::time::Duration;

use git_host::double::{DoubleFault, FaultAnswer, HostDouble};
use git_host::hosts::memory::BranchRule;
use git_host::hosts::{self, memory::MemoryHost};
use git_host::limits::{ANSWER_BYTES_MAX, LOOK_PAUSE, LOOKS_MAX};
use git_host::marker::Marker;
use git_host::new_repository::{NewRepository, RepositoryCreation};
use git_host::pull_request::{
    AutoMerge, Merge, MergeRefusal, MergeRequest, NewPullRequest, PullRequestQuery, Reviewer,
};
use git_host::settings::{HostSettings, Patience, Waiter};
use git_host::sticky::Sticky;
use git_host::{HostError, HostKind, HostRepository};

use crate::world::{TOKEN, Way, World, new};

const KINDS: [HostKind; 4] = [HostKind::GitHub, HostKind::GitLab, HostKind::Gitea, HostKind::AzureDevOps];

fn worlds() -> impl Iterator<Item = World> {
    KINDS.into_iter().map(|kind| World::new(kind, Way::Http))
}

fn double(world: &World) -> &HostDouble {
    world.double.as_ref().unwrap()
}

fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> FaultAnswer {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    FaultAnswer::Answer { status, headers, body: body.to_owned() }
}

/// The next request with a method gets this answer instead.
fn fail(world: &World, method: &'static str, (is_done, answer): (bool, FaultAnswer)) {
    double(world).fail_next(DoubleFault { method, target: String::new(), is_done, answer, times: 1 });
}

/// Answers of a host or proxy that fails for a moment.
fn failures() -> Vec<FaultAnswer> {
    vec![
        answer(500, &[], r#"{"message":"Server Error"}"#),
        answer(502, &[("Content-Type", "text/html")], "<html><h1>502 Bad Gateway</h1></html>"),
        answer(503, &[("Retry-After", "3")], ""),
        FaultAnswer::Half,
        FaultAnswer::None,
    ]
}

#[test]
fn reading_is_repeated() {
    for world in worlds() {
        for failure in failures() {
            fail(&world, "GET", (true, failure.clone()));
            let branch = world.client.default_branch(&world.repository);
            assert_eq!(branch.as_deref(), Ok("main"), "{} {failure:?}", world.kind());
        }
        assert!(world.waited() >= Duration::from_secs(3), "{:?}", world.pauses);
    }
}

#[test]
fn repeating_has_a_limit() {
    for world in worlds() {
        let failure = answer(502, &[], "upstream \u{1b}[31mis down");
        let fault = DoubleFault { method: "GET", target: String::new(), is_done: false, answer: failure, times: 99 };
        double(&world).fail_next(fault);
        let error = world.client.default_branch(&world.repository).unwrap_err();
        assert!(matches!(error, HostError::Failed { status: 502, .. }) && error.is_temporary(), "{error}");
        assert!(
            error.to_string().starts_with("GET /") && error.to_string().ends_with(": 502: upstream [31mis down"),
            "{error}"
        );
        assert_eq!(double(&world).exchanges().len(), Patience::default().attempts as usize);
    }
}

#[test]
fn one_repository_is_created_whatever_happens() {
    for kind in KINDS {
        for failure in failures() {
            for is_done in [false, true] {
                let world = World::new(kind, Way::Http);
                fail(&world, "POST", (is_done, failure.clone()));
                let path = [&world.repository.owner(), "/new"].concat();
                let repository = HostRepository::from_path(&path.split('/').collect::<Vec<_>>());
                let created = world.client.create_repository(&repository, &NewRepository::default());
                assert_eq!(created, Ok(RepositoryCreation::Created), "{kind} {failure:?} {is_done}");
                assert_eq!(world.state.state().paths().count(), 2);
            }
        }
    }
}

#[test]
fn one_pull_request_is_opened_whatever_happens() {
    for kind in KINDS {
        for failure in failures() {
            for is_done in [false, true] {
                let world = World::new(kind, Way::Http);
                fail(&world, "POST", (is_done, failure.clone()));
                let opened = world.client.open(&world.repository, &new()).unwrap();
                assert!(opened.is_new, "{kind} {failure:?} {is_done}");
                assert_eq!(
                    world.found(&PullRequestQuery::default()),
                    [opened.pull_request.number],
                    "{kind} {failure:?}"
                );
            }
        }
    }
}

#[test]
fn one_comment_is_created_whatever_happens() {
    let marker = Marker::new("kalypso plan dev").unwrap();
    for kind in KINDS {
        for failure in failures() {
            let world = World::new(kind, Way::Http);
            let number = world.open().number;
            let target = match kind {
                HostKind::GitLab => "notes",
                HostKind::AzureDevOps => "threads",
                _ => "comments",
            };
            let (target, answer) = (target.to_owned(), failure);
            double(&world).fail_next(DoubleFault { method: "POST", target, is_done: true, answer, times: 1 });
            let sticky = Sticky { host: &*world.client, repository: &world.repository, marker: &marker };
            sticky.put_comment(number, "plan").unwrap();
            assert_eq!(world.client.comments(&world.repository, number).unwrap().len(), 1, "{kind}");
        }
    }
}

#[test]
fn merge_with_a_lost_answer_counts() {
    for kind in KINDS {
        for failure in failures() {
            let world = World::new(kind, Way::Http);
            let open = world.open();
            let method = match kind {
                HostKind::Gitea => "POST",
                HostKind::AzureDevOps => "PATCH",
                _ => "PUT",
            };
            fail(&world, method, (true, failure.clone()));
            let request = MergeRequest::new(open.head_commit.unwrap());
            let merged = world.client.merge(&world.repository, open.number, &request).unwrap();
            let head = world.state.state().repository(&world.path()).unwrap().head("main");
            assert_eq!(merged, Merge::Merged { commit: head }, "{kind} {failure:?}");
        }
    }
}

/// A refusal for too many requests, with a pause of seven seconds.
fn limited(kind: HostKind) -> FaultAnswer {
    let message = r#"{"message":"You have exceeded a secondary rate limit."}"#;
    match kind {
        HostKind::GitHub => answer(403, &[("Retry-After", "7")], message),
        _ => answer(429, &[("Retry-After", "7")], ""),
    }
}

#[test]
fn short_rate_limits_are_waited_for() {
    for world in worlds() {
        fail(&world, "GET", (false, limited(world.kind())));
        world.client.default_branch(&world.repository).unwrap();
        fail(&world, "POST", (false, limited(world.kind())));
        world.open();
        let pauses = world.pauses.lock().unwrap().clone();
        let is_named = |pause: &Duration| (6_000..8_000).contains(&pause.as_millis());
        assert!(pauses.len() == 2 && pauses.iter().all(is_named), "{pauses:?}");
    }
}

#[test]
fn a_long_limit_is_an_error_that_names_the_time() {
    for world in worlds() {
        let (status, names) = match world.kind() {
            HostKind::GitLab => (429, ["RateLimit-Remaining", "RateLimit-Limit", "RateLimit-Reset"]),
            _ => (403, ["X-RateLimit-Remaining", "X-RateLimit-Limit", "X-RateLimit-Reset"]),
        };
        let reset = jiff::Timestamp::now().as_second() + 1_800;
        let headers = [(names[0], "0"), (names[1], "5000"), (names[2], &*reset.to_string())];
        fail(&world, "GET", (false, answer(status, &headers, r#"{"message":"API rate limit exceeded"}"#)));
        let error = world.client.default_branch(&world.repository).unwrap_err();
        assert!(matches!(&error, HostError::RateLimited { retry_at, .. } if retry_at.as_second() == reset), "{error}");
        assert!(error.to_string().contains("limits requests: try again after 20"), "{error}");
        let limit = world.client.rate_limit().unwrap();
        assert_eq!((limit.remaining, limit.limit), (0, 5_000));
        // Until then, nothing is sent at all.
        let sent = double(&world).exchanges().len();
        assert!(matches!(world.client.open(&world.repository, &new()), Err(HostError::RateLimited { .. })));
        assert_eq!((double(&world).exchanges().len(), world.waited()), (sent, Duration::ZERO));
    }
}

#[test]
fn login_pages_are_unexpected_answers() {
    for world in worlds() {
        fail(
            &world,
            "GET",
            (false, answer(200, &[("Content-Type", "text/html")], "<!DOCTYPE html><title>Sign in</title>")),
        );
        let error = world.client.default_branch(&world.repository).unwrap_err().to_string();
        assert!(
            error.starts_with("GET /") && error.contains(": 200: ") && error.contains("a login or a proxy"),
            "{error}"
        );
        fail(&world, "GET", (false, answer(200, &[], r#"{"other":1}"#)));
        let error = world.client.default_branch(&world.repository).unwrap_err();
        assert!(matches!(error, HostError::Unexpected { status: 200, .. }), "{error}");
    }
}

#[test]
fn an_endless_answer_ends() {
    let world = World::new(HostKind::Gitea, Way::Http);
    fail(&world, "GET", (false, answer(200, &[], &" ".repeat(ANSWER_BYTES_MAX + 1))));
    let error = world.client.default_branch(&world.repository).unwrap_err().to_string();
    assert!(error.contains("more than 32 MiB"), "{error}");
}

#[test]
fn token_is_not_sent_to_redirect_targets() {
    for world in worlds() {
        let other = HostDouble::start(&MemoryHost::new(world.kind())).unwrap();
        for status in [301, 302, 307, 308] {
            let to = format!("{}/stolen", other.url());
            fail(&world, "GET", (false, answer(status, &[("Location", &to)], "")));
            let error = world.client.default_branch(&world.repository).unwrap_err();
            assert!(error.to_string().contains(&format!("redirects to `{}`", other.url())), "{error}");
        }
        assert!(other.exchanges().is_empty());
    }
}

#[test]
fn a_renamed_repository_is_followed() {
    for world in worlds() {
        let to = match world.kind() {
            HostKind::GitHub => "/api/v3/repos/acme/gitops",
            HostKind::GitLab => "/api/v4/projects/acme%2Fteam%2Fgitops",
            HostKind::AzureDevOps => "/acme/My%20fleet/_apis/git/repositories/gitops?api-version=7.0",
            _ => "/api/v1/repos/acme/gitops",
        };
        fail(&world, "GET", (false, answer(301, &[("Location", to)], "")));
        assert_eq!(world.client.default_branch(&world.repository).as_deref(), Ok("main"));
        let circle = answer(301, &[("Location", to)], "");
        double(&world).fail_next(DoubleFault {
            method: "GET",
            target: String::new(),
            is_done: false,
            answer: circle,
            times: 9,
        });
        assert!(world.client.default_branch(&world.repository).unwrap_err().to_string().contains("3 redirects"));
    }
}

#[test]
fn no_message_contains_the_token() {
    for world in worlds() {
        let echo = format!(r#"{{"message":"bad token {TOKEN}"}}"#);
        fail(&world, "GET", (false, answer(400, &[], &echo)));
        let error = world.client.default_branch(&world.repository).unwrap_err();
        assert!(error.to_string().ends_with(": 400: bad token …"), "{error}");
        double(&world).revoke_tokens();
        let denied = world.client.default_branch(&world.repository).unwrap_err();
        assert!(denied.is_denied() && denied.to_string().contains("expired or revoked"), "{denied}");
        let settings = world.settings(double(&world));
        let shown = format!("{error:?} {denied:?} {:?} {settings:?}", world.client);
        assert!(!shown.contains(TOKEN), "{shown}");
        for exchange in double(&world).exchanges() {
            let is_token = |(_, value): &&(String, String)| value.contains(TOKEN) || value.starts_with("Basic ");
            assert_eq!(exchange.headers.iter().filter(is_token).count(), 1, "{exchange:?}");
            assert!(!exchange.target.contains(TOKEN) && exchange.body.is_empty(), "{exchange:?}");
        }
    }
}

#[test]
fn waits_can_be_stopped() {
    for world in worlds() {
        let patience = Patience { wait: Waiter::new(|_| false), ..Patience::default() };
        let client = hosts::connect(&HostSettings { patience, ..world.settings(double(&world)) }).unwrap();
        fail(&world, "GET", (false, limited(world.kind())));
        let error = client.default_branch(&world.repository).unwrap_err();
        assert!(matches!(error, HostError::Stopped { .. }), "{error}");
    }
}

#[test]
fn a_host_that_is_down_can_not_be_reached() {
    for kind in KINDS {
        let mut world = World::new(kind, Way::Http);
        // The listener ends with the wake-up of its thread.
        let url = double(&world).url();
        world.double = None;
        while std::net::TcpStream::connect(url.trim_start_matches("http://")).is_ok() {
            std::thread::yield_now();
        }
        let error = world.client.open(&world.repository, &new()).unwrap_err();
        assert!(matches!(error, HostError::Unreachable { is_sent: false, .. }), "{error}");
        assert!(error.to_string().starts_with("POST /") && error.to_string().contains("can't be reached"), "{error}");
        assert_eq!(world.pauses.lock().unwrap().len(), Patience::default().attempts as usize - 1);
    }
}

#[test]
fn all_waits_of_a_call_together_have_a_limit() {
    for world in worlds() {
        let patience = Patience { wait_max: Duration::from_secs(20), ..world.settings(double(&world)).patience };
        let client = hosts::connect(&HostSettings { patience, ..world.settings(double(&world)) }).unwrap();
        let answer = limited(world.kind());
        double(&world).fail_next(DoubleFault {
            method: "GET",
            target: String::new(),
            is_done: false,
            answer,
            times: 99,
        });
        let error = client.default_branch(&world.repository).unwrap_err();
        assert!(matches!(error, HostError::RateLimited { .. }), "{error}");
        // A third pause of seven seconds would be too much.
        assert_eq!(world.pauses.lock().unwrap().len(), 2);
    }
}

/// Lets the host know only after some looks whether a pull request can be merged.
fn unknown_for(world: &World, times: u32) {
    let target = if world.kind() == HostKind::GitLab { "merge_requests" } else { "pulls" };
    let number = world.open().number;
    double(world).forget_exchanges();
    world.read(number);
    let shown = String::from_utf8(double(world).exchanges()[0].answer.clone()).unwrap();
    let body = match world.kind() {
        HostKind::GitHub => shown.replace("\"clean\"", "\"unknown\"").replace("\"blocked\"", "\"unknown\""),
        _ => shown.replace("\"mergeable\"", "\"checking\""),
    };
    assert_ne!(body, shown);
    let answer = answer(200, &[], &body);
    double(world).fail_next(DoubleFault {
        method: "GET",
        target: format!("{target}/{number}"),
        is_done: true,
        answer,
        times,
    });
}

#[test]
fn a_host_may_need_time_to_know_whether_it_can_merge() {
    for kind in [HostKind::GitHub, HostKind::GitLab] {
        let world = World::new(kind, Way::Http);
        unknown_for(&world, 3);
        let open = world.client.pull_requests(&world.repository, &PullRequestQuery::default()).unwrap().remove(0);
        let request = MergeRequest::new(open.head_commit.unwrap());
        let auto = world.client.set_auto_merge(&world.repository, open.number, &request).unwrap();
        assert!(matches!(auto, AutoMerge::Merged { .. }), "{kind} {auto:?}");
        assert_eq!(*world.pauses.lock().unwrap(), [LOOK_PAUSE; 3]);
    }
}

#[test]
fn a_wrong_reviewer_does_not_stop_a_pull_request() {
    for world in worlds() {
        let (method, target) = match world.kind() {
            HostKind::GitLab => ("GET", "/users?"),
            HostKind::AzureDevOps => ("PUT", "/reviewers/"),
            _ => ("POST", "/requested_reviewers"),
        };
        let answer = answer(422, &[], r#"{"message":"Reviews may only be requested from collaborators."}"#);
        let target = target.to_owned();
        double(&world).fail_next(DoubleFault { method, target, is_done: false, answer, times: 1 });
        let (reviewers, labels) = (vec![Reviewer::User("nobody".to_owned())], ["kalypso".to_owned()].into());
        let opened = world.client.open(&world.repository, &NewPullRequest { reviewers, labels, ..new() }).unwrap();
        assert!(opened.is_new && opened.incomplete.len() == 1, "{opened:?}");
        assert!(opened.incomplete[0].to_string().contains("from collaborators"), "{:?}", opened.incomplete);
        assert_eq!(world.read(opened.pull_request.number).labels.len(), 1);
    }
}

#[test]
fn an_unknown_reviewer_is_reported_and_the_others_are_requested() {
    let world = World::new(HostKind::GitLab, Way::Http);
    let (method, target, answer) = ("GET", "username=nobody".to_owned(), answer(200, &[], "[]"));
    double(&world).fail_next(DoubleFault { method, target, is_done: false, answer, times: 1 });
    let reviewers = ["nobody", "ada"].map(|name| Reviewer::User(name.to_owned())).to_vec();
    let opened = world.client.open(&world.repository, &NewPullRequest { reviewers, ..new() }).unwrap();
    assert!(opened.incomplete.len() == 1 && opened.incomplete[0].to_string().contains("`nobody`"), "{opened:?}");
    let requested = world.state.state().repository(&world.path()).unwrap().reviewers(opened.pull_request.number);
    assert_eq!(requested.unwrap().len(), 1);
}

#[test]
fn github_merges_at_once_if_only_checks_fail_that_are_not_required() {
    let world = World::new(HostKind::GitHub, Way::Http);
    let open = world.open();
    double(&world).forget_exchanges();
    world.read(open.number);
    let clean = String::from_utf8(double(&world).exchanges()[0].answer.clone()).unwrap();
    let answer = answer(200, &[], &clean.replace("\"clean\"", "\"unstable\""));
    let (method, target) = ("GET", format!("pulls/{}", open.number));
    double(&world).fail_next(DoubleFault { method, target, is_done: true, answer, times: 2 });
    let request = MergeRequest::new(open.head_commit.unwrap());
    let auto = world.client.set_auto_merge(&world.repository, open.number, &request).unwrap();
    assert!(matches!(auto, AutoMerge::Merged { .. }), "{auto:?}");
}

#[test]
fn gitlab_without_a_pipeline_merges_at_once() {
    // Some versions refuse, others do nothing.
    let world = World::new(HostKind::GitLab, Way::Http);
    let open = world.open();
    double(&world).forget_exchanges();
    world.read(open.number);
    let unchanged = String::from_utf8(double(&world).exchanges()[0].answer.clone()).unwrap();
    for refusal in [answer(405, &[], r#"{"message":"405 Method Not Allowed"}"#), answer(200, &[], &unchanged)] {
        let open = world.open();
        fail(&world, "PUT", (false, refusal));
        let request = MergeRequest::new(open.head_commit.unwrap());
        let auto = world.client.set_auto_merge(&world.repository, open.number, &request).unwrap();
        assert!(matches!(auto, AutoMerge::Merged { .. }), "{auto:?}");
        world.branches.push("kalypso/dev");
    }
}

#[test]
fn unknown_mergeability_is_polled_a_limited_number_of_times() {
    let world = World::new(HostKind::GitHub, Way::Http);
    let rule = BranchRule { required_status: None, required_review: true };
    world.state.state().repository(&world.path()).unwrap().rules.insert("main".to_owned(), rule);
    unknown_for(&world, 999);
    let open = world.client.pull_requests(&world.repository, &PullRequestQuery::default()).unwrap().remove(0);
    let request = MergeRequest::new(open.head_commit.unwrap());
    let merged = world.client.merge(&world.repository, open.number, &request).unwrap();
    assert!(matches!(merged, Merge::Refused { reason: MergeRefusal::Blocked, .. }), "{merged:?}");
    assert_eq!(world.pauses.lock().unwrap().len(), LOOKS_MAX as usize - 1);
}

#[test]
fn graphql_rate_limits_are_recognized() {
    let world = World::new(HostKind::GitHub, Way::Http);
    let rule = BranchRule { required_status: None, required_review: true };
    world.state.state().repository(&world.path()).unwrap().rules.insert("main".to_owned(), rule);
    let open = world.open();
    let body = r#"{"data":null,"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}"#;
    let reset = jiff::Timestamp::now().as_second() + 1_800;
    let headers = [
        ("X-RateLimit-Resource", "graphql"),
        ("X-RateLimit-Remaining", "0"),
        ("X-RateLimit-Limit", "5000"),
        ("X-RateLimit-Reset", &*reset.to_string()),
    ];
    fail(&world, "POST", (false, answer(200, &headers, body)));
    let request = MergeRequest::new(open.head_commit.unwrap());
    let error = world.client.set_auto_merge(&world.repository, open.number, &request).unwrap_err();
    assert!(matches!(error, HostError::RateLimited { retry_at, .. } if retry_at.as_second() == reset), "{error}");
    // The REST API has its own limit.
    assert!(world.read(open.number).is_open() && world.client.rate_limit().is_none());
}

#[test]
fn the_host_in_memory_fails_on_request() {
    let world = World::new(HostKind::GitHub, Way::Memory);
    let lost = HostError::Unreachable { call: "open".to_owned(), reason: "reset".to_owned(), is_sent: true };
    for (is_done, count) in [(false, 0), (true, 1)] {
        world.state.fail_next("open", lost.clone(), is_done);
        assert_eq!(world.client.open(&world.repository, &new()).unwrap_err(), lost);
        assert_eq!(world.found(&PullRequestQuery::default()).len(), count);
    }
    assert!(!world.client.open(&world.repository, &new()).unwrap().is_new);
}
