//! The fuzz targets on the stable toolchain, with inputs that are the same in each run.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use testkit::fuzz::run_seeded;

const GENERIC: u8 = 0;
const FLUX: u8 = 1;
const ARGO_CD: u8 = 2;
const OTLP_JSON: u8 = 3;
const OTLP_PROTOBUF: u8 = 4;

const PAYLOADS: &[(u8, &[u8])] = &[
    (GENERIC, include_bytes!("payloads/report.json")),
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

#[test]
fn reports() {
    let mut seeds: Vec<_> = PAYLOADS.iter().map(|(format, body)| with_format(*format, body)).collect();
    let logs: ExportLogsServiceRequest =
        hub::inputs::otlp::decode_json(include_bytes!("payloads/otlp-logs.json")).unwrap();
    seeds.push(with_format(OTLP_PROTOBUF, &prost::Message::encode_to_vec(&logs)));
    let seeds: Vec<_> = seeds.iter().map(Vec::as_slice).collect();
    run_seeded(hub::inputs::fuzz, &seeds, WORDS, 20_000);
}

#[test]
fn answers_of_azure() {
    let seeds: [&[u8]; 2] =
        [include_bytes!("payloads/azure-flux-configuration.json"), include_bytes!("payloads/azure-instance.json")];
    run_seeded(hub::azure::fuzz, &seeds, WORDS, 20_000);
}
