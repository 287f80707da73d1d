//! HTTP requests and queries of Prometheus.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use checks::{CheckKind, Checks, HttpSettings, PrometheusSettings, RequestCredential};
use engine::promotion::evidence::CheckOutcome::{self, Failed, Passed, Unknown};
use model::object::promotion::{Check, Expectation};
use model::secret::SecretSource;

use crate::server::Server;
use crate::world::{LONG, SECRET, checks, credential, gate, http, shown, subject};

/// A time limit that a test waits for.
const SHORT: Duration = Duration::from_millis(200);

fn request(url: String) -> CheckKind {
    CheckKind::Http(HttpSettings { url, credential: Some(credential()) })
}

/// The result of a check of a server, whose answer has the text `ok` at `$.status`.
fn check(server: &Server, timeout: Duration) -> (CheckOutcome, String) {
    let checks = checks(request(server.url("/health")), timeout);
    let result = checks.run(&http(Some(("$.status", "ok"))), &subject("checkout"));
    assert!(!result.text.contains(SECRET), "{}", result.text);
    (result.outcome, result.text.to_string())
}

fn unknown(text: &str) -> (CheckOutcome, String) {
    (Unknown, text.to_owned())
}

#[test]
fn a_value_of_an_answer_is_compared() {
    let good = Server::with(200, "Content-Type: application/json\r\n", r#"{"status":"ok"}"#);
    assert_eq!(check(&good, LONG), (Passed, "`$.status` is `ok`".to_owned()));
    let request = &good.requests()[0];
    assert!(request.starts_with("GET /health HTTP/1.1\n"), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {SECRET}")), "{request}");
    let bad = Server::with(200, "", r#"{"status":"degraded"}"#);
    assert_eq!(check(&bad, LONG), (Failed, "`$.status` is `degraded`, not `ok`".to_owned()));
}

#[test]
fn a_secret_that_the_server_repeats_is_not_shown() {
    let server = Server::with(200, "", &format!(r#"{{"status":"bad token {SECRET}"}}"#));
    assert_eq!(check(&server, LONG), (Failed, "`$.status` is `bad token …`, not `ok`".to_owned()));
}

#[test]
fn a_refused_secret_is_sent_again_only_if_it_was_replaced() {
    let server = Server::with(401, "", "{}");
    check(&server, LONG);
    assert_eq!(server.requests().len(), 1);
    let url = server.url("/replaced");
    // The first use is the check of the settings.
    let secret = SecretSource::sequence(&["first", "first", "second"]);
    let credential = RequestCredential { header: None, secret };
    let replaced = checks(CheckKind::Http(HttpSettings { url, credential: Some(credential) }), LONG);
    replaced.run(&http(None), &subject("checkout"));
    let [_, first, second] = &server.requests()[..] else { panic!("{:?}", server.requests()) };
    assert!(first.contains("Bearer first") && second.contains("Bearer second"), "{first}\n{second}");
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::with(200, "", r#"{"status":"ok"}"#);
    let server = Server::with(302, &format!("Location: {}\r\n", other.url("/")), "");
    assert_eq!(check(&server, LONG), unknown("the server redirects (302); redirects are not followed"));
    assert_eq!(other.requests(), [""; 0]);
}

#[test]
fn an_answer_that_cannot_be_read_has_a_reason() {
    let page = Server::with(200, "Content-Type: text/html\r\n", "<html>login</html>");
    assert_eq!(check(&page, LONG), unknown("the answer is no JSON (text/html)"));
    let overloaded = Server::with(503, "", "");
    assert_eq!(check(&overloaded, LONG), unknown("the server answers 503"));
    let other = Server::with(200, "", r#"{"state":"ok"}"#);
    assert_eq!(check(&other, LONG), unknown("no value at `$.status`"));
}

#[test]
fn a_huge_answer_is_not_read_to_its_end() {
    let server = Server::new(|stream| {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
        let mut result = stream.write_all(head.as_bytes());
        while result.is_ok() {
            result = stream.write_all(&[b' '; 8 << 10]);
        }
    });
    assert_eq!(check(&server, LONG), unknown("the answer has more than 1 MiB"));
}

#[test]
fn a_slow_answer_ends_with_the_time_limit() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let checks = checks(request(format!("http://{}", silent.local_addr().unwrap())), SHORT);
    assert_eq!(shown(&checks.run(&http(None), &subject("a"))), (Unknown, "timed out after 200 ms"));
    let drops = Server::new(|stream| {
        let mut result = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while result.is_ok() {
            std::thread::sleep(Duration::from_millis(10));
            result = stream.write_all(b" ");
        }
    });
    let start = Instant::now();
    assert_eq!(check(&drops, SHORT), unknown("timed out after 200 ms"));
    assert!(start.elapsed() < LONG);
}

#[test]
fn unreachable_server_gives_a_reason() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let checks = checks(request(format!("http://{address}/?key={SECRET}")), LONG);
    let result = checks.run(&http(None), &subject("a"));
    let (outcome, text) = shown(&result);
    assert!(outcome == Unknown && text.starts_with("the server can't be reached: "), "{text}");
    assert!(!text.contains(SECRET), "{text}");
}

#[test]
fn several_gates_share_one_request() {
    let server = Server::with(200, "", r#"{"status":"ok","version":"2"}"#);
    let checks = checks(request(server.url("/{workload}")), LONG);
    let gates = [http(None), http(Some(("$.status", "ok"))), http(Some(("$.version", "3")))];
    let outcomes = gates.map(|gate| checks.run(&gate, &subject("checkout")).outcome);
    assert_eq!((outcomes, server.requests().len()), ([Passed, Passed, Failed], 1));
    checks.run(&http(None), &subject("cart"));
    assert!(server.requests()[1].starts_with("GET /cart "), "{:?}", server.requests());
}

#[test]
fn all_results_have_the_order_of_the_gates() {
    let server = Server::with(200, "", r#"{"status":"ok"}"#);
    let checks = checks(request(server.url("/{workload}")), LONG);
    let gate = |n: i32| http(Some(("$.status", if n % 2 == 0 { "ok" } else { "no" })));
    let gates: Vec<_> = (0..30).map(|n| (gate(n), subject(&n.to_string()))).collect();
    let outcomes: Vec<_> = checks.run_all(&gates).into_iter().map(|result| result.outcome).collect();
    assert_eq!(outcomes, [Passed, Failed].repeat(15));
    assert!(checks.run_all(&[]).is_empty());
}

fn prometheus(server: &Server) -> Checks {
    let query = r#"sum(rate(errors{env="{environment}",app="{workload}"}[5m]))"#.to_owned();
    let settings = PrometheusSettings { url: server.url("/prom/"), credential: Some(credential()), query };
    checks(CheckKind::Prometheus(settings), LONG)
}

fn below(max: &str) -> Check {
    gate(Expectation::Prometheus { min: None, max: Some(max.into()) })
}

#[test]
fn a_query_has_the_names_of_the_change() {
    let body = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"0.2"]}]}}"#;
    let server = Server::with(200, "", body);
    let checks = prometheus(&server);
    assert_eq!(shown(&checks.run(&below("0.5"), &subject("check\"out"))), (Passed, "0.2"));
    assert_eq!(shown(&checks.run(&below("0.1"), &subject("check\"out"))), (Failed, "0.2 is more than 0.1"));
    let [request] = &server.requests()[..] else { panic!("{:?}", server.requests()) };
    let expected = "GET /prom/api/v1/query?query=sum%28rate%28errors%7Benv%3D%22dev%22%2Capp%3D%22check%5Cx22out%22%7D%5B5m%5D%29%29 ";
    assert!(request.starts_with(expected), "{request}");
}

#[test]
fn a_query_without_a_result_is_unknown() {
    let empty = Server::with(200, "", r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#);
    assert_eq!(shown(&prometheus(&empty).run(&below("1"), &subject("a"))), (Unknown, "the query has no result"));
    let error = format!(r#"{{"status":"error","errorType":"bad_data","error":"no {SECRET}"}}"#);
    let refused = Server::with(422, "", &error);
    let result = prometheus(&refused).run(&below("1"), &subject("a"));
    assert_eq!(shown(&result), (Unknown, "Prometheus answers 422: bad_data: no …"));
}

#[test]
fn a_check_that_does_not_fit_is_unknown() {
    let server = Server::with(200, "", "");
    let checks = prometheus(&server);
    let other = "the check `smoke` is a query of Prometheus, and the gate expects an HTTP request";
    assert_eq!(shown(&checks.run(&http(None), &subject("a"))), (Unknown, other));
    let absent = Check { name: "load".into(), ..http(None) };
    let text = "the service's configuration has no check `load`";
    assert_eq!(shown(&checks.run(&absent, &subject("a"))), (Unknown, text));
    assert_eq!(server.requests(), [""; 0]);
}
