//! The fuzz target on the stable toolchain, with inputs that are the same in each run.

use testkit::fuzz::FuzzTarget;

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

#[test]
fn answers_of_azure() {
    let seeds: [&[u8]; 2] =
        [include_bytes!("payloads/azure-flux-configuration.json"), include_bytes!("payloads/azure-instance.json")];
    FuzzTarget { name: "azure", body: azure::fuzz, seeds: &seeds, words: WORDS, count: 20_000 }
        .run(|name| std::env::var(name).ok());
}
