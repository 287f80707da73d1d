//! The fuzz targets on the stable toolchain, with the same inputs in each run.

use hub_api::promotions::PromotionEvent;
use hub_api::report::generic;
use hub_api::report::signed_file;
use hub_api::timestamp::Timestamp;
use hub_api::token::TokenText;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use testkit::fuzz::FuzzTarget;

const GENERIC: u8 = 0;
const FLUX: u8 = 1;
const ARGO_CD: u8 = 2;
const OTLP_JSON: u8 = 3;
const OTLP_PROTOBUF: u8 = 4;

const PAYLOADS: &[(u8, &[u8])] = &[
    (GENERIC, include_bytes!("../../hub-api/tests/payloads/report.json")),
    (FLUX, include_bytes!("payloads/flux-reconciliation-succeeded.json")),
    (FLUX, include_bytes!("payloads/flux-validation-failed.json")),
    (FLUX, include_bytes!("payloads/flux-progressing.json")),
    (FLUX, include_bytes!("payloads/flux-upgrade-failed.json")),
    (FLUX, include_bytes!("payloads/flux-new-artifact.json")),
    (ARGO_CD, include_bytes!("payloads/argocd-deployed.json")),
    (OTLP_JSON, include_bytes!("payloads/otlp-logs.json")),
];

const WORDS: &[&str] = &[
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\n",
    "null",
    "true",
    "-1",
    "1e999",
    "18446744073709551616",
    "\\u0000",
    "\\ud800",
    "\u{feff}",
    "é",
    "\0",
    "..",
    "@sha1:",
    "sha256=",
    "https://",
    "2026-11-21T13:44:01Z",
    "\"status\":\"ok\"",
    "error",
    "HEAD",
    "Kustomization",
    "HelmRelease",
    "kalypso.",
    "kalypso.label.",
    "in-cluster",
    "%_",
    "'; drop table host; --",
];

fn with_format(format: u8, body: &[u8]) -> Vec<u8> {
    [&[format], body].concat()
}

fn run(target: FuzzTarget<'_>) {
    target.run(|name| std::env::var(name).ok());
}

#[test]
fn reports() {
    let mut seeds: Vec<_> = PAYLOADS.iter().map(|(format, body)| with_format(*format, body)).collect();
    let logs: ExportLogsServiceRequest =
        hub::report_formats::otlp::decode_json(include_bytes!("payloads/otlp-logs.json")).unwrap();
    seeds.push(with_format(OTLP_PROTOBUF, &prost::Message::encode_to_vec(&logs)));
    let seeds: Vec<_> = seeds.iter().map(Vec::as_slice).collect();
    run(FuzzTarget { name: "report", body: hub::report_formats::fuzz, seeds: &seeds, words: WORDS, count: 20_000 });
}

#[test]
fn signed_files() {
    let token = TokenText::random().unwrap();
    let report = generic::read_one(include_bytes!("../../hub-api/tests/payloads/report.json"), Timestamp::MAX)
        .unwrap()
        .check(Timestamp::MAX)
        .unwrap();
    let file = signed_file::add(&[], &token, &[report.clone(), report], Timestamp::MIN).unwrap().bytes;
    let words = [WORDS, &["{\"end\":", "{\"report\":", "\"signature\":\""]].concat();
    let body = hub_api::report::signed_file::fuzz;
    run(FuzzTarget { name: "signed_file", body, seeds: &[&file], words: &words, count: 2_000 });
}

#[test]
fn publications() {
    let seed = include_bytes!("payloads/publication.json");
    let words = [WORDS, &["\"targets\":", "\"labels\":", "platform"]].concat();
    run(FuzzTarget { name: "publication", body: hub::desired::fuzz, seeds: &[seed], words: &words, count: 20_000 });
}

#[test]
fn events_of_promotions() {
    let seed = br#"[{"id": "7-1", "at": "2026-11-21T15:44:01Z", "environment": "prod", "subject": "checkout", "revision": "sha1:4b825dc", "kind": "ringDone",
        "ring": "canary", "text": "ring canary is done", "by": "ana", "evidence": {"gates": [{"gate": "compliant", "counts": [9, 1.5]}]}}]"#;
    let events: Vec<PromotionEvent> = serde_json::from_slice(seed).unwrap();
    events[0].check().unwrap();
    let words = [WORDS, &["\\u0000", "\"evidence\":", "\"subject\":null,", "\"text\":"]].concat();
    let body = hub_api::promotions::fuzz;
    run(FuzzTarget { name: "promotion_events", body, seeds: &[seed], words: &words, count: 20_000 });
}

#[test]
fn request_parameters() {
    let token = TokenText::random().unwrap().reveal();
    let query =
        "host=a%26b&status=failed,silent&selector=region+in+(eu),!x&targetSelector=a%3Db&limit=5&cursor=aG9zdHMgNyAtMQ";
    let seeds: Vec<_> = [
        "2026-11-21T15:44:01.25+02:00",
        "ZXZlbnRzIDAgMCAw",
        "prod@sha1:4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        &token,
    ]
    .map(|word| format!("{query}\nBearer {token}\n127.0.0.1:8080\n{word}").into_bytes())
    .into();
    let seeds: Vec<_> = seeds.iter().map(Vec::as_slice).collect();
    let words = [WORDS, &["%00", "%C3", "&", "@", "/", "kal_", "Z"]].concat();
    run(FuzzTarget { name: "request", body: hub::http::fuzz, seeds: &seeds, words: &words, count: 20_000 });
}
